// All trees, projective or not: the determinant of the Laplacian [tutte1984graph, koo2007structured], by elimination
// of one word after the other,
//
//   D_k = sum_h w(h -> k),   w(h -> m) += w(k -> m) w(h -> k) / D_k,   Z = prod_k D_k,
//
// h over the words that are left, and the root. It is Gaussian elimination of the Laplacian, but for its diagonal,
// which is never looked at: sums of off-diagonal entries are what it would be [grassmann1985regenerative]. Nothing is
// subtracted, so that nothing cancels, whatever the scores.
//
// A single root word: Z is then the slope in t of the determinant with root arcs t w(0 -> m), at t = 0. To first
// order, root arcs count in no D_k, and D_1 = w(0 -> 1) where word 1 is the last one left.
#pragma once

#include "../core/wide.hpp"

#include <cstddef>
#include <cstdint>

namespace kernelfields {

// w(h -> m) is row m - 1, column h: rows are `stride` numbers apart. Eliminates words n ... 1, in place; returns
// log Z, or -inf and the word whose arcs lead to no other one that is left.
//
// `lowest` is the logarithm of the smallest product D_n ... D_k. Where all arcs of a word sum to at most 1, arcs
// between words remain so, and each D_k but the last is at most 1. With a single root no D_k but the last counts root
// arcs: these may grow up to exp(-lowest), slopes up to exp(-2 lowest), and Z alone tells nothing about either.
struct ReducedWords {
    double log_partition, lowest;
    std::size_t stuck;
};

template <class Rows, class T>
KF_ALWAYS_INLINE ReducedWords eliminate(T* weight, std::size_t n, std::size_t stride, bool single_root, T* divisor) {
    double total = 0, lowest = 0;
    for (std::size_t k = n; k > 0; --k) {
        const T* from = weight + (k - 1) * stride;
        T sum{};
        for (std::size_t h = single_root && k > 1 ? 1 : 0; h < k; ++h) sum += from[h];
        divisor[k - 1] = sum;
        if (is_zero(sum)) return {-INFINITY, -INFINITY, k};
        total += log_of(sum);
        if (total < lowest) lowest = total;
        for (std::size_t m = 1; m < k; ++m) {
            T* to = weight + (m - 1) * stride;
            Rows::add(to, to[k] / sum, from, k);
            to[m] = T{};
        }
    }
    return {total, lowest, 0};
}

// slope(m, h) = d log Z / d w(h -> m), from the arrays that `eliminate` leaves; word 1 first, each word by itself then:
//
//   slope(m, k) = sum_h slope(m, h) w(h -> k) / D_k
//   slope(k, h) = (1 + sum_m w(k -> m) (slope(m, h) - slope(m, k))) / D_k,  no 1 and slope(m, k) for root arcs if
//   single
template <class Rows, class T>
KF_ALWAYS_INLINE void eliminated_slopes(const T* weight, std::size_t n, std::size_t stride, bool single_root,
                                        const T* divisor, T* slope) {
    for (std::size_t k = 0; k < n * stride; ++k) slope[k] = T{};
    for (std::size_t k = 1; k <= n; ++k) {
        const T inverse = T(1.0) / divisor[k - 1];
        T* own = slope + (k - 1) * stride;
        T constant = T(1.0);
        for (std::size_t m = 1; m < k; ++m) {
            T* other = slope + (m - 1) * stride;
            const T arc = weight[(m - 1) * stride + k];
            other[k] = Rows::dot(other, weight + (k - 1) * stride, k) * inverse;
            constant = constant - arc * other[k];
            Rows::add(own, arc, other, k);
        }
        for (std::size_t h = 0; h < k; ++h)
            own[h] = (h == 0 && single_root && k > 1 ? own[h] : own[h] + constant) * inverse;
    }
}

}  // namespace kernelfields
