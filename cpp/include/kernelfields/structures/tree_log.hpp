// Marginals and entropy of one forest in logarithms, for scores that the scaled recursions cannot hold. After the
// messages u_v (tree_messages.hpp), a forest is a Markov chain from the roots to the leaves:
//
//   mu_v ~ exp u_v at a root      p(y_v = j | y_parent = i) ~ exp(edge_v(i, j) + u_v(j))
//   mu_v(j) = sum_i mu_parent(i) p(j | i)
//
// which needs no message divided by another: nothing cancels, and -inf is no special case.
#pragma once

#include "tree_messages.hpp"

namespace kernelfields {

// Replaces u_v by mu_v in the rows. conditional(v, i, mu, p) sees p = p(. | i) of the edge into v
// wherever mu = mu_parent(i) > 0, root(p) sees mu_v at roots. `work` holds two rows.
template <class S, class Root, class Conditional>
void send_downwards(const TreeView<S>& tree, double* work, Root root, Conditional conditional) {
    const std::size_t L = tree.labels;
    double *p = work, *next = work + L;
    tree.downwards([&](std::size_t v) {
        if (tree.is_root(v)) {
            softmax(tree.row(v), L);
            root(tree.row(v));
            return;
        }
        const double* above = tree.row(tree.parent(v));
        double total = 0;
        std::fill(next, next + L, 0.0);
        for (std::size_t i = 0; i < L; ++i) {
            if (above[i] == 0) continue;
            given_parent(tree, v, i, p);
            if (!softmax(p, L)) continue;
            conditional(v, i, above[i], p);
            for (std::size_t j = 0; j < L; ++j) next[j] += above[i] * p[j];
        }
        for (std::size_t j = 0; j < L; ++j) total += next[j];  // 1 but for rounding, which must not add up
        for (std::size_t j = 0; j < L; ++j) tree.row(v)[j] = next[j] / total;
    });
}

// The log-partition, and marginals where `out` has room for them.
template <class S>
void log_tree_marginals(const TreeView<S>& tree, std::size_t s, const MarginalsOut<S>& out, Arena arena, double* sums) {
    const std::size_t L = tree.labels;
    double* work = take<double>(arena, 2 * L);
    out.log_partition[s] = send_upwards(tree, work, log_sum_exp);
    if (!out.node || !std::isfinite(out.log_partition[s])) return;
    const double weight = out.weight ? out.weight[s] : 1.0;
    const ForestBatch<S>& batch = tree.batch;
    if (out.edge) std::fill_n(out.edge + batch.edge_before[tree.first] * L * L, tree.edges() * L * L, S{0});
    send_downwards(
        tree, work, [](const double*) {},
        [&](std::size_t v, std::size_t i, double mu, const double* p) {
            if (out.edge)
                for (std::size_t j = 0; j < L; ++j)
                    out.edge[batch.edge_at(v) + i * L + j] = static_cast<S>(weight * mu * p[j]);
            else
                for (std::size_t j = 0; j < L; ++j) sums[i * L + j] += weight * mu * p[j];
        });
    for (std::size_t k = 0; k < tree.length * L; ++k)
        out.node[tree.first * L + k] = static_cast<S>(weight * tree.rows[k]);
}

// H = sum over roots of H(y_v) + sum over edges of E[ H(y_v | y_parent) ]; -inf where no labelling is allowed.
template <class S> double log_tree_entropy(const TreeView<S>& tree, Arena arena) {
    const std::size_t L = tree.labels;
    double* work = take<double>(arena, 2 * L);
    const double log_partition = send_upwards(tree, work, log_sum_exp);
    if (!std::isfinite(log_partition)) return log_partition;
    double entropy = 0;
    send_downwards(
        tree, work, [&](const double* p) { entropy += entropy_of(p, L); },
        [&](std::size_t, std::size_t, double mu, const double* p) { entropy += mu * entropy_of(p, L); });
    return entropy;
}

}  // namespace kernelfields
