// Exact samples from a forest: messages to the roots, then labels drawn from the roots to the leaves.
#pragma once

#include "../core/draw.hpp"
#include "tree_messages.hpp"

namespace kernelfields {

template <class S>
void sample_tree(const TreeView<S>& tree, std::uint64_t seed, std::uint64_t draw, std::vector<double>& cumulative,
                 std::int32_t* labels) {
    const std::size_t L = tree.labels;
    tree.downwards([&](std::size_t v) {
        const double* u = tree.row(v);
        const double uniform = uniform_at(seed, draw, v);
        if (tree.is_root(v)) {
            labels[v] = draw_label(L, uniform, cumulative, [&](std::size_t j) { return u[j]; });
            return;
        }
        const S* pairs = tree.pairs(v) + static_cast<std::size_t>(labels[tree.parent(v)]) * L;
        labels[v] =
            draw_label(L, uniform, cumulative, [&](std::size_t j) { return static_cast<double>(pairs[j]) + u[j]; });
    });
}

// `count` labellings of the whole batch (count x positions); log_partition tells which can be had.
template <class S>
void tree_sample(const TreeBatch<S>& batch, std::size_t count, std::uint64_t seed, std::int32_t* labels,
                 double* log_partition) {
    const double cost = 8 + 10 * static_cast<double>(count) / static_cast<double>(batch.labels);
    for_each_tree(batch, cost, log_partition, nullptr,
                  [&](std::size_t s, const TreeView<S>& tree, Arena arena, double*) {
                      log_partition[s] = send_upwards(tree, take<double>(arena, batch.labels), log_sum_exp);
                      if (!std::isfinite(log_partition[s])) return;
                      std::vector<double> cumulative(batch.labels);
                      for (std::size_t n = 0; n < count; ++n)
                          sample_tree(tree, seed, n, cumulative, labels + n * batch.positions);
                  });
}

}  // namespace kernelfields
