// Mean field: independent vertices, one after the other as well as the others allow,
//   log q_i(x) = node_i(x) + sum_{f with i} expectation of table_f given x_i = x  (+ a constant),
// which never lowers expected score plus entropy, a lower bound of log Z.
#pragma once

#include "../core/draw.hpp"
#include "../core/parallel.hpp"
#include "allowed_labelling.hpp"
#include "factor_beliefs.hpp"

namespace kernelfields {

class MeanField {
public:
    MeanField(const MessageScores& scores, std::size_t most, double tolerance)
        : graph_(scores.graph), scores_(scores), most_(most), tolerance_(tolerance) {}

    void run(const PropagationOut& out) {
        const auto L = static_cast<double>(graph_.labels);
        const double work = 20.0 * static_cast<double>(graph_.slots + graph_.vertices) * L * L;
        for_each_block(graph_.instances, threads_for(work), [&](std::size_t s, std::size_t) { settle(s, out); });
    }

private:
    const MessageGraph& graph_;
    const MessageScores scores_;
    const std::size_t most_;
    const double tolerance_;

    void settle(std::size_t s, const PropagationOut& out) {
        if (!usable_scores(scores_, s)) return out.no_value(s, std::numeric_limits<double>::quiet_NaN());
        const Range vertices = range(graph_.first, s);
        if (!start(s, vertices, out.node)) return out.no_value(s, kNothing);
        std::vector<double> fresh(graph_.labels);
        MessageRoom room;
        double change = 0;
        std::size_t n = 0;
        for (; n < most_; ++n) {
            change = 0;
            for (std::size_t v = vertices.from; v < vertices.to; ++v)
                change = std::max(change, update(v, out.node, fresh, room));
            if (change <= tolerance_) break;
        }
        out.iterations[s] = static_cast<std::int64_t>(std::min(n + 1, most_));
        out.change[s] = change;
        out.lost[s] = 0;
        write(s, vertices, out, room);
    }

    // The best of independent vertices; where pairs are forbidden, a single allowed labelling.
    bool start(std::size_t s, Range vertices, double* q) const {
        const std::size_t L = graph_.labels;
        std::copy(scores_.node + vertices.from * L, scores_.node + vertices.to * L, q + vertices.from * L);
        AllowedLabelling allowed(scores_, s);
        if (!allowed.needed()) {
            for (std::size_t v = vertices.from; v < vertices.to; ++v)
                if (!softmax(q + v * L, L)) return false;
            return true;
        }
        if (!allowed.find()) return false;
        std::fill(q + vertices.from * L, q + vertices.to * L, 0.0);
        for (std::size_t v = vertices.from; v < vertices.to; ++v) q[v * L + allowed.label(v)] = 1;
        return true;
    }

    double update(std::size_t v, double* q, std::vector<double>& fresh, MessageRoom& room) const {
        const std::size_t L = graph_.labels;
        std::copy(scores_.node + v * L, scores_.node + (v + 1) * L, fresh.begin());
        for (std::size_t k = graph_.incident_first[v]; k < graph_.incident_first[v + 1]; ++k)
            add_expectation(graph_.incident[k], q, fresh.data(), room);
        if (!softmax(fresh.data(), L)) return 0;
        double change = 0;
        for (std::size_t x = 0; x < L; ++x) {
            change = std::max(change, std::abs(fresh[x] - q[v * L + x]));
            q[v * L + x] = fresh[x];
        }
        return change;
    }

    // into(x) += expectation of a table given the label x at one slot.
    void add_expectation(std::size_t slot, const double* q, double* into, MessageRoom& room) const {
        const std::size_t L = graph_.labels, f = graph_.slot_factor[slot], first = graph_.slot_first[f];
        const std::size_t arity = graph_.arity(f), mine = slot - first;
        const double* T = scores_.table(f);
        if (arity == 2) {
            const double* other = q + graph_.slot_vertex[first + 1 - mine] * L;
            for (std::size_t y = 0; y < L; ++y) {
                if (!(other[y] > 0)) continue;
                const double* from = mine == 0 ? T + y : T + y * L;
                const std::size_t stride = mine == 0 ? L : 1;
                for (std::size_t x = 0; x < L; ++x) into[x] += other[y] * from[x * stride];
            }
            return;
        }
        for_each_entry(L, arity, room.digits, [&](std::size_t n, const std::size_t* x) {
            double mass = 1;
            for (std::size_t k = 0; k < arity; ++k)
                if (k != mine) mass *= q[graph_.slot_vertex[first + k] * L + x[k]];
            if (mass > 0) into[x[mine]] += mass * T[n];
        });
    }

    void write(std::size_t s, Range vertices, const PropagationOut& out, MessageRoom& room) const {
        const std::size_t L = graph_.labels;
        double energy = 0, entropy = 0, size = 0;
        for (std::size_t v = vertices.from; v < vertices.to; ++v) {
            const double* q = out.node + v * L;
            for (std::size_t x = 0; x < L; ++x)
                if (q[x] > 0) {
                    energy += q[x] * scores_.node[v * L + x];
                    size += std::abs(q[x] * scores_.node[v * L + x]);
                }
            entropy += entropy_of(q, L);
        }
        const Range factors = range(graph_.factor_first, s);
        for (std::size_t f = factors.from; f < factors.to; ++f) energy += joint(f, out, room, size);
        out.value[s] = energy + entropy;
        out.entropy[s] = entropy;
        out.bound[s] = energy + entropy - kRounding * (size + entropy);
    }

    // Writes the product of marginals; returns the expectation of the table, and adds up the size of its terms.
    double joint(std::size_t f, const PropagationOut& out, MessageRoom& room, double& size) const {
        const std::size_t L = graph_.labels, arity = graph_.arity(f), first = graph_.slot_first[f];
        const double* T = scores_.table(f);
        double energy = 0;
        for_each_entry(L, arity, room.digits, [&](std::size_t n, const std::size_t* x) {
            double mass = 1;
            for (std::size_t k = 0; k < arity; ++k) mass *= out.node[graph_.slot_vertex[first + k] * L + x[k]];
            if (mass > 0) energy += mass * T[n];
            if (mass > 0) size += std::abs(mass * T[n]);
            if (out.factor) out.factor[out.factor_at[f] + static_cast<std::int64_t>(n)] = mass;
        });
        return energy;
    }
};

}  // namespace kernelfields
