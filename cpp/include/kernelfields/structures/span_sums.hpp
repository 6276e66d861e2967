// Sums over the trees of one sentence, in doubles or, where these would underflow, in wider numbers.
//
// Whatever is taken off the scores of the words of a tree, or off every split, is the same for all trees: n words and
// n - 1 splits. Scores of single words are taken off, the mean score of a split in the best tree, and log 4, for there
// are fewer than 4^n trees. Then a potential p rises from word to word such that no span from i to j has a tree with a
// score above p(j) - p(i), and each word is given the weight exp(p(i) - p(i + 1)): hence all sums are at most 1. What
// underflows is below 1e-307, times the outside of its span, and does not matter while Z is far above
// (chart_bounds.hpp): log 4 also makes up for the number of ways in which a span can be part of a tree. Where scores
// differ little, what the highest has is taken off every split, and there are no potentials: no outside is then above
// 1, and that needs no best tree.
#pragma once

#include "../core/dispatch.hpp"
#include "../core/dual.hpp"
#include "chart_bounds.hpp"
#include "spans.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>

namespace kernelfields {

// log(1 + exp(-gap)), the share of log(exp(a) + exp(b)) that is above the larger of both.
inline double log_sum_above(double gap) {
    return gap < 40 ? std::log1p(std::exp(-gap)) : 0.0;
}
inline double log_add(double a, double b) {
    if (a < b) std::swap(a, b);
    return b == kNothing ? a : a + log_sum_above(a - b);
}

// At least log(x) of a positive x, by less than 0.06: its exponent and a straight line.
inline double log_above(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const double exponent = static_cast<double>(static_cast<std::int64_t>(bits >> 52) - 1023);
    const double fraction = static_cast<double>(bits & ((std::uint64_t{1} << 52) - 1)) * 0x1p-52;
    return (exponent + fraction + 0.0861) * 0.693147180559945309;
}

// What a thread needs for a sentence in numbers T.
template <class T> struct SpanMemory {
    std::vector<T> numbers;
    T *w = nullptr, *v = nullptr, *row = nullptr;
    CkyTables<T> chart{}, slope{};

    // Tables for n words; v is w, and any is full, where there is no empty label.
    void prepare(std::size_t n, std::size_t stride, bool empty) {
        const std::size_t size = (n + 1) * stride;
        numbers.resize((empty ? 7 : 5) * size + stride + kPiece / sizeof(double));
        void* place = numbers.data();
        std::size_t room = numbers.size() * sizeof(T);
        T* next = static_cast<T*>(std::align(kPiece, room - kPiece, place, room));
        const auto table = [&] { return std::exchange(next, next + size); };
        w = table();
        v = empty ? table() : w;
        chart = {n, stride, table(), nullptr, table()};
        chart.any = empty ? table() : chart.full;
        slope = {n, stride, table(), nullptr, table()};
        row = next;
        clear();
    }

private:
    // Slopes begin with zero. Else zeros are needed only where vectors run over the end of a row of the chart into what
    // is looked at: in front of its spans by left ends, and behind them by right ends.
    void clear() {
        constexpr std::size_t kReach = kPiece / sizeof(double);
        const std::size_t size = (chart.words + 1) * chart.stride;
        std::fill(slope.full, slope.full + size, T{});
        std::fill(slope.turned, slope.turned + size, T{});
        for (std::size_t i = 0; i <= chart.words; ++i) {
            T *const full = chart.full + i * chart.stride, *const turned = chart.turned + i * chart.stride;
            std::fill(full + (i + 1 < kReach ? 0 : i + 1 - kReach), full + i + 1, T{});
            std::fill(turned + i, turned + i + kReach, T{});
        }
    }
};

struct SpanSums {
    std::vector<double> top, sum, zero;       // by span: of all labels but the empty one, and the score of that
    std::vector<double> mean_full, mean_any;  // what a direction changes, where derivatives are asked for
    std::vector<double> full, any;            // marginals of spans as left parts, or the whole, and as right parts
    std::vector<double> full_change, any_change;
    SpanMemory<double> narrow;
    SpanMemory<Wide> wide;
    SpanMemory<Dual<double>> narrow_dual;
    SpanMemory<Dual<Wide>> wide_dual;
    bool empty = false;    // whether label 0 is the empty one
    bool widened = false;  // whether the last sums needed more than doubles

    // Sums over labels; shares of labels where there is room for them. False where a score is NaN or +inf.
    bool read(const SpanBatch& batch, std::size_t s, RealsOut share) {
        const std::size_t n = batch.words(s), spans = spans_of(n), L = batch.labels;
        empty = batch.empty;
        top.resize(spans);
        sum.resize(spans);
        const bool labels = batch.scores(s).with([&]<class S>(const S* scores) {
            const LabelSums<S> sums{scores, n, spans, L, share.of<S>(), top.data(), sum.data()};
            return constituency_kernels().labels(sums, empty ? 1 : 0);
        });
        if (!labels) return false;
        zero.assign(empty ? spans : 0, kNothing);
        bool good = true;
        if (empty)
            for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t r) {
                if (j - i == 1) return;
                zero[r] = batch.scores(s)[r * L];
                good = good && zero[r] <= std::numeric_limits<double>::max();
            });
        return good;
    }

    // Scores of spans whose labels have been summed over.
    double score_full(std::size_t r) const { return sum[r] > 0 ? top[r] + std::log(sum[r]) : kNothing; }
    double score_any(std::size_t r) const { return empty ? log_add(score_full(r), zero[r]) : score_full(r); }
    // The share of the empty label in a right part.
    double empty_share(std::size_t r) const {
        if (!empty || zero[r] == kNothing) return 0;
        const double full_score = score_full(r);
        return full_score == kNothing ? 1 : 1 / (1 + std::exp(full_score - zero[r]));
    }

    // Log-partition, and marginals of spans if asked for.
    double run(std::size_t n, bool marginals) {
        widened = false;
        if (n == 0) return 0;
        if (flatten(n))
            if (const double found = in(n, marginals, narrow); !std::isnan(found)) return found;
        if (!balance(n)) return kNothing;
        const double found = in(n, marginals, narrow);
        widened = std::isnan(found);
        return widened ? in(n, marginals, wide) : found;
    }
    // The same with the change of marginals along a direction.
    double differentiate(std::size_t n) {
        if (n == 0) return 0;
        if (!balance(n)) return kNothing;
        const double found = in(n, true, narrow_dual);
        return std::isnan(found) ? in(n, true, wide_dual) : found;
    }

private:
    static constexpr double kSmallest = -640;  // log Z, where no outside is above 1; products are at least 1e-307
    static constexpr double kWorthwhile = -500;
    static constexpr double kLog4 = 1.38629436111989062;
    static constexpr double kLargest = 300;  // log of a weight; far below where exponentials end
    std::vector<double> rise_, table_, word_, path_;
    double shift_ = 0, split_ = 0;  // what is taken off log Z, and off the score of each split
    double outside_ = 0;            // logarithm of the largest outside of a span, or more

    template <class T> static constexpr bool kUnbounded = std::is_same_v<T, Wide> || std::is_same_v<T, Dual<Wide>>;
    template <class T> static std::size_t stride_of(std::size_t n) {
        return cky_stride(n, std::is_same_v<T, double> ? constituency_kernels().width : PlainSpans::width);
    }

    // The score of a span with any label, or a little more.
    double above(std::size_t r) const { return sum[r] > 0 ? top[r] + log_above(sum[r]) : kNothing; }
    double any_above(std::size_t r) const { return empty ? std::max(above(r), zero[r]) + 0.6932 : above(r); }

    // No potentials: from every split as much is taken off as keeps all sums below 1, wherever it is. False where trees
    // of mean scores would then be too far below, so that it is not worth trying; where Z is, in spite of that, sums in
    // doubles say so.
    bool flatten(std::size_t n) {
        double most = kNothing, total = 0, words = 0;
        for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t r) {
            if (j - i == 1) return void(words += score_full(r));
            const double score = any_above(r);
            most = std::max(most, score);
            total += score;
        });
        const auto splits = static_cast<double>(n - 1), spans = static_cast<double>(spans_of(n) - n);
        split_ = n > 1 ? most + kLog4 : 0;
        shift_ = words + split_ * splits;
        outside_ = 0;
        rise_.assign(n + 1, 0);
        return std::isfinite(words) && (n == 1 || splits * (total / spans - split_) > kWorthwhile);
    }

    // Scores of spans, or a little more; potentials of words. False where there is no tree.
    bool balance(std::size_t n) {
        const std::size_t stride = stride_of<double>(n), size = (n + 1) * stride;
        table_.resize((empty ? 4 : 2) * size + stride + kPiece / sizeof(double));
        void* place = table_.data();
        std::size_t room = table_.size() * sizeof(double);
        auto* const w = static_cast<double*>(std::align(kPiece, room - kPiece, place, room));
        double *const v = empty ? w + size : w, *const full = v + size, *const any = empty ? full + size : full;
        word_.assign(n + 1, 0);
        double heaviest = kNothing;
        for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t r) {
            w[i * stride + j] = above(r);
            if (empty && j - i > 1) v[i * stride + j] = any_above(r);
            if (j - i > 1) heaviest = std::max(heaviest, v[i * stride + j]);
            if (j - i == 1) word_[j] = word_[i] + above(r);
        });
        const CkyTables<double> chart{n, stride, full, any, nullptr};
        const double best = constituency_kernels().best(chart, w, v, any + size);
        if (!(best > kNothing)) return false;
        const double mean = n > 1 ? (best - word_[n]) / static_cast<double>(n - 1) : 0;
        const auto apart = [&](const double* scores, std::size_t i, std::size_t j) {
            return scores[i * stride + j] - (word_[j] - word_[i]) - mean * static_cast<double>(j - i - 1);
        };
        rise_.assign(n + 1, 0);
        double least = 0;  // of all best trees of spans
        for (std::size_t j = 1; j <= n; ++j) {
            double most = rise_[j - 1], low = most;
            for (std::size_t i = 0; i + 1 < j; ++i) {
                most = std::max(most, rise_[i] + apart(any, i, j));
                low = std::min(low, rise_[i] + apart(full, i, j));
            }
            rise_[j] = most;
            least = std::min(least, low - most);
        }
        // No span is further from the best tree than the least one: mostly that is enough, and takes no time.
        outside_ = -rise_[n] - least + std::max(0.0, heaviest - mean);
        if (!(-rise_[n] - kLog4 * static_cast<double>(n - 1) > kSmallest + outside_))
            outside_ = largest_outside(
                n, 0, -rise_[n], [&](std::size_t i, std::size_t j) { return v[i * stride + j] - mean; },
                [&](std::size_t i, std::size_t j) { return apart(full, i, j) - (rise_[j] - rise_[i]); }, path_);
        split_ = mean + kLog4;
        shift_ = rise_[n] + split_ * static_cast<double>(n - 1);
        for (std::size_t i = 0; i < n; ++i) shift_ += score_full(span_at(n, i, i + 1));
        return true;
    }

    template <class T> double in(std::size_t n, bool marginals, SpanMemory<T>& memory) {
        memory.prepare(n, stride_of<T>(n), empty);
        const double largest = weigh(n, memory);
        if (!kUnbounded<T> && largest > kLargest) return NAN;
        const T total = inside(memory);
        const double found = is_zero(total) ? kNothing : log_of(total);
        if (!kUnbounded<T> && !(found > kSmallest + outside_)) return NAN;
        if (found == kNothing || !marginals) return found + shift_;
        outside(memory);
        collect(n, memory);
        return found + shift_;
    }

    // Weights of all spans; returns the largest of their logarithms.
    double weigh(std::size_t n, SpanMemory<double>& memory) {
        const std::size_t spans = spans_of(n), stride = memory.chart.stride;
        double largest = *std::max_element(top.begin(), top.begin() + static_cast<std::ptrdiff_t>(spans)) - split_;
        any.resize(empty ? spans : 0);
        for (std::size_t r = 0; r < any.size(); ++r) largest = std::max(largest, any[r] = zero[r] - split_);
        if (largest > kLargest) return largest;
        constituency_kernels().exp(any.data(), any.size());
        double seen = kNothing, times = 0;  // nearly all spans have the same top
        for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t r) {
            if (j - i == 1) return;
            if (top[r] != seen) times = std::exp((seen = top[r]) - split_);
            const double weight = times * sum[r];
            memory.w[i * stride + j] = weight;
            if (empty) memory.v[i * stride + j] = weight + any[r];
        });
        weigh_words(n, memory);
        return largest;
    }
    double weigh(std::size_t n, SpanMemory<Wide>& memory) {
        const std::size_t stride = memory.chart.stride;
        for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t r) {
            if (j - i == 1) return;
            memory.w[i * stride + j] = from_log<Wide>(score_full(r) - split_);
            if (empty) memory.v[i * stride + j] = from_log<Wide>(score_any(r) - split_);
        });
        weigh_words(n, memory);
        return 0;
    }
    // Changes are taken from their mean: what all splits have in common changes no marginal, but may hide the rest.
    template <class T> double weigh(std::size_t n, SpanMemory<Dual<T>>& memory) {
        const std::size_t stride = memory.chart.stride;
        double largest = kNothing, mean = 0;
        const std::size_t splits = spans_of(n) - n;
        for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t r) {
            if (j - i > 1) mean += mean_any[r] / static_cast<double>(splits);
        });
        for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t r) {
            if (j - i == 1) return;
            largest = std::max(largest, score_any(r) - split_);
            const T w = from_log<T>(score_full(r) - split_), v = from_log<T>(score_any(r) - split_);
            memory.w[i * stride + j] = {w, w * T(mean_full[r] - mean)};
            memory.v[i * stride + j] = {v, v * T(mean_any[r] - mean)};
        });
        weigh_words(n, memory);
        return largest;
    }
    template <class T> void weigh_words(std::size_t n, SpanMemory<T>& memory) const {
        const std::size_t stride = memory.chart.stride;
        for (std::size_t i = 0; i < n; ++i) memory.w[i * stride + i + 1] = word_weight(rise_[i] - rise_[i + 1], T{});
    }
    template <class T> static T word_weight(double log_weight, T) { return from_log<T>(log_weight); }
    template <class T> static Dual<T> word_weight(double log_weight, Dual<T>) { return {from_log<T>(log_weight), T{}}; }

    template <class T> static T inside(SpanMemory<T>& memory) {
        if constexpr (std::is_same_v<T, double>)
            return constituency_kernels().inside(memory.chart, memory.w, memory.v, memory.row);
        else return cky_inside<PlainSpans>(memory.chart, memory.w, memory.v, memory.row, T{});
    }
    template <class T> static void outside(SpanMemory<T>& memory) {
        if constexpr (std::is_same_v<T, double>)
            constituency_kernels().outside(memory.chart, memory.w, memory.v, memory.slope);
        else cky_outside<PlainSpans>(memory.chart, memory.w, memory.v, memory.slope);
    }

    template <class T> void collect(std::size_t n, const SpanMemory<T>& memory) {
        const std::size_t stride = memory.chart.stride, spans = spans_of(n);
        full.resize(spans);
        any.resize(spans);
        for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t r) {
            const std::size_t a = i * stride + j, b = j * stride + i;
            put(memory.slope.full[a] * memory.chart.full[a], full, full_change, r, spans);
            put(memory.slope.turned[b] * memory.chart.turned[b], any, any_change, r, spans);
        });
    }
    template <class T>
    static void put(const T& x, std::vector<double>& to, std::vector<double>&, std::size_t r, std::size_t) {
        to[r] = std::max(0.0, value_of(x));
    }
    template <class T>
    static void put(const Dual<T>& x, std::vector<double>& to, std::vector<double>& change, std::size_t r,
                    std::size_t spans) {
        change.resize(spans);
        to[r] = std::max(0.0, value_of(x.value));
        change[r] = value_of(x.change);
    }
};

}  // namespace kernelfields
