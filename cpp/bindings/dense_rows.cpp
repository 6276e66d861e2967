#include "kernelfields/spaces/dense_rows.hpp"
#include "matrices.hpp"

#include <nanobind/stl/tuple.h>

namespace kernelfields::bindings {
namespace {

template <class S>
std::tuple<double, Out<double>, Out<double>> loss(Matrix<const S> matrix, In<S> weights, In<double> constant,
                                                  In<std::int32_t> labels, std::optional<In<double>> weight) {
    const std::size_t stride = require_contiguous_rows(matrix, "matrix"), L = length_of(constant, "constant");
    if (L == 0) throw std::invalid_argument("constant is empty; there must be a label.");
    require_shape(weights, "weights", {matrix.shape(1), L});
    require_labels(labels, matrix.shape(0), L);
    if (weight) require_shape(*weight, "weight", {matrix.shape(0)});
    const LabelledRows<S> data{
        matrix.data(), stride, matrix.shape(0), matrix.shape(1), L, labels.data(), weight ? weight->data() : nullptr};
    auto gradient = make<double>({matrix.shape(1), L});
    auto sums = make<double>({L});
    double value;
    {
        nb::gil_scoped_release release;
        value = dense_rows_loss(data, weights.data(), constant.data(), gradient.data(), sums.data());
    }
    return {value, gradient, sums};
}

}  // namespace

void add_dense_rows(nb::module_& m) {
    const auto keep = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def("dense_rows_loss", &loss<double>, keep("matrix"), keep("weights"), keep("constant"), keep("labels"),
          keep("weight").none());
    m.def("dense_rows_loss", &loss<float>, keep("matrix"), keep("weights"), keep("constant"), keep("labels"),
          keep("weight").none());
}

}  // namespace kernelfields::bindings
