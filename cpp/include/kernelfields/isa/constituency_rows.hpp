// Rows of the charts of binary trees, and sums over the labels of spans, vector by vector.
#pragma once

#include "../structures/constituency_kernels.hpp"
#include "products.hpp"
#include "simd.hpp"

namespace kernelfields {
namespace {

// Whole vectors from where they begin in memory: `to` and `from` lie alike. Numbers in front of `from` or behind it are
// zero, or are added to what nobody looks at.
struct AlignedSums {
    static KF_INLINE std::size_t back(const double* p) {
        return reinterpret_cast<std::uintptr_t>(p) / sizeof(double) % kWidth<double>;
    }
    static KF_INLINE void add(double* to, double factor, const double* from, std::size_t count) {
        const std::size_t before = back(to);
        to -= before;
        from -= before;
        for (std::size_t k = 0; k < count + before; k += kWidth<double>)
            store(to + k, load(to + k) + factor * load(from + k));
    }
    static KF_INLINE double times(double a, double b) { return a * b; }
};

struct AlignedMaxima {
    static KF_INLINE void add(double* to, double score, const double* from, std::size_t count) {
        const std::size_t before = AlignedSums::back(to);
        to -= before;
        from -= before;
        for (std::size_t k = 0; k < count + before; k += kWidth<double>)
            store(to + k, maximum<double>(load(to + k), score + load(from + k)));
    }
    static KF_INLINE double times(double a, double b) { return a + b; }
};

// The largest of all scores; NaN where one is NaN or +inf.
template <class S> KF_INLINE S highest(const S* scores, std::size_t count) {
    Vec<S> most = broadcast(-kInfinity<S>);
    Bits<S> odd{};
    const auto look = [&](Vec<S> x) {
        odd |= ~(x <= broadcast(std::numeric_limits<S>::max()));
        most = maximum<S>(most, x);
    };
    std::size_t k = 0;
    for (; k + kWidth<S> <= count; k += kWidth<S>) look(load(scores + k));
    if (k < count) look(load_first(scores + k, count - k, scores + count, -kInfinity<S>));
    return any<S>(odd) ? std::numeric_limits<S>::quiet_NaN() : largest<S>(most);
}

// The sum of exp(score - high) over the labels of one span, in V vectors (any number if 0).
template <class S, int V>
KF_INLINE S sum_below(const S* scores, std::size_t count, const S* end, S high, S* share, const S* share_end) {
    Vec<S> total{};
    for (std::size_t l = 0; l < (V ? V * kWidth<S> : count); l += kWidth<S>) {
        const Vec<S> e = exp<S>(load_first(scores + l, count - l, end, -kInfinity<S>) - high);
        total += e;
        if (!share) continue;
        // What is written over the end of a row is written again with the next one.
        if (share + l + kWidth<S> <= share_end) store(share + l, e);
        else store_first(share + l, e, count - l);
    }
    return kernelfields::sum<S>(total);
}

// Labels of one span, below the largest of their scores.
template <class S>
void sum_labels(const S* scores, std::size_t count, const S* end, S* share, const S* share_end, double* top,
                double* sum) {
    Vec<S> most = broadcast(-kInfinity<S>);
    for (std::size_t l = 0; l < count; l += kWidth<S>)
        most = maximum<S>(most, load_first(scores + l, count - l, end, -kInfinity<S>));
    const S high = largest<S>(most);
    *top = static_cast<double>(high);
    // Where no label is allowed, anything but -inf makes all shares zero.
    const S finite = high == -kInfinity<S> ? S{0} : high;
    *sum = static_cast<double>(sum_below<S, 0>(scores, count, end, finite, share, share_end));
}

// Sums below which labels may have been lost that count.
template <class S> constexpr S kFaint = S(1e-25);
template <> constexpr double kFaint<double> = 1e-200;

// Labels are compared with the highest score of the sentence: without a maximum of its own a span takes half the time.
// Spans that are far below it are summed again by themselves.
template <class S> bool labels_of_spans(const LabelSums<S>& sums, std::size_t skip) {
    const std::size_t L = sums.labels;
    const S *end = sums.scores + sums.spans * L, *share_end = sums.share + sums.spans * L;
    const S high = highest(sums.scores, sums.spans * L);
    if (high != high) return false;
    with_vectors((L + kWidth<S> - 1) / kWidth<S>, [&](auto V) {
        std::size_t single = 0, longest = sums.words;  // the next span of one word, and how many begin with it
        for (std::size_t r = 0; r < sums.spans; ++r) {
            const std::size_t first = r == single ? 0 : skip;
            if (r == single) single += longest--;
            S* share = sums.share ? sums.share + r * L : nullptr;
            if (first > 0 && share) share[0] = S{0};
            const S* const scores = sums.scores + r * L + first;
            if (share) share += first;
            const S sum = sum_below<S, V.value>(scores, L - first, end, high, share, share_end);
            sums.top[r] = static_cast<double>(high);
            sums.sum[r] = static_cast<double>(sum);
            if (!(sum > kFaint<S>)) sum_labels(scores, L - first, end, share, share_end, sums.top + r, sums.sum + r);
        }
    });
    return true;
}

// Vectors do not run over the ends of rows: to read what has just been written in another vector takes longer.
template <class S> void scale_rows(S* share, std::size_t spans, std::size_t labels, const double* factor) {
    for (std::size_t r = 0; r < spans; ++r, share += labels) {
        const S by = static_cast<S>(factor[r]);
        for (std::size_t l = 0; l < labels; ++l) share[l] *= by;
    }
}

void exp_of(double* x, std::size_t count) {
    const double* end = x + count;
    for (std::size_t k = 0; k < count; k += kWidth<double>)
        store_first(x + k, exp<double>(load_first(x + k, count - k, end, 0.0)), count - k);
}

double inside_of(const CkyTables<double>& chart, const double* w, const double* v, double* row) {
    return cky_inside<AlignedSums>(chart, w, v, row, 0.0);
}

void outside_of(const CkyTables<double>& chart, const double* w, const double* v, const CkyTables<double>& slope) {
    cky_outside<AlignedSums>(chart, w, v, slope);
}

double best_of(const CkyTables<double>& chart, const double* w, const double* v, double* row) {
    return cky_inside<AlignedMaxima>(chart, w, v, row, -kInfinity<double>);
}

}  // namespace
}  // namespace kernelfields
