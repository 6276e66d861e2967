// Inner product of large arrays, added up in double over fixed blocks: the same on any number of
// threads, and accurate in single precision too.
#pragma once

#include "parallel.hpp"

#include <algorithm>
#include <vector>

namespace kernelfields {

template <class S> double blocked_dot(const S* left, const S* right, std::size_t count) {
    constexpr std::size_t kBlock = 1 << 16, kRun = 256, kLanes = 16;
    const std::size_t blocks = (count + kBlock - 1) / kBlock;
    std::vector<double> sums(blocks);
    for_each_block(blocks, threads_for(0.3 * static_cast<double>(count)), [&](std::size_t b, std::size_t) {
        const std::size_t end = std::min(count, (b + 1) * kBlock);
        double total = 0;
        for (std::size_t from = b * kBlock; from < end; from += kRun) {
            const std::size_t to = std::min(end, from + kRun);
            S lanes[kLanes] = {};  // short runs: little is lost before they move to double
            std::size_t k = from;
            for (; k + kLanes <= to; k += kLanes)
                for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += left[k + l] * right[k + l];
            for (; k < to; ++k) lanes[0] += left[k] * right[k];
            for (std::size_t l = 0; l < kLanes; ++l) total += static_cast<double>(lanes[l]);
        }
        sums[b] = total;
    });
    double total = 0;
    for (const double sum : sums) total += sum;
    return total;
}

}  // namespace kernelfields
