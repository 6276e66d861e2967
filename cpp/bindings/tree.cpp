#include "kernelfields/structures/tree.hpp"

#include "forest_arrays.hpp"
#include "kernelfields/structures/tree_covariance.hpp"
#include "kernelfields/structures/tree_errors.hpp"
#include "kernelfields/structures/tree_kbest.hpp"
#include "kernelfields/structures/tree_sample.hpp"
#include "pairwise.hpp"

namespace kernelfields::bindings {
namespace {

using Vector = In<std::int64_t>;

// The shape of a batch, checked once and kept between calls with different scores.
struct TreeShape {
    std::vector<std::int64_t> offsets, parents;
    Forest forest;
    TreeSchedule schedule;

    TreeShape(const In<std::int64_t>& first, const In<std::int64_t>& parent)
        : offsets(values_of(first, "offsets")),
          parents(values_of(parent, "parents")),
          forest(checked(first, parent)),
          schedule(forest, all_instances(forest)) {}
    TreeShape(const TreeShape&) = delete;

private:
    static std::vector<std::int64_t> values_of(const In<std::int64_t>& array, const char* name) {
        return {array.data(), array.data() + length_of(array, name)};
    }
    Forest checked(const In<std::int64_t>& first, const In<std::int64_t>& parent) const {
        Forest result = forest_of(first, parent);
        result.first = offsets.data();
        result.parent = parents.data();
        return result;
    }
};

template <class S>
ForestBatch<S> batch_of(const Forest& forest, const TreeSchedule* schedule, const In<S>& node, const In<S>& edge) {
    if (node.ndim() != 2 || node.shape(1) == 0)
        throw std::invalid_argument("node has shape " + shape_of(node) + ", expected (vertices, labels).");
    const std::size_t N = forest.positions, L = node.shape(1);
    require_shape(node, "node", {N, L});
    const bool shared = require_edges(edge, "edge", forest.edge_before[N], L);
    return forest_batch(forest, schedule, L, node.data(), edge.data(), shared);
}

template <class S> ForestBatch<S> batch_of(const TreeShape& shape, const In<S>& node, const In<S>& edge) {
    return batch_of(shape.forest, &shape.schedule, node, edge);
}

template <class S> Out<double> log_partition(In<S> node, In<S> edge, const TreeShape& shape) {
    const ForestBatch<S> batch = batch_of(shape, node, edge);
    auto value = make<double>({batch.sequences});
    nb::gil_scoped_release release;
    tree_marginals(batch, MarginalsOut<S>{nullptr, value.data(), nullptr, nullptr}, nullptr);
    return value;
}

template <class S>
Parts<S> marginals(In<S> node, In<S> edge, const TreeShape& shape, std::optional<In<double>> weights, int only) {
    const ForestBatch<S> batch = batch_of(shape, node, edge);
    return run_marginals<S>(batch, weights,
                            [&](const MarginalsOut<S>& out, double* sums) { tree_marginals(batch, out, sums, only); });
}

template <class S>
Parts<S> covariance(In<S> node, In<S> edge, const TreeShape& shape, In<S> node_direction, In<S> edge_direction,
                    std::optional<In<double>> weights, int only) {
    const ForestBatch<S> batch = batch_of(shape, node, edge);
    return run_covariance<S>(batch, node_direction, edge_direction, weights,
                             [&](const CovarianceOut<S>& out, double* sums) {
                                 tree_covariance(batch, out, sums, only);
                             });
}

template <class S> Labelled argmax(In<S> node, In<S> edge, const TreeShape& shape) {
    const ForestBatch<S> batch = batch_of(shape, node, edge);
    auto labels = make<std::int32_t>({batch.positions});
    auto value = make<double>({batch.sequences});
    {
        nb::gil_scoped_release release;
        tree_argmax(batch, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> Labelled kbest(In<S> node, In<S> edge, const TreeShape& shape, std::size_t k) {
    const ForestBatch<S> batch = batch_of(shape, node, edge);
    auto labels = make<std::int32_t>({k, batch.positions});
    auto value = make<double>({batch.sequences, k});
    {
        nb::gil_scoped_release release;
        tree_kbest(batch, k, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S>
Labelled sample(In<S> node, In<S> edge, const TreeShape& shape, std::size_t count, std::uint64_t seed) {
    const ForestBatch<S> batch = batch_of(shape, node, edge);
    auto labels = make<std::int32_t>({count, batch.positions});
    auto value = make<double>({batch.sequences});
    {
        nb::gil_scoped_release release;
        tree_sample(batch, count, seed, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> Out<double> entropy(In<S> node, In<S> edge, const TreeShape& shape) {
    const ForestBatch<S> batch = batch_of(shape, node, edge);
    auto value = make<double>({batch.sequences});
    nb::gil_scoped_release release;
    tree_entropy(batch, value.data());
    return value;
}

template <class S>
Out<double> score(In<S> node, In<S> edge, const TreeShape& shape, In<std::int32_t> labels) {
    const ForestBatch<S> batch = batch_of(shape, node, edge);
    require_labels(labels, batch.positions, batch.labels);
    auto value = make<double>({batch.sequences});
    nb::gil_scoped_release release;
    for (std::size_t s = 0; s < batch.sequences; ++s) value.data()[s] = tree_score(batch, s, labels.data());
    return value;
}

using Errors = In<std::int32_t>;

template <class S> void require_errors(const Errors& errors, const ForestBatch<S>& tree) {
    require_shape(errors, "errors", {tree.positions, tree.labels});
    for (std::size_t k = 0; k < tree.positions * tree.labels; ++k)
        if (errors.data()[k] < 0) throw std::invalid_argument("errors must not be negative.");
}

template <class S>
Out<double> best_by_errors(In<S> node, In<S> edge, Vector offsets, Vector parents, Errors errors, std::size_t levels) {
    const Forest forest = forest_of(offsets, parents);
    const ForestBatch<S> batch = batch_of(forest, nullptr, node, edge);
    require_errors(errors, batch);
    auto value = make<double>({batch.sequences, levels});
    nb::gil_scoped_release release;
    tree_best_by_errors(batch, errors.data(), levels, value.data());
    return value;
}

template <class S>
Labelled argmax_at_errors(In<S> node, In<S> edge, Vector offsets, Vector parents, Errors errors, Vector counts) {
    const Forest forest = forest_of(offsets, parents);
    const ForestBatch<S> batch = batch_of(forest, nullptr, node, edge);
    require_errors(errors, batch);
    require_shape(counts, "counts", {batch.sequences});
    auto labels = make<std::int32_t>({batch.positions});
    auto value = make<double>({batch.sequences});
    {
        nb::gil_scoped_release release;
        tree_argmax_at_errors(batch, errors.data(), counts.data(), labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> void add_functions(nb::module_& m) {
    using namespace nb::literals;
    const auto n = nb::arg("node").noconvert(), e = nb::arg("edge").noconvert(), o = nb::arg("offsets").noconvert(),
               p = nb::arg("parents").noconvert();
    m.def("tree_log_partition", &log_partition<S>, n, e, "shape"_a);
    m.def("tree_marginals", &marginals<S>, n, e, "shape"_a, "weights"_a = nb::none(), "only"_a = -1);
    m.def("tree_covariance", &covariance<S>, n, e, "shape"_a, nb::arg("node_direction").noconvert(),
          nb::arg("edge_direction").noconvert(), "weights"_a = nb::none(), "only"_a = -1);
    m.def("tree_argmax", &argmax<S>, n, e, "shape"_a);
    m.def("tree_kbest", &kbest<S>, n, e, "shape"_a, "k"_a);
    m.def("tree_sample", &sample<S>, n, e, "shape"_a, "count"_a, "seed"_a);
    m.def("tree_entropy", &entropy<S>, n, e, "shape"_a);
    m.def("tree_best_by_errors", &best_by_errors<S>, n, e, o, p, nb::arg("errors").noconvert(), "levels"_a);
    m.def("tree_argmax_at_errors", &argmax_at_errors<S>, n, e, o, p, nb::arg("errors").noconvert(),
          nb::arg("counts").noconvert());
    m.def("tree_score", &score<S>, n, e, "shape"_a, nb::arg("labels").noconvert());
}

}  // namespace

void add_tree(nb::module_& m) {
    using State = std::tuple<nb::bytes, nb::bytes>;
    const auto bytes = [](const std::vector<std::int64_t>& values) {
        return nb::bytes(values.data(), values.size() * sizeof(std::int64_t));
    };
    const auto array = [](const nb::bytes& values) {
        return Vector(values.c_str(), {values.size() / sizeof(std::int64_t)});
    };
    nb::class_<TreeShape>(m, "TreeShape", "Offsets and parents of a batch of forests, and an order to visit them in.")
        .def(nb::init<const Vector&, const Vector&>(), nb::arg("offsets").noconvert(), nb::arg("parents").noconvert())
        .def("__getstate__",
             [bytes](const TreeShape& shape) -> State { return {bytes(shape.offsets), bytes(shape.parents)}; })
        .def("__setstate__", [array](TreeShape& shape, const State& state) {
            new (&shape) TreeShape(array(std::get<0>(state)), array(std::get<1>(state)));
        });
    add_functions<double>(m);
    add_functions<float>(m);
}

}  // namespace kernelfields::bindings
