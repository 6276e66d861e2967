#include "kernelfields/structures/graph.hpp"
#include "kernelfields/structures/graph_covariance.hpp"
#include "kernelfields/structures/graph_errors.hpp"
#include "kernelfields/structures/graph_kbest.hpp"
#include "kernelfields/structures/graph_sample.hpp"
#include "pairwise.hpp"

#include <nanobind/stl/vector.h>

namespace kernelfields::bindings {
namespace {

using Vector = In<std::int64_t>;
template <class S> using Arrays = std::vector<In<S>>;

constexpr std::size_t kMostMembers = 31;  // of a clique: its members are bits of a word
constexpr double kMostEntries = 4294967295.0;

GraphCliques cliques_of(const std::vector<std::int64_t>& first, const In<std::int64_t>& members, std::size_t labels) {
    if (members.ndim() != 2 || members.shape(1) < 1 || members.shape(1) > kMostMembers)
        throw std::invalid_argument("members have shape " + shape_of(members) + ", expected rows of 1 to 31 vertices.");
    double entries = 1;
    for (std::size_t k = 0; k < members.shape(1); ++k) entries *= static_cast<double>(labels);
    if (entries > kMostEntries || members.shape(0) > 0xffffffffu)
        throw std::length_error("Cliques have more entries than can be counted in 32 bits.");
    return make_cliques(first, members.shape(1), {members.data(), members.data() + members.size()});
}

Graphs graphs_of(const Vector& offsets, const Arrays<std::int64_t>& members, std::size_t labels,
                 const std::optional<In<bool>>& sets) {
    const std::size_t count = length_of(offsets, "offsets");
    if (count == 0) throw std::invalid_argument("offsets must be a vector that starts with 0.");
    const std::int64_t last = offsets.data()[count - 1];
    require_offsets(offsets, "offsets", static_cast<std::size_t>(std::max<std::int64_t>(last, 0)));
    if (labels < 1 || labels > 0x7fffffffu) throw std::invalid_argument("There must be at least one label.");
    if (last > 0xffffffff) throw std::length_error("There are more vertices than can be counted in 32 bits.");
    std::vector<std::int64_t> first(offsets.data(), offsets.data() + count);
    std::vector<GraphCliques> types;
    for (const auto& each : members) types.push_back(cliques_of(first, each, labels));
    if (sets) require_shape(*sets, "label_sets", {static_cast<std::size_t>(last), labels});
    return make_graphs(std::move(first), std::move(types), labels, sets ? sets->data() : nullptr);
}

// Orders for large graphs can take seconds to find.
GraphShapes shapes_of(const Graphs& graphs, double most) {
    nb::gil_scoped_release release;
    return find_shapes(graphs, most);
}

// The shape of a batch, checked once and kept between calls with different scores.
struct GraphShape {
    Graphs graphs;
    GraphShapes shapes;

    GraphShape(const Vector& offsets, const Arrays<std::int64_t>& members, std::size_t labels,
               const std::optional<In<bool>>& sets, double most)
        : graphs(graphs_of(offsets, members, labels, sets)), shapes(shapes_of(graphs, most)) {}
    GraphShape(const GraphShape&) = delete;

    // The first instance with a table that is too large: number, treewidth found up to there, entries.
    std::optional<std::tuple<std::size_t, std::size_t, double>> refusal() const {
        for (std::size_t s = 0; s < graphs.instances; ++s) {
            const Elimination& found = shapes.elimination[shapes.shape[s]];
            if (found.refused) return std::tuple{s, found.width, found.largest};
        }
        return std::nullopt;
    }
};

template <class S> void check_array(const Graphs& graphs, std::size_t type, const In<S>& array, GraphScores& to) {
    const std::size_t arity = type == 0 ? 1 : graphs.types[type - 1].arity;
    const std::size_t count = type == 0 ? graphs.vertices : graphs.types[type - 1].count();
    const bool shared = type > 0 && array.ndim() == arity;
    bool right = shared || (array.ndim() == arity + 1 && array.shape(0) == count);
    std::size_t size = 1;
    for (std::size_t k = shared ? 0 : 1; k < array.ndim(); ++k) {
        right = right && array.shape(k) == graphs.labels;
        size *= array.shape(k);
    }
    if (!right)
        throw std::invalid_argument("Scores of type " + std::to_string(type) + " have shape " + shape_of(array) +
                                    ", which is not that of its cliques.");
    to.array.push_back(array.data());
    to.shared.push_back(shared);
    to.size.push_back(size);
}

template <class S> GraphBatch batch_of(const GraphShape& shape, const Arrays<S>& scores) {
    if (shape.refusal()) throw std::length_error("A graph has a table that is too large.");
    const std::size_t types = shape.graphs.types.size() + 1;
    if (scores.size() != types)
        throw std::invalid_argument("There are scores of " + std::to_string(scores.size()) + " types, expected " +
                                    std::to_string(types) + ".");
    GraphBatch batch{shape.graphs, shape.shapes, {{}, {}, {}, std::is_same_v<S, float>}};
    for (std::size_t t = 0; t < types; ++t) check_array(shape.graphs, t, scores[t], batch.scores);
    return batch;
}

// New arrays in the shapes of the scores.
template <class S> std::vector<Out<S>> make_like(const GraphBatch& batch, GraphParts& parts) {
    std::vector<Out<S>> result;
    parts.shared = batch.scores.shared;
    parts.size = batch.scores.size;
    parts.single = batch.scores.single;
    for (std::size_t t = 0; t < batch.scores.array.size(); ++t) {
        const std::size_t arity = t == 0 ? 1 : batch.graphs.types[t - 1].arity;
        std::vector<std::size_t> shape(arity, batch.graphs.labels);
        if (!parts.shared[t])
            shape.insert(shape.begin(), t == 0 ? batch.graphs.vertices : batch.graphs.types[t - 1].count());
        std::size_t rows = parts.shared[t] ? 1 : shape[0];
        S* data = static_cast<S*>(allocate(bytes_of(sizeof(S), {rows, parts.size[t]})));
        nb::capsule owner(data, [](void* p) noexcept { release(p); });
        result.emplace_back(data, shape.size(), shape.data(), owner);
        parts.array.push_back(data);
    }
    return result;
}

template <class S> Out<double> log_partition(const Arrays<S>& scores, const GraphShape& shape) {
    const GraphBatch batch = batch_of(shape, scores);
    auto value = make<double>({batch.graphs.instances});
    nb::gil_scoped_release release;
    graph_marginals(batch, GraphOut{nullptr, value.data(), {}});
    return value;
}

template <class S> using Marginals = std::tuple<Out<double>, std::vector<Out<S>>>;

template <class S>
Marginals<S> marginals(const Arrays<S>& scores, const GraphShape& shape, std::optional<In<double>> weights, int only) {
    const GraphBatch batch = batch_of(shape, scores);
    auto value = make<double>({batch.graphs.instances});
    GraphOut out{weights_of(weights, batch.graphs.instances), value.data(), {}};
    std::vector<Out<S>> parts = make_like<S>(batch, out.parts);
    {
        nb::gil_scoped_release release;
        graph_marginals(batch, out, only);
    }
    return {value, parts};
}

template <class S> Labelled argmax(const Arrays<S>& scores, const GraphShape& shape) {
    const GraphBatch batch = batch_of(shape, scores);
    auto labels = make<std::int32_t>({batch.graphs.vertices});
    auto value = make<double>({batch.graphs.instances});
    {
        nb::gil_scoped_release release;
        graph_argmax(batch, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> Out<double> entropy(const Arrays<S>& scores, const GraphShape& shape) {
    const GraphBatch batch = batch_of(shape, scores);
    auto value = make<double>({batch.graphs.instances});
    nb::gil_scoped_release release;
    graph_entropy(batch, value.data());
    return value;
}

template <class S>
Marginals<S> covariance(const Arrays<S>& scores, const GraphShape& shape, const Arrays<S>& direction,
                        std::optional<In<double>> weights) {
    const GraphBatch batch = batch_of(shape, scores), along = batch_of(shape, direction);
    if (along.scores.shared != batch.scores.shared)
        throw std::invalid_argument("The direction shares other scores than the scores do.");
    auto value = make<double>({batch.graphs.instances});
    GraphOut out{weights_of(weights, batch.graphs.instances), value.data(), {}};
    std::vector<Out<S>> parts = make_like<S>(batch, out.parts);
    {
        nb::gil_scoped_release release;
        graph_covariance(batch, along.scores, out);
    }
    return {value, parts};
}

template <class S>
Labelled sample(const Arrays<S>& scores, const GraphShape& shape, std::size_t count, std::uint64_t seed) {
    const GraphBatch batch = batch_of(shape, scores);
    auto labels = make<std::int32_t>({count, batch.graphs.vertices});
    auto value = make<double>({batch.graphs.instances});
    {
        nb::gil_scoped_release release;
        graph_sample(batch, count, seed, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> Labelled kbest(const Arrays<S>& scores, const GraphShape& shape, std::size_t k) {
    const GraphBatch batch = batch_of(shape, scores);
    auto labels = make<std::int32_t>({k, batch.graphs.vertices});
    auto value = make<double>({batch.graphs.instances, k});
    {
        nb::gil_scoped_release release;
        graph_kbest(batch, k, labels.data(), value.data());
    }
    return {labels, value};
}

void require_errors(const In<std::int32_t>& errors, const Graphs& graphs) {
    require_shape(errors, "errors", {graphs.vertices, graphs.labels});
    for (std::size_t k = 0; k < graphs.vertices * graphs.labels; ++k)
        if (errors.data()[k] < 0) throw std::invalid_argument("errors must not be negative.");
}

template <class S>
Out<double> error_numbers(const Arrays<S>& scores, const GraphShape& shape, In<std::int32_t> errors, Vector levels) {
    const GraphBatch batch = batch_of(shape, scores);
    require_errors(errors, batch.graphs);
    require_shape(levels, "levels", {batch.graphs.instances});
    for (std::size_t s = 0; s < batch.graphs.instances; ++s)
        if (levels.data()[s] < 1) throw std::invalid_argument("levels must be positive.");
    auto numbers = make<double>({batch.graphs.instances});
    nb::gil_scoped_release release;
    graph_error_numbers(batch, errors.data(), levels.data(), numbers.data());
    return numbers;
}

template <class S>
Out<double> best_by_errors(const Arrays<S>& scores, const GraphShape& shape, In<std::int32_t> errors,
                           std::size_t levels) {
    const GraphBatch batch = batch_of(shape, scores);
    require_errors(errors, batch.graphs);
    if (levels < 1) throw std::invalid_argument("levels must be positive.");
    auto value = make<double>({batch.graphs.instances, levels});
    nb::gil_scoped_release release;
    graph_best_by_errors(batch, errors.data(), levels, value.data());
    return value;
}

template <class S>
Labelled argmax_at_errors(const Arrays<S>& scores, const GraphShape& shape, In<std::int32_t> errors, Vector counts) {
    const GraphBatch batch = batch_of(shape, scores);
    require_errors(errors, batch.graphs);
    require_shape(counts, "counts", {batch.graphs.instances});
    auto labels = make<std::int32_t>({batch.graphs.vertices});
    auto value = make<double>({batch.graphs.instances});
    {
        nb::gil_scoped_release release;
        graph_argmax_at_errors(batch, errors.data(), counts.data(), labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> void add_functions(nb::module_& m) {
    using namespace nb::literals;
    const auto scores = nb::arg("scores").noconvert();
    m.def("graph_log_partition", &log_partition<S>, scores, "shape"_a);
    m.def("graph_marginals", &marginals<S>, scores, "shape"_a, "weights"_a = nb::none(), "only"_a = -1);
    m.def("graph_argmax", &argmax<S>, scores, "shape"_a);
    m.def("graph_entropy", &entropy<S>, scores, "shape"_a);
    m.def("graph_covariance", &covariance<S>, scores, "shape"_a, nb::arg("direction").noconvert(),
          "weights"_a = nb::none());
    m.def("graph_sample", &sample<S>, scores, "shape"_a, "count"_a, "seed"_a);
    m.def("graph_kbest", &kbest<S>, scores, "shape"_a, "k"_a);
    const auto errors = nb::arg("errors").noconvert();
    m.def("graph_error_numbers", &error_numbers<S>, scores, "shape"_a, errors, nb::arg("levels").noconvert());
    m.def("graph_best_by_errors", &best_by_errors<S>, scores, "shape"_a, errors, "levels"_a);
    m.def("graph_argmax_at_errors", &argmax_at_errors<S>, scores, "shape"_a, errors, nb::arg("counts").noconvert());
}

}  // namespace

void add_graph(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<GraphShape>(m, "GraphShape", "A batch of labelled graphs, and orders in which to sum over their labels.")
        .def(
            nb::init<const Vector&, const Arrays<std::int64_t>&, std::size_t, const std::optional<In<bool>>&, double>(),
            nb::arg("offsets").noconvert(), nb::arg("members").noconvert(), "labels"_a, "label_sets"_a.none(), "most"_a)
        .def("refusal", &GraphShape::refusal)
        .def("widths",
             [](const GraphShape& shape) {
                 auto result = make<std::int64_t>({shape.graphs.instances});
                 for (std::size_t s = 0; s < shape.graphs.instances; ++s)
                     result.data()[s] =
                         static_cast<std::int64_t>(shape.shapes.elimination[shape.shapes.shape[s]].width);
                 return result;
             })
        .def("messages",
             [](const GraphShape& shape) {
                 double most = 0;
                 for (const Elimination& each : shape.shapes.elimination) most = std::max(most, each.messages);
                 return most;
             })
        .def("entries", [](const GraphShape& shape) {
            auto result = make<double>({shape.graphs.instances});
            for (std::size_t s = 0; s < shape.graphs.instances; ++s)
                result.data()[s] = shape.shapes.elimination[shape.shapes.shape[s]].entries;
            return result;
        });
    add_functions<double>(m);
    add_functions<float>(m);
}

}  // namespace kernelfields::bindings
