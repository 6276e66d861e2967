// Best scores of lanes up to each position, from which the way back finds the labels that lead to them.
//
// Two operations a pair of labels on the way there instead of four; on the way back one column of A in every lane, that
// of the label it passes through. That column is a permutation of vectors, which AVX-512 does in one instruction.
#pragma once

#include "lane_groups.hpp"

namespace kernelfields {
namespace {

template <class S, int L> struct Maxima {
    static constexpr std::size_t W = kWidth<S>;
    static constexpr int kWide = W;
    static constexpr bool kTwo = L > kWide;  // a row of A takes two vectors

    struct Candidate {
        Vec<S> score;
        Bits<S> label;
    };

    Vec<S>* kept;  // d_t, position by position, set by set
    Vec<S> one;
    Vec<S> row[L][kTwo ? 2 : 1];
    Bits<S> name[L];

    KF_INLINE Maxima(Arena& arena, std::size_t longest, const S (&A)[L][L])
        : kept(take<Vec<S>>(arena, longest * kSets * L)), one(broadcast(S(1))), row{} {
        for (int i = 0; i < L; ++i) {
            name[i] = Bits<S>{} + i;
            for (int j = 0; j < L; ++j) row[i][j / kWide][j % kWide] = A[i][j];
        }
        asm volatile("" : "+m"(name), "+m"(row), "+m"(one));
    }
    KF_INLINE Vec<S>* scores(std::size_t t, std::size_t g) const { return kept + (t * kSets + g) * L; }

    // The best of labels I to J - 1 before `label`; ties go to the lowest.
    template <int I, int J> KF_INLINE Candidate best_of(const Vec<S>* from, Bits<S> label) const {
        if constexpr (J - I == 1) {
            Vec<S> edge;
            if constexpr (kTwo) edge = __builtin_shuffle(row[I][0], row[I][1], label);
            else edge = __builtin_shuffle(row[I][0], label);
            return {from[I] + edge, name[I]};
        } else {
            const Candidate low = best_of<I, (I + J) / 2>(from, label), high = best_of<(I + J) / 2, J>(from, label);
            const Bits<S> better = high.score > low.score;
            return {maximum<S>(low.score, high.score), better ? high.label : low.label};
        }
    }
    KF_INLINE Bits<S> before(std::size_t t, std::size_t g, Bits<S> label) const {
        return best_of<0, L>(scores(t - 1, g), label).label;
    }

    template <class Each>
    KF_INLINE void advance(const S (&A)[L][L], std::size_t t, std::size_t steps, const Vec<S> (&node)[kSets][W * L],
                           Vec<S> (&best)[kSets][L], Each each) {
        for (std::size_t p = 0; p < steps; ++p) {
            KF_UNROLL
            for (std::size_t g = 0; g < kSets; ++g) {
                Vec<S> to[L] = {};
                if (t + p > 0) KF_UNROLL
                for (int j = 0; j < L; ++j) {
                    to[j] = best[g][0] * one + A[0][j];
                    KF_UNROLL
                    for (int i = 1; i < L; ++i) to[j] = maximum<S>(to[j], best[g][i] * one + A[i][j]);
                }
                KF_UNROLL
                for (int j = 0; j < L; ++j) best[g][j] = to[j] + node[g][p * L + j];
            }
            each(t + p);
            for (std::size_t g = 0; g < kSets; ++g) KF_UNROLL
            for (int j = 0; j < L; ++j) scores(t + p, g)[j] = best[g][j];
        }
    }
};

}  // namespace
}  // namespace kernelfields
