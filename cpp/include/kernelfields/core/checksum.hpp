// CRC-32 as zlib has it, at the speed of memory where the processor multiplies polynomials.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelfields {

// Of bytes that follow on others with the checksum `before`.
std::uint32_t checksum(const std::uint8_t* bytes, std::size_t size, std::uint32_t before);

// The same without such products.
std::uint32_t plain_checksum(const std::uint8_t* bytes, std::size_t size, std::uint32_t before);

}  // namespace kernelfields
