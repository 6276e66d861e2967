// Rows of the charts of binary trees, and sums over the labels of spans, vector by vector.
#pragma once

#include "../structures/constituency_kernels.hpp"
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

// Labels of one span from `first` on; false where a score is NaN or +inf.
template <class S>
KF_INLINE bool sum_labels(const S* scores, std::size_t count, const S* end, S* share, const S* share_end, double* top,
                          double* sum) {
    Vec<S> most = broadcast(-kInfinity<S>), total{};
    Bits<S> odd{};
    for (std::size_t l = 0; l < count; l += kWidth<S>) {
        const Vec<S> x = load_first(scores + l, count - l, end, -kInfinity<S>);
        odd |= ~(x <= broadcast(std::numeric_limits<S>::max()));
        most = maximum<S>(most, x);
    }
    const S high = largest<S>(most);
    if (any<S>(odd)) return false;
    *top = static_cast<double>(high);
    for (std::size_t l = 0; l < count; l += kWidth<S>) {
        const Vec<S> x = load_first(scores + l, count - l, end, -kInfinity<S>);
        const Vec<S> e = high == -kInfinity<S> ? Vec<S>{} : exp<S>(x - high);
        total += e;
        if (!share) continue;
        // What is written over the end of a row is written again with the next one.
        if (share + l + kWidth<S> <= share_end) store(share + l, e);
        else store_first(share + l, e, count - l);
    }
    *sum = static_cast<double>(kernelfields::sum<S>(total));
    return true;
}

template <class S> bool labels_of_spans(const LabelSums<S>& sums, std::size_t skip) {
    const std::size_t L = sums.labels;
    const S *end = sums.scores + sums.spans * L, *share_end = sums.share + sums.spans * L;
    std::size_t single = 0, longest = sums.words;  // the next span of one word, and how many begin with it
    for (std::size_t r = 0; r < sums.spans; ++r) {
        const std::size_t first = r == single ? 0 : skip;
        if (r == single) single += longest--;
        S* share = sums.share ? sums.share + r * L : nullptr;
        if (first > 0 && share) share[0] = S{0};
        if (!sum_labels(sums.scores + r * L + first, L - first, end, share ? share + first : share, share_end,
                        sums.top + r, sums.sum + r))
            return false;
    }
    return true;
}

template <class S>
void scale_rows(S* share, std::size_t spans, std::size_t labels, const double* factor) {
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
