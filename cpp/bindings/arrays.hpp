// NumPy arrays in and out, with checks that name the offending shape.
#pragma once

#include "kernelfields/core/memory.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

namespace kernelfields::bindings {

namespace nb = nanobind;

template <class T> using In = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
template <class T> using Out = nb::ndarray<nb::numpy, T>;

template <class T> std::string shape_of(const In<T>& array) {
    std::string text = "(";
    for (std::size_t k = 0; k < array.ndim(); ++k) text += (k ? ", " : "") + std::to_string(array.shape(k));
    return text + ")";
}

template <class T>
void require_shape(const In<T>& array, const char* name, std::initializer_list<std::size_t> shape) {
    bool same = array.ndim() == shape.size();
    std::string wanted = "(";
    std::size_t k = 0;
    for (std::size_t extent : shape) {
        same = same && array.shape(k) == extent;
        wanted += (k ? ", " : "") + std::to_string(extent);
        ++k;
    }
    if (!same)
        throw std::invalid_argument(std::string(name) + " has shape " + shape_of(array) + ", expected " + wanted +
                                    ").");
}

// The length of a vector.
template <class T> std::size_t length_of(const In<T>& array, const char* name) {
    if (array.ndim() != 1)
        throw std::invalid_argument(std::string(name) + " has shape " + shape_of(array) + ", expected a vector.");
    return array.shape(0);
}

// The number of bytes of an array. No object is larger than what a difference of pointers can hold.
template <class T> std::size_t bytes_of(std::initializer_list<std::size_t> shape) {
    constexpr std::size_t kMost = std::numeric_limits<std::ptrdiff_t>::max();
    std::size_t most = kMost / sizeof(T), size = 1;
    std::string text;
    for (std::size_t extent : shape) {
        if (extent == 0) return 0;
        text += (text.empty() ? "(" : ", ") + std::to_string(extent);
    }
    for (std::size_t extent : shape) {
        if (extent > most) throw MemoryShortage("An array of shape " + text + ") is larger than memory can be.");
        most /= extent;
        size *= extent;
    }
    return size * sizeof(T);
}

// A new array of its own memory, not initialised.
template <class T> Out<T> make(std::initializer_list<std::size_t> shape) {
    T* data = static_cast<T*>(allocate(bytes_of<T>(shape)));
    nb::capsule owner(data, [](void* p) noexcept { release(p); });
    return Out<T>(data, shape.size(), shape.begin(), owner);
}

// The offsets of a ragged batch: from 0 up to `total`, never falling.
inline void require_offsets(const In<std::int64_t>& offsets, const char* name, std::size_t total) {
    if (offsets.ndim() != 1 || offsets.shape(0) < 1 || offsets.data()[0] != 0)
        throw std::invalid_argument(std::string(name) + " must be a vector that starts with 0.");
    const std::size_t count = offsets.shape(0) - 1;
    for (std::size_t s = 0; s < count; ++s)
        if (offsets.data()[s + 1] < offsets.data()[s])
            throw std::invalid_argument(std::string(name) + " falls after entry " + std::to_string(s) + ".");
    if (static_cast<std::size_t>(offsets.data()[count]) != total)
        throw std::invalid_argument(std::string(name) + " ends at " + std::to_string(offsets.data()[count]) +
                                    ", but there are " + std::to_string(total) + " rows.");
}

// Whether all indices are from 0 up to below `bound`; free of branches, so that it costs next to nothing.
inline bool all_below(const std::int32_t* index, std::size_t count, std::size_t bound) {
    const auto most = static_cast<std::uint32_t>(bound < 0x80000000u ? bound : 0x80000000u);
    std::uint32_t wrong = 0;
    for (std::size_t k = 0; k < count; ++k) wrong |= static_cast<std::uint32_t>(index[k]) >= most;
    return wrong == 0;
}

inline void require_below(const In<std::int32_t>& index, const char* name, std::size_t bound) {
    const std::size_t count = length_of(index, name);
    if (all_below(index.data(), count, bound)) return;
    for (std::size_t k = 0; k < count; ++k)
        if (index.data()[k] < 0 || static_cast<std::size_t>(index.data()[k]) >= bound)
            throw std::invalid_argument(std::string(name) + " holds " + std::to_string(index.data()[k]) + " at entry " +
                                        std::to_string(k) + ", but there are " + std::to_string(bound) + ".");
}

inline void require_labels(const In<std::int32_t>& labels, std::size_t positions, std::size_t L) {
    require_shape(labels, "labels", {positions});
    for (std::size_t t = 0; t < positions; ++t)
        if (labels.data()[t] < 0 || static_cast<std::size_t>(labels.data()[t]) >= L)
            throw std::invalid_argument("labels holds " + std::to_string(labels.data()[t]) + " at position " +
                                        std::to_string(t) + ", expected 0 to " + std::to_string(L - 1) + ".");
}

}  // namespace kernelfields::bindings
