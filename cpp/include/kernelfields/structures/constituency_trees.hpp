// Single trees of ragged batches: the best, the k best, draws. Outputs are span * labels + label for every span of a
// tree, in the order of spans.
#pragma once

#include "cky_kbest.hpp"
#include "cky_trees.hpp"

namespace kernelfields {

// The first label with the highest score, of those from `first` on.
template <class S> std::size_t best_label_from(const S* scores, std::size_t first, std::size_t labels) {
    return static_cast<std::size_t>(std::max_element(scores + first, scores + labels) - scores);
}

// The best output of every sentence. Labels: the best of each span, the first of several.
inline void constituency_argmax(const SpanBatch& batch, std::int32_t* output, double* value) {
    struct Memory {
        CkyArgmax chart;
        std::vector<std::int32_t> full, any;  // best labels
    };
    std::vector<Memory> memory;
    const std::vector<std::size_t> places = output_places(batch);
    for_each_parse(
        batch, 0.5, 2, [&](std::size_t threads) { memory.resize(threads); },
        [&](std::size_t s, std::size_t thread) {
            auto& [chart, full, any] = memory[thread];
            const std::size_t n = batch.words(s), L = batch.labels;
            const Reals scores = batch.scores(s);
            std::int32_t* next = output + places[s];
            std::fill(next, output + places[s + 1], 0);
            value[s] = NAN;
            if (!usable_spans(batch, s)) return;
            full.assign(spans_of(n), -1);
            any.assign(spans_of(n), -1);
            scores.with([&](const auto* numbers) {
                for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t r) {
                    const std::size_t first = batch.first_label(i, j);
                    any[r] = static_cast<std::int32_t>(best_label_from(numbers + r * L, 0, L));
                    if (first < L) full[r] = static_cast<std::int32_t>(best_label_from(numbers + r * L, first, L));
                });
            });
            const auto score = [&](const std::vector<std::int32_t>& label) {
                return [&](std::size_t i, std::size_t j) {
                    const std::size_t r = span_at(n, i, j);
                    return label[r] < 0 ? kNothing : scores[r * L + static_cast<std::size_t>(label[r])];
                };
            };
            const bool found = chart.run(n, score(full), score(any), [&](const TreeSpan& span) {
                const std::size_t r = span_at(n, span.i, span.j);
                *next++ = static_cast<std::int32_t>(r * L) + (span.right ? any : full)[r];
            });
            std::sort(output + places[s], next);
            value[s] = found ? spans_score(batch, s, output + places[s]) : kNothing;
        });
}

// k outputs (k x spans of trees), -1 where there are fewer, and scores (sentences x k).
inline void constituency_kbest(const SpanBatch& batch, std::size_t k, std::int32_t* output, double* value) {
    const std::vector<std::size_t> places = output_places(batch);
    for_each_parse(
        batch, 30, 50, [](std::size_t) {},
        [&](std::size_t s, std::size_t) {
            std::fill(value + s * k, value + (s + 1) * k, kNothing);
            for (std::size_t r = 0; r < k; ++r)
                std::fill(output + r * places.back() + places[s], output + r * places.back() + places[s + 1], -1);
            if (!usable_spans(batch, s)) return;
            CkyBest best(batch, s);
            for (std::size_t r = 0; r < k; ++r) {
                std::int32_t* place = output + r * places.back() + places[s];
                if (best.tree(r, place) == kNothing) return;
                value[s * k + r] = spans_score(batch, s, place);
            }
        });
}

// `count` outputs (count x spans of trees); `value` are log-partitions, finite where there is anything to draw from.
inline void constituency_sample(const SpanBatch& batch, std::size_t count, std::uint64_t seed, std::int32_t* output,
                                double* value) {
    std::vector<SpanSums> memory;
    const std::vector<std::size_t> places = output_places(batch);
    for_each_parse(
        batch, 1 + static_cast<double>(count), 3, [&](std::size_t threads) { memory.resize(threads); },
        [&](std::size_t s, std::size_t thread) {
            SpanSums& sums = memory[thread];
            const std::size_t n = batch.words(s), L = batch.labels;
            value[s] = sums.read(batch, s, {}) ? sums.run(n, false) : NAN;
            if (!std::isfinite(value[s]) || n == 0) return;
            std::vector<double> cumulative(L);
            const auto draw_all = [&](auto& draw) {
                for (std::size_t r = 0; r < count; ++r) {
                    std::int32_t* const begin = output + r * places.back() + places[s];
                    std::int32_t* next = begin;
                    Uniforms uniform{seed, r, s};
                    draw(uniform, [&](const TreeSpan& span) {
                        const std::size_t row = span_at(n, span.i, span.j) * L;
                        const std::size_t first = span.right ? 0 : batch.first_label(span.i, span.j);
                        const std::int32_t label = draw_label(L, uniform(), cumulative, [&](std::size_t l) {
                            return l < first ? kNothing : batch.scores(s)[row + l];
                        });
                        *next++ = static_cast<std::int32_t>(row) + label;
                    });
                    std::sort(begin, next);
                }
            };
            const auto from = [&]<class T>(const CkyTables<T>& chart) {
                CkyDraws<T> draws(chart);
                draw_all(draws);
            };
            if (sums.widened) from(sums.wide.chart);
            else from(sums.narrow.chart);
        });
}

}  // namespace kernelfields
