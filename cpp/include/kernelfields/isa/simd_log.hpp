// Natural logarithms of vectors.
#pragma once

#include "simd.hpp"

namespace kernelfields {
namespace {

// log(x) = e log(2) + log(m), x = 2^e m, sqrt(1/2) <= m < sqrt(2), and log(m) = 2 artanh(s), s = (m - 1) / (m + 1), by
// its series (relative error below 1e-15). For positive normal numbers.
KF_INLINE Vec<double> log(Vec<double> x) {
    using Words = VectorOf<double>::words;
    Words bits;
    std::memcpy(&bits, &x, sizeof bits);
    // Moves the border between exponents from 1 to sqrt(1/2).
    const Words shifted = bits + (Words{} + (0x3ff0000000000000ULL - 0x3fe6a09e667f3bcdULL));
    const Words exponent = shifted >> 52;
    const Words mantissa = (shifted & (Words{} + 0x000fffffffffffffULL)) + (Words{} + 0x3fe6a09e667f3bcdULL);
    Vec<double> m, e;
    std::memcpy(&m, &mantissa, sizeof m);
    const Words tagged = exponent | (Words{} + 0x4330000000000000ULL);  // 2^52 + exponent
    std::memcpy(&e, &tagged, sizeof e);
    e -= 4503599627370496.0 + 1023.0;
    const Vec<double> s = (m - 1.0) / (m + 1.0), s2 = s * s;
    Vec<double> series = broadcast(1.0 / 21);
#pragma GCC unroll 16
    for (int k = 19; k > 0; k -= 2) series = series * s2 + 1.0 / k;
    return e * 0.693147180369123816490 + (e * 1.90821492927058770002e-10 + 2.0 * s * series);
}

}  // namespace
}  // namespace kernelfields
