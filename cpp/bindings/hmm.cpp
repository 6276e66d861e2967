#include "kernelfields/emissions/hmm.hpp"
#include "arrays.hpp"
#include "kernelfields/emissions/hmm_counts.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

namespace kernelfields::bindings {
namespace {

using Expectations = std::tuple<Out<double>, Out<double>, Out<double>, Out<double>>;

HmmBatch batch_of(const In<double>& start, const In<double>& edge, const In<std::int64_t>& offsets,
                  const std::optional<In<std::int32_t>>& labels, std::size_t positions) {
    if (start.ndim() != 1 || start.shape(0) == 0)
        throw std::invalid_argument("start has shape " + shape_of(start) + ", expected (labels,).");
    const std::size_t L = start.shape(0);
    require_shape(edge, "edge", {L, L});
    require_offsets(offsets, "offsets", positions);
    if (labels) {
        require_shape(*labels, "labels", {positions});
        hmm_counts_detail::require_range(labels->data(), 0, positions, L, "labels");
    }
    return {offsets.shape(0) - 1, L, offsets.data(), labels ? labels->data() : nullptr, start.data(), edge.data()};
}

// Without `counts` only log-probabilities: the others stay zero.
template <bool counts, class Emission>
Expectations run(const HmmBatch& batch, const Emission& emission, Out<double> statistics) {
    auto value = make<double>({batch.sequences});
    auto start = make<double>({batch.labels});
    auto edge = make<double>({batch.labels, batch.labels});
    for (auto* array : {&start, &edge, &statistics}) std::fill_n(array->data(), array->size(), 0.0);
    {
        nb::gil_scoped_release release;
        HmmSums sums{value.data(), nullptr, nullptr, nullptr};
        if constexpr (counts) sums = {value.data(), start.data(), edge.data(), statistics.data()};
        hmm_expectations(batch, emission, sums);
    }
    return {value, start, edge, statistics};
}

template <bool counts>
Expectations categorical(In<std::int32_t> symbols, In<double> table, In<double> start, In<double> edge,
                         In<std::int64_t> offsets, std::optional<In<std::int32_t>> labels) {
    if (symbols.ndim() != 1)
        throw std::invalid_argument("symbols has shape " + shape_of(symbols) + ", expected (positions,).");
    const HmmBatch batch = batch_of(start, edge, offsets, labels, symbols.shape(0));
    if (table.ndim() != 2) throw std::invalid_argument("table has shape " + shape_of(table) + ", expected a matrix.");
    const std::size_t V = table.shape(0);
    require_shape(table, "table", {V, batch.labels});
    hmm_counts_detail::require_range(symbols.data(), 0, symbols.shape(0), V, "symbols");
    return run<counts>(batch, CategoricalEmission{V, batch.labels, symbols.data(), table.data()},
                       make<double>({V, batch.labels}));
}

template <bool counts>
Expectations gaussian(In<double> columns, In<double> mean, In<double> factor, In<double> constant, In<double> start,
                      In<double> edge, In<std::int64_t> offsets, std::optional<In<std::uint8_t>> missing,
                      std::optional<In<std::int32_t>> labels) {
    if (columns.ndim() != 2)
        throw std::invalid_argument("columns has shape " + shape_of(columns) + ", expected (columns, positions).");
    const std::size_t D = columns.shape(0), N = columns.shape(1);
    const HmmBatch batch = batch_of(start, edge, offsets, labels, N);
    const std::size_t L = batch.labels;
    require_shape(mean, "mean", {L, D});
    require_shape(constant, "constant", {L});
    const bool full = factor.ndim() == 3;
    if (full) require_shape(factor, "factor", {L, D, D});
    else require_shape(factor, "factor", {L, D});
    if (missing) require_shape(*missing, "missing", {N});
    const GaussianStates states{L, D, mean.data(), factor.data(), constant.data(), full};
    return run<counts>(batch, GaussianEmission{states, N, columns.data(), missing ? missing->data() : nullptr},
                       make<double>({L, states.size()}));
}

std::tuple<Out<double>, Out<double>, Out<double>> counts(In<std::int32_t> labels, std::size_t n_labels,
                                                         In<std::int64_t> offsets,
                                                         std::optional<In<std::int32_t>> symbols,
                                                         std::size_t n_symbols) {
    const std::size_t N = length_of(labels, "labels");
    require_offsets(offsets, "offsets", N);
    if (symbols) require_shape(*symbols, "symbols", {N});
    auto start = make<double>({n_labels});
    auto pairs = make<double>({n_labels, n_labels});
    auto emissions = make<double>({n_labels, n_symbols});
    for (auto* array : {&start, &pairs, &emissions}) std::fill_n(array->data(), array->size(), 0.0);
    {
        nb::gil_scoped_release release;
        hmm_counts({offsets.shape(0) - 1, N, n_labels, n_symbols, offsets.data(), labels.data(),
                    symbols ? symbols->data() : nullptr},
                   start.data(), pairs.data(), symbols ? emissions.data() : nullptr);
    }
    return {start, pairs, emissions};
}

}  // namespace

void add_hmm(nb::module_& m) {
    using namespace nb::literals;
    const auto s = nb::arg("start").noconvert(), e = nb::arg("edge").noconvert(), o = nb::arg("offsets").noconvert();
    const auto add_categorical = [&](const char* name, auto function) {
        m.def(name, function, nb::arg("symbols").noconvert(), nb::arg("table").noconvert(), s, e, o,
              "labels"_a = nb::none());
    };
    add_categorical("hmm_categorical", &categorical<true>);
    add_categorical("hmm_categorical_log_probability", &categorical<false>);
    const auto add_gaussian = [&](const char* name, auto function) {
        m.def(name, function, nb::arg("columns").noconvert(), nb::arg("mean").noconvert(),
              nb::arg("factor").noconvert(), nb::arg("constant").noconvert(), s, e, o, "missing"_a = nb::none(),
              "labels"_a = nb::none());
    };
    add_gaussian("hmm_gaussian", &gaussian<true>);
    add_gaussian("hmm_gaussian_log_probability", &gaussian<false>);
    m.def("hmm_counts", &counts, nb::arg("labels").noconvert(), "n_labels"_a, o, "symbols"_a = nb::none(),
          "n_symbols"_a = 0);
}

}  // namespace kernelfields::bindings
