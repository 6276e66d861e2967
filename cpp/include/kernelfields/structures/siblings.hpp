// Projective trees with scores of siblings, of ragged batches: sums, marginals, covariance products, best trees, draws.
#pragma once

#include "../core/draw.hpp"
#include "../core/parallel.hpp"
#include "sibling_chart.hpp"
#include "tree_draws.hpp"

#include <cmath>

namespace kernelfields {

// As in arcs.hpp, without relations, and rows of siblings.
struct SiblingBatch {
    std::size_t sentences;
    const std::int64_t *first_word, *first_arc, *first_row;  // sentences + 1 each
    const double* arc;
    const std::int32_t* row;
    const double* sibling;
    bool single_root;

    std::size_t words(std::size_t s) const { return static_cast<std::size_t>(first_word[s + 1] - first_word[s]); }
    std::size_t arcs_from(std::size_t s) const { return static_cast<std::size_t>(first_arc[s]); }
    std::size_t rows_from(std::size_t s) const { return static_cast<std::size_t>(first_row[s]); }

    SiblingScores scores(std::size_t s) const {
        const std::size_t from = rows_from(s);
        return {words(s), arc + arcs_from(s), rows_from(s + 1) - from, row + 3 * from, sibling + from, single_root};
    }
};

// body(s) for every sentence; `nanoseconds` is about what a cube of its words takes.
template <class Body> void for_each_sibling_sentence(const SiblingBatch& batch, double nanoseconds, Body body) {
    double total = 0;
    for (std::size_t s = 0; s < batch.sentences; ++s) total += nanoseconds * std::pow(double(batch.words(s) + 1), 3);
    for_each_block(batch.sentences, threads_for(total), [&](std::size_t s, std::size_t) { body(s); });
}

// Whether no score is NaN or +inf; arcs from a word to itself are never looked at.
inline bool usable_siblings(const SiblingScores& x) {
    const auto good = [](double score) { return score <= std::numeric_limits<double>::max(); };
    for (std::size_t m = 1; m <= x.words; ++m)
        for (std::size_t h = 0; h <= x.words; ++h)
            if (h != m && !good(x.arc[(m - 1) * (x.words + 1) + h])) return false;
    return std::all_of(x.score, x.score + x.rows, good);
}

template <class T> std::vector<T> weights_of_scores(const double* score, std::size_t count) {
    std::vector<T> result(count);
    for (std::size_t k = 0; k < count; ++k) result[k] = from_log<T>(score[k]);
    return result;
}

template <class T> SiblingChart<T> sibling_chart(const SiblingScores& x) {
    const std::size_t arcs = x.words * (x.words + 1);
    return {x, weights_of_scores<T>(x.arc, arcs), weights_of_scores<T>(x.score, x.rows)};
}

inline double log_total(const SiblingChart<Wide>& chart) {
    return is_zero(chart.total()) ? kNothing : log_of(chart.total());
}

// Log-partitions; marginals of arcs and rows, times the weight of the sentence, where there is room for them.
inline void sibling_marginals(const SiblingBatch& batch, const double* weight, double* value, double* arc,
                              double* sibling) {
    for_each_sibling_sentence(batch, arc ? 60 : 20, [&](std::size_t s) {
        const SiblingScores x = batch.scores(s);
        value[s] = NAN;
        if (!usable_siblings(x)) return;
        const auto chart = sibling_chart<Wide>(x);
        value[s] = log_total(chart);
        if (!arc || !std::isfinite(value[s])) return;
        std::vector<Wide> arcs(x.words * (x.words + 1)), rows(x.rows);
        chart.differentiate(arcs, rows);
        const double times = weight ? weight[s] : 1.0;
        for (std::size_t k = 0; k < arcs.size(); ++k) arc[batch.arcs_from(s) + k] = times * value_of(arcs[k]);
        for (std::size_t k = 0; k < rows.size(); ++k) sibling[batch.rows_from(s) + k] = times * value_of(rows[k]);
    });
}

// The derivative of all marginals along a direction; `value` are log-partitions.
inline void sibling_covariance(const SiblingBatch& batch, const double* arc_along, const double* sibling_along,
                               const double* weight, double* value, double* arc, double* sibling) {
    for_each_sibling_sentence(batch, 150, [&](std::size_t s) {
        const SiblingScores x = batch.scores(s);
        value[s] = NAN;
        if (!usable_siblings(x)) return;
        const auto moving = [](const double* score, const double* along, std::size_t count) {
            std::vector<Dual<Wide>> result(count);
            for (std::size_t k = 0; k < count; ++k) {
                const Wide w = from_log<Wide>(score[k]);
                result[k] = {w, w * Wide(along[k])};
            }
            return result;
        };
        const std::size_t arcs_from = batch.arcs_from(s), rows_from = batch.rows_from(s);
        const SiblingChart<Dual<Wide>> chart(x, moving(x.arc, arc_along + arcs_from, x.words * (x.words + 1)),
                                             moving(x.score, sibling_along + rows_from, x.rows));
        value[s] = is_zero(chart.total()) ? kNothing : log_of(chart.total());
        if (!std::isfinite(value[s])) return;
        std::vector<Dual<Wide>> arcs(x.words * (x.words + 1)), rows(x.rows);
        chart.differentiate(arcs, rows);
        const double times = weight ? weight[s] : 1.0;
        for (std::size_t k = 0; k < arcs.size(); ++k) arc[arcs_from + k] = times * value_of(arcs[k].change);
        for (std::size_t k = 0; k < rows.size(); ++k) sibling[rows_from + k] = times * value_of(rows[k].change);
    });
}

// Heads of the best tree, the first of several, and its score.
inline void sibling_argmax(const SiblingBatch& batch, std::int32_t* heads, double* value) {
    for_each_sibling_sentence(batch, 10, [&](std::size_t s) {
        const SiblingScores x = batch.scores(s);
        std::int32_t* const mine = heads + batch.first_word[s];
        std::fill(mine, mine + x.words, 0);
        value[s] = NAN;
        if (!usable_siblings(x)) return;
        const auto chart = sibling_chart<Highest>(x);
        value[s] = chart.total().score;
        if (!std::isfinite(value[s])) return;
        chart.trace(
            [](const std::vector<Highest>& terms) {
                const auto below = [](Highest a, Highest b) { return a.score < b.score; };
                return static_cast<std::size_t>(std::max_element(terms.begin(), terms.end(), below) - terms.begin());
            },
            mine);
    });
}

// `count` trees (count x words); `value` are log-partitions, finite where there is anything to draw from.
inline void sibling_sample(const SiblingBatch& batch, std::size_t count, std::uint64_t seed, std::int32_t* heads,
                           double* value) {
    const auto words = static_cast<std::size_t>(batch.first_word[batch.sentences]);
    for_each_sibling_sentence(batch, 20 + static_cast<double>(count), [&](std::size_t s) {
        const SiblingScores x = batch.scores(s);
        value[s] = NAN;
        if (!usable_siblings(x)) return;
        const auto chart = sibling_chart<Wide>(x);
        value[s] = log_total(chart);
        if (!std::isfinite(value[s])) return;
        std::vector<double> cumulative;
        for (std::size_t draw = 0; draw < count; ++draw) {
            Uniforms uniform{seed, draw, s};
            chart.trace(
                [&](const std::vector<Wide>& terms) {
                    cumulative.resize(terms.size());
                    return static_cast<std::size_t>(draw_label(terms.size(), uniform(), cumulative, [&](std::size_t k) {
                        return is_zero(terms[k]) ? kNothing : log_of(terms[k]);
                    }));
                },
                heads + draw * words + batch.first_word[s]);
        }
    });
}

}  // namespace kernelfields
