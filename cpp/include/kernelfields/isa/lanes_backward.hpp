// Backward messages of a group of lanes, and marginals.
#pragma once

#include "lane_messages.hpp"

namespace kernelfields {
namespace {

// What the backward pass keeps of the positions of a tile.
template <class S, int L> struct LaneTile {
    Vec<S> into[kSets][kWidth<S> * L];      // b_{t+1} beta_{t+1}
    Vec<S> share[kSets][kWidth<S> * L];     // alpha_t, zero where the edge does not count; unless all do
    Vec<S> marginal[kSets][kWidth<S> * L];  // alpha_t beta_t
};

// One position back, the k-th of its tile. `into` holds b_{t+1} beta_{t+1} and becomes b_t beta_t. `plain` positions
// count in all lanes, and all lanes go on beyond them. <alpha_t, beta_t> is the same for all t, but for rounding: it is
// made 1 where the pass has a `look`. B is the transpose of A.
template <class S, int L, bool plain>
KF_INLINE void lane_backward(const LaneGroup<S>& lanes, const S (&B)[L][L], const LaneMessages<S, L>& messages,
                             std::size_t t, bool look, Vec<S> (&into)[kSets][L], LaneTile<S, L>& tile) {
    constexpr std::size_t W = kWidth<S>, sets = kSets, kTile = W * L;
    const std::size_t k = t % W, first = messages.tile(t, 0);
    const Vec<S>*alpha = messages.alpha + first * kTile + k * L, *factor = messages.factor + first * kTile + k * L;
    Vec<S> value[sets][L];
    Bits<S> ends[sets], counts[sets];
    if constexpr (!plain) KF_UNROLL
    for (std::size_t g = 0; g < sets; ++g) {
        const Vec<S> at = broadcast(static_cast<S>(t));
        ends[g] = load(lanes.lengths + g * W) <= at + S(1);
        counts[g] = (load(lanes.firsts + g * W) <= at) & (load(lanes.lasts + g * W) > at) & ~ends[g];
    }
    lane_multiply<S, L>(
        B, [&](std::size_t g, int j) { return into[g][j]; },
        [&](std::size_t g, int i, Vec<S> sum) {
            if constexpr (plain) value[g][i] = sum;
            else value[g][i] = ends[g] ? broadcast(S(1)) : sum;
        });
    KF_UNROLL
    for (std::size_t g = 0; g < sets; ++g) {
        if (!plain || look) {
            Vec<S> meet = alpha[g * kTile] * value[g][0];
            KF_UNROLL
            for (int i = 1; i < L; ++i) meet += alpha[g * kTile + i] * value[g][i];
            const Vec<S> scale = S(1) / meet;
            KF_UNROLL
            for (int i = 0; i < L; ++i) value[g][i] *= scale, into[g][i] *= scale;
        }
        Vec<S>*kept = tile.into[g] + k * L, *marginal = tile.marginal[g] + k * L, *share = tile.share[g] + k * L;
        KF_UNROLL
        for (int i = 0; i < L; ++i) {
            const Vec<S> here = alpha[g * kTile + i];
            kept[i] = into[g][i];
            marginal[i] = here * value[g][i];
            if constexpr (!plain) share[i] = counts[g] ? here : Vec<S>{};
            into[g][i] = i ? value[g][i] * factor[g * kTile + i] : value[g][i];
        }
    }
    if (messages.scaled(t)) KF_UNROLL
    for (std::size_t g = 0; g < sets; ++g) KF_UNROLL
    for (int i = 0; i < L; ++i) into[g][i] *= messages.inverse[(first + g) * W + k];
}

// Sums of pairs over the lanes of one set, each times its weight and A, to edge_sum, and back to zero.
template <class S, int L>
KF_INLINE void flush_lanes(const S (&B)[L][L], const S* weights, S* edge, double* edge_sum) {
    KF_UNROLL
    for (int i = 0; i < L; ++i) KF_UNROLL
    for (int j = 0; j < L; ++j) {
        S* sums = edge + (i * L + j) * kWidth<S>;
        edge_sum[i * L + j] += static_cast<double>(sum<S>(load(sums) * load(weights))) * static_cast<double>(B[j][i]);
        store(sums, Vec<S>{});
    }
}

template <class S> KF_ONCE void weigh(Vec<S>* values, std::size_t count, const S* weights) {
    for (std::size_t k = 0; k < count; ++k) values[k] *= load(weights);
}

template <class S, int L>
KF_INLINE void lanes_backward(const LaneGroup<S>& lanes, const S (&B)[L][L], const LaneMessages<S, L>& messages, S* out,
                              double* edge_sum, Seam* seams) {
    constexpr std::size_t W = kWidth<S>, sets = kSets, kTile = W * L;
    constexpr std::size_t kFlushEvery = sizeof(S) == sizeof(double) ? std::size_t(-1) : 128;
    alignas(KF_VECTOR_BYTES) S edge[sets][L * L * W] = {};
    Vec<S> into[sets][L] = {};
    LaneTile<S, L> tile;
    for (std::size_t t = (lanes.longest - 1) / W * W;; t -= W) {
        const std::size_t steps = lanes.longest - t < W ? lanes.longest - t : W;
        const bool plain = lanes.plain(t, steps);
        if (plain)
            for (std::size_t k = steps; k-- > 0;)
                lane_backward<S, L, true>(lanes, B, messages, t + k, k + 1 == steps, into, tile);
        else
            for (std::size_t k = steps; k-- > 0;)
                lane_backward<S, L, false>(lanes, B, messages, t + k, true, into, tile);
        if (seams && !plain) note_seams<S, L>(lanes, messages, t, steps, tile.marginal, seams);
        KF_UNROLL
        for (std::size_t g = 0; g < sets; ++g) {
            const Vec<S>* share = plain ? messages.alpha + messages.tile(t, g) * kTile : tile.share[g];
            lane_outer<S, L>(share, tile.into[g], steps, edge[g]);
            if (lanes.weighted) weigh<S>(tile.marginal[g], steps * L, lanes.weights + g * W);
            store_lanes<S>(lanes, g, t, steps, tile.marginal[g], out);
        }
        if (t == 0) break;
        if (t % kFlushEvery == 0)
            for (std::size_t g = 0; g < sets; ++g) flush_lanes<S, L>(B, lanes.weights + g * W, edge[g], edge_sum);
    }
    for (std::size_t g = 0; g < sets; ++g) flush_lanes<S, L>(B, lanes.weights + g * W, edge[g], edge_sum);
}

}  // namespace
}  // namespace kernelfields
