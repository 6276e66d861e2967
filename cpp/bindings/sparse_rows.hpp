// Sparse rows and weight pairs from NumPy arrays, checked.
#pragma once

#include "arrays.hpp"
#include "kernelfields/sparse.hpp"

namespace kernelfields::bindings {

// Sparse rows, checked: offsets in order, columns in range.
template <class S>
SparseRows<S> rows_of(const In<std::int64_t>& first, const In<std::int32_t>& index, const std::optional<In<S>>& value,
                      std::size_t columns) {
    require_offsets(first, "first", index.shape(0));
    if (value) require_shape(*value, "value", {index.shape(0)});
    return {first.shape(0) - 1, columns, first.data(), index.data(), value ? value->data() : nullptr};
}

inline WeightPairs pairs_of(const In<std::int64_t>& first, const In<std::int32_t>& label, std::size_t features) {
    require_shape(first, "pair_first", {features + 1});
    require_offsets(first, "pair_first", label.shape(0));
    return {first.data(), label.data()};
}

}  // namespace kernelfields::bindings
