// Forward-backward for few labels: a sequence, or a stretch of one, in every lane of a vector, edge scores shared.
//
// Vectors over labels are mostly padding where labels are few, and their sums cost more than their products. Here a
// vector holds one number of each of several sequences, which advance together:
//
//   alpha_t(j) = 2^-n_t b_t(j) sum_i alpha_{t-1}(i) A(i, j)               n_t from the exponent of the sum, now and
//   then beta_t(i)  = 2^-n_{t+1} sum_j A(i, j) b_{t+1}(j) beta_{t+1}(j) mu_t(i)    = alpha_t(i) beta_t(i) / m m =
//   <alpha_t, beta_t>, the same for all t
//
// Scaling by powers of two rounds nothing and divides nothing, and m needs to be looked at only once in a while.
// Only finite scores of a moderate range are handled: groups with others stay pending.
#pragma once

#include "lane_messages.hpp"

namespace kernelfields {
namespace {

// What is known of the node scores of a group so far.
template <class S> struct LaneScan {
    Vec<S> lowest[kSets] = {}, total[kSets] = {}, tops[kSets] = {};
    double largest[kLanes<S>] = {};  // sums over positions that count of the largest score

    KF_INLINE void flush() {
        for (std::size_t r = 0; r < kLanes<S>; ++r)
            largest[r] += static_cast<double>(tops[r / kWidth<S>][r % kWidth<S>]);
        for (auto& top : tops) top = Vec<S>{};
    }
    KF_INLINE double range() const {
        Vec<S> low = lowest[0];
        for (std::size_t g = 1; g < kSets; ++g) low = minimum<S>(low, lowest[g]);
        return static_cast<double>(kernelfields::largest<S>(-low));
    }
    KF_INLINE bool finite() const {
        Bits<S> bad{};
        for (const auto& one : total) bad |= ~(one - one == 0);
        return !any<S>(bad);
    }
};

// Scores of some positions of one set, in place, to exp(score - largest).
template <class S>
KF_ONCE void lane_factors(const LaneGroup<S>& lanes, std::size_t g, std::size_t t, std::size_t steps, Vec<S>* x,
                          LaneScan<S>& scan) {
    constexpr std::size_t W = kWidth<S>;
    const std::size_t L = lanes.labels;
    const bool plain = lanes.plain(t, steps);
    Vec<S> lowest = scan.lowest[g], total = scan.total[g], tops = scan.tops[g];
    for (std::size_t k = 0; k < steps; ++k, x += L) {
        Vec<S> top = x[0];
        for (std::size_t j = 1; j < L; ++j) top = maximum<S>(top, x[j]);
        if (plain) tops += top;
        else {
            const Vec<S> at = broadcast(static_cast<S>(t + k));
            tops += (load(lanes.firsts + g * W) <= at) & (load(lanes.lasts + g * W) > at) ? top : Vec<S>{};
        }
        for (std::size_t j = 0; j < L; ++j) {
            const Vec<S> shifted = x[j] - top;
            total += x[j];
            lowest = minimum<S>(shifted, lowest);
            x[j] = exp<S>(shifted);
        }
    }
    scan.lowest[g] = lowest, scan.total[g] = total, scan.tops[g] = tops;
}

// How often to scale: a message falls by at most exp(-range) a step, and spans as much.
template <class S> KF_INLINE unsigned char scale_every(double range) {
    constexpr double kRoom = sizeof(S) == sizeof(double) ? 700 : 87;
    unsigned char every = 1;
    while (2U * every <= kWidth<S> && (2 * every + 1) * range <= kRoom) every *= 2;
    return every;
}

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
            for (int j = 0; j < L; ++j) value[g][j] = factor[g * kTile + j];
        } else {
            lane_multiply<S, L>(
                A, [&](std::size_t g, int i) { return from[g][i]; },
                [&](std::size_t g, int j, Vec<S> sum) { value[g][j] = sum * factor[g * kTile + j]; });
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
    return scan.finite() && scan.range() + edge_range <= kRange<S>;
}

// What the backward pass keeps of the positions of a tile.
template <class S, int L> struct LaneTile {
    Vec<S> into[kSets][kWidth<S> * L];      // b_{t+1} beta_{t+1}
    Vec<S> share[kSets][kWidth<S> * L];     // alpha_t * weight / m, zero where the edge does not count
    Vec<S> marginal[kSets][kWidth<S> * L];  // alpha_t beta_t * weight / m
};

// One position back, the k-th of its tile. `into` holds b_{t+1} beta_{t+1} and becomes b_t beta_t. `plain` positions
// count in all lanes, and all lanes go on beyond them. B is the transpose of A.
template <class S, int L, bool plain>
KF_INLINE void lane_backward(const LaneGroup<S>& lanes, const S (&B)[L][L], const LaneMessages<S, L>& messages,
                             std::size_t t, bool look, Vec<S> (&into)[kSets][L], Vec<S> (&scale)[kSets],
                             LaneTile<S, L>& tile) {
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
            scale[g] = load(lanes.weights + g * W) / meet;
        }
        KF_UNROLL
        for (int i = 0; i < L; ++i) {
            const Vec<S> whole = alpha[g * kTile + i] * scale[g];
            tile.into[g][k * L + i] = into[g][i];
            tile.marginal[g][k * L + i] = whole * value[g][i];
            if constexpr (plain) tile.share[g][k * L + i] = whole;
            else tile.share[g][k * L + i] = counts[g] ? whole : Vec<S>{};
            into[g][i] = value[g][i] * factor[g * kTile + i];
        }
    }
    if (messages.scaled(t)) KF_UNROLL
    for (std::size_t g = 0; g < sets; ++g) KF_UNROLL
    for (int i = 0; i < L; ++i) into[g][i] *= messages.inverse[(first + g) * W + k];
}

// edge_sum += E * A, elementwise, and E back to zero.
template <class S, int L> KF_INLINE void flush_lanes(const S (&B)[L][L], S* edge, double* edge_sum) {
    KF_UNROLL
    for (int i = 0; i < L; ++i) KF_UNROLL
    for (int j = 0; j < L; ++j) {
        S* sums = edge + (i * L + j) * kWidth<S>;
        edge_sum[i * L + j] += static_cast<double>(sum<S>(load(sums))) * static_cast<double>(B[j][i]);
        store(sums, Vec<S>{});
    }
}

template <class S, int L>
KF_INLINE void lanes_backward(const LaneGroup<S>& lanes, const S (&B)[L][L], const LaneMessages<S, L>& messages, S* out,
                              double* edge_sum, Seam* seams) {
    constexpr std::size_t W = kWidth<S>, sets = kSets;
    constexpr std::size_t kFlushEvery = sizeof(S) == sizeof(double) ? std::size_t(-1) : 128;
    alignas(KF_VECTOR_BYTES) S edge[L * L * W] = {};
    Vec<S> into[sets][L] = {}, scale[sets] = {};
    LaneTile<S, L> tile;
    for (std::size_t t = (lanes.longest - 1) / W * W;; t -= W) {
        const std::size_t steps = lanes.longest - t < W ? lanes.longest - t : W;
        const bool plain = lanes.plain(t, steps);
        if (plain)
            for (std::size_t k = steps; k-- > 0;)
                lane_backward<S, L, true>(lanes, B, messages, t + k, k + 1 == steps, into, scale, tile);
        else
            for (std::size_t k = steps; k-- > 0;)
                lane_backward<S, L, false>(lanes, B, messages, t + k, true, into, scale, tile);
        KF_UNROLL
        for (std::size_t g = 0; g < sets; ++g) {
            lane_outer<S, L>(tile.share[g], tile.into[g], steps, edge);
            store_lanes<S>(lanes, g, t, steps, tile.marginal[g], out);
        }
        if (seams && !plain) note_seams<S, L>(lanes, messages, t, steps, tile.marginal, seams);
        if (t == 0) break;
        if (t % kFlushEvery == 0) flush_lanes<S, L>(B, edge, edge_sum);
    }
    flush_lanes<S, L>(B, edge, edge_sum);
}

// The logarithm of what the positions that count multiply the sum of forward messages by.
template <class S, int L>
KF_INLINE double log_mass(const LaneGroup<S>& lanes, const LaneMessages<S, L>& messages, std::size_t lane,
                          double largest, double edge_largest) {
    const std::size_t first = lanes.first[lane], last = lanes.last[lane];
    const std::size_t right = last < lanes.length[lane] ? last : last - 1;
    const double before = first > 0 ? messages.log_sum(first, lane) : 0;
    const double between = right > first ? static_cast<double>(right - first) * edge_largest : 0;
    return messages.log_sum(right, lane) - before + largest + between;
}

template <class S, int L>
KF_INLINE bool lane_marginals_of(const ChainBatch<S>& batch, const SharedEdges<S>& edges, const LaneWork& work,
                                 const MarginalsOut<S>& out, double* edge_sum, Arena arena) {
    const LaneGroup<S> lanes(batch, work.stretch, work.count, out.weight);
    S A[L][L], B[L][L];
    KF_UNROLL
    for (int i = 0; i < L; ++i) KF_UNROLL
    for (int j = 0; j < L; ++j)
        A[i][j] = B[j][i] = edges.forward[static_cast<std::size_t>(i) * padded(L, kWidth<S>) + j];
    const LaneMessages<S, L> messages(arena, lanes.longest);
    LaneScan<S> scan;
    if (!lanes_forward<S, L>(lanes, A, edges.range, messages, scan)) return false;
    if (out.node) lanes_backward<S, L>(lanes, B, messages, out.node, edge_sum, work.seams);
    for (std::size_t r = 0; r < lanes.count; ++r)
        work.log_mass[r] = log_mass<S, L>(lanes, messages, r, scan.largest[r], edges.largest);
    return true;
}

template <class S>
bool lane_marginals(const ChainBatch<S>& batch, const SharedEdges<S>& edges, const LaneWork& work,
                    const MarginalsOut<S>& out, double* edge_sum, Arena arena) {
    if (edges.forbids || !(edges.range <= kRange<S>)) return false;
    bool held = false;
    with_few_labels(batch.labels, [&](auto count) {
        held = lane_marginals_of<S, count.value>(batch, edges, work, out, edge_sum, arena);
    });
    return held;
}

}  // namespace
}  // namespace kernelfields
