// Viterbi for few labels: a sequence, or a stretch of one, in every lane of a vector, edge scores shared.
//
// As in chain_argmax.hpp, but labels that lead to the best score are kept on the way there: beside L sums and maxima of
// whole vectors that is cheap. They are packed, a few bits each, so that one word has those of a position or of
// several, and the way back is a shift by the label. Ties go to the lowest label.
#pragma once

#include "chain_argmax.hpp"
#include "lane_messages.hpp"

namespace kernelfields {
namespace {

// How labels before labels are packed.
template <class S, int L> struct Packed {
    static constexpr int kBits = L <= 2 ? 1 : L <= 4 ? 2 : L <= 8 ? 3 : 4;
    static constexpr int kRoom = 8 * sizeof(S), kInWord = kRoom / kBits;  // labels in a word
    static constexpr int kWords = (L + kInWord - 1) / kInWord;            // words of a position, or
    static constexpr int fitting() {
        int positions = 1;
        while (kWords == 1 && 2 * positions <= static_cast<int>(kWidth<S>) && 2 * positions * kBits * L <= kRoom)
            positions *= 2;
        return positions;
    }
    static constexpr int kPositions = fitting();  // positions of a word
    static constexpr std::size_t kTile = kWidth<S> / kPositions * kWords;
};

template <class S, int L> struct MaxLanes {
    Vec<S> best[kSets][L];  // d_t
    Bits<S> good[kSets];    // lanes without NaN and +inf
    Bits<S>* before;        // packed, tile by tile, set by set
    Bits<S> name[L];        // labels in all lanes
    Bits<S> last[kSets];    // the best last labels
};

// One step of one set: d = node + max_i d(i) + A(i, .). Adds the labels i to `word`, the first of them at bit `shift`.
template <class S, int L>
KF_INLINE void lane_max_step(const S (&A)[L][L], const Bits<S> (&name)[L], const Vec<S>* node, bool settle, int shift,
                             Vec<S> (&best)[L], Bits<S> (&word)[Packed<S, L>::kWords]) {
    using P = Packed<S, L>;
    Vec<S> to[L];
    KF_UNROLL
    for (int j = 0; j < L; ++j) {
        Vec<S> high = best[0] + A[0][j];
        Bits<S> label{};
        KF_UNROLL
        for (int i = 1; i < L; ++i) {
            const Vec<S> other = best[i] + A[i][j];
            const Bits<S> better = other > high;
            label = better ? name[i] : label;
            high = maximum<S>(high, other);  // not other > high once more: it would wait for `better`
        }
        word[j / P::kInWord] |= label << (shift + j % P::kInWord * P::kBits);
        to[j] = high + node[j];
    }
    Vec<S> less{};
    if (settle) {
        Vec<S> top = to[0];
        KF_UNROLL
        for (int j = 1; j < L; ++j) top = maximum<S>(to[j], top);
        less = top > -kInfinity<S> ? top : less;
    }
    KF_UNROLL
    for (int j = 0; j < L; ++j) best[j] = to[j] - less;
}

// The best last labels of stretches that end at t, and d at the ends of what counts.
template <class S, int L>
KF_INLINE void end_lanes(const LaneGroup<S>& lanes, std::size_t t, MaxLanes<S, L>& state, Seam* seams) {
    constexpr std::size_t W = kWidth<S>;
    for (std::size_t r = 0; r < lanes.count; ++r) {
        const auto score = [&](int j) { return state.best[r / W][j][r % W]; };
        if (lanes.length[r] == t + 1) {
            int label = 0;
            for (int j = 1; j < L; ++j)
                if (score(j) > score(label)) label = j;
            state.last[r / W][r % W] = label;
        }
        for (int j = 0; seams && j < L; ++j) {
            if (lanes.first[r] == t) seams[r].left_alpha[j] = static_cast<double>(score(j));
            if (lanes.last[r] == t) seams[r].right_alpha[j] = static_cast<double>(score(j));
        }
    }
}

// The positions of one tile.
template <class S, int L>
KF_INLINE void lanes_max(const LaneGroup<S>& lanes, const S (&A)[L][L], std::size_t t, std::size_t steps,
                         MaxLanes<S, L>& state, Seam* seams) {
    constexpr std::size_t W = kWidth<S>, sets = kSets;
    using P = Packed<S, L>;
    const bool plain = lanes.plain(t, steps);
    Vec<S> node[sets][W * L];
    for (std::size_t g = 0; g < sets; ++g) {
        load_lanes<S>(lanes, g, t, steps, node[g]);
        for (std::size_t k = 0; k < steps * L; ++k) state.good[g] &= node[g][k] <= std::numeric_limits<S>::max();
    }
    for (std::size_t k = 0; k < steps; k += P::kPositions) {
        Bits<S> word[sets][P::kWords] = {};
        for (std::size_t p = k; p < k + P::kPositions && p < steps; ++p) {
            const int shift = static_cast<int>(p - k) * P::kBits * L;
            KF_UNROLL
            for (std::size_t g = 0; g < sets; ++g) {
                if (t + p == 0)
                    for (int j = 0; j < L; ++j) state.best[g][j] = node[g][j];
                else
                    lane_max_step<S, L>(A, state.name, node[g] + p * L, (t + p) % kShiftEvery<S> == 0, shift,
                                        state.best[g], word[g]);
            }
            if (!plain) end_lanes<S, L>(lanes, t + p, state, seams);
        }
        Bits<S>* to = state.before + t / W * sets * P::kTile + k / P::kPositions * P::kWords;
        for (std::size_t g = 0; g < sets; ++g)
            for (int w = 0; w < P::kWords; ++w) to[g * P::kTile + static_cast<std::size_t>(w)] = word[g][w];
    }
}

// Labels of the positions of one tile that count, to the places of their sequences.
template <class S>
KF_ONCE void store_labels(const LaneGroup<S>& lanes, std::size_t g, std::size_t t, Bits<S> (&label)[kWidth<S>],
                          std::int32_t* labels) {
    constexpr std::size_t W = kWidth<S>;
    using Narrow = typename VectorOf<S>::labels;
    transpose(label);
    for (std::size_t r = 0; r < W; ++r) {
        const std::size_t lane = g * W + r, low = lanes.first[lane], high = lanes.last[lane];
        std::int32_t* to = labels + lanes.begin[lane] + t;
        const Narrow narrow = __builtin_convertvector(label[r], Narrow);
        if (t >= low && t + W <= high) std::memcpy(to, &narrow, sizeof narrow);
        else
            for (std::size_t i = 0; i < W; ++i)
                if (t + i >= low && t + i < high) to[i] = narrow[i];
    }
}

// Labels at the ends of what counts.
template <class S>
KF_INLINE void note_labels(const LaneGroup<S>& lanes, std::size_t t, const Bits<S> (&label)[kSets], Seam* seams) {
    for (std::size_t r = 0; r < lanes.count; ++r) {
        const auto here = static_cast<double>(label[r / kWidth<S>][r % kWidth<S>]);
        if (lanes.first[r] == t) seams[r].left_beta[0] = here;
        if (lanes.last[r] == t) seams[r].right_beta[0] = here;
    }
}

template <class S, int L>
KF_INLINE void lanes_back(const LaneGroup<S>& lanes, const MaxLanes<S, L>& state, std::int32_t* labels, Seam* seams) {
    constexpr std::size_t W = kWidth<S>, sets = kSets;
    using P = Packed<S, L>;
    Bits<S> label[sets];
    for (std::size_t g = 0; g < sets; ++g) label[g] = state.last[g];
    for (std::size_t t = (lanes.longest - 1) / W * W;; t -= W) {
        const std::size_t steps = lanes.longest - t < W ? lanes.longest - t : W;
        const bool plain = lanes.plain(t, steps);
        Bits<S> tile[sets][W] = {};
        for (std::size_t k = steps; k-- > 0;) {
            const Bits<S>* before =
                state.before + t / W * sets * P::kTile + k / P::kPositions * static_cast<std::size_t>(P::kWords);
            if (!plain) {
                const Vec<S> at = broadcast(static_cast<S>(t + k + 1));
                for (std::size_t g = 0; g < sets; ++g)
                    label[g] = load(lanes.lengths + g * W) <= at ? state.last[g] : label[g];
                if (seams) note_labels<S>(lanes, t + k, label, seams);
            }
            for (std::size_t g = 0; g < sets; ++g) {
                tile[g][k] = label[g];
                Bits<S> word = before[g * P::kTile];
                if constexpr (P::kWords > 1) word = label[g] >= P::kInWord ? before[g * P::kTile + 1] : word;
                const Bits<S> place = (label[g] & (P::kWords > 1 ? P::kInWord - 1 : -1)) * P::kBits;
                word >>= place + static_cast<int>(k % P::kPositions) * P::kBits * L;
                label[g] = word & ((1 << P::kBits) - 1);
            }
        }
        for (std::size_t g = 0; g < sets; ++g) store_labels<S>(lanes, g, t, tile[g], labels);
        if (t == 0) break;
    }
}

template <class S, int L>
KF_INLINE void lane_argmax_of(const ChainBatch<S>& batch, const LaneWork& work, std::int32_t* labels, Arena arena,
                              Outcome* outcome) {
    constexpr std::size_t W = kWidth<S>, sets = kSets;
    const LaneGroup<S> lanes(batch, work.stretch, work.count, nullptr);
    S A[L][L];
    for (int i = 0; i < L; ++i)
        for (int j = 0; j < L; ++j) A[i][j] = batch.edge[i * L + j];
    MaxLanes<S, L> state;
    state.before = take<Bits<S>>(arena, (lanes.longest + W - 1) / W * sets * Packed<S, L>::kTile);
    for (std::size_t g = 0; g < sets; ++g) state.good[g] = ~(state.last[g] = Bits<S>{});
    for (int i = 0; i < L; ++i) state.name[i] = Bits<S>{} + i;
    asm volatile("" : "+m"(state.name));  // constants would be made anew from general registers for every comparison
    for (std::size_t t = 0; t < lanes.longest; t += W)
        lanes_max<S, L>(lanes, A, t, lanes.longest - t < W ? lanes.longest - t : W, state, work.seams);
    lanes_back<S, L>(lanes, state, labels, work.seams);
    for (std::size_t r = 0; r < lanes.count; ++r) {
        const bool bad = state.good[r / W][r % W] == 0;
        outcome[r] = bad ? Outcome::not_finite : Outcome::done;
        if (bad) std::memset(labels + lanes.begin[r], 0, lanes.length[r] * sizeof(std::int32_t));
    }
}

template <class S>
void lane_argmax(const ChainBatch<S>& batch, const LaneWork& work, std::int32_t* labels, Arena arena,
                 Outcome* outcome) {
    with_few_labels(batch.labels,
                    [&](auto count) { lane_argmax_of<S, count.value>(batch, work, labels, arena, outcome); });
}

// Room that a group needs, for marginals and for Viterbi.
template <class S> std::size_t lane_bytes(std::size_t labels, std::size_t longest) {
    std::size_t bytes = 0;
    with_few_labels(labels, [&](auto count) { bytes = LaneMessages<S, count.value>::bytes(longest); });
    return bytes;
}

}  // namespace
}  // namespace kernelfields
