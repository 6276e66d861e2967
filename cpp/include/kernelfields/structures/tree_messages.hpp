// Messages of ragged batches of forests, in logarithms and in double, from the leaves to the roots:
//
//   u_v(j) = node_v(j) + sum over children c of (+)_k [ edge_c(j, k) + u_c(k) ]
//
// where (+) is log sum exp, or max. Each u_v is shifted to a largest entry of zero whenever it has
// grown, so that rounding grows neither with depth nor with the number of children.
#pragma once

#include "../core/logarithms.hpp"
#include "chain_plan.hpp"
#include "forest.hpp"

namespace kernelfields {

// Scores of a batch of forests over the labels 0..L-1; the rows of `edge` are labels of the parent.
//   score(y) = sum_v node[v, y_v] + sum_{v not a root} edge[e(v), y_parent(v), y_v]
// -inf forbids a label or a pair.
template <class S> struct TreeBatch {
    const Forest* forest;
    std::size_t sequences, positions, labels;
    const S* node;  // positions x labels
    const S* edge;  // labels x labels, or edges x labels x labels
    bool shared;

    std::size_t length(std::size_t s) const {
        return static_cast<std::size_t>(forest->first[s + 1] - forest->first[s]);
    }
    std::size_t edges() const { return forest->edge_before[positions]; }
    // Where the scores, or marginals, of the edge into v begin.
    std::size_t edge_at(std::size_t v) const { return shared ? 0 : forest->edge_before[v] * labels * labels; }
};

// One instance: a row of `labels` numbers for each of its vertices.
template <class S> struct TreeView {
    const TreeBatch<S>& batch;
    std::size_t first, length, labels;
    double* rows;

    TreeView(const TreeBatch<S>& all, std::size_t s, double* workspace)
        : batch(all),
          first(static_cast<std::size_t>(all.forest->first[s])),
          length(all.length(s)),
          labels(all.labels),
          rows(workspace) {}

    double* row(std::size_t v) const { return rows + (v - first) * labels; }
    const S* node(std::size_t v) const { return batch.node + v * labels; }
    const S* pairs(std::size_t v) const { return batch.edge + batch.edge_at(v); }
    bool is_root(std::size_t v) const { return batch.forest->parent[v] < 0; }
    std::size_t parent(std::size_t v) const { return static_cast<std::size_t>(batch.forest->parent[v]); }
    std::size_t edges() const { return batch.forest->edge_before[first + length] - batch.forest->edge_before[first]; }

    // Children before parents.
    template <class Visit> void upwards(Visit visit) const {
        for (std::size_t k = 0; k < length; ++k) visit(batch.forest->upward[first + k]);
    }
    // Parents before children.
    template <class Visit> void downwards(Visit visit) const {
        for (std::size_t k = length; k-- > 0;) visit(batch.forest->upward[first + k]);
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

// body(s, tree, arena, sums) for every instance whose scores can be used, with rows not yet filled;
// value[s] becomes NaN for the others, and 0 for empty ones. `cost` is nanoseconds per pair of labels.
// What bodies add to `sums` (labels x labels, null if edge_sum is) is added to edge_sum, block by block.
template <class S, class Body>
void for_each_tree(const TreeBatch<S>& batch, double cost, double* value, double* edge_sum, Body body) {
    const std::size_t square = batch.labels * batch.labels;
    const bool usable_edges = !batch.shared || usable(batch.edge, square);
    const Plan plan = make_plan(batch, [](std::size_t) { return true; });
    std::vector<double> sums(edge_sum ? plan.blocks() * square : 0);
    std::fill(value, value + batch.sequences, 0.0);
    const double work = cost * static_cast<double>(plan.positions * square);
    for_each_group(batch, plan, work, [&](Group group, Arena arena, std::size_t block) {
        for (std::size_t g = 0; g < group.count; ++g) {
            const std::size_t s = group.sequence[g];
            Arena local = arena;
            const TreeView<S> tree(batch, s, take<double>(local, batch.length(s) * batch.labels));
            if ((usable_edges || tree.edges() == 0) && tree.usable_scores())
                body(s, tree, local, edge_sum ? sums.data() + block * square : nullptr);
            else value[s] = std::numeric_limits<double>::quiet_NaN();
        }
    });
    for (std::size_t k = 0; k < sums.size(); ++k) edge_sum[k % square] += sums[k];
}

}  // namespace kernelfields
