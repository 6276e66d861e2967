// NumPy arrays in and out, with checks that name the offending shape.
#pragma once

#include "kernelfields/core/memory.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

namespace kernelfields::bindings {

namespace nb = nanobind;

template <class T> using In = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
template <class T> using Out = nb::ndarray<nb::numpy, T>;

// Checks are compiled once, in arrays.cpp: they need an array's shape, not its type.
struct Extents {
    const std::int64_t* extent;
    std::size_t count;
};
template <class T> Extents extents_of(const In<T>& array) {
    return {array.shape_ptr(), array.ndim()};
}

std::string text_of(Extents shape);
void require_extents(Extents found, const char* name, std::initializer_list<std::size_t> shape);
std::size_t require_vector(Extents found, const char* name);
// The number of bytes of an array. No object is larger than what a difference of pointers can hold.
std::size_t bytes_of(std::size_t number, std::initializer_list<std::size_t> shape);

template <class T> std::string shape_of(const In<T>& array) {
    return text_of(extents_of(array));
}
template <class T>
void require_shape(const In<T>& array, const char* name, std::initializer_list<std::size_t> shape) {
    require_extents(extents_of(array), name, shape);
}
// The length of a vector.
template <class T> std::size_t length_of(const In<T>& array, const char* name) {
    return require_vector(extents_of(array), name);
}

// A new array of its own memory, not initialised.
template <class T> Out<T> make(std::initializer_list<std::size_t> shape) {
    T* data = static_cast<T*>(allocate(bytes_of(sizeof(T), shape)));
    nb::capsule owner(data, [](void* p) noexcept { release(p); });
    return Out<T>(data, shape.size(), shape.begin(), owner);
}

// The offsets of a ragged batch: from 0 up to `total`, never falling.
void require_offsets(const In<std::int64_t>& offsets, const char* name, std::size_t total);

// Whether all indices are from 0 up to below `bound`.
bool all_below(const std::int32_t* index, std::size_t count, std::size_t bound);
void require_below(const In<std::int32_t>& index, const char* name, std::size_t bound);
void require_labels(const In<std::int32_t>& labels, std::size_t positions, std::size_t L);

}  // namespace kernelfields::bindings
