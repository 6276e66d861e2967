// Inner products to kernel values where NumPy would need several passes.
#pragma once

#include "../gram_kernels.hpp"
#include "simd.hpp"

namespace kernelfields {
namespace {

template <class S> void gaussian(S* products, std::size_t n, S left, const S* right, S gamma) {
    const auto value = [&](Vec<S> product, Vec<S> square) {
        return exp<S>(-gamma * maximum<S>(left + square - S(2) * product, Vec<S>{}));
    };
    std::size_t j = 0;
    for (; j + kWidth<S> <= n; j += kWidth<S>) store(products + j, value(load(products + j), load(right + j)));
    if (const std::size_t rest = n - j)
        store_first<S>(products + j,
                       value(load_first<S>(products + j, rest, products + n, S(0)),
                             load_first<S>(right + j, rest, right + n, S(0))),
                       rest);
}

}  // namespace
}  // namespace kernelfields
