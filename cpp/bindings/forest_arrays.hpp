// Forests from NumPy arrays, checked.
#pragma once

#include "arrays.hpp"
#include "kernelfields/structures/forest.hpp"

namespace kernelfields::bindings {

inline Forest forest_of(const In<std::int64_t>& offsets, const In<std::int64_t>& parents) {
    if (parents.ndim() != 1)
        throw std::invalid_argument("parents has shape " + shape_of(parents) + ", expected a vector.");
    require_offsets(offsets, "offsets", parents.shape(0));
    return make_forest(offsets.shape(0) - 1, offsets.data(), parents.data());
}

}  // namespace kernelfields::bindings
