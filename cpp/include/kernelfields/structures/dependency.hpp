// Dependency trees of ragged batches: log-partition, marginals, covariance products, entropy. Sums says which trees.
//
// Relations of arcs are summed over first, log sum_l exp(theta(h, m, l)), and shared out afterwards: given its arc, the
// relation of a word depends on nothing else.
#pragma once

#include "arc_sums.hpp"

namespace kernelfields {

// Log-partitions; marginals (arcs x labels), times the weight of the sentence, where there is room for them.
template <class Sums>
void dependency_marginals(const ArcBatch& batch, const double* weight, double* value, RealsOut marginal) {
    std::vector<ArcSums> memory;
    for_each_sentence(
        batch, cubic_cost(batch, 3), [&](std::size_t threads) { memory.resize(threads); },
        [&](std::size_t s, std::size_t thread) {
            ArcSums& sums = memory[thread];
            const std::size_t n = batch.words(s), L = batch.labels;
            sums.theta.resize(n * (n + 1));
            const bool good = read_arcs(batch, s, sums.row, sums.theta.data(), log_sum_exp);
            value[s] = good ? sums.run<Sums>(n, batch.single_root, static_cast<bool>(marginal)) : NAN;
            if (!marginal) return;
            const RealsOut out = marginal + static_cast<std::size_t>(batch.first_arc[s]) * L;
            out.clear(n * (n + 1) * L);
            if (!std::isfinite(value[s])) return;
            const double times = weight ? weight[s] : 1.0;
            out.with([&]<class S>(S* to) {
                for_each_arc(n, [&](std::size_t a) {
                    if (sums.marginal[a] == 0) return;
                    const Reals scores = batch.scores(s) + a * L;
                    for (std::size_t l = 0; l < L; ++l) {
                        const double share = L == 1 ? 1 : std::exp(scores[l] - sums.theta[a]);
                        to[a * L + l] = static_cast<S>(times * sums.marginal[a] * share);
                    }
                });
            });
        });
}

// The derivative of all marginals along a direction; `value` are log-partitions.
template <class Sums>
void dependency_covariance(const ArcBatch& batch, Reals direction, const double* weight, double* value,
                           RealsOut change) {
    std::vector<ArcSums> memory;
    for_each_sentence(
        batch, cubic_cost(batch, 10), [&](std::size_t threads) { memory.resize(threads); },
        [&](std::size_t s, std::size_t thread) {
            ArcSums& sums = memory[thread];
            const std::size_t n = batch.words(s), L = batch.labels,
                              first = static_cast<std::size_t>(batch.first_arc[s]);
            const Reals along = direction + first * L, scores = batch.scores(s);
            const RealsOut out = change + first * L;
            out.clear(n * (n + 1) * L);
            sums.theta.resize(n * (n + 1));
            sums.direction.assign(n * (n + 1), 0);
            const bool good = read_arcs(batch, s, sums.row, sums.theta.data(), log_sum_exp);
            const auto share = [&](std::size_t a, std::size_t l) {
                return L == 1 ? 1 : std::exp(scores[a * L + l] - sums.theta[a]);
            };
            for_each_arc(n, [&](std::size_t a) {  // the mean of what its relations change
                if (sums.theta[a] == kNothing) return;
                for (std::size_t l = 0; l < L; ++l) sums.direction[a] += share(a, l) * along[a * L + l];
            });
            value[s] = good ? sums.differentiate<Sums>(n, batch.single_root) : NAN;
            if (!std::isfinite(value[s])) return;
            const double times = weight ? weight[s] : 1.0;
            for_each_arc(n, [&](std::size_t a) {
                if (sums.theta[a] == kNothing) return;
                for (std::size_t l = 0; l < L; ++l) {
                    const double apart = along[a * L + l] - sums.direction[a];
                    out.set(a * L + l, times * share(a, l) * (sums.change[a] + sums.marginal[a] * apart));
                }
            });
        });
}

// H = log Z' - E[theta'] of shifted scores, in which the arcs of the best tree are zero: what is subtracted is of the
// size of H itself, not of the scores. `best` has the head of every word; relations add their entropies given the arc.
template <class Sums>
void dependency_entropy(const ArcBatch& batch, const std::int32_t* best, double* value) {
    std::vector<ArcSums> memory;
    for_each_sentence(
        batch, cubic_cost(batch, 3), [&](std::size_t threads) { memory.resize(threads); },
        [&](std::size_t s, std::size_t thread) {
            ArcSums& sums = memory[thread];
            const std::size_t n = batch.words(s), L = batch.labels;
            sums.theta.resize(n * (n + 1));
            if (!read_arcs(batch, s, sums.row, sums.theta.data(), log_sum_exp)) {
                value[s] = NAN;
                return;
            }
            for (std::size_t m = 1; m <= n; ++m) {
                const auto head = static_cast<std::size_t>(best[batch.word(s) + m - 1]) / L;
                double* row = sums.theta.data() + arc_at(n, m, 0);
                const double zero = row[head];
                for (std::size_t h = 0; h <= n; ++h) row[h] -= zero;
            }
            value[s] = sums.run<Sums>(n, batch.single_root, true);
            if (!std::isfinite(value[s])) return;
            for_each_arc(n, [&](std::size_t a) {
                const double p = sums.marginal[a];
                if (p == 0) return;
                value[s] -= p * sums.theta[a];
                if (L == 1) return;
                (batch.scores(s) + a * L).copy(L, sums.row.data());
                softmax(sums.row.data(), L);
                value[s] += p * entropy_of(sums.row.data(), L);
            });
        });
}

}  // namespace kernelfields
