// Small matrix products for a few rows at once: the inner loops of every chain recursion.
#pragma once

#include "simd.hpp"

namespace kernelfields {
namespace {

template <int N> struct Count {
    static constexpr int value = N;
};

// Calls f with the number of rows as a compile-time constant, 1 <= rows <= 4.
template <class F> KF_INLINE void with_rows(std::size_t rows, F f) {
    switch (rows) {
        case 1: return f(Count<1>{});
        case 2: return f(Count<2>{});
        case 3: return f(Count<3>{});
        default: return f(Count<4>{});
    }
}

// out[r][j] = sum_i in[r][i] * A[i][j]   for R rows and K vectors of columns, all in registers.
template <class T, int R, int K, class Finish>
KF_INLINE void multiply_block(const T* A, std::size_t L, std::size_t stride, const T* const (&in)[R], std::size_t at,
                              Finish finish) {
    constexpr int kChains = R * K < 6 ? 2 : 1;  // enough independent sums to fill the FMA pipeline
    Vec<T> sums[kChains][R][K] = {};
    const T* row = A + at * kWidth<T>;
    std::size_t i = 0;
    for (; i + kChains <= L; i += kChains)
        for (int c = 0; c < kChains; ++c, row += stride)
            for (int k = 0; k < K; ++k) {
                const Vec<T> a = load(row + k * kWidth<T>);
                for (int r = 0; r < R; ++r) sums[c][r][k] += in[r][i + c] * a;
            }
    for (; i < L; ++i, row += stride)
        for (int k = 0; k < K; ++k) {
            const Vec<T> a = load(row + k * kWidth<T>);
            for (int r = 0; r < R; ++r) sums[0][r][k] += in[r][i] * a;
        }
    for (int r = 0; r < R; ++r)
        for (int k = 0; k < K; ++k) {
            Vec<T> total = sums[0][r][k];
            for (int c = 1; c < kChains; ++c) total += sums[c][r][k];
            finish(r, at + k, total);
        }
}

// The same in the (max, +) semiring: out[r][j] = max_i in[r][i] + A[i][j].
template <class T, int R, int K, class Finish>
KF_INLINE void max_plus_block(const T* A, std::size_t L, std::size_t stride, const T* const (&in)[R], std::size_t at,
                              Finish finish) {
    Vec<T> best[R][K];
    for (int r = 0; r < R; ++r)
        for (int k = 0; k < K; ++k) best[r][k] = broadcast(-kInfinity<T>);
    const T* row = A + at * kWidth<T>;
    for (std::size_t i = 0; i < L; ++i, row += stride)
        for (int k = 0; k < K; ++k) {
            const Vec<T> a = load(row + k * kWidth<T>);
            for (int r = 0; r < R; ++r) best[r][k] = maximum<T>(in[r][i] + a, best[r][k]);
        }
    for (int r = 0; r < R; ++r)
        for (int k = 0; k < K; ++k) finish(r, at + k, best[r][k]);
}

#define KF_OVER_COLUMNS(block)                                                                           \
    const std::size_t vectors = stride / kWidth<T>;                                                      \
    std::size_t at = 0;                                                                                  \
    for (; at + 3 <= vectors; at += 3) block<T, R, 3>(A, L, stride, in, at, finish);                     \
    if (vectors - at == 2) block<T, R, 2>(A, L, stride, in, at, finish);                                 \
    if (vectors - at == 1) block<T, R, 1>(A, L, stride, in, at, finish);

// A: L rows of `stride` numbers; finish(r, vector index, value) takes each finished vector.
template <class T, int R, class Finish>
KF_INLINE void multiply(const T* A, std::size_t L, std::size_t stride, const T* const (&in)[R], Finish finish) {
    KF_OVER_COLUMNS(multiply_block)
}
template <class T, int R, class Finish>
KF_INLINE void max_plus(const T* A, std::size_t L, std::size_t stride, const T* const (&in)[R], Finish finish) {
    KF_OVER_COLUMNS(max_plus_block)
}
#undef KF_OVER_COLUMNS

// E[i][j] += sum_r u[r][i] * v[r][j]
template <class T, int R>
KF_INLINE void add_outer(T* E, std::size_t L, std::size_t stride, const T* const (&u)[R], const T* const (&v)[R]) {
    for (std::size_t at = 0; at < stride; at += kWidth<T>) {
        Vec<T> right[R];
        for (int r = 0; r < R; ++r) right[r] = load(v[r] + at);
        T* cell = E + at;
        for (std::size_t i = 0; i < L; ++i, cell += stride) {
            Vec<T> total = load(cell);
            for (int r = 0; r < R; ++r) total += u[r][i] * right[r];
            store(cell, total);
        }
    }
}

}  // namespace
}  // namespace kernelfields
