#include "kernelfields/spaces/linear_chain.hpp"
#include "arrays.hpp"
#include "kernelfields/spaces/sparse_pairs.hpp"
#include "sparse_rows.hpp"

#include <nanobind/stl/pair.h>

namespace kernelfields::bindings {
namespace {

template <class S>
std::pair<Out<std::int32_t>, std::optional<Out<S>>> ranked(In<std::int64_t> first, In<std::int32_t> index,
                                                           std::optional<In<S>> value, In<std::int32_t> rank,
                                                           std::size_t frequent, std::size_t single) {
    const std::size_t columns = length_of(rank, "rank");
    const auto x = rows_of<S>(first, index, value, columns);
    require_below(index, "index", columns);
    require_below(rank, "rank", columns);
    auto out = make<std::int32_t>({index.shape(0)});
    std::optional<Out<S>> values;
    if (value) values = make<S>({index.shape(0)});
    {
        nb::gil_scoped_release release;
        rank_rows(x, rank.data(), frequent, single, out.data(), values ? values->data() : nullptr);
    }
    return {out, values};
}

std::pair<Out<std::int64_t>, Out<std::int32_t>> observed_pairs(In<std::int64_t> first, In<std::int32_t> index,
                                                               In<std::int32_t> labels, std::size_t n_labels,
                                                               std::size_t columns) {
    const auto x = rows_of<float>(first, index, std::nullopt, columns);
    require_below(index, "index", columns);
    require_labels(labels, x.rows, n_labels);
    SeenPairs seen(x.columns, n_labels);
    seen.mark(x, labels.data());
    auto pair_first = make<std::int64_t>({x.columns + 1});
    auto pair_label = make<std::int32_t>({seen.count()});
    seen.list(pair_first.data(), pair_label.data());
    return {pair_first, pair_label};
}

Out<std::int64_t> column_counts(In<std::int32_t> index, std::size_t columns) {
    require_below(index, "index", columns);
    auto counts = make<std::int64_t>({columns});
    std::fill_n(counts.data(), columns, 0);
    for (std::size_t k = 0; k < index.shape(0); ++k) ++counts.data()[index.data()[k]];
    return counts;
}

template <class T> using Into = nb::ndarray<T, nb::c_contig, nb::device::cpu>;

// Adds to bias, start, end and edge, (L,) thrice and (L, L); overwrites `features`. Returns the loss.
template <class S>
double loss(In<std::int64_t> first, In<std::int32_t> index, std::optional<In<S>> value, std::size_t frequent,
            std::size_t single, In<std::int64_t> pair_first, In<std::int32_t> pair_label, In<std::int64_t> offsets,
            In<std::int64_t> order, In<std::int32_t> labels, std::optional<In<double>> weight, In<S> features,
            In<S> small, In<S> edge, Into<S> out_features, Into<double> out_small, Into<double> out_edge,
            bool variances, std::optional<In<S>> square) {
    const auto x = rows_of<S>(first, index, value, features_of(pair_first));
    if (edge.ndim() != 2) throw std::invalid_argument("edge has shape " + shape_of(edge) + ", expected a matrix.");
    const std::size_t L = edge.shape(0);
    if (frequent > single || single > x.columns) throw std::invalid_argument("frequent <= single <= columns.");
    require_offsets(offsets, "offsets", x.rows);
    const std::size_t S_ = offsets.shape(0) - 1;
    require_shape(order, "order", {S_});
    for (std::size_t s = 0; s < S_; ++s)
        if (static_cast<std::size_t>(order.data()[s]) >= S_)
            throw std::invalid_argument("order holds a sequence that does not exist.");
    require_labels(labels, x.rows, L);
    if (square) require_shape(*square, "square", {index.shape(0)});
    if (weight) require_shape(*weight, "weight", {S_});
    require_shape(features, "features", {pair_label.shape(0)});
    require_shape(small, "small", {3, L});
    require_shape(edge, "edge", {L, L});
    if (out_features.size() != features.size() || out_small.size() != 3 * L || out_edge.size() != L * L)
        throw std::invalid_argument("The gradient must have the shape of the weights.");
    const WeightPairs pairs = pairs_of(pair_first, pair_label, x.columns);
    if (static_cast<std::size_t>(pairs.first[x.columns] - pairs.first[single]) != x.columns - single)
        throw std::invalid_argument("Features from `single` on must have one pair each.");
    const LinearChainData<S> data{x,
                                  frequent,
                                  single,
                                  pairs,
                                  S_,
                                  L,
                                  offsets.data(),
                                  order.data(),
                                  labels.data(),
                                  weight ? weight->data() : nullptr,
                                  variances,
                                  square ? square->data() : nullptr};
    const LinearChainWeights<S> weights{features.data(), small.data(), small.data() + L, small.data() + 2 * L,
                                        edge.data()};
    const LinearChainGradient<S> gradient{out_features.data(), out_small.data(), out_small.data() + L,
                                          out_small.data() + 2 * L, out_edge.data()};
    nb::gil_scoped_release release;
    return linear_chain(data, weights, gradient);
}

template <class S> void add_functions(nb::module_& m) {
    const auto keep = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def("rank_rows", &ranked<S>, keep("first"), keep("index"), keep("value").none(), keep("rank"),
          nb::arg("frequent"), nb::arg("single"));
    m.def("linear_chain", &loss<S>, keep("first"), keep("index"), keep("value").none(), nb::arg("frequent"),
          nb::arg("single"), keep("pair_first"), keep("pair_label"), keep("offsets"), keep("order"), keep("labels"),
          keep("weight").none(), keep("features"), keep("small"), keep("edge"), keep("out_features"), keep("out_small"),
          keep("out_edge"), nb::arg("variances"), keep("square").none());
}

}  // namespace

void add_linear_chain(nb::module_& m) {
    add_functions<double>(m);
    add_functions<float>(m);
    const auto keep = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def("column_counts", &column_counts, keep("index"), nb::arg("columns"));
    m.def("observed_pairs", &observed_pairs, keep("first"), keep("index"), keep("labels"), nb::arg("n_labels"),
          nb::arg("columns"));
}

}  // namespace kernelfields::bindings
