// Numbers with the precision of a double and, for all purposes, no bounds: sums of products of exponentials neither
// underflow nor overflow, and need no logarithms.
#pragma once

#include "arena.hpp"

#include <cmath>
#include <cstdint>

namespace kernelfields {

// mantissa * 2^(400 exponent), 2^-200 <= |mantissa| < 2^200; zero is 0 with any exponent.
struct Wide {
    double mantissa = 0;
    std::int64_t exponent = 0;

    Wide() = default;
    Wide(double value) : mantissa(value) { settle(); }  // NOLINT: a number is a number
    Wide(double m, std::int64_t e) : mantissa(m), exponent(e) { settle(); }

    friend Wide operator*(Wide a, Wide b) { return {a.mantissa * b.mantissa, a.exponent + b.exponent}; }
    friend Wide operator/(Wide a, Wide b) { return {a.mantissa / b.mantissa, a.exponent - b.exponent}; }
    friend Wide operator+(Wide a, Wide b) {
        if (a.mantissa == 0) return b;
        if (b.mantissa == 0) return a;
        if (a.exponent == b.exponent) return {a.mantissa + b.mantissa, a.exponent};
        if (a.exponent < b.exponent) return b + a;
        if (a.exponent > b.exponent + 1) return a;  // below a quarter of a unit in the last place, by far
        return {a.mantissa + b.mantissa * kDown, a.exponent};
    }
    friend Wide operator-(Wide a) { return {-a.mantissa, a.exponent}; }
    friend Wide operator-(Wide a, Wide b) { return a + -b; }
    Wide& operator+=(Wide b) { return *this = *this + b; }
    Wide& operator*=(Wide b) { return *this = *this * b; }

private:
    static constexpr double kUp = 0x1p400, kDown = 0x1p-400, kMost = 0x1p200, kLeast = 0x1p-200;

    void settle() {
        while (std::abs(mantissa) >= kMost && std::isfinite(mantissa)) mantissa *= kDown, ++exponent;
        while (std::abs(mantissa) < kLeast && mantissa != 0) mantissa *= kUp, --exponent;
    }
};

constexpr double kWideStep = 277.258872223978123766892485832;  // log 2^400

// What the recursions ask of a number, a double or wider.
template <class T> T from_log(double x);
template <> inline double from_log<double>(double x) {
    return std::exp(x);
}
template <> inline Wide from_log<Wide>(double x) {
    if (x == -INFINITY) return {};
    const double steps = std::nearbyint(x / kWideStep);
    return {std::exp(std::fma(-steps, kWideStep, x)), static_cast<std::int64_t>(steps)};
}
KF_ALWAYS_INLINE double log_of(double x) {
    return std::log(x);
}
inline double log_of(Wide x) {
    return std::log(x.mantissa) + static_cast<double>(x.exponent) * kWideStep;
}
KF_ALWAYS_INLINE double value_of(double x) {
    return x;
}
inline double value_of(Wide x) {  // 0 or infinite where a double cannot hold it
    return std::ldexp(x.mantissa, static_cast<int>(400 * std::fmin(std::fmax(static_cast<double>(x.exponent), -9), 9)));
}
KF_ALWAYS_INLINE bool is_zero(double x) {
    return x == 0;
}
inline bool is_zero(Wide x) {
    return x.mantissa == 0;
}

}  // namespace kernelfields
