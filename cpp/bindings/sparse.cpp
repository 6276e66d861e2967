#include "kernelfields/core/dot.hpp"
#include "sparse_rows.hpp"

#include <nanobind/stl/vector.h>

namespace kernelfields::bindings {
namespace {

template <class S>
void scores(In<std::int64_t> first, In<std::int32_t> index, std::optional<In<S>> value, In<std::int64_t> pair_first,
            In<std::int32_t> pair_label, In<double> weights, nb::ndarray<S, nb::c_contig, nb::device::cpu> out) {
    const auto x = rows_of<S>(first, index, value, features_of(pair_first));
    const WeightPairs pairs = pairs_of(pair_first, pair_label, x.columns);
    require_shape(weights, "weights", {pair_label.shape(0)});
    if (out.ndim() != 2 || out.shape(0) != x.rows) throw std::invalid_argument("out must have one row per row of x.");
    nb::gil_scoped_release release;
    sparse_scores(x, pairs, weights.data(), out.shape(1), out.data());
}

template <class S>
void times(In<std::int64_t> first, In<std::int32_t> index, std::optional<In<S>> value, In<S> table,
           nb::ndarray<S, nb::c_contig, nb::device::cpu> out) {
    if (table.ndim() != 2 || out.ndim() != 2 || out.shape(1) != table.shape(1))
        throw std::invalid_argument("table and out must have the same number of columns.");
    const auto x = rows_of<S>(first, index, value, table.shape(0));
    require_below(index, "index", x.columns);
    if (out.shape(0) != x.rows) throw std::invalid_argument("out must have one row per row of x.");
    nb::gil_scoped_release release;
    sparse_times(x, table.data(), table.shape(1), out.data());
}

template <class S>
void pair_times(In<std::int64_t> first, In<std::int32_t> index, std::optional<In<S>> value, In<std::int32_t> pair_first,
                In<std::int32_t> pair_label, In<S> weights, nb::ndarray<S, nb::c_contig, nb::device::cpu> out) {
    const auto x = rows_of<S>(first, index, value, features_of(pair_first));
    require_below(index, "index", x.columns);
    require_shape(weights, "weights", {length_of(pair_label, "pair_label")});
    if (out.ndim() != 2 || out.shape(0) != x.rows) throw std::invalid_argument("out must have one row per row of x.");
    nb::gil_scoped_release release;
    sparse_pair_times(x, pair_first.data(), pair_label.data(), weights.data(), weights.size(), out.shape(1),
                      out.data());
}

template <class S>
Out<double> adjoint(In<std::int64_t> first, In<std::int32_t> index, std::optional<In<S>> value,
                    In<std::int64_t> column_first, In<std::int32_t> column_index, std::optional<In<S>> column_value,
                    In<std::int64_t> pair_first, In<std::int32_t> pair_label, In<S> gradient) {
    const auto x = rows_of<S>(first, index, value, features_of(pair_first));
    const auto columns = rows_of<S>(column_first, column_index, column_value, x.rows);
    const WeightPairs pairs = pairs_of(pair_first, pair_label, x.columns);
    if (gradient.ndim() != 2 || gradient.shape(0) != x.rows || columns.rows > x.columns)
        throw std::invalid_argument("gradient must have one row per row of x.");
    auto out = make<double>({pair_label.shape(0)});
    nb::gil_scoped_release release;
    sparse_adjoint(x, columns, x.columns - columns.rows, pairs, gradient.data(), gradient.shape(1), out.data());
    return out;
}

template <class S> std::vector<const S*> equally_long(const std::vector<In<S>>& arrays, std::size_t size) {
    std::vector<const S*> result;
    for (const In<S>& array : arrays) {
        if (array.size() != size) throw std::invalid_argument("Arrays of different size.");
        result.push_back(array.data());
    }
    return result;
}

template <class S> double dot(In<S> left, In<S> right) {
    if (left.size() != right.size()) throw std::invalid_argument("Arrays of different size.");
    nb::gil_scoped_release release;
    const S* const first = left.data();
    double result = 0;
    blocked_dots<S>({&first, 1}, right.data(), right.size(), &result);
    return result;
}

template <class S> Out<double> dots(const std::vector<In<S>>& left, In<S> right) {
    const auto vectors = equally_long(left, right.size());
    auto out = make<double>({left.size()});
    nb::gil_scoped_release release;
    blocked_dots<S>(vectors, right.data(), right.size(), out.data());
    return out;
}

template <class S> void add_multiples(nb::ndarray<S, nb::c_contig, nb::device::cpu> sum,
                                      const std::vector<In<S>>& values, In<S> weights) {
    const auto vectors = equally_long(values, sum.size());
    if (weights.size() != values.size()) throw std::invalid_argument("weights must have one number per array.");
    nb::gil_scoped_release release;
    blocked_sum<S>(vectors, weights.data(), sum.size(), sum.data());
}

template <class S> void add_functions(nb::module_& m) {
    const auto keep = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def("score_dot", &dot<S>, keep("left"), keep("right"));
    m.def("score_dots", &dots<S>, keep("left"), keep("right"));
    m.def("add_multiples", &add_multiples<S>, keep("sum"), keep("values"), keep("weights"));
    m.def("sparse_scores", &scores<S>, keep("first"), keep("index"), keep("value").none(), keep("pair_first"),
          keep("pair_label"), keep("weights"), keep("out"));
    m.def("sparse_times", &times<S>, keep("first"), keep("index"), keep("value").none(), keep("table"), keep("out"));
    m.def("sparse_pair_times", &pair_times<S>, keep("first"), keep("index"), keep("value").none(), keep("pair_first"),
          keep("pair_label"), keep("weights"), keep("out"));
    m.def("sparse_adjoint", &adjoint<S>, keep("first"), keep("index"), keep("value").none(), keep("column_first"),
          keep("column_index"), keep("column_value").none(), keep("pair_first"), keep("pair_label"), keep("gradient"));
}

}  // namespace

void add_sparse(nb::module_& m) {
    add_functions<double>(m);
    add_functions<float>(m);
}

}  // namespace kernelfields::bindings
