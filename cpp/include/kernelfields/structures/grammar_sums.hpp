// Sums over the trees of a grammar for one sentence, in doubles or, where these would underflow, in wider numbers.
//
// What is taken off the scores is as in span_sums.hpp: the best symbol of every word, the mean score of a split in the
// best tree, and a potential of words such that no span has a tree with a score above its rise.
#pragma once

#include "../core/dispatch.hpp"
#include "../core/dual.hpp"
#include "chart_bounds.hpp"
#include "grammar_rules.hpp"
#include "spans.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

namespace kernelfields {

// Sentences with scores of symbols of spans (see spans.hpp), and of rules, which all of them share.
struct GrammarBatch {
    SpanBatch spans;  // its labels are symbols
    const GrammarRules* rules;
    const std::int8_t *roots, *words;  // symbols: whether one may be the whole sentence, or a single word
    std::vector<double> rule;          // scores, in the order of places
    bool usable_rules;                 // neither NaN nor +inf
};

template <class T> struct GrammarMemory {
    std::vector<T> numbers, w, u, sum, count;
    std::vector<std::int32_t> extents;
    GrammarTables<T> chart{}, slope{};
    GrammarExtents at{};

    void prepare(std::size_t n, std::size_t N, std::size_t rules) {
        // Vectors may run over the end of a row, the last of all included.
        const std::size_t stride = n + 1, size = (n + 1) * N * stride, room = 16;
        if (numbers.size() < 2 * size + room) numbers.resize(2 * size + room);
        chart = {n, N, stride, numbers.data(), numbers.data() + size};
        extents.assign(4 * (n + 1) * N, -1);
        std::int32_t* next = extents.data();
        for (std::int32_t** table : {&at.first_end, &at.first_begin, &at.last_end, &at.last_begin}) {
            *table = next;
            next += (n + 1) * N;
        }
        std::fill(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(2 * (n + 1) * N),
                  GrammarExtents::kFar);
        w.resize(rules);
        u.resize(spans_of(n) * N);
        sum.resize(N);
        count.assign(rules, T{});
    }
    // Slopes of zero wherever the chart has something.
    void prepare_slopes() {
        const auto [n, N, stride, begins, ends] = chart;
        if (slopes_.size() < numbers.size()) slopes_.resize(numbers.size());
        slope = {n, N, stride, slopes_.data(), slopes_.data() + (n + 1) * N * stride};
        for (std::size_t row = 0; row < (n + 1) * N; ++row) {
            if (at.last_end[row] >= 0) std::fill_n(slope.begins + row * stride, stride, T{});
            if (at.last_begin[row] >= 0) std::fill_n(slope.ends + row * stride, stride, T{});
        }
    }
    T entry(std::size_t i, std::size_t j, std::size_t a, T nothing) const {
        return chart_entry(chart, at, i, j, a, nothing);
    }

private:
    std::vector<T> slopes_;
};

class GrammarSums {
public:
    std::vector<double> marginal, change;        // of symbols of spans
    std::vector<double> count, count_change;     // of rules, by place
    std::vector<double> along_rule, along_span;  // a direction
    GrammarMemory<double> best, narrow;
    GrammarMemory<Wide> wide;
    GrammarMemory<Dual<double>> narrow_dual;
    GrammarMemory<Dual<Wide>> wide_dual;
    bool widened = false;

    // A chart of best scores, and the best score of the sentence; -inf where there is no tree, NaN where scores are
    // NaN or +inf.
    double best_of(const GrammarBatch& batch, std::size_t s) {
        const SpanBatch& spans = batch.spans;
        const std::size_t n = spans.words(s), N = spans.labels;
        if (n == 0) return 0;
        if (!usable_spans(spans, s) || !batch.usable_rules) return NAN;
        best.prepare(n, N, batch.rule.size());
        spans.scores(s).copy(spans_of(n) * N, best.u.data());
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t a = 0; a < N; ++a)
                if (!batch.words[a]) best.u[span_at(n, i, i + 1) * N + a] = kNothing;
        grammar_kernels().best(batch.rules->by_children(), best.chart, best.at, batch.rule.data(), best.u.data(),
                               best.sum.data());
        double most = kNothing;
        for (std::size_t a = 0; a < N; ++a)
            if (batch.roots[a]) most = std::max(most, best.entry(0, n, a, kNothing));
        return most;
    }
    // Log-partition; marginals and counts of rules if asked for.
    double run(const GrammarBatch& batch, std::size_t s, bool marginals) {
        if (const double found = best_of(batch, s); !std::isfinite(found)) return found;
        else balance(batch, s, found);
        if (batch.spans.words(s) == 0) return 0;
        const double found = in(batch, s, marginals, narrow);
        widened = std::isnan(found);
        return widened ? in(batch, s, marginals, wide) : found;
    }
    // The same with changes along a direction.
    double differentiate(const GrammarBatch& batch, std::size_t s) {
        if (const double found = best_of(batch, s); !std::isfinite(found)) return found;
        else balance(batch, s, found);
        if (batch.spans.words(s) == 0) return 0;
        const double found = in(batch, s, true, narrow_dual);
        return std::isnan(found) ? in(batch, s, true, wide_dual) : found;
    }

private:
    static constexpr double kSmallest = -640, kLargest = 300;  // as in span_sums.hpp
    std::vector<double> word_, rise_, path_;
    double split_ = 0, shift_ = 0;
    double most_ = 0;   // the highest score of a symbol of a span of several words that some tree has
    double least_ = 0;  // the lowest of the best trees of all symbols of spans

    template <class T> static constexpr bool kUnbounded = std::is_same_v<T, Wide> || std::is_same_v<T, Dual<Wide>>;

    // Best trees of the symbols of a span that have one, and the highest of their own scores.
    struct Reached {
        double high = kNothing, low = INFINITY, heaviest = kNothing;
    };
    Reached reached(std::size_t n, std::size_t N, std::size_t i, std::size_t j) const {
        Reached cell;
        const double* own = best.u.data() + span_at(n, i, j) * N;
        for (std::size_t a = 0; a < N; ++a) {
            const double score = best.entry(i, j, a, kNothing);
            if (score == kNothing) continue;
            cell.high = std::max(cell.high, score);
            cell.low = std::min(cell.low, score);
            cell.heaviest = std::max(cell.heaviest, own[a]);
        }
        return cell;
    }

    void balance(const GrammarBatch& batch, std::size_t s, double most) {
        const std::size_t n = batch.spans.words(s), N = batch.spans.labels;
        word_.assign(n + 1, 0);
        rise_.assign(n + 1, 0);
        most_ = kNothing;
        for (std::size_t i = 0; i < n; ++i) word_[i + 1] = word_[i] + reached(n, N, i, i + 1).high;
        split_ = n > 1 ? (most - word_[n]) / static_cast<double>(n - 1) : 0;
        least_ = 0;
        for (std::size_t j = 1; j <= n; ++j) {
            double high = rise_[j - 1], low = high + reached(n, N, j - 1, j).low - (word_[j] - word_[j - 1]);
            for (std::size_t i = 0; i + 1 < j; ++i) {
                const Reached cell = reached(n, N, i, j);
                const double off = word_[j] - word_[i] + split_ * static_cast<double>(j - i - 1) - rise_[i];
                high = std::max(high, cell.high - off);
                low = std::min(low, cell.low - off);
                most_ = std::max(most_, cell.heaviest);
            }
            rise_[j] = high;
            least_ = std::min(least_, low - high);
        }
        if (most_ == kNothing) most_ = 0;
        shift_ = n > 0 ? rise_[n] + word_[n] + split_ * static_cast<double>(n - 1) : 0;
    }

    template <class T>
    double in(const GrammarBatch& batch, std::size_t s, bool marginals, GrammarMemory<T>& memory) {
        const std::size_t n = batch.spans.words(s), N = batch.spans.labels;
        memory.prepare(n, N, batch.rule.size());
        const double largest = weigh(batch, n, memory);
        if (!kUnbounded<T> && largest > kLargest) return NAN;
        const RulesByChildren g = batch.rules->by_children();
        if constexpr (std::is_same_v<T, double>)
            grammar_kernels().inside(g, memory.chart, memory.at, memory.w.data(), memory.u.data(), memory.sum.data());
        else
            grammar_inside<PlainProducts>(g, memory.chart, memory.at, memory.w.data(), memory.u.data(),
                                          memory.sum.data());
        T total{};
        for (std::size_t a = 0; a < N; ++a)
            if (batch.roots[a]) total += memory.entry(0, n, a, T{});
        const double found = is_zero(total) ? kNothing : log_of(total);
        if (!kUnbounded<T> && !enough(batch, n, found, largest)) return NAN;
        if (!marginals) return found + shift_;
        memory.prepare_slopes();
        for (std::size_t a = 0; a < N; ++a)
            if (batch.roots[a] && !is_zero(memory.entry(0, n, a, T{}))) memory.slope.begin(0, a)[n] = T(1.0) / total;
        if constexpr (std::is_same_v<T, double>)
            grammar_kernels().outside(g, memory.chart, memory.at, memory.w.data(), memory.u.data(), memory.slope,
                                      memory.sum.data(), memory.count.data());
        else
            grammar_outside<PlainProducts>(g, memory.chart, memory.at, memory.w.data(), memory.u.data(), memory.slope,
                                           memory.sum.data(), memory.count.data());
        collect(n, N, memory);
        return found + shift_;
    }

    // Whether nothing that doubles lose can matter (chart_bounds.hpp). No symbol of a span is further from Z than the
    // least one: mostly that is enough.
    bool enough(const GrammarBatch& batch, std::size_t n, double log_partition, double largest) {
        const double room = log_partition - kSmallest - std::max(0.0, largest);
        if (!(log_partition < -kSmallest && room > 0)) return false;
        if (room - std::max(0.0, largest) > std::max(0.0, log_partition - least_)) return true;
        const std::size_t N = batch.spans.labels;
        const double ways = static_cast<double>(n) * std::log(16.0 * static_cast<double>(batch.rule.size() + 1));
        const auto weight = [&](std::size_t i, std::size_t j) {
            return largest - most_ + reached(n, N, i, j).heaviest;
        };
        const auto least = [&](std::size_t i, std::size_t j) {
            return reached(n, N, i, j).low - (word_[j] - word_[i]) - split_ * static_cast<double>(j - i - 1) -
                   (rise_[j] - rise_[i]);
        };
        return room > largest_outside(n, ways, log_partition, weight, least, path_);
    }

    // Weights of rules, and of symbols of spans; returns the largest of the former's logarithms. Each span of several
    // words has one rule: what the highest span has is taken off all of them and given to rules, so that no weight of a
    // span is above 1, however far rules and spans are apart.
    template <class T> double weigh(const GrammarBatch& batch, std::size_t n, GrammarMemory<T>& memory) {
        const std::size_t N = batch.spans.labels;
        double largest = kNothing;
        for (std::size_t r = 0; r < memory.w.size(); ++r) {
            const double score = batch.rule[r] - split_ + most_;
            largest = std::max(largest, score);
            memory.w[r] = number(score, r, along_rule, T{});
        }
        for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t row) {
            // Weights of words have potentials in them; spans that no tree has need none.
            const double off = j - i == 1 ? word_[j] - word_[i] + rise_[j] - rise_[i] : most_;
            for (std::size_t a = 0; a < N; ++a) {
                const std::size_t k = row * N + a;
                const bool there = best.entry(i, j, a, kNothing) > kNothing;
                memory.u[k] = there ? number(best.u[k] - off, k, along_span, T{}) : T{};
            }
        });
        return largest;
    }
    static double number(double x, std::size_t, const std::vector<double>&, double) {
        return x > kLargest ? INFINITY : std::exp(x);
    }
    static Wide number(double x, std::size_t, const std::vector<double>&, Wide) { return from_log<Wide>(x); }
    template <class T> static Dual<T> number(double x, std::size_t k, const std::vector<double>& along, Dual<T>) {
        const T value = number(x, k, along, T{});
        return {value, x == kNothing ? T{} : value * T(along[k])};
    }

    template <class T> void collect(std::size_t n, std::size_t N, const GrammarMemory<T>& memory) {
        marginal.resize(spans_of(n) * N);
        change.resize(spans_of(n) * N);
        count.resize(memory.count.size());
        count_change.resize(memory.count.size());
        for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t row) {
            for (std::size_t a = 0; a < N; ++a) {
                const T value = memory.entry(i, j, a, T{});
                marginal[row * N + a] = change[row * N + a] = 0;
                if (is_zero(value)) continue;
                put(value * (memory.slope.begin(i, a)[j] + memory.slope.end(j, a)[i]), marginal, change, row * N + a);
            }
        });
        for (std::size_t r = 0; r < count.size(); ++r) put(memory.count[r], count, count_change, r);
    }
    template <class T>
    static void put(const T& x, std::vector<double>& to, std::vector<double>&, std::size_t k) {
        to[k] = std::max(0.0, value_of(x));
    }
    template <class T>
    static void put(const Dual<T>& x, std::vector<double>& to, std::vector<double>& change, std::size_t k) {
        to[k] = std::max(0.0, value_of(x.value));
        change[k] = value_of(x.change);
    }
};

}  // namespace kernelfields
