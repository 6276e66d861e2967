#include "kernelfields/gram/gram_sparse.hpp"
#include "arrays.hpp"

namespace kernelfields::bindings {
namespace {

template <class S>
SparseRows<S> rows_of(const In<std::int64_t>& first, const In<std::int32_t>& index, const std::optional<In<S>>& value,
                      std::size_t features) {
    const std::size_t count = length_of(index, "index");
    require_offsets(first, "first", count);
    if (value) require_shape(*value, "value", {count});
    require_below(index, "index", features);
    return {first.shape(0) - 1, features, first.data(), index.data(), value ? value->data() : nullptr};
}

template <class S>
void make_index(SparseIndex<S>* self, In<std::int64_t> first, In<std::int32_t> index, std::optional<In<S>> value,
                std::size_t features) {
    const auto rows = rows_of<S>(first, index, value, features);
    nb::gil_scoped_release release;
    new (self) SparseIndex<S>(rows);
}

template <class S>
void products(const SparseIndex<S>& y, In<std::int64_t> first, In<std::int32_t> index, std::optional<In<S>> value,
              std::size_t start, nb::ndarray<S, nb::ndim<2>, nb::device::cpu> out) {
    const auto x = rows_of<S>(first, index, value, y.features());
    const std::size_t stop = start + out.shape(1);
    if (out.shape(0) != x.rows || start > y.rows() || stop > y.rows() || (out.shape(1) > 1 && out.stride(1) != 1) ||
        out.stride(0) < 0)
        throw std::invalid_argument("out must have one contiguous row per row of x, and a column per row asked for.");
    if (y.binary() != !value) throw std::invalid_argument("Both sides must have values, or neither.");
    nb::gil_scoped_release release;
    y.products(x, 0, x.rows, start, stop, out.data(), static_cast<std::size_t>(out.stride(0)));
}

template <class S> void add_index(nb::module_& m, const char* name) {
    const auto keep = [](const char* argument) { return nb::arg(argument).noconvert(); };
    nb::class_<SparseIndex<S>>(m, name)
        .def("__init__", &make_index<S>, keep("first"), keep("index"), keep("value").none(), nb::arg("features"))
        .def("products", &products<S>, keep("first"), keep("index"), keep("value").none(), nb::arg("start"),
             keep("out"));
}

}  // namespace

// Without values, the type of the index cannot be told from the arguments: hence two names.
void add_gram_sparse(nb::module_& m) {
    add_index<double>(m, "SparseIndex64");
    add_index<float>(m, "SparseIndex32");
}

}  // namespace kernelfields::bindings
