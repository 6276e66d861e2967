// Viterbi for few labels: one sequence in every lane of a vector, edge scores shared.
//
// As in chain_argmax.hpp, but labels that lead to the best score are kept on the way there: beside L sums and maxima of
// whole vectors that is cheap, and the way back is a look-up. Ties go to the lowest label.
#pragma once

#include "chain_argmax.hpp"
#include "lane_groups.hpp"

namespace kernelfields {
namespace {

// d_t of all lanes, in turns, and the best label before each label (as bits) at every position.
template <class S, int L> struct MaxLanes {
    S* best;
    Bits<S>* before;  // position by position, label by label, set by set
    Bits<S> good[kSets];
};

// One step of one set, in place: d = node + max_i d(i) + A(i, .).
template <class S, int L>
KF_INLINE void lane_max_step(const S (&A)[L][L], S* best, Bits<S>* before, const Vec<S> (&node)[L], Bits<S>& good,
                             bool shift) {
    Vec<S> from[L], to[L], top = broadcast(-kInfinity<S>);
    for (int i = 0; i < L; ++i) from[i] = load(best + i * kLanes<S>);
    for (int j = 0; j < L; ++j) {
        Vec<S> high = from[0] + A[0][j];
        Bits<S> label{};
        for (int i = 1; i < L; ++i) {
            const Vec<S> other = from[i] + A[i][j];
            const Bits<S> better = other > high;
            label = better ? Bits<S>{} + i : label;
            high = better ? other : high;
        }
        before[j * kSets] = label;
        good &= node[j] <= std::numeric_limits<S>::max();
        to[j] = high + node[j];
        top = maximum<S>(to[j], top);
    }
    const Vec<S> less = shift ? (top > -kInfinity<S> ? top : Vec<S>{}) : Vec<S>{};
    for (int j = 0; j < L; ++j) store(best + j * kLanes<S>, to[j] - less);
}

// The best last labels of sequences that end at t; returns how many go on.
template <class S, int L>
KF_INLINE std::size_t end_lanes(const LaneGroup<S, S>& lanes, const S* best, std::int32_t* const* labels, std::size_t t,
                                std::size_t running) {
    for (; running > 0 && lanes.length[running - 1] == t + 1; --running) {
        const std::size_t r = running - 1;
        std::int32_t label = 0;
        for (int j = 1; j < L; ++j)
            if (best[j * kLanes<S> + r] > best[static_cast<std::size_t>(label) * kLanes<S> + r]) label = j;
        labels[r][t] = label;
    }
    return running;
}

template <class S, int L>
KF_INLINE void lanes_back(const LaneGroup<S, S>& lanes, const Bits<S>* before, std::int32_t* const* labels) {
    constexpr std::size_t W = kWidth<S>;
    std::size_t running = 0;
    for (std::size_t t = lanes.longest; t-- > 1;) {
        while (running < lanes.count && lanes.length[running] > t) ++running;
        for (std::size_t r = 0; r < running; ++r) {
            const auto label = static_cast<std::size_t>(labels[r][t]);
            labels[r][t - 1] = static_cast<std::int32_t>(before[(t * L + label) * kSets + r / W][r % W]);
        }
    }
}

template <class S, int L>
KF_INLINE void lane_argmax_of(const ChainBatch<S>& batch, Group group, std::int32_t* labels, Arena arena,
                              Outcome* outcome) {
    constexpr std::size_t W = kWidth<S>;
    LaneGroup<S, S> lanes;
    if (!gather_lanes<S, S>(batch, group, MarginalsOut<S>{}, lanes)) return;
    S A[L][L];
    for (int i = 0; i < L; ++i)
        for (int j = 0; j < L; ++j) A[i][j] = batch.edge[i * L + j];
    MaxLanes<S, L> state{take<S>(arena, L * kLanes<S>), take<Bits<S>>(arena, lanes.longest * L * kSets), {}};
    std::int32_t* to[kLanes<S>];
    for (std::size_t r = 0; r < lanes.count; ++r) to[r] = labels + batch.first[lanes.sequence[r]];
    std::size_t running = lanes.count;
    Vec<S> node[L] = {};
    for (std::size_t g = 0; g < kSets; ++g) {
        state.good[g] = ~Bits<S>{};
        gather_scores<S, S, L>(lanes, 0, g, running, node);
        for (int j = 0; j < L; ++j) {
            state.good[g] &= node[j] <= std::numeric_limits<S>::max();
            store(state.best + j * kLanes<S> + g * W, node[j]);
        }
    }
    running = end_lanes<S, L>(lanes, state.best, to, 0, running);
    for (std::size_t t = 1; t < lanes.longest; ++t) {
        for (std::size_t g = 0; g < kSets; ++g) {
            gather_scores<S, S, L>(lanes, t, g, running, node);
            lane_max_step<S, L>(A, state.best + g * W, state.before + t * L * kSets + g, node, state.good[g],
                                t % kShiftEvery<S> == 0);
        }
        running = end_lanes<S, L>(lanes, state.best, to, t, running);
    }
    lanes_back<S, L>(lanes, state.before, to);
    for (std::size_t r = 0; r < lanes.count; ++r) {
        const bool bad = state.good[r / W][r % W] == 0;
        outcome[lanes.sequence[r]] = bad ? Outcome::not_finite : Outcome::done;
        if (bad) std::memset(to[r], 0, lanes.length[r] * sizeof(std::int32_t));
    }
}

template <class S>
void lane_argmax(const ChainBatch<S>& batch, const S*, Group group, std::int32_t* labels, Arena arena,
                 Outcome* outcome) {
    with_few_labels(batch.labels,
                    [&](auto count) { lane_argmax_of<S, count.value>(batch, group, labels, arena, outcome); });
}

}  // namespace
}  // namespace kernelfields
