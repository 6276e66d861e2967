// Workspace handed out in aligned pieces from one block that the caller owns.
#pragma once

#include <cstddef>

// What instruction-set code may share with the rest: always inlined, so never a symbol.
#define KF_ALWAYS_INLINE inline __attribute__((always_inline))

namespace kernelfields {

constexpr std::size_t kPiece = 64;  // pieces start at multiples of this, the widest vector

struct Arena {
    std::byte* next;
    std::byte* end;
};

template <class T> KF_ALWAYS_INLINE T* take(Arena& arena, std::size_t count) {
    T* piece = reinterpret_cast<T*>(arena.next);
    arena.next += (count * sizeof(T) + kPiece - 1) / kPiece * kPiece;
    return arena.next <= arena.end ? piece : nullptr;
}

KF_ALWAYS_INLINE std::size_t padded(std::size_t count, std::size_t width) {
    return (count + width - 1) / width * width;
}

}  // namespace kernelfields
