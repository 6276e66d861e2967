// Binary trees of ragged batches: log-partition, marginals, covariance products, entropy.
//
// Labels of spans are summed over first, and shared out afterwards: given the tree without labels, and which of its
// spans are left parts, the label of a span depends on nothing else.
#pragma once

#include "span_sums.hpp"

namespace kernelfields {

// Log-partitions; marginals (spans x labels), times the weight of the sentence, where there is room for them.
inline void constituency_marginals(const SpanBatch& batch, const double* weight, double* value, RealsOut marginal) {
    std::vector<SpanSums> memory;
    std::vector<std::vector<double>> factors;
    for_each_parse(
        batch, 1, 3, [&](std::size_t threads) { memory.resize(threads), factors.resize(threads); },
        [&](std::size_t s, std::size_t thread) {
            SpanSums& sums = memory[thread];
            std::vector<double>& factor = factors[thread];
            const std::size_t n = batch.words(s), spans = spans_of(n), L = batch.labels;
            const RealsOut out = marginal ? marginal + static_cast<std::size_t>(batch.first_span[s]) * L : RealsOut();
            value[s] = sums.read(batch, s, out) ? sums.run(n, static_cast<bool>(marginal)) : NAN;
            if (!marginal) return;
            if (!std::isfinite(value[s])) return out.clear(spans * L);
            const double times = weight ? weight[s] : 1.0;
            factor.resize(spans);
            for (std::size_t r = 0; r < spans; ++r) {
                const double right = sums.any[r] * (1 - sums.empty_share(r));
                factor[r] = sums.sum[r] > 0 ? times * (sums.full[r] + right) / sums.sum[r] : 0;
            }
            out.with([&](auto* to) { constituency_kernels().scale(to, spans, L, factor.data()); });
            for (std::size_t r = 0; r < spans && batch.empty; ++r)
                if (sums.zero[r] > kNothing) out.set(r * L, times * sums.any[r] * sums.empty_share(r));
        });
}

// The derivative of all marginals along a direction; `value` are log-partitions.
inline void constituency_covariance(const SpanBatch& batch, Reals direction, const double* weight, double* value,
                                    RealsOut change) {
    std::vector<SpanSums> memory;
    for_each_parse(
        batch, 10, 20, [&](std::size_t threads) { memory.resize(threads); },
        [&](std::size_t s, std::size_t thread) {
            SpanSums& sums = memory[thread];
            const std::size_t n = batch.words(s), spans = spans_of(n), L = batch.labels;
            const std::size_t first = static_cast<std::size_t>(batch.first_span[s]) * L;
            const Reals along = direction + first, scores = batch.scores(s);
            const RealsOut out = change + first;
            out.clear(spans * L);
            value[s] = NAN;
            if (!sums.read(batch, s, {})) return;
            sums.mean_full.assign(spans, 0);
            sums.mean_any.assign(spans, 0);
            const auto share = [&](std::size_t r, std::size_t l) {
                return std::exp(scores[r * L + l] - sums.score_full(r));
            };
            for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t r) {  // the mean of what its labels change
                const double empty = sums.empty_share(r);
                for (std::size_t l = batch.first_label(i, j); l < L && sums.sum[r] > 0; ++l)
                    sums.mean_full[r] += share(r, l) * along[r * L + l];
                sums.mean_any[r] = (1 - empty) * sums.mean_full[r];
                if (empty > 0) sums.mean_any[r] += empty * along[r * L];
            });
            value[s] = sums.differentiate(n);
            if (!std::isfinite(value[s])) return;
            const double times = weight ? weight[s] : 1.0;
            for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t r) {
                const double empty = sums.empty_share(r);
                // How the marginal of a label changes that has so much of left parts, and so much of right ones.
                const auto changed = [&](double left, double right, double by) {
                    const double left_change = sums.full_change[r] + sums.full[r] * (by - sums.mean_full[r]);
                    const double right_change = sums.any_change[r] + sums.any[r] * (by - sums.mean_any[r]);
                    return times * (left * left_change + right * right_change);
                };
                for (std::size_t l = batch.first_label(i, j); l < L && sums.sum[r] > 0; ++l) {
                    const double p = share(r, l);
                    out.set(r * L + l, changed(p, p * (1 - empty), along[r * L + l]));
                }
                if (empty > 0) out.set(r * L, changed(0, empty, along[r * L]));
            });
        });
}

// The entropy of the split of a span, given the span.
template <class T> double split_entropy(const CkyTables<T>& chart, std::size_t i, std::size_t j) {
    T total{};
    const auto mass = [&](std::size_t k) { return chart.full[i * chart.stride + k] * chart.any[k * chart.stride + j]; };
    for (std::size_t k = i + 1; k < j; ++k) total += mass(k);
    double entropy = 0;
    for (std::size_t k = i + 1; k < j; ++k) {
        const double p = value_of(mass(k) / total);
        if (p > 0) entropy -= p * std::log(p);
    }
    return entropy;
}

// H = sum over spans of P(span) (H(split | span) + H(label | span)): nothing is subtracted, whatever the scores.
inline void constituency_entropy(const SpanBatch& batch, double* value) {
    std::vector<SpanSums> memory;
    for_each_parse(
        batch, 10, 20, [&](std::size_t threads) { memory.resize(threads); },
        [&](std::size_t s, std::size_t thread) {
            SpanSums& sums = memory[thread];
            const std::size_t n = batch.words(s), L = batch.labels;
            value[s] = sums.read(batch, s, {}) ? sums.run(n, true) : NAN;
            if (!std::isfinite(value[s])) return;
            value[s] = 0;
            std::vector<double> row;
            for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t r) {
                const double full = sums.full[r], any = sums.any[r], empty = sums.empty_share(r);
                if (full + any == 0) return;
                if (j - i > 1)
                    value[s] += (full + any) * (sums.widened ? split_entropy(sums.wide.chart, i, j)
                                                             : split_entropy(sums.narrow.chart, i, j));
                const std::size_t first = batch.first_label(i, j);
                row.resize(L - first);
                (batch.scores(s) + r * L + first).copy(L - first, row.data());
                const double labels = softmax(row.data(), row.size()) ? entropy_of(row.data(), row.size()) : 0;
                const double kinds[] = {empty, 1 - empty};
                value[s] += (full + any * (1 - empty)) * labels + any * entropy_of(kinds, 2);
            });
        });
}

}  // namespace kernelfields
