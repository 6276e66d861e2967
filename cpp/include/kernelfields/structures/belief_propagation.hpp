// Belief propagation, plain, with weights of factors (tree-reweighted) or counting numbers, by three schedules.
//   belief_i  = (node_i + sum_f weight_f message_{f->i}) / total_i
//   message_{f->i}(x_i) = log sum_{x_f without x_i} exp(table_f / weight_f + sum_{j != i} (belief_j - message_{f->j}))
#pragma once

#include "../core/parallel.hpp"
#include "factor_beliefs.hpp"
#include "residual_schedule.hpp"

namespace kernelfields {

enum class Schedule { sweeps = 0, residual = 1, flooding = 2 };

struct PropagationSettings {
    Schedule schedule;
    double damping;    // share of the old message that is kept
    std::size_t most;  // iterations
    double tolerance;  // of the largest change of a message, before damping
};

constexpr std::size_t kLookBack = 20;  // iterations after which changes must have become smaller
constexpr double kShorter = 0.7;       // else steps do
constexpr std::size_t kVertexBlock = 2048, kFactorBlock = 2048;

class BeliefPropagation {
public:
    BeliefPropagation(const MessageScores& scores, const PropagationSettings& settings)
        : messages_(scores), graph_(scores.graph), settings_(settings) {}

    void run(const PropagationOut& out) {
        FactorBeliefs beliefs(messages_, out);
        const auto L = static_cast<double>(graph_.labels);
        const double work = 100.0 * static_cast<double>(graph_.slots) * L * (L + 20);
        const int threads = threads_for(work);
        if (threads == 1 || !one_fills_all(threads)) {
            for_each_block(graph_.instances, threads, [&](std::size_t s, std::size_t) { settle(s, beliefs, out, 1); });
        } else {
            for (std::size_t s = 0; s < graph_.instances; ++s) settle(s, beliefs, out, threads);
        }
    }

private:
    FactorMessages messages_;
    const MessageGraph& graph_;
    const PropagationSettings settings_;

    // Whether a single instance has so much of the work that threads should share it.
    bool one_fills_all(int threads) const {
        std::int64_t largest = 0;
        for (std::size_t s = 0; s < graph_.instances; ++s)
            largest = std::max(largest, graph_.factor_first[s + 1] - graph_.factor_first[s]);
        return static_cast<double>(largest) * threads > static_cast<double>(graph_.factors);
    }

    void settle(std::size_t s, FactorBeliefs& beliefs, const PropagationOut& out, int threads) {
        if (!usable_scores(messages_.scores(), s)) {
            out.no_value(s, std::numeric_limits<double>::quiet_NaN());
            return;
        }
        const Range vertices = range(graph_.first, s), factors = range(graph_.factor_first, s);
        each_block(vertices, kVertexBlock, threads,
                   [&](Range r, MessageRoom&, std::size_t) { messages_.update_beliefs(r.from, r.to); });
        double change = 0;
        std::size_t done = 0;
        if (factors.from < factors.to) {
            if (settings_.schedule == Schedule::residual) {
                ResidualSchedule schedule(messages_, factors.from, factors.to);
                done = schedule.run(1 - settings_.damping, settings_.most, settings_.tolerance, change);
            } else {
                done = iterate(vertices, factors, threads, change);
            }
        }
        out.iterations[s] = static_cast<std::int64_t>(done);
        out.change[s] = change;
        write_beliefs(messages_, beliefs, s, out, threads);
    }

    std::size_t iterate(Range vertices, Range factors, int threads, double& change) {
        double step = 1 - settings_.damping, before = std::numeric_limits<double>::infinity();
        for (std::size_t n = 1; n <= settings_.most; ++n) {
            change = settings_.schedule == Schedule::sweeps ? sweep(vertices, step)
                                                            : flood(vertices, factors, step, threads);
            if (change <= settings_.tolerance) return n;
            if (n % kLookBack == 0) {
                if (!(change < 0.9 * before)) step = std::max(kShorter * step, 0.05);
                before = change;
            }
        }
        return settings_.most;
    }

    // All messages from the same beliefs.
    double flood(Range vertices, Range factors, double step, int threads) {
        std::vector<double> changes(blocks_in(factors, kFactorBlock), 0.0);
        each_block(factors, kFactorBlock, threads, [&](Range r, MessageRoom& room, std::size_t block) {
            for (std::size_t f = r.from; f < r.to; ++f)
                changes[block] = std::max(changes[block], update_factor(f, step, room));
        });
        each_block(vertices, kVertexBlock, threads,
                   [&](Range r, MessageRoom&, std::size_t) { messages_.update_beliefs(r.from, r.to); });
        return *std::max_element(changes.begin(), changes.end());
    }

    double update_factor(std::size_t f, double step, MessageRoom& room) {
        const std::size_t first = graph_.slot_first[f], arity = graph_.arity(f), P = messages_.padded();
        double* fresh = messages_.room(room, arity);
        double most = 0;
        for (std::size_t k = 0; k < arity; ++k) most = std::max(most, messages_.fresh(first + k, fresh + k * P, room));
        for (std::size_t k = 0; k < arity; ++k) messages_.mix(first + k, fresh + k * P, step);
        return most;
    }

    // Vertex by vertex, messages to later ones; then back.
    double sweep(Range vertices, double step) {
        MessageRoom room;
        double most = 0;
        for (std::size_t v = vertices.from; v < vertices.to; ++v) most = std::max(most, push(v, true, step, room));
        for (std::size_t v = vertices.to; v-- > vertices.from;) most = std::max(most, push(v, false, step, room));
        return most;
    }

    double push(std::size_t v, bool forward, double step, MessageRoom& room) {
        messages_.update_beliefs(v, v + 1);
        double* fresh = messages_.room(room, 1);
        double most = 0;
        for (std::size_t k = graph_.incident_first[v]; k < graph_.incident_first[v + 1]; ++k) {
            const std::size_t f = graph_.slot_factor[graph_.incident[k]];
            for (std::size_t slot = graph_.slot_first[f]; slot < graph_.slot_first[f + 1]; ++slot) {
                const std::size_t w = graph_.slot_vertex[slot];
                if (w == v || (w > v) != forward) continue;
                most = std::max(most, messages_.fresh(slot, fresh, room));
                messages_.mix(slot, fresh, step);
                if (graph_.arity(f) > 2) messages_.update_beliefs(w, w + 1);
            }
        }
        return most;
    }
};

}  // namespace kernelfields
