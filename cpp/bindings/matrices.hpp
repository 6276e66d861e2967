// Matrices whose rows are contiguous, but not necessarily next to each other.
#pragma once

#include "arrays.hpp"

namespace kernelfields::bindings {

template <class S> using Matrix = nb::ndarray<S, nb::ndim<2>, nb::device::cpu>;

// Returns how many numbers there are from row to row.
template <class S> std::size_t require_contiguous_rows(const Matrix<S>& matrix, const char* name) {
    if ((matrix.shape(1) > 1 && matrix.stride(1) != 1) || matrix.stride(0) < 0)
        throw std::invalid_argument(std::string(name) + " must have contiguous rows.");
    return static_cast<std::size_t>(matrix.stride(0));
}

}  // namespace kernelfields::bindings
