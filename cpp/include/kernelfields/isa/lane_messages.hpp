// Messages of a group of lanes, and what is left of them at the ends of stretches.
#pragma once

#include "lane_products.hpp"

namespace kernelfields {
namespace {

// Tiles of as many positions as a vector has lanes, set by set; in a tile position by position, label by label.
template <class S, int L> struct LaneMessages {
    static constexpr std::size_t W = kWidth<S>, kTile = W * L;
    Vec<S>*factor, *alpha;  // exp(node - largest), forward messages
    Vec<S>* inverse;        // powers of two that forward messages were multiplied by, position by position
    Bits<S>* exponent;      // sums of their exponents before each tile
    unsigned char* every;   // of each tile: that of so many positions, a power of two, the last one is scaled

    KF_INLINE LaneMessages(Arena& arena, std::size_t longest) {
        const std::size_t tiles = (longest + W - 1) / W * kSets;
        factor = take<Vec<S>>(arena, tiles * kTile);
        alpha = take<Vec<S>>(arena, tiles * kTile);
        inverse = take<Vec<S>>(arena, tiles * W);
        exponent = take<Bits<S>>(arena, tiles);
        every = take<unsigned char>(arena, tiles);
    }
    static std::size_t bytes(std::size_t longest) {
        const std::size_t tiles = (longest + W - 1) / W * kSets;
        return tiles * ((2 * kTile + W + 1) * sizeof(Vec<S>) + 1) + 5 * kPiece;
    }
    static KF_INLINE std::size_t tile(std::size_t t, std::size_t set) { return t / W * kSets + set; }
    KF_INLINE bool scaled(std::size_t t) const { return ((t + 1) & (every[tile(t, 0)] - 1U)) == 0; }

    KF_INLINE S alpha_at(std::size_t t, std::size_t lane, int label) const {
        return alpha[tile(t, lane / W) * kTile + t % W * L + static_cast<std::size_t>(label)][lane % W];
    }
    // log sum_j alpha_t(j), before scaling, of one lane.
    KF_INLINE double log_sum(std::size_t t, std::size_t lane) const {
        const std::size_t here = tile(t, lane / W);
        double total = 0;
        for (int j = 0; j < L; ++j) total += static_cast<double>(alpha_at(t, lane, j));
        auto powers = static_cast<double>(exponent[here][lane % W]);
        for (std::size_t k = 0; k <= t % W; ++k)
            if ((k + 1) % every[tile(t, 0)] == 0)
                powers -= static_cast<double>(PowerOfTwo<S>::exponent(inverse[here * W + k])[lane % W]);
        return __builtin_log(total) + powers * 0.69314718055994530942;
    }
};

// Notes both messages at the ends of what counts, of lanes that go on beyond; `beside` holds alpha times beta of the
// positions from t on.
template <class S, int L>
KF_INLINE void note_seams(const LaneGroup<S>& lanes, const LaneMessages<S, L>& messages, std::size_t t,
                          std::size_t steps, const Vec<S> (&beside)[kSets][kWidth<S> * L], Seam* seams) {
    constexpr std::size_t W = kWidth<S>;
    const auto note = [&](std::size_t lane, std::size_t at, double* alpha, double* beta) {
        if (at < t || at >= t + steps) return;
        for (int j = 0; j < L; ++j) {
            const S here = messages.alpha_at(at, lane, j);
            alpha[j] = static_cast<double>(here);
            beta[j] =
                static_cast<double>(beside[lane / W][(at - t) * L + static_cast<std::size_t>(j)][lane % W] / here);
        }
    };
    for (std::size_t lane = 0; lane < lanes.count; ++lane) {
        note(lane, lanes.first[lane], seams[lane].left_alpha, seams[lane].left_beta);
        if (lanes.last[lane] < lanes.length[lane])
            note(lane, lanes.last[lane], seams[lane].right_alpha, seams[lane].right_beta);
    }
}

}  // namespace
}  // namespace kernelfields
