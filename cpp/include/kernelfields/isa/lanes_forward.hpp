// Forward messages of a group of lanes.
#pragma once

#include "lane_factors.hpp"

namespace kernelfields {
namespace {

// Forward messages of some positions; `from` is the one before them, and becomes their last.
template <class S, int L>
KF_INLINE void lane_forward(const S (&A)[L][L], const LaneMessages<S, L>& messages, std::size_t t, std::size_t steps,
                            unsigned every, Vec<S> (&from)[kSets][L], Bits<S> (&exponent)[kSets]) {
    constexpr std::size_t W = kWidth<S>, sets = kSets, kTile = W * L;
    const std::size_t first = messages.tile(t, 0);
    for (std::size_t k = 0; k < steps; ++k) {
        const Vec<S>* factor = messages.factor + first * kTile + k * L;
        Vec<S>* alpha = messages.alpha + first * kTile + k * L;
        Vec<S> value[sets][L];
        if (t + k == 0) {
            KF_UNROLL
            for (std::size_t g = 0; g < sets; ++g) KF_UNROLL
            for (int j = 0; j < L; ++j) value[g][j] = j ? factor[g * kTile + j] : broadcast(S(1));
        } else {
            lane_multiply<S, L>(
                A, [&](std::size_t g, int i) { return from[g][i]; },
                [&](std::size_t g, int j, Vec<S> sum) { value[g][j] = j ? sum * factor[g * kTile + j] : sum; });
        }
        if (((k + 1) & (every - 1)) == 0) KF_UNROLL
        for (std::size_t g = 0; g < sets; ++g) {
            Vec<S> total = value[g][0];
            KF_UNROLL
            for (int j = 1; j < L; ++j) total += value[g][j];
            const Bits<S> power = PowerOfTwo<S>::exponent(total);
            const Vec<S> inverse = PowerOfTwo<S>::inverse(power);
            exponent[g] += power;
            messages.inverse[(first + g) * W + k] = inverse;
            KF_UNROLL
            for (int j = 0; j < L; ++j) value[g][j] *= inverse;
        }
        KF_UNROLL
        for (std::size_t g = 0; g < sets; ++g) KF_UNROLL
        for (int j = 0; j < L; ++j) alpha[g * kTile + j] = from[g][j] = value[g][j];
    }
}

// Factors and forward messages of all positions. False if some sequence has scores that cannot be held.
template <class S, int L>
KF_INLINE bool lanes_forward(const LaneGroup<S>& lanes, const S (&A)[L][L], double edge_range,
                             const LaneMessages<S, L>& messages, LaneScan<S>& scan) {
    constexpr std::size_t W = kWidth<S>, sets = kSets, kTile = W * L;
    constexpr std::size_t kFlushEvery = sizeof(S) == sizeof(double) ? std::size_t(-1) : 64;
    Vec<S> from[sets][L] = {};
    Bits<S> exponent[sets] = {};
    for (std::size_t t = 0; t < lanes.longest; t += W) {
        const std::size_t steps = lanes.longest - t < W ? lanes.longest - t : W;
        KF_UNROLL
        for (std::size_t g = 0; g < sets; ++g) {
            Vec<S>* factor = messages.factor + messages.tile(t, g) * kTile;
            load_lanes<S>(lanes, g, t, steps, factor);
            lane_factors<S>(lanes, g, t, steps, factor, scan);
            messages.exponent[messages.tile(t, g)] = exponent[g];
        }
        const unsigned char every = messages.every[messages.tile(t, 0)] = scale_every<S>(scan.range() + edge_range);
        lane_forward<S, L>(A, messages, t, steps, every, from, exponent);
        if ((t + W) % kFlushEvery == 0) scan.flush();
    }
    scan.flush();
    // Nothing falls below or rises above what numbers can hold while they are scaled at every position: kRange is for
    // the range of scores at each position, and what is known here may be twice as much.
    return scan.finite() && scan.range() + edge_range <= 2 * kRange<S>;
}

}  // namespace
}  // namespace kernelfields
