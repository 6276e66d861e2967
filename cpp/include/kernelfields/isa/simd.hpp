// Vectors of one instruction set, as GNU vector types.
//
// Everything under isa/ is compiled once per instruction set. It lives in an unnamed namespace and
// calls no non-inlined library template, so that the linker can never take code compiled for one
// instruction set into another (tests/native/test_symbols.py looks at the objects).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__AVX512F__)
#define KF_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define KF_VECTOR_BYTES 32
#else
#define KF_VECTOR_BYTES 16
#endif

#define KF_INLINE inline __attribute__((always_inline))

// For loops whose bounds are constants: arrays that they index stay in registers only when nothing is left of the loop.
#define KF_UNROLL _Pragma("GCC unroll 16")

namespace kernelfields {
namespace {

template <class T> struct VectorOf;
template <> struct VectorOf<float> {
    typedef float type __attribute__((vector_size(KF_VECTOR_BYTES)));
    typedef std::int32_t bits __attribute__((vector_size(KF_VECTOR_BYTES)));
    typedef std::uint32_t words __attribute__((vector_size(KF_VECTOR_BYTES)));
    typedef std::int32_t labels __attribute__((vector_size(KF_VECTOR_BYTES)));
};
template <> struct VectorOf<double> {
    typedef double type __attribute__((vector_size(KF_VECTOR_BYTES)));
    typedef std::int64_t bits __attribute__((vector_size(KF_VECTOR_BYTES)));
    typedef std::uint64_t words __attribute__((vector_size(KF_VECTOR_BYTES)));
    typedef std::int32_t labels __attribute__((vector_size(KF_VECTOR_BYTES / 2)));  // as many as there are lanes
};

template <class T> using Vec = typename VectorOf<T>::type;
template <class T> using Bits = typename VectorOf<T>::bits;
template <class T> constexpr std::size_t kWidth = KF_VECTOR_BYTES / sizeof(T);
template <class T> constexpr T kInfinity = std::numeric_limits<T>::infinity();

template <class T> KF_INLINE Vec<T> broadcast(T x) {
    return x - Vec<T>{};  // subtracting zero changes nothing, and so costs nothing: unlike adding it
}
template <class T> KF_INLINE Vec<T> load(const T* p) {
    Vec<T> v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
template <class T> KF_INLINE void store(T* p, Vec<T> v) {
    std::memcpy(p, &v, sizeof v);
}
template <class T> KF_INLINE Vec<T> maximum(Vec<T> a, Vec<T> b) {
    return a > b ? a : b;
}
template <class T> KF_INLINE Vec<T> minimum(Vec<T> a, Vec<T> b) {
    return a < b ? a : b;
}

// Each lane against the lane `distance` further on, cyclically (a power of two below the width).
template <int distance, class V> KF_INLINE V rotate(V v) {
    constexpr int n = sizeof(V) / sizeof(v[0]);
    if constexpr (n == 2) return __builtin_shufflevector(v, v, 1, 0);
    if constexpr (n == 4)
        return __builtin_shufflevector(v, v, distance & 3, (1 + distance) & 3, (2 + distance) & 3, (3 + distance) & 3);
    if constexpr (n == 8)
        return __builtin_shufflevector(v, v, distance & 7, (1 + distance) & 7, (2 + distance) & 7, (3 + distance) & 7,
                                       (4 + distance) & 7, (5 + distance) & 7, (6 + distance) & 7, (7 + distance) & 7);
    if constexpr (n == 16)
        return __builtin_shufflevector(v, v, distance & 15, (1 + distance) & 15, (2 + distance) & 15,
                                       (3 + distance) & 15, (4 + distance) & 15, (5 + distance) & 15,
                                       (6 + distance) & 15, (7 + distance) & 15, (8 + distance) & 15,
                                       (9 + distance) & 15, (10 + distance) & 15, (11 + distance) & 15,
                                       (12 + distance) & 15, (13 + distance) & 15, (14 + distance) & 15,
                                       (15 + distance) & 15);
}

// All lanes into one, log2(width) steps in registers.
template <class V, class Op> KF_INLINE auto reduce(V v, Op op) {
    constexpr int n = sizeof(V) / sizeof(v[0]);
    if constexpr (n >= 16) v = op(v, rotate<8>(v));
    if constexpr (n >= 8) v = op(v, rotate<4>(v));
    if constexpr (n >= 4) v = op(v, rotate<2>(v));
    v = op(v, rotate<1>(v));
    return v[0];
}
template <class T> KF_INLINE T sum(Vec<T> v) {
    return reduce(v, [](Vec<T> a, Vec<T> b) { return a + b; });
}
template <class T> KF_INLINE T largest(Vec<T> v) {
    return reduce(v, [](Vec<T> a, Vec<T> b) { return maximum<T>(a, b); });
}
template <class T> KF_INLINE bool any(Bits<T> mask) {
    return reduce(mask, [](Bits<T> a, Bits<T> b) { return a | b; }) != 0;
}

// The first n numbers at p, the rest of the vector filled. `end` is where the array ends: up to
// there, reading over the end of a row is harmless and faster than reading number by number.
template <class T> KF_INLINE Vec<T> load_first(const T* p, std::size_t n, const T* end, T fill) {
    if (n >= kWidth<T>) return load(p);
    if (p + kWidth<T> <= end) {
        Bits<T> lane;
        for (std::size_t k = 0; k < kWidth<T>; ++k) lane[k] = static_cast<int>(k);
        return lane < (Bits<T>{} + static_cast<int>(n)) ? load(p) : broadcast(fill);
    }
    Vec<T> v = broadcast(fill);
    for (std::size_t k = 0; k < n; ++k) v[k] = p[k];
    return v;
}
template <class T> KF_INLINE void store_first(T* p, Vec<T> v, std::size_t n) {
    if (n >= kWidth<T>) return store(p, v);
    T lanes[kWidth<T>];
    std::memcpy(lanes, &v, sizeof v);
    const T* from = lanes;
    for (std::size_t half = kWidth<T> / 2; half > 0; half /= 2)
        if (n & half) {
            std::memcpy(p, from, half * sizeof(T));
            p += half;
            from += half;
        }
}

// exp(x) = 2^n exp(r), n the nearest integer to x log2(e), |r| <= log(2)/2, exp(r) by its Taylor
// polynomial (relative error below 1e-14 / 1e-8). n is read from the low bits of
// x log2(e) + 1.5 * 2^mantissa. Below `kLowest`, and at -inf, the result is an exact zero.
template <class T> struct ExpConstants;
template <> struct ExpConstants<double> {
    static constexpr double shift = 6755399441055744.0, lowest = -708.0;
    static constexpr double log2_high = 0.693147180369123816490, log2_low = 1.90821492927058770002e-10;
    static constexpr int mantissa = 52, degree = 11;
};
template <> struct ExpConstants<float> {
    static constexpr float shift = 12582912.0F, lowest = -87.0F;
    static constexpr float log2_high = 0.693359375F, log2_low = -2.12194440e-4F;
    static constexpr int mantissa = 23, degree = 7;
};
constexpr double kInverseFactorial[] = {1.0,         1.0,          1.0 / 2,       1.0 / 6,
                                        1.0 / 24,    1.0 / 120,    1.0 / 720,     1.0 / 5040,
                                        1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800};

template <class T> KF_INLINE Vec<T> exp(Vec<T> x) {
    using K = ExpConstants<T>;
    const Vec<T> shifted = x * static_cast<T>(1.4426950408889634074) + K::shift;
    const Vec<T> n = shifted - K::shift;
    const Vec<T> r = (x - n * K::log2_high) - n * K::log2_low;
    // Even and odd powers apart: two chains of half the length.
    const Vec<T> r2 = r * r;
    Vec<T> odd = broadcast(static_cast<T>(kInverseFactorial[K::degree]));
    Vec<T> even = broadcast(static_cast<T>(kInverseFactorial[K::degree - 1]));
#pragma GCC unroll 16
    for (int k = K::degree - 2; k > 0; k -= 2) {
        odd = odd * r2 + static_cast<T>(kInverseFactorial[k]);
        even = even * r2 + static_cast<T>(kInverseFactorial[k - 1]);
    }
    const Vec<T> p = odd * r + even;
    typename VectorOf<T>::words bits, scaled;  // far below `lowest` the sum wraps, and is thrown away
    std::memcpy(&bits, &shifted, sizeof bits);
    std::memcpy(&scaled, &p, sizeof scaled);
    scaled += bits << K::mantissa;  // adds n to the exponent of p
    Vec<T> result;
    std::memcpy(&result, &scaled, sizeof result);
    return x < K::lowest ? Vec<T>{} : result;
}

#if KF_VECTOR_BYTES == 64
// With AVX-512 2^(n/16) is a look-up in two registers, and |r| <= log(2)/32 needs half the polynomial (relative error
// below 1e-15).
template <> KF_INLINE Vec<double> exp<double>(Vec<double> x) {
    using K = ExpConstants<double>;
    constexpr Vec<double> kLow = {1.0,
                                  1.0442737824274138,
                                  1.0905077326652577,
                                  1.1387886347566916,
                                  1.189207115002721,
                                  1.241857812073484,
                                  1.2968395546510096,
                                  1.3542555469368927};
    constexpr Vec<double> kHigh = {1.4142135623730951, 1.4768261459394993, 1.5422108254079407, 1.6104903319492543,
                                   1.681792830507429,  1.7562521603732995, 1.8340080864093424, 1.9152065613971474};
    const Vec<double> shifted = x * (16 * 1.4426950408889634074) + K::shift;
    const Vec<double> n = shifted - K::shift;
    const Vec<double> r = (x - n * (K::log2_high / 16)) - n * (K::log2_low / 16), r2 = r * r;
    const Vec<double> odd = (r2 * kInverseFactorial[5] + kInverseFactorial[3]) * r2 + 1.0;
    const Vec<double> even =
        ((r2 * kInverseFactorial[6] + kInverseFactorial[4]) * r2 + kInverseFactorial[2]) * r2 + 1.0;
    Bits<double> bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    const Vec<double> p = (odd * r + even) * __builtin_shuffle(kLow, kHigh, bits);
    VectorOf<double>::words scaled, whole;
    std::memcpy(&scaled, &p, sizeof scaled);
    std::memcpy(&whole, &bits, sizeof whole);
    scaled += (whole & ~std::uint64_t{15}) << (K::mantissa - 4);  // n / 16, rounded down, to the exponent
    Vec<double> result;
    std::memcpy(&result, &scaled, sizeof result);
    return x < K::lowest ? Vec<double>{} : result;
}
#endif

}  // namespace
}  // namespace kernelfields
