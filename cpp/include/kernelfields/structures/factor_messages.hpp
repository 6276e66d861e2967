// State of message passing on a batch, and the message into one slot: fast for pairs, by logarithms for the rest.
#pragma once

#include "../core/dispatch.hpp"
#include "../core/logarithms.hpp"
#include "message_graph.hpp"
#include "message_kernels.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace kernelfields {

// What one thread needs to compute messages.
struct MessageRoom {
    std::vector<double> fresh;   // a message for every slot of a factor, and as much again
    std::vector<double> cavity;  // arity x labels
    std::vector<double> table;   // one whole table
    std::vector<std::size_t> digits;
};

// body(index, digits) for all entries of a table over `arity` vertices, the last of them fastest.
template <class Body> void for_each_entry(std::size_t L, std::size_t arity, std::vector<std::size_t>& digits,
                                          Body body) {
    digits.assign(arity, 0);
    for (std::size_t index = 0;; ++index) {
        body(index, digits.data());
        std::size_t k = arity;
        while (k > 0 && ++digits[k - 1] == L) digits[--k] = 0;
        if (k == 0) return;
    }
}

class FactorMessages {
public:
    explicit FactorMessages(const MessageScores& scores)
        : graph_(scores.graph), scores_(scores), kernels_(message_kernels()) {
        const MessageGraph& graph = graph_;
        const std::size_t L = graph.labels, P = (L + kernels_.width - 1) / kernels_.width * kernels_.width;
        belief_.resize(graph.vertices * P);
        message_.assign(graph.slots * P, 0.0);
        take_exponentials(L, P);
        job_ = {.labels = L,
                .padded = P,
                .belief = belief_.data(),
                .message = message_.data(),
                .node = scores.node,
                .weight = scores.weight,
                .slot_vertex = graph.slot_vertex.data(),
                .slot_factor = graph.slot_factor.data(),
                .slot_first = graph.slot_first.data(),
                .incident_first = graph.incident_first.data(),
                .incident = graph.incident.data(),
                .table = graph.table.data(),
                .exponential_at = exponential_at_.data(),
                .exponentials = exponentials_.data()};
    }
    FactorMessages(const FactorMessages&) = delete;

    const MessageGraph& graph() const { return graph_; }
    const MessageScores& scores() const { return scores_; }
    std::size_t padded() const { return job_.padded; }
    double* belief(std::size_t v) { return belief_.data() + v * job_.padded; }
    const double* message(std::size_t slot) const { return message_.data() + slot * job_.padded; }

    double total(std::size_t v) const { return scores_.total ? scores_.total[v] : 1; }

    void update_beliefs(std::size_t from, std::size_t to) {
        kernels_.beliefs(job_, from, to);
        for (std::size_t v = from; v < to && scores_.total; ++v)
            for (std::size_t x = 0; x < job_.labels; ++x) belief(v)[x] /= scores_.total[v];
    }

    // Room for `count` messages, and for what the last of them needs on the way.
    double* room(MessageRoom& room, std::size_t count) const {
        if (room.fresh.size() < (count + 1) * job_.padded) room.fresh.resize((count + 1) * job_.padded);
        return room.fresh.data();
    }

    // The message that belongs into a slot; returns how far it is from the one that is there.
    double fresh(std::size_t slot, double* out, MessageRoom& room) const {
        if (graph_.is_pair(slot)) {
            const double change = kernels_.message(job_, slot, out);
            if (change >= 0) return change;
        }
        return by_logarithms(slot, out, room);
    }

    void mix(std::size_t slot, const double* out, double step) {
        kernels_.mix(message_.data() + slot * job_.padded, out, step, job_.padded);
    }

    // belief of the vertex of a slot without the message from the factor itself, L numbers.
    void cavity(std::size_t slot, double* out) const {
        const double* b = belief_.data() + graph_.slot_vertex[slot] * job_.padded;
        const double* m = message(slot);
        for (std::size_t x = 0; x < job_.labels; ++x) out[x] = b[x] > kNothing ? b[x] - m[x] : kNothing;
    }

private:
    const MessageGraph& graph_;
    const MessageScores scores_;
    const MessageKernels& kernels_;
    std::vector<double> belief_, message_, exponentials_;
    std::vector<std::size_t> exponential_at_;
    MessageJob job_;

    // exp(table - its largest entry), padded, and the same transposed, for tables of pairs.
    void take_exponentials(std::size_t L, std::size_t P) {
        std::size_t size = 0;
        for (std::size_t t = 0; t < graph_.tables(); ++t) {
            exponential_at_.push_back(size);
            if (of_pairs(t)) size += 2 * L * P;
        }
        exponentials_.assign(size, 0.0);
        for (std::size_t t = 0; t < graph_.tables(); ++t) {
            if (!of_pairs(t)) continue;
            const double* from = scores_.tables + graph_.table_first[t];
            const double top = largest_of(from, L * L);
            double* to = exponentials_.data() + exponential_at_[t];
            for (std::size_t x = 0; x < L && top > kNothing; ++x)
                for (std::size_t y = 0; y < L; ++y)
                    to[x * P + y] = to[L * P + y * P + x] = std::exp(from[x * L + y] - top);
        }
    }
    // With one label a larger table looks like one of pairs, and does no harm.
    bool of_pairs(std::size_t t) const {
        return graph_.table_first[t + 1] - graph_.table_first[t] == graph_.labels * graph_.labels;
    }

    // fresh(x) = log sum over the labels of the others of exp(table + their cavities).
    double by_logarithms(std::size_t slot, double* out, MessageRoom& room) const {
        const std::size_t L = job_.labels, f = graph_.slot_factor[slot], first = graph_.slot_first[f];
        const std::size_t arity = graph_.arity(f), mine = slot - first;
        room.cavity.resize((arity + 1) * L);
        for (std::size_t k = 0; k < arity; ++k)
            if (k != mine) cavity(first + k, room.cavity.data() + k * L);
        double* sum = room.cavity.data() + arity * L;
        std::fill(sum, sum + L, 0.0);
        std::fill(out, out + L, kNothing);
        const double* table = scores_.table(f);
        for_each_entry(L, arity, room.digits, [&](std::size_t index, const std::size_t* x) {
            double value = table[index];
            for (std::size_t k = 0; k < arity; ++k)
                if (k != mine) value += room.cavity[k * L + x[k]];
            if (value == kNothing) return;
            double& top = out[x[mine]];
            double& total = sum[x[mine]];
            if (value > top) {
                total = total * std::exp(top - value) + 1;
                top = value;
            } else {
                total += std::exp(value - top);
            }
        });
        const double* own = belief_.data() + graph_.slot_vertex[slot] * job_.padded;
        const double* before = message(slot);
        double most = kNothing, change = 0;
        for (std::size_t x = 0; x < L; ++x) {
            out[x] = own[x] > kNothing && out[x] > kNothing ? out[x] + std::log(sum[x]) : kNothing;
            most = std::max(most, out[x]);
        }
        for (std::size_t x = 0; x < job_.padded; ++x) {
            if (x >= L || own[x] == kNothing) out[x] = before[x];
            else if (out[x] > kNothing) change = std::max(change, std::abs((out[x] -= most) - before[x]));
            else change = std::numeric_limits<double>::infinity();
        }
        return change;
    }
};

}  // namespace kernelfields
