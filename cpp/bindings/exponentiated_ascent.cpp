// Python face of exponentiated_ascent.hpp.
#include "kernelfields/objective/exponentiated_ascent.hpp"

#include "margin_arrays.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

namespace kernelfields::bindings {
namespace {

// An ascent, together with the arrays that it looks at.
template <class S> class Ascent {
public:
    using Penalties = std::tuple<double, double, double, double>;  // of inputs, bias, boundaries, edges
    Ascent(GramArrays<S> inputs, MarginArrays<S> arrays, const Penalties& p)
        : inputs_(std::move(inputs)),
          arrays_(std::move(arrays)),
          ascent_(arrays_.template checked<LabelledChains<S>>(length_of(inputs_.rows, "rows")),
                  {inputs_.gram.data(), inputs_.checked(), inputs_.rows.data(), arrays_.count()}, std::get<0>(p),
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
        require_shape(node, "node", {positions(), arrays_.count()});
        require_shape(edge, "edge", {arrays_.count(), arrays_.count()});
        nb::gil_scoped_release release;
        ascent_.begin(node.data(), edge.data());
    }
    // Marginals less right labels, those of pairs, level, and the size of the scores behind them.
    std::tuple<Out<double>, Out<double>, double, double> mismatch() const {
        const std::size_t L = arrays_.count();
        auto node = make<double>({positions(), L});
        auto edge = make<double>({L, L});
        nb::gil_scoped_release release;
        std::fill_n(node.data(), positions() * L, 0.0);
        std::fill_n(edge.data(), L * L, 0.0);
        double size = 0;
        const double level = ascent_.distributions().add_mismatch(node.data(), edge.data(), size);
        return {node, edge, level, size};
    }

private:
    std::size_t positions() const { return inputs_.rows.shape(0); }

    GramArrays<S> inputs_;
    MarginArrays<S> arrays_;
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
                new (self) Face({gram, rows}, {offsets, labels, weight, fixed, edge_fixed}, penalties);
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
