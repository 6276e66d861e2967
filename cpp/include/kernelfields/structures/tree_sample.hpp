// Exact samples from forests: messages to the roots, then labels drawn from the roots to the leaves.
#pragma once

#include "../core/draw.hpp"
#include "tree_run.hpp"

namespace kernelfields {

// Where messages are logarithms.
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

// Where they are scaled: p(j | i) ~ A(i, j) u_v(j), rows of `stride` numbers.
template <class S> struct ScaledSampler {
    const ForestBatch<S>& batch;
    const TreeGroup& group;
    const double *A, *messages;
    std::size_t stride;
    std::vector<double> cumulative;

    void operator()(const std::vector<Outcome>& outcome, std::uint64_t seed, std::uint64_t draw, std::int32_t* labels) {
        const std::size_t L = batch.labels;
        for (std::size_t k = 0; k < group.slots; ++k) {
            if (outcome[group.instance[group.owner[k]]] != Outcome::done) continue;
            const std::size_t v = group.vertex[k];
            const double* u = messages + k * stride;
            const double uniform = uniform_at(seed, draw, group.vertex[k]);
            if (k < group.level[1]) {
                labels[v] = draw_by_mass(L, uniform, cumulative, [&](std::size_t j) { return u[j]; });
                continue;
            }
            const auto above = static_cast<std::size_t>(labels[group.vertex[group.parent[k]]]);
            if (batch.shared) {
                const double* row = A + above * stride;
                labels[v] = draw_by_mass(L, uniform, cumulative, [&](std::size_t j) { return row[j] * u[j]; });
            } else labels[v] = below(v, above, u, uniform);
        }
    }
    std::int32_t below(std::size_t v, std::size_t above, const double* u, double uniform) {
        const S* pairs = batch.edge + batch.edge_at(v) + above * batch.labels;
        const double top = static_cast<double>(*std::max_element(pairs, pairs + batch.labels));
        return draw_by_mass(batch.labels, uniform, cumulative,
                            [&](std::size_t j) { return std::exp(static_cast<double>(pairs[j]) - top) * u[j]; });
    }
};

// `count` labellings of the whole batch (count x positions); log_partition tells which can be had.
template <class S>
void tree_sample(const ForestBatch<S>& batch, std::size_t count, std::uint64_t seed, std::int32_t* labels,
                 double* log_partition) {
    const std::size_t L = batch.labels, stride = padded(L, chain_kernels<S>().double_width);
    const double draws = 10 * static_cast<double>(count) / static_cast<double>(L);
    std::vector<Outcome> outcome = starting_outcomes(batch);
    no_values_yet(batch, log_partition);
    const DoubleEdges<S> edges(batch);
    for_each_tree_group(batch, 0.2 + draws, nullptr, outcome, [&](const TreeGroup& group, Arena arena, double*) {
        double* messages = take<double>(arena, group.slots * stride);
        tree_kernels<S>().messages(batch, &edges.edges, group, messages, log_partition, arena, outcome.data());
        ScaledSampler<S> sample{batch, group, edges.edges.forward, messages, stride, std::vector<double>(L)};
        for (std::size_t n = 0; n < count; ++n) sample(outcome, seed, n, labels + n * batch.positions);
    });
    for_each_pending_tree(batch, 8 + draws, nullptr, outcome,
                          [&](std::size_t s, const TreeView<S>& tree, Arena arena, double*) {
                              log_partition[s] = send_upwards(tree, take<double>(arena, L), log_sum_exp);
                              if (!std::isfinite(log_partition[s])) return;
                              std::vector<double> cumulative(L);
                              for (std::size_t n = 0; n < count; ++n)
                                  sample_tree(tree, seed, n, cumulative, labels + n * batch.positions);
                          });
}

}  // namespace kernelfields
