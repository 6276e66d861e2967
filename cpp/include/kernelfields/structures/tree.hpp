// Exact inference for ragged batches of forests: marginals, entropy, argmax.
//
// Scores that are NaN or +inf give NaN, an instance without any allowed labelling gives -inf, in its value.
#pragma once

#include "tree_log.hpp"
#include "tree_run.hpp"

namespace kernelfields {

// Log-partitions, and marginals where `out` has room for them. `only` (1 or 2) forces one recursion, for tests: scaled,
// logarithms; what it cannot hold stays NaN.
template <class S>
void tree_marginals(const ForestBatch<S>& batch, const MarginalsOut<S>& out, double* edge_sum, int only = -1) {
    std::vector<Outcome> outcome = starting_outcomes(batch);
    no_values_yet(batch, out.log_partition);
    const DoubleEdges<S> edges(batch);
    if (only != 2)
        for_each_tree_group(batch, 0.3, edge_sum, outcome, [&](const TreeGroup& group, Arena arena, double* sums) {
            tree_kernels<S>().marginals(batch, &edges.edges, group, out, sums, arena, outcome.data());
        });
    if (only != 1)
        for_each_pending_tree(batch, out.node ? 16 : 8, edge_sum, outcome,
                              [&](std::size_t s, const TreeView<S>& tree, Arena arena, double* sums) {
                                  log_tree_marginals(tree, s, out, arena, sums);
                              });
}

template <class S> void tree_entropy(const ForestBatch<S>& batch, double* entropy) {
    std::vector<Outcome> outcome = starting_outcomes(batch);
    no_values_yet(batch, entropy);
    const DoubleEdges<S> edges(batch);
    const MarginalsOut<S> out{nullptr, entropy, nullptr, nullptr};
    for_each_tree_group(batch, 2, nullptr, outcome, [&](const TreeGroup& group, Arena arena, double*) {
        tree_kernels<S>().entropy(batch, &edges.edges, group, out, nullptr, arena, outcome.data());
    });
    for_each_pending_tree(batch, 24, nullptr, outcome,
                          [&](std::size_t s, const TreeView<S>& tree, Arena arena, double*) {
                              entropy[s] = log_tree_entropy(tree, arena);
                          });
}

// Score of given labels (one per vertex of the batch); -inf where one is not allowed.
template <class S> double tree_score(const ForestBatch<S>& batch, std::size_t s, const std::int32_t* labels) {
    const TreeView<S> tree(batch, s, nullptr);
    double score = 0;
    for (std::size_t v = tree.first; v < tree.first + tree.length; ++v) {
        const auto here = static_cast<std::size_t>(labels[v]);
        score += static_cast<double>(tree.node(v)[here]);
        if (tree.is_root(v)) continue;
        const auto above = static_cast<std::size_t>(labels[tree.parent(v)]);
        score += static_cast<double>(tree.pairs(v)[above * tree.labels + here]);
    }
    return score;
}

template <class S> void tree_argmax(const ForestBatch<S>& batch, std::int32_t* labels, double* value) {
    std::vector<Outcome> outcome = starting_outcomes(batch);
    no_values_yet(batch, value);
    EdgeTable<S> table(batch.labels, chain_kernels<S>().narrow_width);
    if (batch.shared) chain_kernels<S>().prepare_max_edges(batch.edge, batch.labels, table.table(0));
    for_each_tree_group(batch, 0.2, nullptr, outcome, [&](const TreeGroup& group, Arena arena, double*) {
        tree_kernels<S>().argmax(batch, table.table(0), group, labels, arena, outcome.data());
        for (std::size_t k = 0; k < group.count; ++k) {
            const std::size_t s = group.instance[k];
            if (outcome[s] == Outcome::done) value[s] = tree_score(batch, s, labels);
        }
    });
}

}  // namespace kernelfields
