// Exact inference for ragged batches of forests: marginals, entropy, argmax.
//
// After the messages u_v (tree_messages.hpp), a forest is a Markov chain from the roots to the leaves:
//
//   mu_v ~ exp u_v at a root      p(y_v = j | y_parent = i) ~ exp(edge_v(i, j) + u_v(j))
//   mu_v(j) = sum_i mu_parent(i) p(j | i)
//
// which needs no message divided by another: nothing cancels, and -inf is no special case. Scores
// that are NaN or +inf give NaN, an instance without any allowed labelling gives -inf, in its value.
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

// Log-partitions, and marginals where `out` has room for them.
template <class S> void tree_marginals(const TreeBatch<S>& batch, const MarginalsOut<S>& out, double* edge_sum) {
    const std::size_t L = batch.labels;
    const double cost = out.node ? 16 : 8;
    for_each_tree(batch, cost, out.log_partition, edge_sum,
                  [&](std::size_t s, const TreeView<S>& tree, Arena arena, double* sums) {
                      double* work = take<double>(arena, 2 * L);
                      out.log_partition[s] = send_upwards(tree, work, log_sum_exp);
                      if (!out.node || !std::isfinite(out.log_partition[s])) return;
                      const double weight = out.weight ? out.weight[s] : 1.0;
                      if (out.edge) std::fill_n(out.edge + batch.edge_at(tree.first), tree.edges() * L * L, S{0});
                      send_downwards(
                          tree, work, [](const double*) {},
                          [&](std::size_t v, std::size_t i, double mu, const double* p) {
                              if (sums)
                                  for (std::size_t j = 0; j < L; ++j) sums[i * L + j] += weight * mu * p[j];
                              else
                                  for (std::size_t j = 0; j < L; ++j)
                                      out.edge[batch.edge_at(v) + i * L + j] = static_cast<S>(weight * mu * p[j]);
                          });
                      for (std::size_t k = 0; k < tree.length * L; ++k)
                          out.node[tree.first * L + k] = static_cast<S>(weight * tree.rows[k]);
                  });
}

// H = sum over roots of H(y_v) + sum over edges of E[ H(y_v | y_parent) ].
template <class S> void tree_entropy(const TreeBatch<S>& batch, double* entropy) {
    const std::size_t L = batch.labels;
    for_each_tree(batch, 24, entropy, nullptr, [&](std::size_t s, const TreeView<S>& tree, Arena arena, double*) {
        double* work = take<double>(arena, 2 * L);
        const double log_partition = send_upwards(tree, work, log_sum_exp);
        entropy[s] = std::isfinite(log_partition) ? 0 : log_partition;
        if (!std::isfinite(log_partition)) return;
        send_downwards(
            tree, work, [&](const double* p) { entropy[s] += entropy_of(p, L); },
            [&](std::size_t, std::size_t, double mu, const double* p) { entropy[s] += mu * entropy_of(p, L); });
    });
}

// Score of given labels (one per vertex of the batch); -inf where one is not allowed.
template <class S> double tree_score(const TreeBatch<S>& batch, std::size_t s, const std::int32_t* labels) {
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

// Max messages up, then down from the roots the best label given the parent's; ties to the lowest.
template <class S> void tree_argmax(const TreeBatch<S>& batch, std::int32_t* labels, double* value) {
    const std::size_t L = batch.labels;
    for_each_tree(batch, 1, value, nullptr, [&](std::size_t s, const TreeView<S>& tree, Arena arena, double*) {
        double* work = take<double>(arena, L);
        value[s] = send_upwards(tree, work, largest_of);
        if (!std::isfinite(value[s])) return;
        tree.downwards([&](std::size_t v) {
            if (tree.is_root(v)) std::copy(tree.row(v), tree.row(v) + L, work);
            else given_parent(tree, v, static_cast<std::size_t>(labels[tree.parent(v)]), work);
            labels[v] = static_cast<std::int32_t>(first_largest(work, L));
        });
        value[s] = tree_score(batch, s, labels);
    });
}

}  // namespace kernelfields
