// Inner products to kernel values where NumPy would need several passes.
#pragma once

#include "../gram/gram_kernels.hpp"
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

// Powers by squaring: x^13 = x^8 x^4 x.
template <class S> KF_INLINE Vec<S> power(Vec<S> x, unsigned degree) {
    Vec<S> result = broadcast(S(1));
    for (; degree; degree >>= 1, x *= x)
        if (degree & 1) result *= x;
    return result;
}

template <class S> void polynomial(S* products, std::size_t n, S gamma, S offset, unsigned degree) {
    std::size_t j = 0;
    for (; j + kWidth<S> <= n; j += kWidth<S>)
        store(products + j, power<S>(gamma * load(products + j) + offset, degree));
    if (const std::size_t rest = n - j) {
        const Vec<S> last = load_first<S>(products + j, rest, products + n, S(0));
        store_first<S>(products + j, power<S>(gamma * last + offset, degree), rest);
    }
}

}  // namespace
}  // namespace kernelfields
