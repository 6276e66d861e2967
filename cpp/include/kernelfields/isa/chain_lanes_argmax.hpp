// Viterbi for few labels: a sequence, or a stretch of one, in every lane of a vector, edge scores shared.
//
// As in chain_argmax.hpp, with ties to the lowest label.
#pragma once

#include "chain_argmax.hpp"
#include "lane_labels.hpp"
#include "lane_maxima.hpp"
#include "lane_messages.hpp"
#include "lane_pointers.hpp"

#include <type_traits>

namespace kernelfields {
namespace {

template <class S, int L>
using WayBack = std::conditional_t<KF_VECTOR_BYTES == 64 && L >= 4, Maxima<S, L>, Pointers<S, L>>;

// Where stretches end.
template <class S> struct LaneEnds {
    Bits<S> last[kSets] = {};  // the best last labels
    Vec<S> total[kSets] = {};  // of all node scores
};

template <class S, int L> struct BestScores {
    Vec<S> at[kSets][L];  // d_t

    KF_INLINE S of(std::size_t lane, int label) const { return at[lane / kWidth<S>][label][lane % kWidth<S>]; }
    // Shifts the largest to zero, where there is an allowed labelling.
    KF_INLINE void settle() {
        for (auto& scores : at) {
            Vec<S> top = scores[0], less{};
            KF_UNROLL
            for (int j = 1; j < L; ++j) top = maximum<S>(scores[j], top);
            less = top > -kInfinity<S> ? top : less;
            KF_UNROLL
            for (int j = 0; j < L; ++j) scores[j] -= less;
        }
    }
};

// The best last labels of stretches that end at t with their scores, and d at the ends of what counts.
template <class S, int L>
KF_ONCE void end_lanes(const LaneGroup<S>& lanes, std::size_t t, const BestScores<S, L>& best, LaneEnds<S>& ends,
                       const LaneWork& work) {
    constexpr std::size_t W = kWidth<S>;
    for (std::size_t r = 0; r < lanes.count; ++r) {
        if (lanes.length[r] == t + 1) {
            int label = 0;
            for (int j = 1; j < L; ++j)
                if (best.of(r, j) > best.of(r, label)) label = j;
            ends.last[r / W][r % W] = label;
            work.log_mass[r] = static_cast<double>(best.of(r, label));
        }
        for (int j = 0; work.seams && j < L; ++j) {
            if (lanes.first[r] == t) work.seams[r].left_alpha[j] = static_cast<double>(best.of(r, j));
            if (lanes.last[r] == t) work.seams[r].right_alpha[j] = static_cast<double>(best.of(r, j));
        }
    }
}

// Label by label at first: no sum waits for another.
template <class S, int L> KF_INLINE Vec<S> total_of(const Vec<S>* node, std::size_t steps) {
    Vec<S> sums[L] = {};
    for (std::size_t k = 0; k < steps; ++k) KF_UNROLL
    for (int j = 0; j < L; ++j) sums[j] += node[k * L + static_cast<std::size_t>(j)];
    KF_UNROLL
    for (int j = 1; j < L; ++j) sums[0] += sums[j];
    return sums[0];
}

template <class S, int L>
KF_INLINE void lanes_there(const LaneGroup<S>& lanes, const S (&A)[L][L], WayBack<S, L>& way, LaneEnds<S>& ends,
                           const LaneWork& work) {
    constexpr std::size_t W = kWidth<S>;
    BestScores<S, L> best;
    for (std::size_t t = 0; t < lanes.longest; t += W) {
        const std::size_t steps = lanes.longest - t < W ? lanes.longest - t : W;
        const bool plain = lanes.plain(t, steps);
        Vec<S> node[kSets][W * L];
        for (std::size_t g = 0; g < kSets; ++g) {
            load_lanes<S>(lanes, g, t, steps, node[g]);
            ends.total[g] += total_of<S, L>(node[g], steps);
        }
        way.advance(A, t, steps, node, best.at, [&](std::size_t at) {
            if (at > 0 && at % kShiftEvery<S> == 0) best.settle();
            if (plain) return;
            const BestScores<S, L> here = best;  // its lanes are looked at one by one, from memory
            end_lanes<S, L>(lanes, at, here, ends, work);
        });
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
KF_INLINE void lanes_back(const LaneGroup<S>& lanes, const WayBack<S, L>& way, const LaneEnds<S>& ends,
                          std::int32_t* labels, Seam* seams) {
    constexpr std::size_t W = kWidth<S>;
    Bits<S> label[kSets];
    for (std::size_t g = 0; g < kSets; ++g) label[g] = ends.last[g];
    for (std::size_t t = (lanes.longest - 1) / W * W;; t -= W) {
        const std::size_t steps = lanes.longest - t < W ? lanes.longest - t : W;
        const bool plain = steps == W && lanes.plain(t, steps);
        LabelBytes<S> found[kSets];
        for (std::size_t k = steps; k-- > 0;) {
            if (!plain) {
                const Vec<S> at = broadcast(static_cast<S>(t + k + 1));
                for (std::size_t g = 0; g < kSets; ++g)
                    label[g] = load(lanes.lengths + g * W) <= at ? ends.last[g] : label[g];
                if (seams) note_labels<S>(lanes, t + k, label, seams);
            }
            for (std::size_t g = 0; g < kSets; ++g) {
                found[g].put(k, label[g]);
                if (t + k > 0) label[g] = way.before(t + k, g, label[g]);
            }
        }
        for (std::size_t g = 0; g < kSets; ++g) store_labels<S>(lanes, g, t, plain, found[g], labels);
        if (t == 0) break;
    }
}

// Whether no score of a stretch is NaN or +inf.
template <class S> bool scores_finite(const LaneGroup<S>& lanes, std::size_t lane) {
    for (std::size_t k = 0; k < lanes.length[lane] * lanes.labels; ++k)
        if (!(lanes.node[lane][k] <= std::numeric_limits<S>::max())) return false;
    return true;
}

template <class S, int L>
KF_INLINE void lane_argmax_of(const ChainBatch<S>& batch, const LaneWork& work, std::int32_t* labels, Arena arena,
                              Outcome* outcome) {
    constexpr std::size_t W = kWidth<S>;
    const LaneGroup<S> lanes(batch, work.stretch, work.count, nullptr);
    S A[L][L];
    for (int i = 0; i < L; ++i)
        for (int j = 0; j < L; ++j) A[i][j] = batch.edge[i * L + j];
    asm volatile("" : "+m"(A));  // read from memory into all lanes at once: from registers that takes an instruction
    WayBack<S, L> way(arena, lanes.longest, A);
    LaneEnds<S> ends;
    lanes_there<S, L>(lanes, A, way, ends, work);
    lanes_back<S, L>(lanes, way, ends, labels, work.seams);
    for (std::size_t r = 0; r < lanes.count; ++r) {
        // Sums of finite scores may overflow: a sum that is not finite only tells where to look.
        const bool bad = !(ends.total[r / W][r % W] <= std::numeric_limits<S>::max()) && !scores_finite(lanes, r);
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
