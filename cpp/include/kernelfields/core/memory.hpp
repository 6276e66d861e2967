// Large blocks of memory.
#pragma once

#include <cstddef>
#include <new>
#include <string>
#include <utility>

namespace kernelfields {

// Memory that cannot be had, and what for.
class MemoryShortage : public std::bad_alloc {
public:
    explicit MemoryShortage(std::string text) : text_(std::move(text)) {}
    const char* what() const noexcept override { return text_.c_str(); }

private:
    std::string text_;
};

constexpr std::size_t kAlignment = 64;

// A block aligned for vectors. Large ones ask for huge pages, and the last few released, large or not quite
// small, are kept for the next request of about their size: the first touch of fresh memory costs as much
// as forward-backward over it at nine labels, and every step of a training run asks for the same sizes.
void* allocate(std::size_t bytes);
void release(void* block) noexcept;

}  // namespace kernelfields
