// Products for recursions with one stretch in every lane.
#pragma once

#include "lane_groups.hpp"

namespace kernelfields {
namespace {

// Powers of two next to positive numbers, by their bits: scaling with them rounds nothing.
template <class S> struct PowerOfTwo {
    static constexpr int kMantissa = sizeof(S) == sizeof(double) ? 52 : 23;
    static constexpr int kBias = sizeof(S) == sizeof(double) ? 1023 : 127;

    // n with 2^n <= x < 2^(n+1).
    static KF_INLINE Bits<S> exponent(Vec<S> x) {
        Bits<S> bits;
        std::memcpy(&bits, &x, sizeof bits);
        return (bits >> kMantissa) - kBias;
    }
    // 2^-n.
    static KF_INLINE Vec<S> inverse(Bits<S> n) {
        const Bits<S> bits = (kBias - n) << kMantissa;
        Vec<S> power;
        std::memcpy(&power, &bits, sizeof power);
        return power;
    }
};

// out(j) = sum_i in(i) A(i, j) of all sets, so many columns at a time that their sums stay in registers.
template <class S, int L, class In, class Finish> KF_INLINE void lane_multiply(const S (&A)[L][L], In in,
                                                                               Finish finish) {
    constexpr std::size_t sets = kSets;
    constexpr int kBlock = L <= 6 || KF_VECTOR_BYTES == 64 ? L : (L + 1) / 2;
    for (int first = 0; first < L; first += kBlock) {
        Vec<S> sums[sets][kBlock];
        KF_UNROLL
        for (int i = 0; i < L; ++i) {
            Vec<S> here[sets];
            KF_UNROLL
            for (std::size_t g = 0; g < sets; ++g) here[g] = in(g, i);
            KF_UNROLL
            for (int j = 0; j < kBlock; ++j)
                if (first + j < L) KF_UNROLL
            for (std::size_t g = 0; g < sets; ++g)
                sums[g][j] = i ? sums[g][j] + here[g] * A[i][first + j] : here[g] * A[i][first + j];
        }
        KF_UNROLL
        for (int j = 0; j < kBlock; ++j)
            if (first + j < L) KF_UNROLL
        for (std::size_t g = 0; g < sets; ++g) finish(g, first + j, sums[g][j]);
    }
}

// sums(i, j) += sum_k left[k](i) right[k](j), lane by lane, a few rows and columns at a time.
template <class S, int L, int I = 0, int J = 0>
KF_INLINE void lane_outer(const Vec<S>* left, const Vec<S>* right, std::size_t count, S* sums) {
    constexpr int kHigh = KF_VECTOR_BYTES == 64 && L > 4 ? 5 : 3, kWide = KF_VECTOR_BYTES == 64 ? 5 : 4;
    constexpr int kRowsHere = L - I < kHigh ? L - I : kHigh, kColumnsHere = L - J < kWide ? L - J : kWide;
    Vec<S> total[kRowsHere][kColumnsHere];
    S* at = sums + (I * L + J) * kWidth<S>;
    KF_UNROLL
    for (int i = 0; i < kRowsHere; ++i) KF_UNROLL
    for (int j = 0; j < kColumnsHere; ++j) total[i][j] = load(at + (i * L + j) * kWidth<S>);
    for (std::size_t k = 0; k < count; ++k) KF_UNROLL
    for (int i = 0; i < kRowsHere; ++i) KF_UNROLL
    for (int j = 0; j < kColumnsHere; ++j) total[i][j] += left[k * L + I + i] * right[k * L + J + j];
    KF_UNROLL
    for (int i = 0; i < kRowsHere; ++i) KF_UNROLL
    for (int j = 0; j < kColumnsHere; ++j) store(at + (i * L + j) * kWidth<S>, total[i][j]);
    if constexpr (J + kColumnsHere < L) lane_outer<S, L, I, J + kColumnsHere>(left, right, count, sums);
    else if constexpr (I + kRowsHere < L) lane_outer<S, L, I + kRowsHere, 0>(left, right, count, sums);
}

}  // namespace
}  // namespace kernelfields
