// Messages of ragged batches of forests, in logarithms and in double, from the leaves to the roots:
//
//   u_v(j) = node_v(j) + sum over children c of (+)_k [ edge_c(j, k) + u_c(k) ]
//
// where (+) is log sum exp, or max. Each u_v is shifted to a largest entry of zero whenever it has
// grown, so that rounding grows neither with depth nor with the number of children.
#pragma once

#include "../core/logarithms.hpp"
#include "tree_schedule.hpp"

namespace kernelfields {

// A batch of forests with all that is known of its shape. Without a schedule, only what needs none can be asked.
template <class S> struct ForestBatch : TreeBatch<S> {
    const Forest* forest;
    const TreeSchedule* schedule;
};

template <class S>
ForestBatch<S> forest_batch(const Forest& forest, const TreeSchedule* schedule, std::size_t labels, const S* node,
                            const S* edge, bool shared) {
    return {{forest.sequences, forest.positions, labels, forest.first, forest.parent, forest.edge_before.data(), node,
             edge, shared},
            &forest,
            schedule};
}

// One instance: a row of `labels` numbers for each of its vertices.
template <class S> struct TreeView {
    const ForestBatch<S>& batch;
    std::size_t first, length, labels;
    double* rows;

    TreeView(const ForestBatch<S>& all, std::size_t s, double* workspace)
        : batch(all),
          first(static_cast<std::size_t>(all.first[s])),
          length(all.length(s)),
          labels(all.labels),
          rows(workspace) {}

    double* row(std::size_t v) const { return rows + (v - first) * labels; }
    const S* node(std::size_t v) const { return batch.node + v * labels; }
    const S* pairs(std::size_t v) const { return batch.edge + batch.edge_at(v); }
    bool is_root(std::size_t v) const { return batch.parent[v] < 0; }
    std::size_t parent(std::size_t v) const { return static_cast<std::size_t>(batch.parent[v]); }
    std::size_t edges() const { return batch.edge_before[first + length] - batch.edge_before[first]; }

    // Children before parents.
    template <class Visit> void upwards(Visit visit) const {
        for (std::size_t k = length; k-- > 0;) visit(batch.forest->downward[first + k]);
    }
    // Parents before children.
    template <class Visit> void downwards(Visit visit) const {
        for (std::size_t k = 0; k < length; ++k) visit(batch.forest->downward[first + k]);
    }
    // Whether the instance's own scores can be used.
    bool usable_scores() const {
        return usable(node(first), length * labels) &&
               (batch.shared || usable(pairs(first), edges() * labels * labels));
    }
};

// out(k) = edge_v(i, k) + u_v(k), i the label of the parent.
template <class S> void given_parent(const TreeView<S>& tree, std::size_t v, std::size_t i, double* out) {
    const S* pairs = tree.pairs(v) + i * tree.labels;
    const double* u = tree.row(v);
    for (std::size_t k = 0; k < tree.labels; ++k) out[k] = static_cast<double>(pairs[k]) + u[k];
}

// Fills the rows with u_v; returns (+) over all labellings. `work` holds one row.
template <class S, class Combine> double send_upwards(const TreeView<S>& tree, double* work, Combine combine) {
    const std::size_t L = tree.labels;
    double total = 0;
    std::copy(tree.node(tree.first), tree.node(tree.first + tree.length), tree.rows);
    for (std::size_t v = tree.first; v < tree.first + tree.length; ++v) total += shift_to_zero(tree.row(v), L);
    tree.upwards([&](std::size_t v) {
        if (total == kNothing) return;
        if (tree.is_root(v)) {
            total += combine(tree.row(v), L);
            return;
        }
        double* u = tree.row(tree.parent(v));
        for (std::size_t i = 0; i < L; ++i) {
            if (u[i] == kNothing) continue;
            given_parent(tree, v, i, work);
            u[i] += combine(work, L);
        }
        total += shift_to_zero(u, L);
    });
    return total;
}

}  // namespace kernelfields
