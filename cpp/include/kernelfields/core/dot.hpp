// Inner products of large arrays, added up in double over fixed blocks: the same on any number of
// threads, and accurate in single precision too. Sums of many arrays, a block at a time, so that what
// is added up stays in the cache.
#pragma once

#include "dispatch.hpp"
#include "parallel.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace kernelfields {

// out_k = <left_k, right> for all k.
template <class S>
void blocked_dots(std::span<const S* const> left, const S* right, std::size_t count, double* out) {
    constexpr std::size_t kBlock = 1 << 14;
    const std::size_t blocks = (count + kBlock - 1) / kBlock, vectors = left.size();
    std::vector<double> sums(blocks * vectors);
    const double work = 0.1 * static_cast<double>(count) * static_cast<double>(vectors);
    for_each_block(blocks, threads_for(work), [&](std::size_t b, std::size_t) {
        const std::size_t from = b * kBlock, size = std::min(count - from, kBlock);
        for (std::size_t k = 0; k < vectors; ++k)
            sums[b * vectors + k] = sparse_kernels<S>().dot_product(left[k] + from, right + from, size);
    });
    std::fill(out, out + vectors, 0.0);
    for (std::size_t b = 0; b < blocks; ++b)
        for (std::size_t k = 0; k < vectors; ++k) out[k] += sums[b * vectors + k];
}

// sum += sum_k weight_k values_k.
template <class S>
void blocked_sum(std::span<const S* const> values, const S* weights, std::size_t count, S* sum) {
    constexpr std::size_t kBlock = 1 << 12;
    const double work = 0.1 * static_cast<double>(count) * static_cast<double>(values.size());
    for_each_block((count + kBlock - 1) / kBlock, threads_for(work), [&](std::size_t b, std::size_t) {
        const std::size_t from = b * kBlock, size = std::min(count - from, kBlock);
        for (std::size_t k = 0; k < values.size(); ++k)
            sparse_kernels<S>().add_multiple(sum + from, values[k] + from, weights[k], size);
    });
}

}  // namespace kernelfields
