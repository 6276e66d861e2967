// Products for recursions with one sequence in every lane.
#pragma once

#include "lane_groups.hpp"

namespace kernelfields {
namespace {

// The products of c, lane by lane, kept in range by moving powers of two aside.
template <class C> struct LaneProduct {
    static constexpr std::size_t kParts = sizeof(double) / sizeof(C);  // vectors of doubles for one of C
    Vec<double> mantissa[kSets * kParts];
    Bits<double> exponent[kSets * kParts] = {};

    KF_INLINE LaneProduct() {
        for (auto& one : mantissa) one = broadcast(1.0);
    }
    KF_INLINE void times(std::size_t g, Vec<C> factor) {
        for (std::size_t part = 0; part < kParts; ++part) {
            Vec<double>& here = mantissa[g * kParts + part];
            if constexpr (kParts == 1) here *= factor;
            else
                for (std::size_t k = 0; k < kWidth<double>; ++k)
                    here[k] *= static_cast<double>(factor[part * kWidth<double> + k]);
            Bits<double> bits;
            std::memcpy(&bits, &here, sizeof bits);
            exponent[g * kParts + part] += ((bits >> 52) & 0x7ff) - 1023;
            bits = (bits & ~(std::int64_t{0x7ff} << 52)) | (std::int64_t{1023} << 52);
            std::memcpy(&here, &bits, sizeof here);
        }
    }
    KF_INLINE double log(std::size_t lane) const {
        const std::size_t part = lane / kWidth<double>, k = lane % kWidth<double>;
        return __builtin_log(mantissa[part][k]) + static_cast<double>(exponent[part][k]) * 0.69314718055994530942;
    }
};

// out(j) = sum_i in(i) A(i, j) of all sets, so many columns at a time that
// their sums stay in registers.
template <class C, int L, class In, class Finish>
KF_INLINE void lane_multiply(const C (&A)[L][L], In in, Finish finish) {
    constexpr int kBlock = L <= 6 ? L : (L + 1) / 2;
    for (int first = 0; first < L; first += kBlock) {
        Vec<C> sums[kSets][kBlock] = {};
        for (int i = 0; i < L; ++i) {
            Vec<C> here[kSets];
            for (std::size_t g = 0; g < kSets; ++g) here[g] = in(g, i);
            for (int j = 0; j < kBlock; ++j)
                if (first + j < L)
                    for (std::size_t g = 0; g < kSets; ++g) sums[g][j] += here[g] * A[i][first + j];
        }
        for (int j = 0; j < kBlock; ++j)
            if (first + j < L)
                for (std::size_t g = 0; g < kSets; ++g) finish(g, first + j, sums[g][j]);
    }
}

}  // namespace
}  // namespace kernelfields
