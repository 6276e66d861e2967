// Forward-backward for few labels: one sequence in every lane of a vector, edge
// scores shared.
//
// Vectors over labels are mostly padding where labels are few, and their sums
// cost more than their products. Here a vector holds one number of each of
// several sequences, which advance together:
//
//   alpha_t(j) = b_t(j) sum_i alpha_{t-1}(i) A(i, j) / c_t        c_t makes the
//   sum one beta_t(i)  = sum_j A(i, j) b_{t+1}(j) beta_{t+1}(j) / c_{t+1}
//   mu_t(i)    = alpha_t(i) beta_t(i) / n_t                       n_t =
//   <alpha_t, beta_t>, one but for rounding
//
// Only finite scores of a moderate range are handled: groups with others stay
// pending, as do those whose lengths differ so much that most lanes would idle.
#pragma once

#include "lane_products.hpp"

namespace kernelfields {
namespace {

// Messages of a group: position by position, label by label, lane by lane.
template <class C, int L> struct LaneMessages {
    C *factor, *alpha, *inverse;  // exp(node - largest), forward messages, 1 / c
    C* edge;                      // sums over positions, label pair by label pair

    static constexpr std::size_t kStep = L * kLanes<C>;
    KF_INLINE LaneMessages(Arena& arena, std::size_t longest)
        : factor(take<C>(arena, longest * kStep)),
          alpha(take<C>(arena, longest * kStep)),
          inverse(take<C>(arena, longest * kLanes<C>)),
          edge(take<C>(arena, L * L * kWidth<C>)) {}
};

// factor of all positions; the sum of the largest scores of each sequence into
// `largest`. False if some sequence has scores that cannot be held.
template <class S, class C, int L>
KF_INLINE bool lane_factors(const LaneGroup<S, C>& lanes, double edge_range, C* factor, double* largest) {
    constexpr std::size_t W = kWidth<C>, kFlushEvery = 64;
    Vec<C> lowest[kSets] = {}, total[kSets] = {}, tops[kSets] = {};
    const auto flush = [&] {
        for (std::size_t r = 0; r < kLanes<C>; ++r) largest[r] += static_cast<double>(tops[r / W][r % W]);
        for (std::size_t g = 0; g < kSets; ++g) tops[g] = Vec<C>{};
    };
    std::size_t running = lanes.count;
    for (std::size_t t = 0; t < lanes.longest; ++t, factor += L * kLanes<C>) {
        running = lanes.running(t, running);
        for (std::size_t g = 0; g < kSets; ++g) {
            Vec<C> x[L];
            gather_scores<S, C, L>(lanes, t, g, running, x);
            Vec<C> top = x[0];
            for (int j = 1; j < L; ++j) top = maximum<C>(top, x[j]);
            tops[g] += top;
            for (int j = 0; j < L; ++j) {
                const Vec<C> shifted = x[j] - top;
                total[g] += x[j];
                lowest[g] = minimum<C>(shifted, lowest[g]);
                store(factor + j * kLanes<C> + g * W, exp<C>(shifted));
            }
        }
        if ((t + 1) % kFlushEvery == 0) flush();
    }
    flush();
    bool held = true;
    for (std::size_t r = 0; r < lanes.count; ++r) {
        const C all = total[r / W][r % W], low = lowest[r / W][r % W];
        held = held && all - all == 0 && static_cast<double>(-low) + edge_range <= kRange<C>;
    }
    return held;
}

template <class C> KF_INLINE Vec<C> reciprocal(Vec<C> x) {
    return broadcast(C(1)) / x;
}

template <class S, class C, int L>
KF_INLINE void lanes_forward(const LaneGroup<S, C>& lanes, const C (&A)[L][L], const LaneMessages<C, L>& messages,
                             LaneProduct<C>& scale) {
    constexpr std::size_t W = kWidth<C>, N = kLanes<C>, kStep = L * N;
    const auto normalise = [&](std::size_t t, std::size_t g, const Vec<C>* value, Vec<C> total) {
        const Bits<C> live = load(lanes.lengths + g * W) > broadcast(static_cast<C>(t));
        const Vec<C> inverse = reciprocal<C>(total);
        C* to = messages.alpha + t * kStep + g * W;
        for (int j = 0; j < L; ++j) store(to + j * N, value[j] * inverse);
        store(messages.inverse + t * N + g * W, live ? inverse : broadcast(C(1)));
        scale.times(g, live ? total : broadcast(C(1)));
    };
    for (std::size_t t = 0; t < lanes.longest; ++t) {
        const C* factor = messages.factor + t * kStep;
        Vec<C> value[kSets][L], total[kSets] = {};
        const auto finish = [&](std::size_t g, int j, Vec<C> sum) {
            value[g][j] = sum * load(factor + j * N + g * W);
            total[g] += value[g][j];
        };
        if (t == 0) {
            for (std::size_t g = 0; g < kSets; ++g)
                for (int j = 0; j < L; ++j) finish(g, j, broadcast(C(1)));
        } else {
            const C* from = messages.alpha + (t - 1) * kStep;
            lane_multiply<C, L>(A, [&](std::size_t g, int i) { return load(from + i * N + g * W); }, finish);
        }
        for (std::size_t g = 0; g < kSets; ++g) normalise(t, g, value[g], total[g]);
    }
}

// One step back. `into` holds b_{t+1} beta_{t+1} and becomes b_t beta_t; edge
// sums are those before A, of all sets in one. B is the transpose of A.
template <class S, class C, int L>
KF_INLINE void lane_backward(const LaneGroup<S, C>& lanes, const C (&B)[L][L], const LaneMessages<C, L>& messages,
                             std::size_t t, std::size_t running, Vec<C> (&into)[kSets][L]) {
    constexpr std::size_t W = kWidth<C>, N = kLanes<C>, kStep = L * N;
    const C *alpha = messages.alpha + t * kStep, *factor = messages.factor + t * kStep;
    Vec<C> value[kSets][L], meet[kSets] = {}, scale[kSets];
    Bits<C> ends[kSets];
    for (std::size_t g = 0; g < kSets; ++g) ends[g] = load(lanes.lengths + g * W) <= broadcast(static_cast<C>(t + 1));
    lane_multiply<C, L>(
        B, [&](std::size_t g, int j) { return into[g][j]; },
        [&](std::size_t g, int i, Vec<C> sum) {
            value[g][i] = ends[g] ? broadcast(C(1)) : sum;
            meet[g] += value[g][i] * load(alpha + i * N + g * W);
        });
    for (std::size_t g = 0; g < kSets; ++g) scale[g] = load(lanes.weights + g * W) / meet[g];
    for (int i = 0; i < L; ++i) {
        Vec<C> share[kSets];
        for (std::size_t g = 0; g < kSets; ++g) {
            const Vec<C> whole = load(alpha + i * N + g * W) * scale[g];
            share[g] = ends[g] ? Vec<C>{} : whole;
            scatter_lanes<S, C, L>(lanes, t, g, running, i, whole * value[g][i]);
        }
        for (int j = 0; j < L; ++j) {
            C* sums = messages.edge + (i * L + j) * W;
            Vec<C> total = load(sums);
            for (std::size_t g = 0; g < kSets; ++g) total += share[g] * into[g][j];
            store(sums, total);
        }
    }
    for (std::size_t g = 0; g < kSets; ++g) {
        const Vec<C> inverse = load(messages.inverse + t * N + g * W);
        for (int i = 0; i < L; ++i) into[g][i] = value[g][i] * inverse * load(factor + i * N + g * W);
    }
}

// edge_sum += E * A, elementwise, and E back to zero.
template <class C, int L>
KF_INLINE void flush_lanes(const C (&B)[L][L], C* edge, double* edge_sum) {
    for (int i = 0; i < L; ++i)
        for (int j = 0; j < L; ++j) {
            C* sums = edge + (i * L + j) * kWidth<C>;
            double total = 0;
            for (std::size_t k = 0; k < kWidth<C>; ++k) total += static_cast<double>(sums[k]);
            edge_sum[i * L + j] += total * static_cast<double>(B[j][i]);
            store(sums, Vec<C>{});
        }
}

template <class S, class C, int L>
KF_INLINE void lanes_backward(const LaneGroup<S, C>& lanes, const C (&B)[L][L], const LaneMessages<C, L>& messages,
                              double* edge_sum) {
    constexpr std::size_t kFlushEvery = sizeof(C) == sizeof(double) ? std::size_t(-1) : 128;
    std::memset(messages.edge, 0, L * L * kWidth<C> * sizeof(C));
    Vec<C> into[kSets][L] = {};
    std::size_t running = 0;
    for (std::size_t t = lanes.longest; t-- > 0;) {
        while (running < lanes.count && lanes.length[running] > t) ++running;
        lane_backward<S, C, L>(lanes, B, messages, t, running, into);
        if (t % kFlushEvery == 0) flush_lanes<C, L>(B, messages.edge, edge_sum);
    }
}

template <class S, class C, int L>
KF_INLINE void lane_marginals_of(const ChainBatch<S>& batch, const SharedEdges<C>& edges, Group group,
                                 const MarginalsOut<S>& out, double* edge_sum, Arena arena, Outcome* outcome) {
    LaneGroup<S, C> lanes;
    if (!gather_lanes<S, C>(batch, group, out, lanes)) return;
    C A[L][L], B[L][L];
    for (int i = 0; i < L; ++i)
        for (int j = 0; j < L; ++j)
            A[i][j] = B[j][i] = edges.forward[static_cast<std::size_t>(i) * padded(L, kWidth<C>) + j];
    const LaneMessages<C, L> messages(arena, lanes.longest);
    double largest[kLanes<C>] = {};
    LaneProduct<C> scale;
    if (!lane_factors<S, C, L>(lanes, edges.range, messages.factor, largest)) return;
    lanes_forward<S, C, L>(lanes, A, messages, scale);
    if (out.node) lanes_backward<S, C, L>(lanes, B, messages, edge_sum);
    for (std::size_t r = 0; r < lanes.count; ++r) {
        const double between = static_cast<double>(lanes.length[r] - 1) * edges.largest;
        out.log_partition[lanes.sequence[r]] = scale.log(r) + largest[r] + (lanes.length[r] > 1 ? between : 0);
        outcome[lanes.sequence[r]] = Outcome::done;
    }
}

template <class S, class C>
void lane_marginals(const ChainBatch<S>& batch, const void* shared, Group group, const MarginalsOut<S>& out,
                    double* edge_sum, Arena arena, Outcome* outcome) {
    const auto& edges = *static_cast<const SharedEdges<C>*>(shared);
    if (edges.forbids || !(edges.range <= kRange<C>)) return;
    const auto run = [&](auto count) {
        lane_marginals_of<S, C, count.value>(batch, edges, group, out, edge_sum, arena, outcome);
    };
    with_few_labels(batch.labels, run);
}

}  // namespace
}  // namespace kernelfields
