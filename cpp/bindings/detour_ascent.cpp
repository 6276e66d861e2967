// Python face of detour_ascent.hpp.
#include "kernelfields/objective/detour_ascent.hpp"

#include "sparse_rows.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

namespace kernelfields::bindings {
namespace {

template <class S> struct MarginArrays {
    In<std::int64_t> offsets;
    In<std::int32_t> labels;
    std::optional<In<double>> weight;
    In<S> fixed;
    In<S> edge_fixed;

    std::size_t count() const { return edge_fixed.ndim() == 2 ? edge_fixed.shape(0) : 0; }
    MarginData<S> checked(std::size_t positions) const {
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

    DetourExpansion<S> weights(std::size_t labels, double penalty) const {
        const std::size_t size = gram.ndim() == 2 ? gram.shape(0) : 0, positions = length_of(rows, "rows");
        require_shape(gram, "gram", {size, size});
        for (std::size_t t = 0; t < positions; ++t)
            if (rows.data()[t] < 0 || static_cast<std::size_t>(rows.data()[t]) >= size)
                throw std::invalid_argument("rows holds an observation that does not exist.");
        return {gram.data(), size, rows.data(), positions, labels, penalty};
    }
};

// An ascent, together with the arrays that it looks at.
template <class S, class Inputs> class Ascent {
    using Weights = decltype(std::declval<Inputs>().weights(0, 1.0));

public:
    Ascent(Inputs inputs, MarginArrays<S> arrays, double penalty, LabelPenalties penalties)
        : inputs_(std::move(inputs)), arrays_(std::move(arrays)), ascent_(made(penalty, penalties)) {}

    std::tuple<double, double, double> visit(In<std::int64_t> order) {
        require_order(order);
        nb::gil_scoped_release release;
        const AscentPass pass = ascent_.visit(order.data(), order.size());
        return {pass.loss, pass.gap, pass.gain};
    }
    double improve(In<std::int64_t> order) {
        require_order(order);
        nb::gil_scoped_release release;
        return ascent_.improve(order.data(), order.size());
    }
    double loss() {
        nb::gil_scoped_release release;
        return ascent_.loss();
    }
    double level() const { return ascent_.level(); }
    double square() const { return ascent_.square(); }
    void forget(std::uint32_t patience) { ascent_.forget(patience); }
    std::size_t count() const {
        std::size_t total = 0;
        for (const DetourSet& set : ascent_.sets()) total += set.list.size();
        return total;
    }
    std::tuple<Out<double>, Out<double>> mixture() {
        const std::size_t L = arrays_.count(), positions = arrays_.labels.shape(0);
        auto node = make<double>({positions, L});
        auto edge = make<double>({L, L});
        nb::gil_scoped_release release;
        std::fill_n(node.data(), positions * L, 0.0);
        std::fill_n(edge.data(), L * L, 0.0);
        ascent_.add_mixture(node.data(), edge.data());
        return {node, edge};
    }
    // Detours that have a share: sequence, first position and length of each, all labels, shares.
    std::tuple<Out<std::int64_t>, Out<std::int32_t>, Out<double>> detours() const {
        std::size_t count = 0, labels = 0;
        each([&](std::size_t, const DetourSet&, const Detour& d) { ++count, labels += d.length; });
        auto places = make<std::int64_t>({count, 3});
        auto flat = make<std::int32_t>({labels});
        auto shares = make<double>({count});
        std::size_t k = 0, at = 0;
        each([&](std::size_t s, const DetourSet& set, const Detour& d) {
            const std::int64_t place[] = {static_cast<std::int64_t>(s), d.from, d.length};
            std::copy(place, place + 3, places.data() + 3 * k);
            std::copy(set.labels(d), set.labels(d) + d.length, flat.data() + at);
            shares.data()[k++] = d.share;
            at += d.length;
        });
        return {places, flat, shares};
    }
    // Starts from such detours.
    void restart(In<std::int64_t> places, In<std::int32_t> labels, In<double> shares) {
        const std::size_t count = length_of(shares, "shares");
        require_shape(places, "places", {count, 3});
        require_below(labels, "labels", arrays_.count());
        require_detours(places, labels, count);
        nb::gil_scoped_release release;
        ascent_.clear();
        std::size_t at = 0;
        for (std::size_t k = 0; k < count; ++k) {
            const std::int64_t* place = places.data() + 3 * k;
            const auto from = static_cast<std::uint32_t>(place[1]), length = static_cast<std::uint32_t>(place[2]);
            if (!ascent_.take(static_cast<std::size_t>(place[0]), from, length, labels.data() + at, shares.data()[k]))
                throw std::invalid_argument("The shares of detours are not those of a distribution.");
            at += length;
        }
    }

private:
    DetourAscent<Weights> made(double penalty, LabelPenalties penalties) const {
        Weights weights = inputs_.weights(arrays_.count(), penalty);
        const MarginData<S> data = arrays_.checked(weights.positions());
        return {data, std::move(weights), penalties};
    }
    template <class Body> void each(Body body) const {
        for (std::size_t s = 0; s < ascent_.sets().size(); ++s)
            for (const Detour& detour : ascent_.sets()[s].list)
                if (detour.share > 0) body(s, ascent_.sets()[s], detour);
    }
    void require_order(const In<std::int64_t>& order) const {
        const auto count = static_cast<std::int64_t>(arrays_.offsets.shape(0)) - 1;
        for (std::size_t k = 0; k < order.size(); ++k)
            if (order.data()[k] < 0 || order.data()[k] >= count)
                throw std::invalid_argument("order holds " + std::to_string(order.data()[k]) + ", expected 0 to " +
                                            std::to_string(count - 1) + ".");
    }
    // Runs of wrong labels within their sequences.
    void require_detours(const In<std::int64_t>& places, const In<std::int32_t>& labels, std::size_t count) const {
        const auto sequences = static_cast<std::int64_t>(arrays_.offsets.shape(0)) - 1;
        const std::int64_t* first = arrays_.offsets.data();
        std::size_t at = 0;
        bool good = true;
        for (std::size_t k = 0; good && k < count; ++k) {
            const std::int64_t s = places.data()[3 * k], from = places.data()[3 * k + 1],
                               length = places.data()[3 * k + 2];
            good = s >= 0 && s < sequences && from >= 0 && length > 0 && length <= first[s + 1] - first[s] - from &&
                   static_cast<std::size_t>(length) <= labels.shape(0) - at;
            for (std::int64_t t = 0; good && t < length; ++t)
                good = labels.data()[at++] != arrays_.labels.data()[first[s] + from + t];
        }
        if (!good || at != labels.shape(0)) throw std::invalid_argument("These are no detours of these sequences.");
    }

    Inputs inputs_;
    MarginArrays<S> arrays_;
    DetourAscent<Weights> ascent_;
};

template <class Class> void add_methods(nb::class_<Class>& face) {
    using namespace nb::literals;
    const auto keep = [](const char* argument) { return nb::arg(argument).noconvert(); };
    face.def("visit", &Class::visit, keep("order"))
        .def("improve", &Class::improve, keep("order"))
        .def("loss", &Class::loss)
        .def("level", &Class::level)
        .def("square", &Class::square)
        .def("count", &Class::count)
        .def("forget", &Class::forget, "patience"_a)
        .def("mixture", &Class::mixture)
        .def("detours", &Class::detours)
        .def("restart", &Class::restart, keep("places"), keep("labels"), keep("shares"));
}

template <class S> void add_classes(nb::module_& m, const char* features, const char* expansion) {
    using namespace nb::literals;
    using Linear = Ascent<S, FeatureArrays<S>>;
    using Kernel = Ascent<S, GramArrays<S>>;
    using Penalties = std::tuple<double, double, double, double>;  // of inputs, bias, boundaries, edges
    const auto keep = [](const char* argument) { return nb::arg(argument).noconvert(); };
    const auto of_labels = [](const Penalties& p) {
        return LabelPenalties{std::get<1>(p), std::get<2>(p), std::get<3>(p)};
    };
    nb::class_<Linear> linear(m, features, "The dual of a max-margin chain over sparse features.");
    linear.def(
        "__init__",
        [of_labels](Linear* self, In<std::int64_t> first, In<std::int32_t> index, std::optional<In<S>> value,
                    std::size_t columns, In<std::int64_t> offsets, In<std::int32_t> labels,
                    std::optional<In<double>> weight, In<S> fixed, In<S> edge_fixed, Penalties penalties) {
            new (self) Linear({first, index, value, columns}, {offsets, labels, weight, fixed, edge_fixed},
                              std::get<0>(penalties), of_labels(penalties));
        },
        keep("first"), keep("index"), keep("value").none(), "columns"_a, keep("offsets"), keep("labels"),
        keep("weight").none(), keep("fixed"), keep("edge_fixed"), "penalties"_a);
    add_methods(linear);
    nb::class_<Kernel> kernel(m, expansion, "The dual of a max-margin chain with a kernel.");
    kernel.def(
        "__init__",
        [of_labels](Kernel* self, In<S> gram, In<std::int64_t> rows, In<std::int64_t> offsets, In<std::int32_t> labels,
                    std::optional<In<double>> weight, In<S> fixed, In<S> edge_fixed, Penalties penalties) {
            new (self) Kernel({gram, rows}, {offsets, labels, weight, fixed, edge_fixed}, std::get<0>(penalties),
                              of_labels(penalties));
        },
        keep("gram"), keep("rows"), keep("offsets"), keep("labels"), keep("weight").none(), keep("fixed"),
        keep("edge_fixed"), "penalties"_a);
    add_methods(kernel);
}

}  // namespace

void add_detour_ascent(nb::module_& m) {
    add_classes<float>(m, "DetourFeaturesFloat", "DetourExpansionFloat");
    add_classes<double>(m, "DetourFeaturesDouble", "DetourExpansionDouble");
}

}  // namespace kernelfields::bindings
