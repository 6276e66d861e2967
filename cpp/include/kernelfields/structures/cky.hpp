// Binary trees over spans: the chart of Cocke, Kasami and Younger, summed and differentiated.
//
//   split[i, j] = sum_k full[i, k] any[k, j]                      i < k < j
//   full[i, j]  = w(i, j) split[i, j],   any[i, j] = v(i, j) split[i, j]
//
// and full[i, i + 1] = any[i, i + 1] = w(i, i + 1); Z = full[0, n]. A left part is full; a right one may also be the
// rest of a span with more than two parts (see spans.hpp), which v counts and w does not. Each row i needs the rows
// below it only, and is filled by sums of rows, number by number side by side. `turned` is `any` by right ends: what
// is added up for the derivative then also lies side by side.
#pragma once

#include "../core/arena.hpp"

#include <cstddef>

namespace kernelfields {

// Sums of products, one number at a time: for numbers that are no doubles.
struct PlainSpans {
    static constexpr std::size_t width = 1;
    template <class T> static void add(T* to, T factor, const T* from, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) to[k] += factor * from[k];
    }
    template <class T> static T times(T a, T b) { return a * b; }
};

// Tables of (n + 1) rows, `stride` apart: vectors may run over the end of a row. Entries that are no spans are zero.
KF_ALWAYS_INLINE std::size_t cky_stride(std::size_t words, std::size_t width) {
    return padded(words + 1, width) + width;
}

// full and any are the same table where there is no empty label; turned is null where nobody asks for derivatives.
template <class T> struct CkyTables {
    std::size_t words, stride;
    T *full, *any, *turned;
};

// `w` and `v` in tables like those of the chart; `row` is one row, and `zero` what it begins with. Returns Z.
template <class Rows, class T>
KF_ALWAYS_INLINE T cky_inside(const CkyTables<T>& chart, const T* w, const T* v, T* row, T zero) {
    const std::size_t n = chart.words, stride = chart.stride;
    for (std::size_t i = n; i-- > 0;) {
        T *full = chart.full + i * stride, *any = chart.any + i * stride;
        for (std::size_t k = 0; k < stride; ++k) row[k] = zero;
        for (std::size_t k = i + 1; k <= n; ++k) {
            const T left = k == i + 1 ? w[i * stride + k] : Rows::times(w[i * stride + k], row[k]);
            const T right = k == i + 1 ? left : Rows::times(v[i * stride + k], row[k]);
            full[k] = left;
            any[k] = right;
            if (chart.turned) chart.turned[k * stride + i] = right;
            if (k < n) Rows::add(row + k + 1, left, chart.any + k * stride + k + 1, n - k);
        }
    }
    return chart.full[n];
}

// Derivatives of log Z by all of full (by left ends) and turned (by right ends); `slope` is zero before.
template <class Rows, class T>
KF_ALWAYS_INLINE void cky_outside(const CkyTables<T>& chart, const T* w, const T* v, const CkyTables<T>& slope) {
    const std::size_t n = chart.words, stride = chart.stride;
    if (n == 0) return;
    slope.full[n] = T(1.0) / chart.full[n];
    for (std::size_t i = 0; i + 1 < n; ++i)
        for (std::size_t j = n; j > i + 1; --j) {
            const T down =
                w[i * stride + j] * slope.full[i * stride + j] + v[i * stride + j] * slope.turned[j * stride + i];
            Rows::add(slope.full + i * stride + i + 1, down, chart.turned + j * stride + i + 1, j - i - 1);
            Rows::add(slope.turned + j * stride + i + 1, down, chart.full + i * stride + i + 1, j - i - 1);
        }
}

}  // namespace kernelfields
