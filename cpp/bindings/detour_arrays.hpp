// Python faces of detour_ascent.hpp, for chains and for forests.
#pragma once

#include "forest_arrays.hpp"
#include "kernelfields/objective/detour_ascent.hpp"
#include "margin_arrays.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>

namespace kernelfields::bindings {

inline ChainRuns batch_of(const In<std::int64_t>& offsets) {
    return ChainRuns(offsets.data());
}
inline ForestPatches batch_of(const In<std::int64_t>& offsets, const In<std::int64_t>& parents) {
    return ForestPatches(forest_of(offsets, parents));
}

// An ascent as Python sees it, whatever detours are scored by: all that is the same for every precision and every kind
// of input is compiled once.
template <class Shape> class Ascent {
public:
    using Batch = typename Shape::Batch;
    using Instance = typename Batch::Instance;
    using Set = DetourSet<Instance>;

    Ascent(In<std::int64_t> offsets, In<std::int32_t> labels, std::size_t count)
        : offsets_(std::move(offsets)), labels_(std::move(labels)), count_(count) {}
    Ascent(const Ascent&) = delete;
    virtual ~Ascent() = default;

    std::tuple<double, double, double> visit(In<std::int64_t> order) {
        require_order(order);
        nb::gil_scoped_release release;
        const AscentPass pass = visit(order.data(), order.size());
        return {pass.loss, pass.gap, pass.gain};
    }
    double improve(In<std::int64_t> order) {
        require_order(order);
        nb::gil_scoped_release release;
        return improve(order.data(), order.size());
    }
    // At a multiple of f, with the derivative in the factor.
    std::tuple<double, double> loss(double scale) {
        if (!(scale > 0)) throw std::invalid_argument("scale must be positive.");
        nb::gil_scoped_release release;
        const AscentLoss loss = sum_of_losses(scale);
        return {loss.value, loss.slope};
    }
    virtual double level() const = 0;
    virtual double square() const = 0;
    virtual void forget(std::uint32_t patience) = 0;
    std::size_t count() const {
        std::size_t total = 0;
        for (const Set& set : sets()) total += set.list.size();
        return total;
    }
    std::tuple<Out<double>, Out<double>> mixture() {
        const std::size_t L = count_, positions = labels_.shape(0);
        auto node = make<double>({positions, L});
        auto edge = make<double>({L, L});
        nb::gil_scoped_release release;
        std::fill_n(node.data(), positions * L, 0.0);
        std::fill_n(edge.data(), L * L, 0.0);
        add_mixture(node.data(), edge.data());
        return {node, edge};
    }
    // Detours that have a share: instance, first vertex and size of each, all labels, shares; their vertices where
    // these are no runs.
    std::tuple<Out<std::int64_t>, Out<std::int32_t>, Out<double>, Out<std::int32_t>> detours() const {
        std::size_t count = 0, labels = 0;
        each([&](std::size_t, const Set&, const Detour& d) { ++count, labels += d.length; });
        auto places = make<std::int64_t>({count, 3});
        auto flat = make<std::int32_t>({labels});
        auto shares = make<double>({count});
        auto vertices = make<std::int32_t>({kListed ? labels : 0});
        std::size_t k = 0, at = 0;
        each([&](std::size_t s, const Set& set, const Detour& d) {
            const Instance instance = batch().instance(s);
            const auto vertex = [&](std::size_t m) { return instance.vertex_of(d, set.words(d), m); };
            const std::int64_t place[] = {static_cast<std::int64_t>(s), static_cast<std::int64_t>(vertex(0)), d.length};
            std::copy(place, place + 3, places.data() + 3 * k);
            std::copy(set.words(d), set.words(d) + d.length, flat.data() + at);
            for (std::size_t m = 0; kListed && m < d.length; ++m)
                vertices.data()[at + m] = static_cast<std::int32_t>(vertex(m));
            shares.data()[k++] = d.share;
            at += d.length;
        });
        return {places, flat, shares, vertices};
    }
    // Starts from such detours.
    void restart(In<std::int64_t> places, In<std::int32_t> labels, In<double> shares, In<std::int32_t> vertices) {
        const std::size_t count = length_of(shares, "shares");
        require_shape(places, "places", {count, 3});
        require_below(labels, "labels", count_);
        require_shape(vertices, "vertices", {kListed ? labels.shape(0) : 0});
        nb::gil_scoped_release release;
        const std::vector<Read> read = read_detours(places, labels, vertices);
        clear();
        for (std::size_t k = 0; k < count; ++k)
            if (!take(read[k].instance, read[k].from, read[k].length, read[k].words.data(), shares.data()[k]))
                throw std::invalid_argument("The shares of detours are not those of a distribution.");
    }
    // The best packing of the detours of an instance, by their numbers, for tests: with the largest sum of worth, and
    // all edges touched that are full. Those of forests have the slots of their lower ends.
    std::vector<std::size_t> packing(std::size_t instance, In<double> worth, In<bool> full) const {
        const Set& set = sets().at(instance);
        const Instance at = batch().instance(instance);
        require_shape(worth, "worth", {set.list.size()});
        require_shape(full, "full", {at.edges()});
        typename Shape::Packing packing;
        packing.best(
            at, set, [&](std::size_t k) { return worth.data()[k]; }, [&](std::size_t e) { return !full.data()[e]; });
        return packing.chosen();
    }

private:
    // Whether a detour lists its vertices; else they are a run.
    static constexpr bool kListed = Instance::kWords > 1;

    struct Read {
        std::size_t instance;
        std::uint32_t from = 0, length = 0;
        std::vector<std::int32_t> words;
    };

    virtual AscentPass visit(const std::int64_t* order, std::size_t count) = 0;
    virtual double improve(const std::int64_t* order, std::size_t count) = 0;
    virtual AscentLoss sum_of_losses(double scale) = 0;
    virtual void add_mixture(double* node, double* edge) = 0;
    virtual void clear() = 0;
    virtual bool take(std::size_t instance, std::uint32_t from, std::uint32_t length, const std::int32_t* words,
                      double share) = 0;
    virtual const std::vector<Set>& sets() const = 0;
    virtual Batch& batch() = 0;
    virtual const Batch& batch() const = 0;

    template <class Body> void each(Body body) const {
        for (std::size_t s = 0; s < sets().size(); ++s)
            for (const Detour& detour : sets()[s].list)
                if (detour.share > 0) body(s, sets()[s], detour);
    }
    void require_order(const In<std::int64_t>& order) const {
        const auto count = static_cast<std::int64_t>(offsets_.shape(0)) - 1;
        for (std::size_t k = 0; k < order.size(); ++k)
            if (order.data()[k] < 0 || order.data()[k] >= count)
                throw std::invalid_argument("order holds " + std::to_string(order.data()[k]) + ", expected 0 to " +
                                            std::to_string(count - 1) + ".");
    }
    std::vector<Read> read_detours(const In<std::int64_t>& places, const In<std::int32_t>& labels,
                                   const In<std::int32_t>& vertices) {
        const auto instances = static_cast<std::int64_t>(offsets_.shape(0)) - 1;
        const auto total = static_cast<std::int64_t>(labels.shape(0));
        std::vector<Read> result;
        std::int64_t at = 0;
        for (std::size_t k = 0; k < places.shape(0); ++k) {
            const std::int64_t* place = places.data() + 3 * k;
            const std::int64_t s = place[0], length = place[2];
            if (s < 0 || s >= instances || length <= 0 || length > total - at) throw no_detours();
            const std::int32_t* listed = kListed ? vertices.data() + at : nullptr;
            result.push_back(read(static_cast<std::size_t>(s), place[1], length, labels.data() + at, listed));
            at += length;
        }
        if (at != total) throw no_detours();
        return result;
    }
    // The labelling that has these labels and is right elsewhere must have one detour, with as many wrong labels.
    Read read(std::size_t s, std::int64_t from, std::int64_t length, const std::int32_t* labels,
              const std::int32_t* listed) {
        const Instance instance = batch().instance(s);
        const std::int32_t* right = labels_.data() + instance.from;
        const auto size = static_cast<std::int64_t>(instance.length);
        labelling_.assign(right, right + size);
        for (std::int64_t k = 0; k < length; ++k) {
            const std::int64_t v = listed ? listed[k] : from + k;
            if (from < 0 || from >= size || v < 0 || v >= size) throw no_detours();
            labelling_[static_cast<std::size_t>(v)] = labels[k];
        }
        Read result{s, 0, 0, {}};
        std::size_t found = 0;
        batch().split(instance, labelling_.data(), right,
                      [&](std::uint32_t first, std::uint32_t count, const std::int32_t* words) {
                          result = {s, first, count, {words, words + Instance::kWords * count}};
                          ++found;
                      });
        if (found != 1 || result.length != length) throw no_detours();
        return result;
    }
    static std::invalid_argument no_detours() {
        return std::invalid_argument("These are no detours of these instances.");
    }

    In<std::int64_t> offsets_;
    In<std::int32_t> labels_;
    std::size_t count_;  // of different labels
    std::vector<std::int32_t> labelling_;
};

// One for a precision and a kind of input, together with the arrays that it looks at.
template <class S, class Inputs, class Shape> class AscentOf final : public Ascent<Shape> {
    using Weights = decltype(std::declval<Inputs>().weights(0, 1.0));
    using Batch = typename Shape::Batch;
    using Set = typename Ascent<Shape>::Set;

public:
    AscentOf(Inputs inputs, MarginArrays<S> arrays, Batch batch, double penalty, LabelPenalties penalties)
        : Ascent<Shape>(arrays.offsets, arrays.labels, arrays.count()),
          inputs_(std::move(inputs)),
          arrays_(std::move(arrays)),
          ascent_(made(std::move(batch), penalty, penalties)) {}

    double level() const override { return ascent_.level(); }
    double square() const override { return ascent_.square(); }
    void forget(std::uint32_t patience) override { ascent_.forget(patience); }

private:
    DetourAscent<Weights, Shape> made(Batch batch, double penalty, LabelPenalties penalties) const {
        Weights weights = inputs_.weights(arrays_.count(), penalty);
        const auto data = arrays_.template checked<MarginData<S>>(weights.positions());
        return {data, std::move(batch), std::move(weights), penalties};
    }
    AscentPass visit(const std::int64_t* order, std::size_t count) override { return ascent_.visit(order, count); }
    double improve(const std::int64_t* order, std::size_t count) override { return ascent_.improve(order, count); }
    AscentLoss sum_of_losses(double scale) override { return ascent_.loss(scale); }
    void add_mixture(double* node, double* edge) override { ascent_.add_mixture(node, edge); }
    void clear() override { ascent_.clear(); }
    bool take(std::size_t instance, std::uint32_t from, std::uint32_t length, const std::int32_t* words,
              double share) override {
        return ascent_.take(instance, from, length, words, share);
    }
    const std::vector<Set>& sets() const override { return ascent_.sets(); }
    Batch& batch() override { return ascent_.batch(); }
    const Batch& batch() const override { return ascent_.batch(); }

    Inputs inputs_;
    MarginArrays<S> arrays_;
    DetourAscent<Weights, Shape> ascent_;
};

// What the classes of a shape have in common.
template <class Shape> void add_ascent(nb::module_& m, const char* name) {
    using namespace nb::literals;
    using Class = Ascent<Shape>;
    const auto keep = [](const char* argument) { return nb::arg(argument).noconvert(); };
    using Order = In<std::int64_t>;
    nb::class_<Class>(m, name, "The dual of a max-margin model.")
        .def("visit", nb::overload_cast<Order>(&Class::visit), keep("order"))
        .def("improve", nb::overload_cast<Order>(&Class::improve), keep("order"))
        .def("loss", &Class::loss, "scale"_a)
        .def("level", &Class::level)
        .def("square", &Class::square)
        .def("count", &Class::count)
        .def("forget", &Class::forget, "patience"_a)
        .def("mixture", &Class::mixture)
        .def("detours", &Class::detours)
        .def("packing", &Class::packing, "instance"_a, keep("worth"), keep("full"))
        .def("restart", &Class::restart, keep("places"), keep("labels"), keep("shares"), keep("vertices"));
}

// Behind add_ascent. `More` arrays, by these names, say what the shape is besides offsets.
template <class S, class Shape, class... More, class... Names>
void add_classes(nb::module_& m, const char* features, const char* expansion, Names... names) {
    using namespace nb::literals;
    using Linear = AscentOf<S, FeatureArrays<S>, Shape>;
    using Kernel = AscentOf<S, GramArrays<S>, Shape>;
    using Penalties = std::tuple<double, double, double, double>;  // of inputs, bias, boundaries, edges
    const auto keep = [](const char* argument) { return nb::arg(argument).noconvert(); };
    const auto of_labels = [](const Penalties& p) {
        return LabelPenalties{std::get<1>(p), std::get<2>(p), std::get<3>(p)};
    };
    nb::class_<Linear, Ascent<Shape>>(m, features, "The dual of a max-margin model over sparse features.")
        .def(
            "__init__",
            [of_labels](Linear* self, In<std::int64_t> first, In<std::int32_t> index, std::optional<In<S>> value,
                        std::size_t columns, In<std::int64_t> offsets, In<std::int32_t> labels,
                        std::optional<In<double>> weight, In<S> fixed, In<S> edge_fixed, Penalties penalties,
                        More... more) {
                new (self) Linear({first, index, value, columns}, {offsets, labels, weight, fixed, edge_fixed},
                                  batch_of(offsets, more...), std::get<0>(penalties), of_labels(penalties));
            },
            keep("first"), keep("index"), keep("value").none(), "columns"_a, keep("offsets"), keep("labels"),
            keep("weight").none(), keep("fixed"), keep("edge_fixed"), "penalties"_a, keep(names)...);
    nb::class_<Kernel, Ascent<Shape>>(m, expansion, "The dual of a max-margin model with a kernel.")
        .def(
            "__init__",
            [of_labels](Kernel* self, In<S> gram, In<std::int64_t> rows, In<std::int64_t> offsets,
                        In<std::int32_t> labels, std::optional<In<double>> weight, In<S> fixed, In<S> edge_fixed,
                        Penalties penalties, More... more) {
                new (self) Kernel({gram, rows}, {offsets, labels, weight, fixed, edge_fixed},
                                  batch_of(offsets, more...), std::get<0>(penalties), of_labels(penalties));
            },
            keep("gram"), keep("rows"), keep("offsets"), keep("labels"), keep("weight").none(), keep("fixed"),
            keep("edge_fixed"), "penalties"_a, keep(names)...);
}

}  // namespace kernelfields::bindings
