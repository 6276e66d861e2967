// Python face of exponentiated_ascent.hpp.
#include "kernelfields/objective/exponentiated_ascent.hpp"

#include "arrays.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

namespace kernelfields::bindings {
namespace {

template <class S> struct ChainArrays {
    In<S> gram;
    In<std::int64_t> rows;
    In<std::int64_t> offsets;
    In<std::int32_t> labels;
    std::optional<In<double>> weight;
    In<S> fixed;
    In<S> edge_fixed;

    std::size_t count() const { return edge_fixed.ndim() == 2 ? edge_fixed.shape(0) : 0; }
    std::size_t positions() const { return rows.shape(0); }
    KernelPanel<S> panel() const {
        const std::size_t size = gram.ndim() == 2 ? gram.shape(0) : 0, positions = length_of(rows, "rows");
        require_shape(gram, "gram", {size, size});
        for (std::size_t t = 0; t < positions; ++t)
            if (rows.data()[t] < 0 || static_cast<std::size_t>(rows.data()[t]) >= size)
                throw std::invalid_argument("rows holds an observation that does not exist.");
        return {gram.data(), size, rows.data(), count()};
    }
    LabelledChains<S> checked() const {
        if (count() == 0) throw std::invalid_argument("edge_fixed has shape " + shape_of(edge_fixed) + ".");
        require_shape(edge_fixed, "edge_fixed", {count(), count()});
        require_offsets(offsets, "offsets", length_of(rows, "rows"));
        require_labels(labels, positions(), count());
        require_shape(fixed, "fixed", {positions(), count()});
        const std::size_t sequences = offsets.shape(0) - 1;
        if (weight) require_shape(*weight, "weight", {sequences});
        return {sequences,    count(),          offsets.data(), labels.data(), weight ? weight->data() : nullptr,
                fixed.data(), edge_fixed.data()};
    }
};

// An ascent, together with the arrays that it looks at.
template <class S> class Ascent {
public:
    using Penalties = std::tuple<double, double, double, double>;  // of inputs, bias, boundaries, edges
    Ascent(ChainArrays<S> arrays, const Penalties& p)
        : arrays_(std::move(arrays)),
          ascent_(arrays_.checked(), arrays_.panel(), std::get<0>(p),
                  {std::get<1>(p), std::get<2>(p), std::get<3>(p)}) {}
    Ascent(const Ascent&) = delete;

    std::tuple<double, double> visit(In<std::int64_t> order, int sweeps) {
        const auto count = static_cast<std::int64_t>(arrays_.offsets.shape(0)) - 1;
        for (std::size_t k = 0; k < order.size(); ++k)
            if (order.data()[k] < 0 || order.data()[k] >= count)
                throw std::invalid_argument("order holds " + std::to_string(order.data()[k]) + ", expected 0 to " +
                                            std::to_string(count - 1) + ".");
        nb::gil_scoped_release release;
        const ExponentiatedPass pass = ascent_.visit(order.data(), order.size(), sweeps);
        return {pass.gap, pass.gain};
    }
    void begin(In<S> node, In<S> edge) {
        require_shape(node, "node", {arrays_.positions(), arrays_.count()});
        require_shape(edge, "edge", {arrays_.count(), arrays_.count()});
        nb::gil_scoped_release release;
        ascent_.begin(node.data(), edge.data());
    }
    // Marginals less right labels, those of pairs, level, and the size of the scores behind them.
    std::tuple<Out<double>, Out<double>, double, double> mismatch() const {
        const std::size_t L = arrays_.count();
        auto node = make<double>({arrays_.positions(), L});
        auto edge = make<double>({L, L});
        nb::gil_scoped_release release;
        std::fill_n(node.data(), arrays_.positions() * L, 0.0);
        std::fill_n(edge.data(), L * L, 0.0);
        double size = 0;
        const double level = ascent_.distributions().add_mismatch(node.data(), edge.data(), size);
        return {node, edge, level, size};
    }

private:
    ChainArrays<S> arrays_;
    ExponentiatedAscent<S> ascent_;
};

template <class S> void add_class(nb::module_& m, const char* name) {
    using namespace nb::literals;
    using Face = Ascent<S>;
    const auto keep = [](const char* argument) { return nb::arg(argument).noconvert(); };
    nb::class_<Face>(m, name, "The dual of a chain with a kernel and the log loss.")
        .def(
            "__init__",
            [](Face* self, In<S> gram, In<std::int64_t> rows, In<std::int64_t> offsets, In<std::int32_t> labels,
               std::optional<In<double>> weight, In<S> fixed, In<S> edge_fixed,
               const typename Face::Penalties& penalties) {
                new (self) Face({gram, rows, offsets, labels, weight, fixed, edge_fixed}, penalties);
            },
            keep("gram"), keep("rows"), keep("offsets"), keep("labels"), keep("weight").none(), keep("fixed"),
            keep("edge_fixed"), "penalties"_a)
        .def("visit", &Face::visit, keep("order"), "sweeps"_a)
        .def("begin", &Face::begin, keep("node"), keep("edge"))
        .def("mismatch", &Face::mismatch);
}

}  // namespace

void add_exponentiated_ascent(nb::module_& m) {
    add_class<float>(m, "ExponentiatedAscentFloat");
    add_class<double>(m, "ExponentiatedAscentDouble");
}

}  // namespace kernelfields::bindings
