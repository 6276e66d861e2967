// Python face of online.hpp and online_rules.hpp.
#include "kernelfields/online/online_rules.hpp"

#include "sparse_rows.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

namespace kernelfields::bindings {
namespace {

template <class S> struct OnlineArrays {
    In<std::int64_t> first;
    In<std::int32_t> index;
    std::optional<In<S>> value;
    In<std::int64_t> pair_first;
    In<std::int32_t> pair_label;
    In<std::int64_t> offsets;
    In<std::int32_t> labels;
    std::optional<In<double>> weight;
    In<S> small_offset;
    In<S> edge_offset;
    std::optional<In<std::uint8_t>> edge_pairs;
};

// A chain that learns, together with the arrays that it looks at.
template <class S> class Online {
public:
    Online(OnlineArrays<S> arrays, bool bias, bool boundaries)
        : arrays_(std::move(arrays)), chain_(checked(bias, boundaries), pairs(), edge_pairs()) {}
    Online(const Online&) = delete;

    void load(In<double> weights, In<double> free) {
        require_places(weights, free);
        nb::gil_scoped_release release;
        chain_.weights.load(weights.data(), free.data());
    }
    void load_variance(In<double> weights, In<double> free) {
        require_places(weights, free);
        nb::gil_scoped_release release;
        chain_.weights.load_variance(weights.data(), free.data());
    }
    std::tuple<Out<double>, Out<double>> read(Kept kept) {
        auto weights = make<double>({arrays_.pair_label.shape(0)});
        auto free = make<double>({3 + labels(), labels()});
        nb::gil_scoped_release release;
        chain_.weights.read(kept, weights.data(), free.data());
        return {weights, free};
    }
    // Sum over all mistaken sequences of the share of labels that were wrong.
    double missed() const { return chain_.missed; }
    void begin_average() {
        nb::gil_scoped_release release;
        chain_.weights.begin_average();
    }
    void set_variance(double value) {
        nb::gil_scoped_release release;
        chain_.weights.set_variance(value);
    }
    void require_variance() {
        if (chain_.weights.variance().empty()) throw std::invalid_argument("arow needs set_variance before it.");
    }
    template <class Rule> double sweep(const In<std::int64_t>& order, const Rule& rule) {
        const auto count = static_cast<std::int64_t>(arrays_.offsets.shape(0)) - 1;
        for (std::size_t k = 0; k < order.size(); ++k)
            if (order.data()[k] < 0 || order.data()[k] >= count)
                throw std::invalid_argument("order holds " + std::to_string(order.data()[k]) + ", expected 0 to " +
                                            std::to_string(count - 1) + ".");
        nb::gil_scoped_release release;
        return online_sweep(chain_, order.data(), order.size(), rule);
    }

private:
    void require_places(const In<double>& weights, const In<double>& free) const {
        require_shape(weights, "weights", {arrays_.pair_label.shape(0)});
        require_shape(free, "free", {3 + labels(), labels()});
    }
    std::size_t labels() const { return arrays_.edge_offset.shape(0); }
    WeightPairs pairs() const { return pairs_of(arrays_.pair_first, arrays_.pair_label, features()); }
    std::size_t features() const { return features_of(arrays_.pair_first); }
    const std::uint8_t* edge_pairs() const {
        if (!arrays_.edge_pairs) return nullptr;
        require_shape(*arrays_.edge_pairs, "edge_pairs", {labels(), labels()});
        return arrays_.edge_pairs->data();
    }
    OnlineData<S> checked(bool bias, bool boundaries) const {
        const OnlineArrays<S>& a = arrays_;
        const auto x = rows_of<S>(a.first, a.index, a.value, features());
        require_below(a.index, "index", x.columns);
        if (a.edge_offset.ndim() != 2 || labels() == 0)
            throw std::invalid_argument("edge_offset has shape " + shape_of(a.edge_offset) +
                                        ", expected (labels, labels).");
        require_shape(a.edge_offset, "edge_offset", {labels(), labels()});
        require_offsets(a.offsets, "offsets", x.rows);
        require_labels(a.labels, x.rows, labels());
        require_below(a.pair_label, "pair_label", labels());
        const std::size_t sequences = a.offsets.shape(0) - 1;
        if (a.weight) require_shape(*a.weight, "weight", {sequences});
        require_shape(a.small_offset, "small_offset", {3, labels()});
        return {x,
                sequences,
                labels(),
                a.offsets.data(),
                a.labels.data(),
                a.weight ? a.weight->data() : nullptr,
                a.small_offset.data(),
                a.edge_offset.data(),
                bias,
                boundaries};
    }

    OnlineArrays<S> arrays_;
    OnlineChain<S> chain_;
};

template <class S> void add_class(nb::module_& m, const char* name) {
    using namespace nb::literals;
    const auto keep = [](const char* argument) { return nb::arg(argument).noconvert(); };
    nb::class_<Online<S>>(m, name, "A linear chain that learns from one sequence after the other.")
        .def(
            "__init__",
            [](Online<S>* self, In<std::int64_t> first, In<std::int32_t> index, std::optional<In<S>> value,
               In<std::int64_t> pair_first, In<std::int32_t> pair_label, In<std::int64_t> offsets,
               In<std::int32_t> labels, std::optional<In<double>> weight, In<S> small_offset, In<S> edge_offset,
               std::optional<In<std::uint8_t>> edge_pairs, bool bias, bool boundaries) {
                new (self) Online<S>({first, index, value, pair_first, pair_label, offsets, labels, weight,
                                      small_offset, edge_offset, edge_pairs},
                                     bias, boundaries);
            },
            keep("first"), keep("index"), keep("value").none(), keep("pair_first"), keep("pair_label"), keep("offsets"),
            keep("labels"), keep("weight").none(), keep("small_offset"), keep("edge_offset"), keep("edge_pairs").none(),
            "bias"_a, "boundaries"_a)
        .def("load", &Online<S>::load, keep("weights"), keep("free"))
        .def("weights", [](Online<S>& self) { return self.read(Kept::weights); })
        .def("average", [](Online<S>& self) { return self.read(Kept::average); })
        .def("variance", [](Online<S>& self) { return self.read(Kept::variance); })
        .def("missed", &Online<S>::missed)
        .def("begin_average", &Online<S>::begin_average)
        .def(
            "descend",
            [](Online<S>& self, In<std::int64_t> order, double step, double node_decay, double edge_decay, double time,
               double least) { return self.sweep(order, Descent{step, node_decay, edge_decay, time, least}); },
            keep("order"), "step"_a, "node_decay"_a, "edge_decay"_a, "time"_a, "least"_a)
        .def(
            "perceptron",
            [](Online<S>& self, In<std::int64_t> order) { return self.sweep(order, OnMistake<Perceptron>{}); },
            keep("order"))
        .def(
            "passive_aggressive",
            [](Online<S>& self, In<std::int64_t> order, int variant, double c, bool error_sensitive) {
                return self.sweep(order, OnMistake<PassiveAggressive>{{variant, c, error_sensitive}});
            },
            keep("order"), "variant"_a, "c"_a, "error_sensitive"_a)
        .def("set_variance", &Online<S>::set_variance, "value"_a)
        .def("load_variance", &Online<S>::load_variance, keep("weights"), keep("free"))
        .def(
            "arow",
            [](Online<S>& self, In<std::int64_t> order, double gamma) {
                self.require_variance();
                return self.sweep(order, OnMistake<Arow>{{gamma}});
            },
            keep("order"), "gamma"_a);
}

}  // namespace

void add_online(nb::module_& m) {
    add_class<float>(m, "OnlineChainFloat");
    add_class<double>(m, "OnlineChainDouble");
}

}  // namespace kernelfields::bindings
