// CRC-32 as zlib has it, at the speed of memory where the processor multiplies polynomials.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelfields {

// Whether the processor can.
bool folds_checksums();

// Of whole blocks of 64 bytes, at least one, that follow on bytes with the checksum `before`; only if it can.
constexpr std::size_t kFoldedBlock = 64;
std::uint32_t folded_checksum(const std::uint8_t* bytes, std::size_t blocks, std::uint32_t before);

}  // namespace kernelfields
