// Chains with few labels: one sequence in every lane of a vector.
#pragma once

#include "../core/dispatch.hpp"
#include "chain_plan.hpp"
#include "chain_score.hpp"

namespace kernelfields {

template <class S> bool suits_lanes(const ChainBatch<S>& batch) {
    return batch.shared && batch.labels > 1 && batch.labels <= kFewLabels;
}

// Nanoseconds, about: exponentials and what is read and written, beside products.
inline double lane_work(std::size_t positions, std::size_t labels, double per_pair) {
    return static_cast<double>(positions * labels) * (0.7 + per_pair * static_cast<double>(labels));
}

// Lengths are compared in single precision.
constexpr std::size_t kLongestInLanes = std::size_t{1} << 23;

// Whole sequences of a group, unless so many lanes would be idle that other recursions are faster.
template <class S> struct GroupLanes {
    Stretch stretch[kMostLanes];
    std::size_t count = 0;

    GroupLanes(const ChainBatch<S>& batch, Group group, std::size_t lanes) {
        std::size_t total = 0;
        for (std::size_t k = 0; k < group.count; ++k) total += batch.length(group.sequence[k]);
        const std::size_t longest = batch.length(group.sequence[0]);
        if (2 * total < lanes * longest || longest >= kLongestInLanes) return;
        for (count = 0; count < group.count; ++count) {
            const std::size_t s = group.sequence[count], length = batch.length(s);
            stretch[count] = {s, static_cast<std::size_t>(batch.first[s]), length, 0, length};
        }
    }
};

template <class S> Plan lane_plan(const ChainBatch<S>& batch, const std::vector<Outcome>& outcome) {
    return make_plan(batch, [&](std::size_t s) { return outcome[s] == Outcome::pending; }, chain_kernels<S>().lanes);
}

template <class S> std::size_t lane_bytes_of(const ChainBatch<S>& batch, const Plan& plan) {
    return plan.order.empty() ? 0 : chain_kernels<S>().lane_bytes(batch.labels, batch.length(plan.order[0]));
}

// Runs recursion(work, sums, arena) over groups of whole sequences that are pending, as many as the plan says; it
// returns whether it could hold them.
template <class S, class Recursion>
void run_in_lanes(const ChainBatch<S>& batch, const Plan& plan, std::size_t bytes, double nanoseconds,
                  double* log_partition, double* edge_sum, std::vector<Outcome>& outcome, Recursion recursion) {
    const std::size_t square = batch.labels * batch.labels;
    std::vector<double> sums(plan.blocks() * square);
    for_each_group(plan, bytes, nanoseconds, [&](Group group, Arena arena, std::size_t block) {
        const GroupLanes<S> lanes(batch, group, plan.group_size);
        double log_mass[kMostLanes];
        const LaneWork work{lanes.stretch, lanes.count, log_mass, nullptr};
        if (lanes.count == 0 || !recursion(work, sums.data() + block * square, arena)) return;
        for (std::size_t k = 0; k < lanes.count; ++k) {
            log_partition[lanes.stretch[k].sequence] = log_mass[k];
            outcome[lanes.stretch[k].sequence] = Outcome::done;
        }
    });
    if (!edge_sum) return;
    for (std::size_t k = 0; k < sums.size(); ++k) edge_sum[k % square] += sums[k];
}

template <class S>
void marginals_in_lanes(const ChainBatch<S>& batch, const SharedEdges<S>& edges, const MarginalsOut<S>& out,
                        double* edge_sum, std::vector<Outcome>& outcome) {
    const Plan plan = lane_plan(batch, outcome);
    run_in_lanes(batch, plan, lane_bytes_of(batch, plan), lane_work(plan.positions, batch.labels, 0.25),
                 out.log_partition, edge_sum, outcome, [&](const LaneWork& work, double* sums, Arena arena) {
                     return chain_kernels<S>().marginals_lanes(batch, edges, work, out, sums, arena);
                 });
}

template <class S>
void argmax_in_lanes(const ChainBatch<S>& batch, std::int32_t* labels, double* value, std::vector<Outcome>& outcome) {
    const Plan plan = lane_plan(batch, outcome);
    const double work = lane_work(plan.positions, batch.labels, 0.1);
    for_each_group(plan, lane_bytes_of(batch, plan), work, [&](Group group, Arena arena, std::size_t) {
        const GroupLanes<S> lanes(batch, group, plan.group_size);
        if (lanes.count == 0) return;
        Outcome found[kMostLanes];
        double score[kMostLanes];
        chain_kernels<S>().argmax_lanes(batch, {lanes.stretch, lanes.count, score, nullptr}, labels, arena, found);
        for (std::size_t k = 0; k < lanes.count; ++k) {
            const std::size_t s = lanes.stretch[k].sequence;
            outcome[s] = found[k];
            if (kScoresFound<S> && found[k] == Outcome::done) value[s] = score[k];
        }
        if (!kScoresFound<S>) score_found(batch, group, labels, value, outcome);
    });
}

}  // namespace kernelfields
