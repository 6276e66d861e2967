// Ranges of vertices or factors, worked on in blocks by several threads.
#pragma once

#include "../core/parallel.hpp"
#include "factor_messages.hpp"

#include <algorithm>
#include <vector>

namespace kernelfields {

struct Range {
    std::size_t from, to;
};

inline Range range(const std::vector<std::int64_t>& first, std::size_t s) {
    return {static_cast<std::size_t>(first[s]), static_cast<std::size_t>(first[s + 1])};
}

inline std::size_t blocks_in(Range whole, std::size_t size) {
    return (whole.to - whole.from + size - 1) / size;
}

// body(range, room, block) for all blocks: where they begin does not depend on the number of threads.
template <class Body> void each_block(Range whole, std::size_t size, int threads, Body body) {
    const auto at = [&](std::size_t k) { return std::min(whole.from + k * size, whole.to); };
    for_each_block(blocks_in(whole, size), threads, [&](std::size_t k, std::size_t) {
        MessageRoom room;
        body(Range{at(k), at(k + 1)}, room, k);
    });
}

}  // namespace kernelfields
