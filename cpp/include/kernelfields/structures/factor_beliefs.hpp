// What message passing leads to: beliefs that agree with each other, their free energy, and a bound of log Z.
//
// With b_i ~ exp(belief_i), normalised by Z_i, and b_f ~ exp(table_f + sum_i (log b_i - message_{f->i})), normalised by
// Z_f,
//   mass of y = K prod_i b_i prod_f (b_f / prod_{i in f} b_i)^weight_f,     log K = sum_i log Z_i + sum_f weight_f log
//   Z_f,
// whatever the messages are. Where weights are shares of forests of factors (without cycles), by Hoelder's inequality
//   log Z <= log K + sum_f weight_f log R_f,     R_f = max_{i in f, x} (marginal of b_f at x) / b_i(x),
// since along a forest each factor adds at most R_f; where messages have converged R_f = 1.
//
// With counting numbers c_f = weight_f and c_i >= 0, total_i = c_i + the sum of those of its factors, b_i is the power
// 1 / total_i of that product, and sum_i total_i log Z_i + sum_f weight_f log Z_f is the dual of the free energy with
// the entropy sum_i c_i H(b_i) + sum_f c_f H(b_f): a bound of it whatever the messages are.
#pragma once

#include "factor_blocks.hpp"
#include "local_consistency.hpp"

namespace kernelfields {

struct PropagationOut {
    double* value;             // instances: expected score plus entropy
    double* entropy;           // instances: sum_i total_i H(b_i) - sum_f weight_f (sum_{i in f} H(b_i) - H(b_f))
    double* bound;             // instances
    double* change;            // instances: how far the last messages were from a fixed point
    double* lost;              // instances: probability that could not be placed consistently
    std::int64_t* iterations;  // instances
    double* node;              // vertices x labels
    double* factor;            // tables of all factors one after the other; or null
    const std::int64_t* factor_at;

    void no_value(std::size_t s, double what) const {
        value[s] = entropy[s] = bound[s] = what;
        change[s] = lost[s] = 0;
        iterations[s] = 0;
    }
};

// Neither NaN nor +inf in the scores of an instance.
inline bool usable_scores(const MessageScores& scores, std::size_t s) {
    const MessageGraph& graph = scores.graph;
    const Range v = range(graph.first, s), factors = range(graph.factor_first, s);
    if (!usable(scores.node + v.from * graph.labels, (v.to - v.from) * graph.labels)) return false;
    for (std::size_t f = factors.from; f < factors.to; ++f) {
        if (f > factors.from && graph.table[f - 1] == graph.table[f]) continue;
        if (!usable(scores.table(f), scores.size(f))) return false;
    }
    return true;
}

struct FreeEnergy {
    double energy = 0, entropy = 0, log_scale = 0, excess = 0, size = 0, lost = 0;

    void add(const FreeEnergy& other) {
        energy += other.energy;
        entropy += other.entropy;
        log_scale += other.log_scale;
        excess += other.excess;
        size += other.size;
        lost = std::max(lost, other.lost);
    }
};

constexpr double kRounding = 1e-14;  // share of the terms of a bound that rounding may take away

class FactorBeliefs {
public:
    FactorBeliefs(FactorMessages& messages, const PropagationOut& out)
        : messages_(messages), graph_(messages.graph()), out_(out), entropies_(graph_.vertices) {}

    // Normalises the belief of a vertex; false where it can have no label.
    bool vertex(std::size_t v, FreeEnergy& sum) {
        const std::size_t L = graph_.labels;
        double* belief = messages_.belief(v);
        const double scale = log_sum_exp(belief, L);
        if (scale == kNothing) return false;
        const double* scores = messages_.scores().node + v * L;
        double* b = out_.node + v * L;
        double entropy = 0;
        for (std::size_t x = 0; x < L; ++x) {
            belief[x] -= scale;
            b[x] = std::exp(belief[x]);
            if (b[x] > 0) {
                sum.energy += b[x] * scores[x];
                sum.size += std::abs(b[x] * scores[x]);
                entropy -= b[x] * belief[x];
            }
        }
        entropies_[v] = entropy;
        sum.entropy += messages_.total(v) * entropy;
        sum.log_scale += messages_.total(v) * scale;
        sum.size += std::abs(messages_.total(v) * scale);
        return true;
    }

    void factor(std::size_t f, FreeEnergy& sum, MessageRoom& room) {
        const std::size_t L = graph_.labels, arity = graph_.arity(f), first = graph_.slot_first[f];
        const double weight = messages_.scores().weight[f];
        const std::size_t size = messages_.scores().size(f);
        double worst = 0, apart = 0;
        for (std::size_t k = 0; k < arity && !messages_.scores().total; ++k)
            worst = std::max(worst, excess(first + k, room));
        room.table.resize(size + arity * L);
        double* b = room.table.data();
        double* wanted = b + size;
        const double scale = joint(f, b, room);
        for (std::size_t k = 0; k < arity; ++k) {
            const std::size_t v = graph_.slot_vertex[first + k];
            std::copy(out_.node + v * L, out_.node + (v + 1) * L, wanted + k * L);
            apart += entropies_[v];
        }
        const double* scores = messages_.scores().table(f);
        sum.lost = std::max(sum.lost, LocalConsistency(L, arity, room).settle(b, size, scores, wanted));
        for (std::size_t n = 0; n < size; ++n)
            if (b[n] > 0) {
                sum.energy += weight * b[n] * scores[n];
                sum.size += std::abs(weight * b[n] * scores[n]);
            }
        sum.entropy -= weight * (apart - entropy_of(b, size));
        sum.log_scale += weight * scale;
        sum.excess += weight * worst;
        sum.size += std::abs(weight * scale);
        if (out_.factor) std::copy(b, b + size, out_.factor + out_.factor_at[f]);
    }

private:
    FactorMessages& messages_;
    const MessageGraph& graph_;
    const PropagationOut& out_;
    std::vector<double> entropies_;

    // b_f, normalised; returns log Z_f.
    double joint(std::size_t f, double* b, MessageRoom& room) const {
        const std::size_t L = graph_.labels, arity = graph_.arity(f), first = graph_.slot_first[f];
        room.cavity.resize(std::max(room.cavity.size(), arity * L));
        for (std::size_t k = 0; k < arity; ++k) messages_.cavity(first + k, room.cavity.data() + k * L);
        const double* scores = messages_.scores().table(f);
        std::size_t size = 0;
        for_each_entry(L, arity, room.digits, [&](std::size_t n, const std::size_t* x) {
            double value = scores[n];
            for (std::size_t k = 0; k < arity; ++k) value += room.cavity[k * L + x[k]];
            b[n] = value;
            size = n + 1;
        });
        const double scale = log_sum_exp(b, size);
        for (std::size_t n = 0; n < size; ++n) b[n] = scale > kNothing ? std::exp(b[n] - scale) : 0;
        return scale;
    }

    // log of the largest (marginal of b_f) / b_i at one vertex, which is (message that belongs there) / (message).
    double excess(std::size_t slot, MessageRoom& room) const {
        double* fresh = messages_.room(room, 1);
        messages_.fresh(slot, fresh, room);
        const double* before = messages_.message(slot);
        const double* b = out_.node + graph_.slot_vertex[slot] * graph_.labels;
        double most = kNothing, mean = 0;
        for (std::size_t x = 0; x < graph_.labels; ++x) {
            if (messages_.belief(graph_.slot_vertex[slot])[x] == kNothing || fresh[x] == kNothing) continue;
            most = std::max(most, fresh[x] - before[x]);
        }
        for (std::size_t x = 0; x < graph_.labels; ++x)
            if (b[x] > 0 && fresh[x] > kNothing) mean += b[x] * std::exp(fresh[x] - before[x] - most);
        return mean > 0 ? -std::log(mean) : std::numeric_limits<double>::infinity();
    }
};

// Beliefs, free energy and bound of one instance.
inline void write_beliefs(FactorMessages& messages, FactorBeliefs& beliefs, std::size_t s, const PropagationOut& out,
                          int threads) {
    constexpr std::size_t kBlock = 1024;
    const MessageGraph& graph = messages.graph();
    const Range vertices = range(graph.first, s), factors = range(graph.factor_first, s);
    std::vector<FreeEnergy> parts(blocks_in(vertices, kBlock) + blocks_in(factors, kBlock));
    std::vector<char> possible(blocks_in(vertices, kBlock), 1);
    each_block(vertices, kBlock, threads, [&](Range r, MessageRoom&, std::size_t block) {
        messages.update_beliefs(r.from, r.to);
        for (std::size_t v = r.from; v < r.to; ++v) possible[block] &= beliefs.vertex(v, parts[block]);
    });
    if (std::count(possible.begin(), possible.end(), 0)) return out.no_value(s, kNothing);
    each_block(factors, kBlock, threads, [&](Range r, MessageRoom& room, std::size_t block) {
        for (std::size_t f = r.from; f < r.to; ++f) beliefs.factor(f, parts[possible.size() + block], room);
    });
    FreeEnergy total;
    for (const FreeEnergy& part : parts) total.add(part);
    out.value[s] = total.energy + total.entropy;
    out.entropy[s] = total.entropy;
    out.bound[s] = total.log_scale + total.excess + kRounding * total.size;
    out.lost[s] = total.lost;
}

}  // namespace kernelfields
