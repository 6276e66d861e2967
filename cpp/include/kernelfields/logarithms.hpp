// Rows of scores, logarithms of masses: -inf is a mass of zero and no special case.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace kernelfields {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

// Neither NaN nor +inf.
template <class S> bool usable(const S* scores, std::size_t count) {
    return std::all_of(scores, scores + count, [](S x) { return x <= std::numeric_limits<S>::max(); });
}

inline double largest_of(const double* x, std::size_t count) {
    double top = kNothing;
    for (std::size_t k = 0; k < count; ++k) top = x[k] > top ? x[k] : top;
    return top;
}

inline std::size_t first_largest(const double* x, std::size_t count) {
    return static_cast<std::size_t>(std::max_element(x, x + count) - x);
}

// Shifts to a largest entry of zero and returns the shift; -inf, and no change, when nothing is allowed.
inline double shift_to_zero(double* x, std::size_t count) {
    const double top = largest_of(x, count);
    if (top > kNothing)
        for (std::size_t k = 0; k < count; ++k) x[k] -= top;
    return top;
}

inline double log_sum_exp(const double* x, std::size_t count) {
    const double top = largest_of(x, count);
    if (top == kNothing) return top;
    double total = 0;
    for (std::size_t k = 0; k < count; ++k) total += std::exp(x[k] - top);
    return top + std::log(total);
}

// x <- exp(x) / sum of exp(x); false, and no change, when nothing is allowed.
inline bool softmax(double* x, std::size_t count) {
    const double top = largest_of(x, count);
    if (top == kNothing) return false;
    double total = 0;
    for (std::size_t k = 0; k < count; ++k) total += x[k] = std::exp(x[k] - top);
    for (std::size_t k = 0; k < count; ++k) x[k] /= total;
    return true;
}

// -sum p log p, with its limit at zero.
inline double entropy_of(const double* p, std::size_t count) {
    double total = 0;
    for (std::size_t k = 0; k < count; ++k)
        if (p[k] > 0) total -= p[k] * std::log(p[k]);
    return total;
}

}  // namespace kernelfields
