#include "kernelfields/core/memory.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <string>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace kernelfields {
namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21;
constexpr std::size_t kLarge = 2 * kHugePage;                // from here on huge pages are asked for
constexpr std::size_t kWorthKeeping = std::size_t{1} << 18;  // from here on blocks are kept
constexpr std::size_t kKeep = std::size_t{1} << 28;          // at most so many bytes in all are kept

// The size stands in front of each block.
struct Header {
    std::size_t bytes;
};
Header& header(void* block) {
    return *reinterpret_cast<Header*>(static_cast<std::byte*>(block) - kAlignment);
}

std::mutex guard;
std::array<void*, 6> kept{};

void* take_kept(std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(guard);
    for (void*& block : kept)
        if (block && header(block).bytes >= bytes && header(block).bytes <= bytes + bytes / 4) {
            void* taken = block;
            block = nullptr;
            return taken;
        }
    return nullptr;
}

void free_block(void* block) {
    std::free(static_cast<std::byte*>(block) - kAlignment);
}

// Keeps the block where one was taken from, or else in place of the oldest kept one, which is returned.
void* keep(void* block) {
    const std::lock_guard<std::mutex> lock(guard);
    std::size_t held = header(block).bytes;
    for (void* other : kept) held += other ? header(other).bytes : 0;
    if (held > kKeep) return block;
    auto* place = std::find(kept.begin(), kept.end(), nullptr);
    if (place == kept.end()) --place;
    void* oldest = *place;
    std::shift_right(kept.begin(), place + 1, 1);
    kept.front() = block;
    return oldest;
}

}  // namespace

void* allocate(std::size_t bytes) {
    if (bytes > std::numeric_limits<std::ptrdiff_t>::max() - kLarge) throw std::bad_alloc();
    const bool large = bytes >= kLarge;
    if (bytes >= kWorthKeeping)
        if (void* block = take_kept(bytes)) return block;
    const std::size_t alignment = large ? kHugePage : kAlignment;
    const std::size_t whole = ((bytes + kAlignment) / alignment + 1) * alignment;
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, whole));
    if (!memory) throw MemoryShortage("There are no " + std::to_string(bytes) + " bytes of memory left.");
#ifdef __linux__
    if (large) madvise(memory, whole, MADV_HUGEPAGE);
#endif
    void* block = memory + kAlignment;
    header(block).bytes = bytes;
    return block;
}

void release(void* block) noexcept {
    if (header(block).bytes >= kWorthKeeping) block = keep(block);
    if (block) free_block(block);
}

}  // namespace kernelfields
