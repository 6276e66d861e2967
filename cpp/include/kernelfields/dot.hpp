// Inner product of large arrays, added up in double over fixed blocks: the same on any number of
// threads, and accurate in single precision too.
#pragma once

#include "dispatch.hpp"
#include "parallel.hpp"

#include <algorithm>
#include <vector>

namespace kernelfields {

template <class S> double blocked_dot(const S* left, const S* right, std::size_t count) {
    constexpr std::size_t kBlock = 1 << 16;
    const std::size_t blocks = (count + kBlock - 1) / kBlock;
    std::vector<double> sums(blocks);
    for_each_block(blocks, threads_for(0.1 * static_cast<double>(count)), [&](std::size_t b, std::size_t) {
        const std::size_t from = b * kBlock, size = std::min(count - from, kBlock);
        sums[b] = sparse_kernels<S>().dot_product(left + from, right + from, size);
    });
    double total = 0;
    for (const double sum : sums) total += sum;
    return total;
}

}  // namespace kernelfields
