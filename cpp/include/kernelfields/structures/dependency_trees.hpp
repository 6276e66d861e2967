// Single trees of ragged batches: the best, the k best, draws. `projective` says which trees there are; outputs are
// head * labels + relation for every word.
#pragma once

#include "dependency.hpp"
#include "edmonds_kbest.hpp"
#include "eisner_argmax.hpp"
#include "eisner_kbest.hpp"
#include "labelled_best.hpp"
#include "tree_draws.hpp"

namespace kernelfields {

struct BestTreeMemory {
    EisnerArgmax eisner;
    Edmonds edmonds;
    std::vector<double> theta, row;
};

// The best output of every sentence. Relations: the best of each arc, the first of several.
inline void dependency_argmax(const ArcBatch& batch, bool projective, std::int32_t* output, double* value) {
    std::vector<BestTreeMemory> memory;
    for_each_sentence(
        batch, cubic_cost(batch, 1), [&](std::size_t threads) { memory.resize(threads); },
        [&](std::size_t s, std::size_t thread) {
            auto& [eisner, edmonds, theta, row] = memory[thread];
            const std::size_t n = batch.words(s), L = batch.labels;
            std::int32_t* heads = output + batch.word(s);
            std::fill(heads, heads + n, 0);
            theta.resize(n * (n + 1));
            value[s] = NAN;
            if (!read_arcs(batch, s, row, theta.data(), largest_of)) return;
            const bool found = projective ? eisner.run(n, theta.data(), batch.single_root, heads) > kNothing
                                          : edmonds.run(n, theta.data(), batch.single_root, heads);
            for (std::size_t m = 1; m <= n; ++m) {
                const std::size_t arc = arc_at(n, m, static_cast<std::size_t>(heads[m - 1]));
                heads[m - 1] = heads[m - 1] * static_cast<std::int32_t>(L) + best_label(batch, s, arc);
            }
            value[s] = found ? arcs_score(batch, s, output) : kNothing;
        });
}

// The k best trees by theta, one after the other: visit(heads, score) until it says that it has enough.
template <class Visit>
void best_trees(std::size_t n, const double* theta, bool projective, bool single_root, Visit visit) {
    std::vector<std::int32_t> heads(n);
    if (projective) {
        EisnerBest best(n, theta, single_root);
        for (std::size_t r = 0;; ++r) {
            const double score = best.tree(r, heads.data());
            if (score == kNothing || !visit(heads, score)) return;
        }
    }
    SpanningBest best(n, theta, single_root);
    for (;;) {
        const double score = best.next(heads.data());
        if (score == kNothing || !visit(heads, score)) return;
    }
}

// k outputs (k x words), -1 where there are fewer, and scores (sentences x k).
inline void dependency_kbest(const ArcBatch& batch, bool projective, std::size_t k, std::int32_t* output,
                             double* value) {
    const std::size_t words = static_cast<std::size_t>(batch.first_word[batch.sentences]);
    const double each = projective ? 30 : 20 * static_cast<double>(k);
    for_each_sentence(
        batch, cubic_cost(batch, each), [](std::size_t) {},
        [&](std::size_t s, std::size_t) {
            const std::size_t n = batch.words(s);
            std::vector<double> theta(n * (n + 1)), row;
            std::fill(value + s * k, value + (s + 1) * k, kNothing);
            for (std::size_t r = 0; r < k; ++r)
                std::fill(output + r * words + batch.word(s), output + r * words + batch.word(s) + n, -1);
            if (!read_arcs(batch, s, row, theta.data(), largest_of)) return;
            LabelledBest labelled(batch, s);
            std::size_t found = 0;
            best_trees(n, theta.data(), projective, batch.single_root,
                       [&](const std::vector<std::int32_t>& heads, double score) {
                           labelled.add(score, heads.data());
                           return ++found < k;
                       });
            for (std::size_t r = 0; r < k; ++r) {
                std::int32_t* place = output + r * words + batch.word(s);
                if (labelled.next(place) == kNothing) return;
                value[s * k + r] = arcs_score(batch, s, output + r * words);
            }
        });
}

// Calls draw(uniforms, heads) through a sampler of the trees of a sentence; log-partition first.
template <class Body> double with_draws(std::size_t n, bool projective, bool single_root, ArcSums& sums, Body body) {
    if (!projective) {
        const double value = sums.run<MatrixTreeSums>(n, single_root, true);
        if (!std::isfinite(value)) return value;
        std::vector<double> root(n);
        for (std::size_t m = 1; m <= n && single_root; ++m) root[m - 1] = sums.marginal[arc_at(n, m, 0)];
        SpanningDraws draws(n, sums.theta.data(), single_root ? root.data() : nullptr);
        if (n > 0) body(draws);
        return value;
    }
    const double value = sums.run<ProjectiveSums>(n, single_root, false);
    if (!std::isfinite(value) || n == 0) return value;
    const auto from = [&]<class T>(ArcMemory<T>& memory) {
        const std::size_t stride = ProjectiveSums::stride_of<T>(n), size = EisnerChart<T>::tables * (n + 1) * stride;
        const EisnerChart<T> chart(n, stride, memory.aligned(memory.table, size), false);
        EisnerDraws<T> draws(chart, memory.weight.data(), single_root);
        body(draws);
    };
    if (sums.widened) from(sums.wide);
    else from(sums.narrow);
    return value;
}

// `count` outputs (count x words); `value` are log-partitions, finite where there is anything to draw from.
inline void dependency_sample(const ArcBatch& batch, bool projective, std::size_t count, std::uint64_t seed,
                              std::int32_t* output, double* value) {
    const std::size_t words = static_cast<std::size_t>(batch.first_word[batch.sentences]);
    std::vector<ArcSums> memory;
    for_each_sentence(
        batch, cubic_cost(batch, 3 + static_cast<double>(count)), [&](std::size_t threads) { memory.resize(threads); },
        [&](std::size_t s, std::size_t thread) {
            ArcSums& sums = memory[thread];
            const std::size_t n = batch.words(s), L = batch.labels;
            sums.theta.resize(n * (n + 1));
            std::vector<double> cumulative(L);
            value[s] = NAN;
            if (!read_arcs(batch, s, sums.row, sums.theta.data(), log_sum_exp)) return;
            value[s] = with_draws(n, projective, batch.single_root, sums, [&](auto& draw) {
                for (std::size_t r = 0; r < count; ++r) {
                    std::int32_t* heads = output + r * words + batch.word(s);
                    Uniforms uniform{seed, r, s};
                    draw(uniform, heads);
                    for (std::size_t m = 1; m <= n && L > 1; ++m) {
                        const Reals scores = batch.scores(s) + arc_at(n, m, static_cast<std::size_t>(heads[m - 1])) * L;
                        const std::int32_t label =
                            draw_label(L, uniform(), cumulative, [&](std::size_t l) { return scores[l]; });
                        heads[m - 1] = heads[m - 1] * static_cast<std::int32_t>(L) + label;
                    }
                }
            });
        });
}

}  // namespace kernelfields
