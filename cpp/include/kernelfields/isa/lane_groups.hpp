// Sequences side by side: one in every lane of a few vectors.
#pragma once

#include "chain_rows.hpp"

namespace kernelfields {
namespace {

constexpr std::size_t kSets = 2;  // vectors of sequences in flight: one would wait for its own divisions
template <class C> constexpr std::size_t kLanes = kSets * kWidth<C>;

// Calls f with the number of labels as a constant, 2 to kFewLabels; leaves it
// where there is no such constant.
template <class F> KF_INLINE void with_few_labels(std::size_t labels, F f) {
    static_assert(kFewLabels == 10);
    switch (labels) {
        case 2: return f(Count<2>{});
        case 3: return f(Count<3>{});
        case 4: return f(Count<4>{});
        case 5: return f(Count<5>{});
        case 6: return f(Count<6>{});
        case 7: return f(Count<7>{});
        case 8: return f(Count<8>{});
        case 9: return f(Count<9>{});
        case 10: return f(Count<10>{});
        default: return;
    }
}

// The sequences of a group, longest first. Lanes beyond the last one are those
// of an empty sequence.
template <class S, class C> struct LaneGroup {
    std::size_t count, longest = 0;
    std::size_t sequence[kLanes<C>] = {}, length[kLanes<C>] = {};
    const S* node[kLanes<C>];
    S* out[kLanes<C>];
    C lengths[kLanes<C>] = {}, weights[kLanes<C>] = {};

    // How many sequences have a position t; they are the first ones.
    KF_INLINE std::size_t running(std::size_t t, std::size_t before) const {
        while (before > 0 && length[before - 1] <= t) --before;
        return before;
    }
};

template <class S, class C>
KF_INLINE bool gather_lanes(const ChainBatch<S>& batch, Group group, const MarginalsOut<S>& out,
                            LaneGroup<S, C>& lanes) {
    std::size_t total = 0;
    lanes.count = group.count;
    for (std::size_t r = 0; r < kLanes<C>; ++r) {
        lanes.node[r] = batch.node;
        lanes.out[r] = out.node;
        if (r >= group.count) continue;
        const std::size_t s = group.sequence[r], at = static_cast<std::size_t>(batch.first[s]) * batch.labels;
        lanes.sequence[r] = s;
        lanes.length[r] = batch.length(s);
        lanes.lengths[r] = static_cast<C>(batch.length(s));
        lanes.weights[r] = static_cast<C>(out.weight ? out.weight[s] : 1.0);
        lanes.node[r] = batch.node + at;
        lanes.out[r] = out.node ? out.node + at : nullptr;
        total += lanes.length[r];
    }
    lanes.longest = lanes.length[0];
    return 2 * total >= kLanes<C> * lanes.longest && lanes.longest < (std::size_t{1} << 24);
}

// p[0][at], p[1][at], ... as one vector, built in registers: numbers stored one by one cannot be loaded together at
// once.
template <class C, class S> KF_INLINE Vec<C> gather(const S* const* p, std::size_t at) {
    if constexpr (kWidth<C> == 2) return Vec<C>{p[0][at], p[1][at]};
    if constexpr (kWidth<C> == 4) return Vec<C>{p[0][at], p[1][at], p[2][at], p[3][at]};
    if constexpr (kWidth<C> == 8)
        return Vec<C>{p[0][at], p[1][at], p[2][at], p[3][at], p[4][at], p[5][at], p[6][at], p[7][at]};
    if constexpr (kWidth<C> == 16)
        return Vec<C>{p[0][at], p[1][at], p[2][at],  p[3][at],  p[4][at],  p[5][at],  p[6][at],  p[7][at],
                      p[8][at], p[9][at], p[10][at], p[11][at], p[12][at], p[13][at], p[14][at], p[15][at]};
}

// Scores of one position of one set; zeros for sequences that have ended.
template <class S, class C, int L>
KF_INLINE void gather_scores(const LaneGroup<S, C>& lanes, std::size_t t, std::size_t g, std::size_t running,
                             Vec<C> (&x)[L]) {
    constexpr std::size_t W = kWidth<C>;
    if (running >= (g + 1) * W) {
        for (int j = 0; j < L; ++j) x[j] = gather<C, S>(lanes.node + g * W, t * L + static_cast<std::size_t>(j));
        return;
    }
    const std::size_t live = running > g * W ? running - g * W : 0;
    for (int j = 0; j < L; ++j) {
        C values[W] = {};
        for (std::size_t k = 0; k < live; ++k) values[k] = lanes.node[g * W + k][t * L + static_cast<std::size_t>(j)];
        x[j] = load(values);
    }
}

// Marginals of one label at one position of one set, to the places of their
// sequences.
template <class S, class C, int L>
KF_INLINE void scatter_lanes(const LaneGroup<S, C>& lanes, std::size_t t, std::size_t g, std::size_t running, int label,
                             Vec<C> value) {
    constexpr std::size_t W = kWidth<C>;
    if (running >= (g + 1) * W) {
        for (std::size_t k = 0; k < W; ++k) lanes.out[g * W + k][t * L + label] = value[k];
        return;
    }
    for (std::size_t k = 0; k < W && g * W + k < running; ++k) lanes.out[g * W + k][t * L + label] = value[k];
}

}  // namespace
}  // namespace kernelfields
