// Projective trees: Eisner's chart over the root 0 and the words 1 ... n, summed and differentiated.
//
//   gap[i, j]   = sum_k right[i, k] left[k + 1, j]                  i <= k < j, no arc between i and j yet
//   right[i, j] = sum_k w(i -> k) gap[i, k] right[k, j]             i < k <= j, all words up to j below i
//   left[i, j]  = sum_k left[i, k] w(j -> k) gap[k, j]              i <= k < j, all words from i on below j
//
// and right[i, i] = left[i, i] = 1; Z = right[0, n]. A tree is one term of it, so that nothing is counted twice. Each
// row i needs the rows below it only, and is filled by sums of rows, number by number side by side. With a single root
// word, gap[0, j] has the term k = 0 alone [eisner1996three].
#pragma once

#include "../core/arena.hpp"

#include <cstddef>

namespace kernelfields {

// Sums of rows, one number at a time: for numbers that are no doubles.
struct PlainRows {
    static constexpr std::size_t width = 1;
    template <class T> static void add(T* to, T factor, const T* from, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) to[k] += factor * from[k];
    }
    template <class T> static void raise(T* place, T by) { *place += by; }
    template <class T> static T dot(const T* a, const T* b, std::size_t count) {
        T total{};
        for (std::size_t k = 0; k < count; ++k) total += a[k] * b[k];
        return total;
    }
};

// Rows of a chart are `stride` numbers apart, so that vectors may run over the end of a row; what is there is zero.
KF_ALWAYS_INLINE std::size_t chart_stride(std::size_t words, std::size_t width) {
    return padded(words + 1, width) + width;
}

template <class T> struct EisnerChart {
    std::size_t words, stride;
    T *right, *left, *gap, *below;  // below[i, j] = w(j -> i) gap[i, j]
    static constexpr std::size_t tables = 4;

    // `memory` holds tables * (words + 1) * stride numbers, which become zero; or a chart that is there.
    KF_ALWAYS_INLINE EisnerChart(std::size_t n, std::size_t s, T* memory, bool clear = true) : words(n), stride(s) {
        const std::size_t size = (n + 1) * s;
        right = memory;
        left = right + size;
        gap = left + size;
        below = gap + size;
        for (std::size_t k = 0; clear && k < tables * size; ++k) memory[k] = T{};
    }
};

// w(h -> m) is weight[(m - 1) * (n + 1) + h]. Returns Z.
template <class Rows, class T>
KF_ALWAYS_INLINE T eisner_inside(const EisnerChart<T>& chart, const T* weight, bool single_root) {
    const std::size_t n = chart.words, stride = chart.stride;
    for (std::size_t i = n + 1; i-- > 0;) {
        T *right = chart.right + i * stride, *left = chart.left + i * stride;
        T *gap = chart.gap + i * stride, *below = chart.below + i * stride;
        Rows::raise(right + i, T(1.0));
        Rows::raise(left + i, T(1.0));
        for (std::size_t k = i; k <= n; ++k) {
            if (k > i) {
                if (i > 0) Rows::raise(below + k, weight[(i - 1) * (n + 1) + k] * gap[k]);
                Rows::add(right + k, weight[(k - 1) * (n + 1) + i] * gap[k], chart.right + k * stride + k, n + 1 - k);
            }
            if (k == n || (i == 0 && single_root && k > 0)) continue;
            Rows::add(gap + k + 1, right[k], chart.left + (k + 1) * stride + k + 1, n - k);
        }
        if (i == 0) break;
        for (std::size_t k = i; k < n; ++k) Rows::add(left + k + 1, left[k], chart.below + k * stride + k + 1, n - k);
    }
    return chart.right[n];
}

// The derivative of Z, rows from the root on; marginal(m, h) = w(h -> m) dZ/dw(h -> m) / Z for every word m and
// h != m. `slope` holds one chart, `row` a row of it.
template <class Rows, class T>
KF_ALWAYS_INLINE void eisner_outside(const EisnerChart<T>& chart, const T* weight, bool single_root,
                                     const EisnerChart<T>& slope, T* row, T* marginal) {
    const std::size_t n = chart.words, stride = chart.stride;
    for (std::size_t k = 0; k < n * (n + 1); ++k) marginal[k] = T{};
    if (n == 0) return;
    slope.right[n] = T(1.0) / chart.right[n];
    for (std::size_t i = 0; i <= n; ++i) {
        T *right = slope.right + i * stride, *left = slope.left + i * stride, *below = slope.below + i * stride;
        for (std::size_t k = n; i > 0 && k-- > i;) {
            Rows::raise(left + k, Rows::dot(left + k + 1, chart.below + k * stride + k + 1, n - k));
            Rows::add(slope.below + k * stride + k + 1, chart.left[i * stride + k], left + k + 1, n - k);
        }
        for (std::size_t k = 0; k < stride; ++k) row[k] = T{};
        for (std::size_t k = n + 1; k-- > i;) {
            if (k < n && !(i == 0 && single_root && k > 0)) {
                Rows::raise(right + k, Rows::dot(row + k + 1, chart.left + (k + 1) * stride + k + 1, n - k));
                Rows::add(slope.left + (k + 1) * stride + k + 1, chart.right[i * stride + k], row + k + 1, n - k);
            }
            if (k == i) break;
            const T arc = weight[(k - 1) * (n + 1) + i], gap = chart.gap[i * stride + k];
            const T down = arc * Rows::dot(right + k, chart.right + k * stride + k, n + 1 - k);
            Rows::add(slope.right + k * stride + k, arc * gap, right + k, n + 1 - k);
            marginal[(k - 1) * (n + 1) + i] = down * gap;
            const T up = i == 0 ? T{} : weight[(i - 1) * (n + 1) + k] * below[k];
            if (i > 0) marginal[(i - 1) * (n + 1) + k] = up * gap;
            Rows::raise(row + k, down + up);
        }
    }
}

}  // namespace kernelfields
