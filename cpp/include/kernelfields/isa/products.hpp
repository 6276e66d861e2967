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

// Calls f with the number of vectors in a row as a constant if that is small enough for all rows to
// stay in registers, else with Count<0>: rows then live in memory.
template <class F> KF_INLINE void with_vectors(std::size_t vectors, F f) {
    switch (vectors) {
        case 1: return f(Count<1>{});
        case 2: return f(Count<2>{});
        case 3: return f(Count<3>{});
        default: return f(Count<0>{});
    }
}

// R rows between two loops of one step: in registers (V vectors each) or in memory (V = 0).
template <class T, int R, int V> struct Held {
    Vec<T> value[R][V];
    KF_INLINE explicit Held(T* const (&)[R]) {}
    KF_INLINE void set(int r, std::size_t v, Vec<T> x) { value[r][v] = x; }
    KF_INLINE Vec<T> get(int r, std::size_t v) const { return value[r][v]; }
};
template <class T, int R> struct Held<T, R, 0> {
    T* row[R];
    KF_INLINE explicit Held(T* const (&rows)[R]) {
        for (int r = 0; r < R; ++r) row[r] = rows[r];
    }
    KF_INLINE void set(int r, std::size_t v, Vec<T> x) { store(row[r] + v * kWidth<T>, x); }
    KF_INLINE Vec<T> get(int r, std::size_t v) const { return load(row[r] + v * kWidth<T>); }
};

// Into how many sums a product is split: enough to fill the FMA pipeline with the rows that there are. Alone, a
// row is then rounded otherwise than beside others; where that must not be, it is split as if it were alone.
enum class Split { by_rows, as_alone };

// out[r][j] = sum_i in[r][i] * A[i][j]   for R rows and K vectors of columns, all in registers.
template <class T, int R, int K, Split split, class Finish>
KF_INLINE void multiply_block(const T* A, std::size_t L, std::size_t stride, const T* const (&in)[R], std::size_t at,
                              Finish finish) {
    constexpr int kChains = (split == Split::by_rows ? R * K < 6 : K < 2) ? 2 : 1;
    Vec<T> sums[kChains][R][K] = {};
    const T* row = A + at * kWidth<T>;
    const auto add_row = [&](std::size_t i, Vec<T>(&into)[R][K]) {
        Vec<T> a[K];
        for (int k = 0; k < K; ++k) a[k] = load(row + k * kWidth<T>);
        for (int r = 0; r < R; ++r) {
            const Vec<T> x = broadcast(in[r][i]);
            for (int k = 0; k < K; ++k) into[r][k] += x * a[k];
        }
        row += stride;
    };
    std::size_t i = 0;
    for (; i + kChains <= L; i += kChains)
        for (int c = 0; c < kChains; ++c) add_row(i + c, sums[c]);
    for (; i < L; ++i) add_row(i, sums[0]);
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
    for (std::size_t i = 0; i < L; ++i, row += stride) {
        Vec<T> a[K];
        for (int k = 0; k < K; ++k) a[k] = load(row + k * kWidth<T>);
        for (int r = 0; r < R; ++r) {
            const Vec<T> x = broadcast(in[r][i]);
            for (int k = 0; k < K; ++k) best[r][k] = maximum<T>(x + a[k], best[r][k]);
        }
    }
    for (int r = 0; r < R; ++r)
        for (int k = 0; k < K; ++k) finish(r, at + k, best[r][k]);
}

// A: L rows of `stride` numbers; finish(r, vector index, value) takes each finished vector.
template <class T, int R, int V = 0, Split split = Split::by_rows, class Finish>
KF_INLINE void multiply(const T* A, std::size_t L, std::size_t stride, const T* const (&in)[R], Finish finish) {
    if constexpr (V > 0) return multiply_block<T, R, V, split>(A, L, V * kWidth<T>, in, 0, finish);
    const std::size_t vectors = stride / kWidth<T>;
    std::size_t at = 0;
    for (; at + 3 <= vectors; at += 3) multiply_block<T, R, 3, split>(A, L, stride, in, at, finish);
    if (vectors - at == 2) multiply_block<T, R, 2, split>(A, L, stride, in, at, finish);
    if (vectors - at == 1) multiply_block<T, R, 1, split>(A, L, stride, in, at, finish);
}
template <class T, int R, class Finish>
KF_INLINE void max_plus(const T* A, std::size_t L, std::size_t stride, const T* const (&in)[R], Finish finish) {
    const std::size_t vectors = stride / kWidth<T>;
    std::size_t at = 0;
    for (; at + 3 <= vectors; at += 3) max_plus_block<T, R, 3>(A, L, stride, in, at, finish);
    if (vectors - at == 2) max_plus_block<T, R, 2>(A, L, stride, in, at, finish);
    if (vectors - at == 1) max_plus_block<T, R, 1>(A, L, stride, in, at, finish);
}

// E[i][j] += sum_r u[r][i] * v[r][j]   for K vectors of columns, v in registers.
template <class T, int R, int K>
KF_INLINE void add_outer_block(T* E, std::size_t L, std::size_t stride, const T* const (&u)[R], const T* const (&v)[R],
                               std::size_t at) {
    Vec<T> right[R][K];
    for (int r = 0; r < R; ++r)
        for (int k = 0; k < K; ++k) right[r][k] = load(v[r] + (at + k) * kWidth<T>);
    T* cell = E + at * kWidth<T>;
    for (std::size_t i = 0; i < L; ++i, cell += stride) {
        Vec<T> total[K];
        for (int k = 0; k < K; ++k) total[k] = load(cell + k * kWidth<T>);
        for (int r = 0; r < R; ++r) {
            const Vec<T> x = broadcast(u[r][i]);
            for (int k = 0; k < K; ++k) total[k] += x * right[r][k];
        }
        for (int k = 0; k < K; ++k) store(cell + k * kWidth<T>, total[k]);
    }
}

template <class T, int R, int V = 0>
KF_INLINE void add_outer(T* E, std::size_t L, std::size_t stride, const T* const (&u)[R], const T* const (&v)[R]) {
    if constexpr (V > 0) return add_outer_block<T, R, V>(E, L, V * kWidth<T>, u, v, 0);
    const std::size_t vectors = stride / kWidth<T>;
    std::size_t at = 0;
    for (; at + 3 <= vectors; at += 3) add_outer_block<T, R, 3>(E, L, stride, u, v, at);
    for (; at < vectors; ++at) add_outer_block<T, R, 1>(E, L, stride, u, v, at);
}

}  // namespace
}  // namespace kernelfields
