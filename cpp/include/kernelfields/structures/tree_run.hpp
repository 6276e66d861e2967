// Runs recursions over the groups of a batch of forests: those of isa/ first, logarithms for what these cannot hold.
#pragma once

#include "../core/dispatch.hpp"
#include "chain.hpp"
#include "tree_messages.hpp"

#include <type_traits>

namespace kernelfields {

template <class S> std::vector<Outcome> starting_outcomes(const ForestBatch<S>& batch) {
    std::vector<Outcome> outcome(batch.sequences, Outcome::pending);
    const bool finite = !batch.shared || usable(batch.edge, batch.labels * batch.labels);
    for (std::size_t s = 0; s < batch.sequences; ++s) {
        if (batch.length(s) == 0) outcome[s] = Outcome::done;
        else if (!finite && batch.edge_before[batch.first[s + 1]] > batch.edge_before[batch.first[s]])
            outcome[s] = Outcome::not_finite;
    }
    return outcome;
}

// NaN, but 0 for empty instances.
template <class S> void no_values_yet(const ForestBatch<S>& batch, double* value) {
    for (std::size_t s = 0; s < batch.sequences; ++s)
        value[s] = batch.length(s) ? std::numeric_limits<double>::quiet_NaN() : 0;
}

inline std::vector<std::size_t> pending_of(const std::vector<Outcome>& outcome) {
    std::vector<std::size_t> result;
    for (std::size_t s = 0; s < outcome.size(); ++s)
        if (outcome[s] == Outcome::pending) result.push_back(s);
    return result;
}

// Room for four messages a slot, a few label-by-label matrices, a few rows, and some numbers per instance.
inline std::size_t tree_bytes(std::size_t slots, std::size_t instances, std::size_t labels) {
    const std::size_t row = padded(labels, kAlignment / sizeof(float)) * sizeof(double);
    return (4 * slots + 6 * labels + 16 * kRows) * row + 2 * slots * sizeof(double) + instances * 64 + 64 * kAlignment;
}
inline std::size_t tree_bytes(const TreeSchedule& schedule, std::size_t labels) {
    return tree_bytes(schedule.largest(), schedule.most_instances(), labels);
}

// body(group, arena, sums) for every group of instances still pending, on all cores. `cost` is nanoseconds per pair
// of labels and vertex. What bodies add to `sums` (labels x labels) is added to edge_sum, block by block, if there is
// any edge: scores of edges that do not exist may be anything.
using TreeGroupBody = FunctionRef<void(const TreeGroup&, Arena, double*)>;

inline void for_each_tree_group(const Forest& forest, const TreeSchedule& whole, std::size_t labels, double cost,
                                double* edge_sum, const std::vector<Outcome>& outcome, TreeGroupBody body) {
    const std::vector<std::size_t> pending = pending_of(outcome);
    if (pending.empty()) return;
    const bool all = pending.size() == whole.instances();
    const TreeSchedule rest(forest, all ? std::vector<std::size_t>{} : pending);
    const TreeSchedule& schedule = all ? whole : rest;
    const std::size_t square = labels * labels;
    const std::vector<std::size_t> block = schedule.blocks(labels);
    std::vector<double> sums((block.size() - 1) * square);
    const int threads = threads_for(cost * static_cast<double>(schedule.positions() * square));
    Workspaces workspaces(tree_bytes(schedule, labels), threads);
    for_each_block(block.size() - 1, threads, [&](std::size_t b, std::size_t thread) {
        for (std::size_t g = block[b]; g < block[b + 1]; ++g)
            body(schedule.group(g), workspaces.arena(thread), sums.data() + b * square);
    });
    if (edge_sum && forest.edge_before[forest.positions] > 0)
        for (std::size_t k = 0; k < sums.size(); ++k) edge_sum[k % square] += sums[k];
}

template <class S>
void for_each_tree_group(const ForestBatch<S>& batch, double cost, double* edge_sum,
                         const std::vector<Outcome>& outcome, TreeGroupBody body) {
    for_each_tree_group(*batch.forest, *batch.schedule, batch.labels, cost, edge_sum, outcome, body);
}

// body(s, tree, arena, sums) for every instance still pending whose scores can be used, with rows not yet filled;
// the others stay as they are. For recursions in logarithms, one instance after the other.
template <class S>
void for_each_pending_tree(
    const ForestBatch<S>& batch, double cost, double* edge_sum, const std::vector<Outcome>& outcome,
    std::type_identity_t<FunctionRef<void(std::size_t, const TreeView<S>&, Arena, double*)>> body) {
    for_each_tree_group(batch, cost, edge_sum, outcome, [&](const TreeGroup& group, Arena arena, double* sums) {
        for (std::size_t k = 0; k < group.count; ++k) {
            Arena local = arena;
            const std::size_t s = group.instance[k];
            const TreeView<S> tree(batch, s, take<double>(local, batch.length(s) * batch.labels));
            if (tree.usable_scores()) body(s, tree, local, sums);
        }
    });
}

// Shared edges ready for the scaled recursions in double; nothing where edges have their own scores.
template <class S> struct DoubleEdges {
    EdgeTable<double> table;
    SharedEdges<double> edges{};

    explicit DoubleEdges(const ForestBatch<S>& batch) : table(batch.labels, chain_kernels<S>().double_width) {
        if (!batch.shared) return;
        edges = {table.table(0), table.table(1), 0, 0, false};
        chain_kernels<S>().prepare_edges_double(batch.edge, batch.labels, edges);
    }
};

}  // namespace kernelfields
