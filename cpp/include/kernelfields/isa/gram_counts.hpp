// Inner products of one sparse row with a tile of others, frequent features only.
//
// Binary features: a row's features select columns of bits, one bit per row of the tile, and the
// number of ones in each place is counted in bit planes, vector by vector: carry-save adders take
// three vectors of equal weight to a sum and a carry, five operations for as many counts as a vector
// has bits. The planes are then spread to bytes and become numbers.
#pragma once

#include "../gram/gram_kernels.hpp"
#include "simd.hpp"

namespace kernelfields {
namespace {

typedef std::uint64_t Words __attribute__((vector_size(KF_VECTOR_BYTES)));
typedef std::uint8_t Bytes __attribute__((vector_size(KF_VECTOR_BYTES)));
constexpr std::size_t kVectorBits = 8 * KF_VECTOR_BYTES;
constexpr int kPlanes = 8;

KF_INLINE Words load_words(const std::uint64_t* p) {
    Words v;
    std::memcpy(&v, p, sizeof v);
    return v;
}

// a + b + c = low + 2 high, bit by bit; low replaces a.
KF_INLINE Words carry_save(Words& a, Words b, Words c) {
    const Words u = a ^ b;
    const Words high = (a & b) | (u & c);
    a = u ^ c;
    return high;
}

// Eight more vectors into the planes.
KF_INLINE void add_eight(const Words (&x)[8], Words (&plane)[kPlanes]) {
    Words twos_a = carry_save(plane[0], x[0], x[1]);
    Words twos_b = carry_save(plane[0], x[2], x[3]);
    const Words fours_a = carry_save(plane[1], twos_a, twos_b);
    twos_a = carry_save(plane[0], x[4], x[5]);
    twos_b = carry_save(plane[0], x[6], x[7]);
    const Words fours_b = carry_save(plane[1], twos_a, twos_b);
    Words carry = carry_save(plane[2], fours_a, fours_b);
    for (int p = 3; p < kPlanes; ++p) {
        const Words next = plane[p] & carry;
        plane[p] ^= carry;
        carry = next;
    }
}

#define KF_8(x) x, x, x, x, x, x, x, x
#define KF_BITS 1, 2, 4, 8, 16, 32, 64, 128

// One byte per bit of as many bits as a vector has bytes: 255 where the bit is set, else 0. Byte j of
// the vector reads byte j / 8 of the bits, from the copy of them in its own 16 bytes.
KF_INLINE Bytes spread(const std::uint8_t* p) {
#if KF_VECTOR_BYTES == 64
    std::uint64_t few;
    std::memcpy(&few, p, 8);
    const Words copies = few - Words{};
    const Bytes b = reinterpret_cast<const Bytes&>(copies);
    const Bytes s =
        __builtin_shufflevector(b, b, KF_8(0), KF_8(1), KF_8(18), KF_8(19), KF_8(36), KF_8(37), KF_8(54), KF_8(55));
    const Bytes mask = {KF_BITS, KF_BITS, KF_BITS, KF_BITS, KF_BITS, KF_BITS, KF_BITS, KF_BITS};
#elif KF_VECTOR_BYTES == 32
    std::uint32_t few;
    std::memcpy(&few, p, 4);
    typedef std::uint32_t Ints __attribute__((vector_size(32)));
    const Ints copies = few - Ints{};
    const Bytes b = reinterpret_cast<const Bytes&>(copies);
    const Bytes s = __builtin_shufflevector(b, b, KF_8(0), KF_8(1), KF_8(18), KF_8(19));
    const Bytes mask = {KF_BITS, KF_BITS, KF_BITS, KF_BITS};
#else
    std::uint16_t few;
    std::memcpy(&few, p, 2);
    typedef std::uint16_t Shorts __attribute__((vector_size(16)));
    const Shorts copies = static_cast<std::uint16_t>(few) - Shorts{};
    const Bytes b = reinterpret_cast<const Bytes&>(copies);
    const Bytes s = __builtin_shufflevector(b, b, KF_8(0), KF_8(1));
    const Bytes mask = {KF_BITS, KF_BITS};
#endif
    return reinterpret_cast<Bytes>((s & mask) == mask);
}

template <class S> KF_INLINE void widen(const std::uint8_t* counts, S* out) {
    typedef std::uint8_t Few __attribute__((vector_size(kWidth<S>)));
    Few few;
    std::memcpy(&few, counts, sizeof few);
    store(out, __builtin_convertvector(few, Vec<S>));
}

// The numbers that the lowest `planes` planes hold.
template <class S> KF_INLINE void write_counts(const Words (&plane)[kPlanes], int planes, S* out) {
    std::uint8_t bits[kPlanes][KF_VECTOR_BYTES], bytes[KF_VECTOR_BYTES];
    std::memcpy(bits, plane, sizeof bits);
    for (std::size_t at = 0; at < kVectorBits; at += KF_VECTOR_BYTES) {
        Bytes count = {};
        for (int p = planes - 1; p >= 0; --p) count = count + count - spread(bits[p] + at / 8);
        std::memcpy(bytes, &count, sizeof bytes);
        for (std::size_t k = 0; k < KF_VECTOR_BYTES; k += kWidth<S>) widen<S>(bytes + k, out + at + k);
    }
}

template <class S>
void count_bits(const BitTiles& y, std::size_t t, std::int32_t* columns, std::size_t count, S* out) {
    constexpr std::size_t kWords = kTile / 64;
    const std::uint64_t* tile = y.bits + t * y.columns * kWords;
    int planes = 0;
    while (count >> planes) ++planes;
    while (count % 8) columns[count++] = static_cast<std::int32_t>(y.columns) - 1;
    for (std::size_t at = 0; at < kTile; at += kVectorBits) {
        Words plane[kPlanes] = {};
        for (std::size_t k = 0; k < count; k += 8) {
            Words x[8];
            for (int e = 0; e < 8; ++e)
                x[e] = load_words(tile + static_cast<std::size_t>(columns[k + e]) * kWords + at / 64);
            add_eight(x, plane);
        }
        write_counts<S>(plane, planes, out + at);
    }
}

template <class S>
void sum_numbers(const NumberTiles<S>& y, std::size_t t, const std::int32_t* columns, const S* value, std::size_t count,
                 S* out) {
    constexpr int kAtOnce = 8;
    const S* tile = y.numbers + t * y.columns * kTile;
    for (std::size_t at = 0; at < kTile; at += kAtOnce * kWidth<S>) {
        Vec<S> total[kAtOnce] = {};
        for (std::size_t k = 0; k < count; ++k) {
            const S* column = tile + static_cast<std::size_t>(columns[k]) * kTile + at;
            const Vec<S> scale = broadcast(value[k]);
            for (int v = 0; v < kAtOnce; ++v) total[v] += scale * load(column + v * kWidth<S>);
        }
        for (int v = 0; v < kAtOnce; ++v) store(out + at + v * kWidth<S>, total[v]);
    }
}

}  // namespace
}  // namespace kernelfields
