// Sparse rows and weight pairs from NumPy arrays, checked.
#pragma once

#include "arrays.hpp"
#include "kernelfields/spaces/sparse.hpp"

namespace kernelfields::bindings {

// Sparse rows, offsets checked. Columns are checked by `require_below`, once for all products with the same rows:
// a look at each of them costs some per cent of a product.
template <class S>
SparseRows<S> rows_of(const In<std::int64_t>& first, const In<std::int32_t>& index, const std::optional<In<S>>& value,
                      std::size_t columns) {
    const std::size_t count = length_of(index, "index");
    require_offsets(first, "first", count);
    if (value) require_shape(*value, "value", {count});
    return {first.shape(0) - 1, columns, first.data(), index.data(), value ? value->data() : nullptr};
}

// The number of features that a vector of offsets into pairs is about.
template <class T> std::size_t features_of(const In<T>& pair_first) {
    const std::size_t count = length_of(pair_first, "pair_first");
    if (count == 0) throw std::invalid_argument("pair_first is empty.");
    return count - 1;
}

inline WeightPairs pairs_of(const In<std::int64_t>& first, const In<std::int32_t>& label, std::size_t features) {
    require_shape(first, "pair_first", {features + 1});
    require_offsets(first, "pair_first", length_of(label, "pair_label"));
    return {first.data(), label.data()};
}

}  // namespace kernelfields::bindings
