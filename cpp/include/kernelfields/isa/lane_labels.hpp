// Labels that the way back finds in lanes, to the places of their sequences.
#pragma once

#include "lane_groups.hpp"

namespace kernelfields {
namespace {

// Labels of one tile and one set: a byte each, so that a lane's word has those of several positions one behind another,
// and nothing needs to be turned about.
template <class S> struct LabelBytes {
    static constexpr std::size_t W = kWidth<S>, kInWord = W < sizeof(S) ? W : sizeof(S), kWords = W / kInWord;
    Bits<S> word[kWords] = {};

    // Tiles are walked from their last position to their first.
    KF_INLINE void put(std::size_t k, Bits<S> label) {
        Bits<S>& here = word[k / kInWord];
        here = here << 8 | label;
    }
    KF_INLINE void widen(std::size_t lane, std::size_t w, std::int32_t (&to)[kInWord]) const {
        std::uint8_t bytes[kInWord];
        std::memcpy(bytes, reinterpret_cast<const S*>(word + w) + lane, sizeof bytes);
        for (std::size_t i = 0; i < kInWord; ++i) to[i] = bytes[i];
    }
};

// Those of the positions of a tile that count: all of them if it is `plain`.
template <class S>
KF_ONCE void store_labels(const LaneGroup<S>& lanes, std::size_t g, std::size_t t, bool plain,
                          const LabelBytes<S>& found, std::int32_t* labels) {
    using B = LabelBytes<S>;
    const auto each_word = [&](auto write) {
        for (std::size_t r = 0; r < B::W; ++r)
            for (std::size_t w = 0; w < B::kWords; ++w) {
                std::int32_t here[B::kInWord];
                found.widen(r, w, here);
                write(g * B::W + r, t + w * B::kInWord, here);
            }
    };
    if (plain)
        return each_word([&](std::size_t lane, std::size_t at, const std::int32_t (&here)[B::kInWord]) {
            std::memcpy(labels + lanes.begin[lane] + at, here, sizeof here);
        });
    each_word([&](std::size_t lane, std::size_t at, const std::int32_t (&here)[B::kInWord]) {
        for (std::size_t i = 0; i < B::kInWord; ++i)
            if (at + i >= lanes.first[lane] && at + i < lanes.last[lane]) labels[lanes.begin[lane] + at + i] = here[i];
    });
}

}  // namespace
}  // namespace kernelfields
