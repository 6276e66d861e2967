// Inner products and sums of arrays.
#pragma once

#include "simd.hpp"

namespace kernelfields {
namespace {

// Short runs in the precision of the numbers, so that little is lost before they move to double.
template <class S> double dot_product(const S* left, const S* right, std::size_t count) {
    constexpr std::size_t kSums = 4, kStep = kSums * kWidth<S>, kRun = 16 * kStep;
    double total = 0;
    std::size_t k = 0;
    while (k + kStep <= count) {
        const std::size_t end = count - k > kRun ? k + kRun : count;
        Vec<S> sums[kSums] = {};
        for (; k + kStep <= end; k += kStep)
            for (std::size_t v = 0; v < kSums; ++v)
                sums[v] += load(left + k + v * kWidth<S>) * load(right + k + v * kWidth<S>);
        total += static_cast<double>(sum<S>((sums[0] + sums[1]) + (sums[2] + sums[3])));
    }
    for (; k < count; ++k) total += static_cast<double>(left[k]) * static_cast<double>(right[k]);
    return total;
}

template <class S> void add_multiple(S* sum, const S* values, S weight, std::size_t count) {
    const Vec<S> w = broadcast(weight);
    std::size_t k = 0;
    for (; k + kWidth<S> <= count; k += kWidth<S>) store(sum + k, load(sum + k) + w * load(values + k));
    for (; k < count; ++k) sum[k] += weight * values[k];
}

}  // namespace
}  // namespace kernelfields
