#include "kernelfields/gram/gram.hpp"
#include "matrices.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/vector.h>

#include <array>

namespace kernelfields::bindings {
namespace {

template <class S> PanelPlan<S> plan_of(const In<S>& panels, std::size_t size) {
    PanelPlan<S> plan(size);
    require_shape(panels, "panels", {plan.total()});
    return plan;
}

template <class S> void require_index(const In<std::int64_t>& index, const char* name, const PanelPlan<S>& plan) {
    if (index.ndim() != 1) throw std::invalid_argument(std::string(name) + " must be a vector.");
    for (std::size_t k = 0; k < index.shape(0); ++k)
        if (index.data()[k] < 0 || static_cast<std::size_t>(index.data()[k]) >= plan.size)
            throw std::invalid_argument(std::string(name) + " holds " + std::to_string(index.data()[k]) +
                                        ", but the Gram matrix has " + std::to_string(plan.size) + " rows.");
}

template <class S> Out<S> empty(std::size_t size) {
    const PanelPlan<S> plan(size);
    auto out = make<S>({plan.total()});
    nb::gil_scoped_release release;
    prepare_panels(plan, out.data());
    return out;
}

// (where it starts, rows, columns, numbers from row to row) of every panel.
template <class S> std::vector<std::array<std::size_t, 4>> layout(std::size_t size) {
    const PanelPlan<S> plan(size);
    std::vector<std::array<std::size_t, 4>> found;
    for (std::size_t p = 0; p < plan.panels; ++p)
        found.push_back({plan.begin[p], plan.rows(p), plan.columns(p), plan.stride(p)});
    return found;
}

template <class S, class T> Out<T> times(In<S> panels, std::size_t size, In<T> columns) {
    const PanelPlan<S> plan = plan_of(panels, size);
    if (columns.ndim() != 2) throw std::invalid_argument("columns must be a matrix.");
    require_shape(columns, "columns", {size, columns.shape(1)});
    auto out = make<T>({size, columns.shape(1)});
    nb::gil_scoped_release release;
    packed_times(plan, panels.data(), columns.data(), columns.shape(1), out.data());
    return out;
}

template <class S, class T> Out<T> matrix_times(Matrix<const S> matrix, In<T> columns) {
    const std::size_t stride = require_contiguous_rows(matrix, "matrix");
    if (columns.ndim() != 2) throw std::invalid_argument("columns must be a matrix.");
    require_shape(columns, "columns", {matrix.shape(1), columns.shape(1)});
    auto out = make<T>({matrix.shape(0), columns.shape(1)});
    nb::gil_scoped_release release;
    plain_times(matrix.data(), stride, matrix.shape(0), matrix.shape(1), columns.data(), columns.shape(1), out.data());
    return out;
}

template <class S, class T> Out<double> matrix_transposed_times(Matrix<const S> matrix, In<T> columns) {
    const std::size_t stride = require_contiguous_rows(matrix, "matrix");
    if (columns.ndim() != 2) throw std::invalid_argument("columns must be a matrix.");
    require_shape(columns, "columns", {matrix.shape(0), columns.shape(1)});
    auto out = make<double>({matrix.shape(1), columns.shape(1)});
    nb::gil_scoped_release release;
    plain_transposed_times(matrix.data(), stride, matrix.shape(0), matrix.shape(1), columns.data(), columns.shape(1),
                           out.data());
    return out;
}

template <class S> Out<S> block(In<S> panels, std::size_t size, In<std::int64_t> rows, In<std::int64_t> columns) {
    const PanelPlan<S> plan = plan_of(panels, size);
    require_index(rows, "rows", plan);
    require_index(columns, "columns", plan);
    auto out = make<S>({rows.shape(0), columns.shape(0)});
    nb::gil_scoped_release release;
    take_block(plan, panels.data(), rows.data(), rows.shape(0), columns.data(), columns.shape(0), out.data());
    return out;
}

template <class S> void gaussian(Matrix<S> products, In<S> left, In<S> right, double gamma) {
    const std::size_t stride = require_contiguous_rows(products, "products");
    require_shape(left, "left", {products.shape(0)});
    require_shape(right, "right", {products.shape(1)});
    nb::gil_scoped_release release;
    gaussian_transform(products.data(), stride, products.shape(0), products.shape(1), left.data(), right.data(),
                       static_cast<S>(gamma));
}

template <class S> void polynomial(Matrix<S> products, double gamma, double offset, unsigned degree) {
    const std::size_t stride = require_contiguous_rows(products, "products");
    nb::gil_scoped_release release;
    polynomial_transform(products.data(), stride, products.shape(0), products.shape(1), static_cast<S>(gamma),
                         static_cast<S>(offset), degree);
}

template <class S> void add_functions(nb::module_& m, const std::string& suffix) {
    const auto keep = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def(("gram_panels_" + suffix).c_str(), &empty<S>, nb::arg("size"));
    m.def(("gram_layout_" + suffix).c_str(), &layout<S>, nb::arg("size"));
    m.def("gram_times", &times<S, double>, keep("panels"), nb::arg("size"), keep("columns"));
    m.def("gram_times", &times<S, float>, keep("panels"), nb::arg("size"), keep("columns"));
    m.def("matrix_times", &matrix_times<S, double>, keep("matrix"), keep("columns"));
    m.def("matrix_times", &matrix_times<S, float>, keep("matrix"), keep("columns"));
    m.def("matrix_transposed_times", &matrix_transposed_times<S, double>, keep("matrix"), keep("columns"));
    m.def("matrix_transposed_times", &matrix_transposed_times<S, float>, keep("matrix"), keep("columns"));
    m.def("gram_block", &block<S>, keep("panels"), nb::arg("size"), keep("rows"), keep("columns"));
    m.def("polynomial_transform", &polynomial<S>, keep("products"), nb::arg("gamma"), nb::arg("offset"),
          nb::arg("degree"));
    m.def("gaussian_transform", &gaussian<S>, keep("products"), keep("left"), keep("right"), nb::arg("gamma"));
}

}  // namespace

void add_gram(nb::module_& m) {
    add_functions<double>(m, "float64");
    add_functions<float>(m, "float32");
    m.def("threads", [] { return threads_for(1e9); });
    m.def("work_alone", &work_alone);
}

}  // namespace kernelfields::bindings
