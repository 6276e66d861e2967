// Inputs of models that climb in their duals from NumPy arrays, checked.
#pragma once

#include "kernelfields/objective/detour_expansion.hpp"
#include "kernelfields/objective/detour_weights.hpp"
#include "kernelfields/objective/margin_data.hpp"
#include "sparse_rows.hpp"

namespace kernelfields::bindings {

template <class S> struct MarginArrays {
    In<std::int64_t> offsets;
    In<std::int32_t> labels;
    std::optional<In<double>> weight;
    In<S> fixed;
    In<S> edge_fixed;

    std::size_t count() const { return edge_fixed.ndim() == 2 ? edge_fixed.shape(0) : 0; }
    // As `Data`: MarginData or LabelledChains.
    template <class Data> Data checked(std::size_t positions) const {
        if (count() == 0) throw std::invalid_argument("edge_fixed has shape " + shape_of(edge_fixed) + ".");
        require_shape(edge_fixed, "edge_fixed", {count(), count()});
        require_offsets(offsets, "offsets", positions);
        require_labels(labels, positions, count());
        require_shape(fixed, "fixed", {positions, count()});
        const std::size_t sequences = offsets.shape(0) - 1;
        if (weight) require_shape(*weight, "weight", {sequences});
        return {sequences,    count(),          offsets.data(), labels.data(), weight ? weight->data() : nullptr,
                fixed.data(), edge_fixed.data()};
    }
};

// The features of all positions, as arrays.
template <class S> struct FeatureArrays {
    In<std::int64_t> first;
    In<std::int32_t> index;
    std::optional<In<S>> value;
    std::size_t columns;

    DetourFeatures<S> weights(std::size_t labels, double penalty) const {
        require_below(index, "index", columns);
        return {rows_of<S>(first, index, value, columns), labels, penalty};
    }
};

// A Gram matrix, and the observation that each position sees.
template <class S> struct GramArrays {
    In<S> gram;
    In<std::int64_t> rows;

    // The number of observations.
    std::size_t checked() const {
        const std::size_t size = gram.ndim() == 2 ? gram.shape(0) : 0, positions = length_of(rows, "rows");
        require_shape(gram, "gram", {size, size});
        for (std::size_t t = 0; t < positions; ++t)
            if (rows.data()[t] < 0 || static_cast<std::size_t>(rows.data()[t]) >= size)
                throw std::invalid_argument("rows holds an observation that does not exist.");
        return size;
    }
    DetourExpansion<S> weights(std::size_t labels, double penalty) const {
        return {gram.data(), checked(), rows.data(), rows.shape(0), labels, penalty};
    }
};

}  // namespace kernelfields::bindings
