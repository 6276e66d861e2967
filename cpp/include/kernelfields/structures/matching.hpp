// Matchings of ragged batches: every row and every column in at most one pair, or, if complete, all of the shorter side
// in exactly one.
#pragma once

#include "assignment.hpp"
#include "matching_kbest.hpp"
#include "pairs.hpp"

namespace kernelfields {

// Writes an item as an assignment problem. Complete matchings need all rows placed, so that rows are the shorter side.
template <class S> bool read_matching(const PairBatch<S>& batch, std::size_t s, bool complete, Assignment& problem) {
    const std::size_t m = batch.rows(s), n = batch.columns(s);
    const bool turned = complete && m > n;
    const S* scores = batch.scores(s);
    problem.start(turned ? n : m, turned ? m : n);
    for (std::size_t i = 0; i < m; ++i) {
        if (!turned) {
            std::copy(scores + i * n, scores + (i + 1) * n, problem.row(i));
            continue;
        }
        for (std::size_t j = 0; j < n; ++j) problem.score(j, i) = static_cast<double>(scores[i * n + j]);
    }
    for (std::size_t i = 0; complete && i < problem.rows(); ++i) problem.none(i) = kNothing;
    return usable_pairs(batch, s);
}

// The pairs of an assignment, as 1 among zeros.
template <class Column>
void write_pairs(std::size_t m, std::size_t n, bool complete, Column column, std::int32_t* output) {
    const bool turned = complete && m > n;
    std::fill(output, output + m * n, 0);
    for (std::size_t i = 0; i < (turned ? n : m); ++i) {
        const std::int32_t j = column(i);
        if (j >= 0) output[turned ? static_cast<std::size_t>(j) * n + i : i * n + static_cast<std::size_t>(j)] = 1;
    }
}

// The best matching of every item: 0 or 1 for every pair.
template <class S>
void matching_argmax(const PairBatch<S>& batch, bool complete, std::int32_t* output, double* value) {
    std::vector<Assignment> memory;
    for_each_item(
        batch, 5, [&](std::size_t threads) { memory.resize(threads); },
        [&](std::size_t s, std::size_t thread) {
            Assignment& problem = memory[thread];
            const bool good = read_matching(batch, s, complete, problem), solved = good && problem.solve();
            const auto column = [&](std::size_t i) { return solved ? problem.column(i) : -1; };
            write_pairs(batch.rows(s), batch.columns(s), complete, column, output + batch.start(s));
            value[s] = !good ? NAN : solved ? 0.0 : kNothing;
            for (std::size_t i = 0; solved && i < problem.rows(); ++i)
                if (column(i) >= 0) value[s] += problem.score(i, static_cast<std::size_t>(column(i)));
        });
}

// k outputs (k x pairs), -1 where there are fewer, and scores (items x k).
template <class S>
void matching_kbest(const PairBatch<S>& batch, bool complete, std::size_t k, std::int32_t* output, double* value) {
    const auto pairs = static_cast<std::size_t>(batch.first[batch.items]);
    for_each_item(
        batch, 100 * static_cast<double>(k), [](std::size_t) {},
        [&](std::size_t s, std::size_t) {
            const std::size_t m = batch.rows(s), n = batch.columns(s);
            std::fill(value + s * k, value + (s + 1) * k, kNothing);
            Assignment problem;
            const bool good = read_matching(batch, s, complete, problem);
            MatchingBest best(problem);
            std::vector<std::int32_t> columns(problem.rows());
            for (std::size_t r = 0; r < k; ++r) {
                std::int32_t* place = output + r * pairs + batch.start(s);
                if (good && best.next(columns.data())) {
                    write_pairs(m, n, complete, [&](std::size_t i) { return columns[i]; }, place);
                    value[s * k + r] = pairs_score(batch, s, place);
                } else {
                    std::fill(place, place + m * n, -1);
                }
            }
        });
}

}  // namespace kernelfields
