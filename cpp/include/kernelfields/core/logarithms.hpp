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

// start (+) x(0) (+) x(1) ..., four at a time, so that no step waits for the one before.
template <class Value, class Combine>
double reduce(std::size_t count, double start, Value x, Combine combine) {
    double a = start, b = start, c = start, d = start;
    std::size_t k = 0;
    for (; k + 4 <= count; k += 4) {
        a = combine(a, x(k));
        b = combine(b, x(k + 1));
        c = combine(c, x(k + 2));
        d = combine(d, x(k + 3));
    }
    for (; k < count; ++k) a = combine(a, x(k));
    return combine(combine(a, b), combine(c, d));
}

inline double sum_of(const double* x, std::size_t count) {
    return reduce(count, 0.0, [=](std::size_t k) { return x[k]; }, [](double a, double b) { return a + b; });
}

inline double dot(const double* x, const double* y, std::size_t count) {
    return reduce(count, 0.0, [=](std::size_t k) { return x[k] * y[k]; }, [](double a, double b) { return a + b; });
}

inline double largest_of(const double* x, std::size_t count) {
    return reduce(
        count, kNothing, [=](std::size_t k) { return x[k]; }, [](double a, double b) { return b > a ? b : a; });
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
