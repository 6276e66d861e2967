// The derivative of all marginals of a forest along a direction d in score space, exactly:
//
//   du_v(j) = dnode_v(j) + sum over children c of dm_c(j)         (upwards)
//   dm_v(i) = sum_j p(j | i) (dedge_v(i, j) + du_v(j))
//   dmu_v   = mu_v (du_v - E du_v) at a root                      (downwards)
//   d[mu_parent(i) p(j | i)] = p(j | i) (dmu_parent(i) + mu_parent(i) (dedge_v(i, j) + du_v(j) - dm_v(i)))
//
// A constant added to du_v cancels in all that matters; it is chosen such that du_v is zero at the
// label where u_v is largest, so that sums over large subtrees do not drown the differences.
#pragma once

#include "tree.hpp"

namespace kernelfields {

template <class S> struct TreeCovariance {
    const TreeView<S>& tree;    // rows: u_v, later mu_v
    const TreeView<S>& change;  // rows: du_v, later dmu_v
    const CovarianceOut<S>& out;
    double *p, *along, *next, *next_change;  // a row each

    // p <- p(. | i), along <- dedge_v(i, .) + du_v; returns dm_v(i), or 0 when i allows nothing.
    double condition(std::size_t v, std::size_t i) const {
        const std::size_t L = tree.labels;
        const S* pairs = out.edge_direction + tree.batch.edge_at(v) + i * L;
        double mean = 0;
        given_parent(tree, v, i, p);
        if (!softmax(p, L)) std::fill(p, p + L, 0.0);
        for (std::size_t j = 0; j < L; ++j) {
            along[j] = static_cast<double>(pairs[j]) + change.row(v)[j];
            mean += p[j] * along[j];
        }
        return mean;
    }

    double recentre(std::size_t v) const {
        double* du = change.row(v);
        const double centre = du[first_largest(tree.row(v), tree.labels)];
        for (std::size_t j = 0; j < tree.labels; ++j) du[j] -= centre;
        return centre;
    }

    // Fills change with du_v; returns the sum of what was subtracted.
    double upwards() const {
        const std::size_t L = tree.labels;
        double total = 0;
        std::copy_n(out.node_direction + tree.first * L, tree.length * L, change.rows);
        tree.upwards([&](std::size_t v) {
            total += recentre(v);
            if (tree.is_root(v)) return;
            for (std::size_t i = 0; i < L; ++i) change.row(tree.parent(v))[i] += condition(v, i);
            total += recentre(tree.parent(v));
        });
        return total;
    }

    // mu_v and dmu_v at a root; returns E du_v.
    double root(std::size_t v) const {
        double *mu = tree.row(v), *d = change.row(v), mean = 0;
        softmax(mu, tree.labels);
        for (std::size_t j = 0; j < tree.labels; ++j) mean += mu[j] * d[j];
        for (std::size_t j = 0; j < tree.labels; ++j) d[j] = mu[j] * (d[j] - mean);
        return mean;
    }

    // mu_v and dmu_v below a parent. edge(i, j, value) takes the derivatives of the edge marginals.
    template <class Edge> void below(std::size_t v, Edge edge) const {
        const std::size_t L = tree.labels;
        const double *mu = tree.row(tree.parent(v)), *d = change.row(tree.parent(v));
        double total = 0, drift = 0;
        std::fill(next, next + L, 0.0);
        std::fill(next_change, next_change + L, 0.0);
        for (std::size_t i = 0; i < L; ++i) {
            if (mu[i] == 0) continue;
            const double mean = condition(v, i);
            for (std::size_t j = 0; j < L; ++j) {
                const double value = p[j] * (d[i] + mu[i] * (along[j] - mean));
                edge(i, j, value);
                next[j] += mu[i] * p[j];
                next_change[j] += value;
            }
        }
        for (std::size_t j = 0; j < L; ++j) {
            total += next[j];
            drift += next_change[j];
        }
        for (std::size_t j = 0; j < L; ++j) {  // sums are 1 and 0 but for rounding, which must not add up
            tree.row(v)[j] = next[j] / total;
            change.row(v)[j] = next_change[j] - drift * next[j] / total;
        }
    }
};

template <class S>
void log_tree_covariance(const TreeView<S>& tree, std::size_t s, const CovarianceOut<S>& out, Arena arena,
                         double* sums) {
    const std::size_t L = tree.labels;
    const ForestBatch<S>& batch = tree.batch;
    const TreeView<S> change(batch, s, take<double>(arena, tree.length * L));
    double* work = take<double>(arena, 4 * L);
    double& value = out.log_partition[s];
    value = send_upwards(tree, work, log_sum_exp);
    if (!std::isfinite(value)) return;
    const TreeCovariance<S> sweep{tree, change, out, work, work + L, work + 2 * L, work + 3 * L};
    const double weight = out.weight ? out.weight[s] : 1.0;
    if (out.edge) std::fill_n(out.edge + batch.edge_before[tree.first] * L * L, tree.edges() * L * L, S{0});
    value = sweep.upwards();
    tree.downwards([&](std::size_t v) {
        if (tree.is_root(v)) value += sweep.root(v);
        else if (out.edge)
            sweep.below(v, [&](std::size_t i, std::size_t j, double x) {
                out.edge[batch.edge_at(v) + i * L + j] = static_cast<S>(weight * x);
            });
        else sweep.below(v, [&](std::size_t i, std::size_t j, double x) { sums[i * L + j] += weight * x; });
    });
    for (std::size_t k = 0; k < tree.length * L; ++k)
        out.node[tree.first * L + k] = static_cast<S>(weight * change.rows[k]);
}

// `only` (1 or 2) forces one recursion, for tests: scaled in double, logarithms.
template <class S>
void tree_covariance(const ForestBatch<S>& batch, const CovarianceOut<S>& out, double* edge_sum, int only = -1) {
    std::vector<Outcome> outcome = starting_outcomes(batch);
    no_values_yet(batch, out.log_partition);
    if (batch.shared && only != 2) {
        DoubleEdges<S> plain(batch);
        TiltedEdges edges{plain.edges, plain.table.table(2), plain.table.table(3)};
        chain_kernels<S>().tilt_edges(out.edge_direction, batch.labels, edges);
        for_each_tree_group(batch, 0.6, edge_sum, outcome, [&](const TreeGroup& group, Arena arena, double* sums) {
            tree_kernels<S>().covariance(batch, &edges, group, out, sums, arena, outcome.data());
        });
    }
    if (only != 1)
        for_each_pending_tree(batch, 24, edge_sum, outcome,
                              [&](std::size_t s, const TreeView<S>& tree, Arena arena, double* sums) {
                                  log_tree_covariance(tree, s, out, arena, sums);
                              });
}

}  // namespace kernelfields
