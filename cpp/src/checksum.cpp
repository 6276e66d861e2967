// A message is a polynomial over two elements, and its checksum a remainder, bits reflected. Folding replaces a block
// by a product with a power of x that leaves the same remainder, and adds it to a block further on.
#include "kernelfields/core/checksum.hpp"

#include <array>

#ifdef KF_X86
#include <immintrin.h>
#endif

namespace kernelfields {
namespace {

// Remainders of every byte with 0 to 7 bytes behind it.
constexpr auto kTables = [] {
    std::array<std::array<std::uint32_t, 256>, 8> tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ (rest & 1 ? 0xEDB88320U : 0);
        tables[0][byte] = rest;
    }
    for (std::size_t k = 1; k < 8; ++k)
        for (std::size_t byte = 0; byte < 256; ++byte)
            tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 255];
    return tables;
}();

#ifdef KF_X86

#define KF_CARRYLESS __attribute__((target("pclmul,sse4.1")))

// Powers of x modulo the polynomial of CRC-32: by what to multiply the two halves to move on by so many bits.
struct Powers {
    long long low, high;
};
constexpr Powers kBy512{0x0154442bd4, 0x01c6e41596}, kBy128{0x01751997d0, 0x00ccaa009e}, kBy64{0x0163cd6124, 0};
constexpr Powers kPolynomial{0x01db710641, 0x01f7011641};  // and its inverse, for the last division

KF_CARRYLESS inline __m128i constant(Powers powers) {
    return _mm_set_epi64x(powers.high, powers.low);
}
KF_CARRYLESS inline __m128i read(const std::uint8_t* bytes, std::size_t k) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + k);
}
KF_CARRYLESS inline __m128i fold(__m128i block, __m128i by, __m128i next) {
    const __m128i low = _mm_clmulepi64_si128(block, by, 0x00), high = _mm_clmulepi64_si128(block, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

// The remainder of the last 128 bits.
KF_CARRYLESS std::uint32_t reduced(__m128i block) {
    const __m128i low_word = _mm_set_epi32(0, 0, 0, -1), by128 = constant(kBy128), polynomial = constant(kPolynomial);
    const __m128i half = _mm_xor_si128(_mm_srli_si128(block, 8), _mm_clmulepi64_si128(block, by128, 0x10));
    const __m128i word = _mm_clmulepi64_si128(_mm_and_si128(half, low_word), constant(kBy64), 0x00);
    const __m128i rest = _mm_xor_si128(_mm_srli_si128(half, 4), word);
    const __m128i quotient =
        _mm_and_si128(_mm_clmulepi64_si128(_mm_and_si128(rest, low_word), polynomial, 0x10), low_word);
    const __m128i last = _mm_xor_si128(rest, _mm_clmulepi64_si128(quotient, polynomial, 0x00));
    return static_cast<std::uint32_t>(_mm_extract_epi32(last, 1));
}

// Of whole blocks of 64 bytes, at least one.
constexpr std::size_t kFoldedBlock = 64;
KF_CARRYLESS std::uint32_t folded(const std::uint8_t* bytes, std::size_t blocks, std::uint32_t before) {
    const __m128i by512 = constant(kBy512), by128 = constant(kBy128);
    __m128i part[4];
    for (std::size_t k = 0; k < 4; ++k) part[k] = read(bytes, k);
    part[0] = _mm_xor_si128(part[0], _mm_cvtsi32_si128(static_cast<int>(~before)));
    for (std::size_t block = 1; block < blocks; ++block) {
        bytes += kFoldedBlock;
        for (std::size_t k = 0; k < 4; ++k) part[k] = fold(part[k], by512, read(bytes, k));
    }
    for (std::size_t k = 1; k < 4; ++k) part[k] = fold(part[k - 1], by128, part[k]);
    return ~reduced(part[3]);
}

bool can_fold() {
    return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
}
#endif

}  // namespace

std::uint32_t plain_checksum(const std::uint8_t* bytes, std::size_t size, std::uint32_t before) {
    std::uint32_t rest = ~before;
    for (; size >= 8; bytes += 8, size -= 8) {
        std::uint32_t next = 0;
        for (std::size_t k = 0; k < 8; ++k) {
            const std::uint32_t byte = bytes[k] ^ (k < 4 ? rest >> (8 * k) & 255 : 0);
            next ^= kTables[7 - k][byte];
        }
        rest = next;
    }
    for (; size > 0; ++bytes, --size) rest = (rest >> 8) ^ kTables[0][(rest ^ *bytes) & 255];
    return ~rest;
}

std::uint32_t checksum(const std::uint8_t* bytes, std::size_t size, std::uint32_t before) {
#ifdef KF_X86
    const std::size_t blocks = size / kFoldedBlock;
    if (blocks > 0 && can_fold()) {
        before = folded(bytes, blocks, before);
        bytes += blocks * kFoldedBlock;
        size -= blocks * kFoldedBlock;
    }
#endif
    return plain_checksum(bytes, size, before);
}

}  // namespace kernelfields
