#include "kernelfields/structures/tree.hpp"
#include "kernelfields/structures/tree_covariance.hpp"
#include "kernelfields/structures/tree_errors.hpp"
#include "kernelfields/structures/tree_sample.hpp"
#include "pairwise.hpp"

namespace kernelfields::bindings {
namespace {

Forest forest_of(const In<std::int64_t>& offsets, const In<std::int64_t>& parents) {
    if (parents.ndim() != 1)
        throw std::invalid_argument("parents has shape " + shape_of(parents) + ", expected a vector.");
    require_offsets(offsets, "offsets", parents.shape(0));
    return make_forest(offsets.shape(0) - 1, offsets.data(), parents.data());
}

// The arrays of a batch, checked, with an order of its vertices.
template <class S> struct Batch {
    Forest forest;
    TreeBatch<S> tree;

    Batch(const In<S>& node, const In<S>& edge, const In<std::int64_t>& offsets, const In<std::int64_t>& parents)
        : forest(forest_of(offsets, parents)) {
        if (node.ndim() != 2 || node.shape(1) == 0)
            throw std::invalid_argument("node has shape " + shape_of(node) + ", expected (vertices, labels).");
        const std::size_t N = forest.positions, L = node.shape(1);
        require_shape(node, "node", {N, L});
        const bool shared = require_edges(edge, "edge", forest.edge_before[N], L);
        tree = {&forest, forest.sequences, N, L, node.data(), edge.data(), shared};
    }
    Batch(const Batch&) = delete;
};

using Vector = In<std::int64_t>;

template <class S> Out<double> log_partition(In<S> node, In<S> edge, Vector offsets, Vector parents) {
    const Batch<S> batch(node, edge, offsets, parents);
    auto value = make<double>({batch.tree.sequences});
    nb::gil_scoped_release release;
    tree_marginals(batch.tree, MarginalsOut<S>{nullptr, value.data(), nullptr, nullptr}, nullptr);
    return value;
}

template <class S>
Parts<S> marginals(In<S> node, In<S> edge, Vector offsets, Vector parents, std::optional<In<double>> weights) {
    const Batch<S> batch(node, edge, offsets, parents);
    return run_marginals<S>(batch.tree, weights,
                            [&](const MarginalsOut<S>& out, double* sums) { tree_marginals(batch.tree, out, sums); });
}

template <class S>
Parts<S> covariance(In<S> node, In<S> edge, Vector offsets, Vector parents, In<S> node_direction, In<S> edge_direction,
                    std::optional<In<double>> weights) {
    const Batch<S> batch(node, edge, offsets, parents);
    return run_covariance<S>(batch.tree, node_direction, edge_direction, weights,
                             [&](const CovarianceOut<S>& out, double* sums) {
                                 tree_covariance(batch.tree, out, sums);
                             });
}

template <class S> Labelled argmax(In<S> node, In<S> edge, Vector offsets, Vector parents) {
    const Batch<S> batch(node, edge, offsets, parents);
    auto labels = make<std::int32_t>({batch.tree.positions});
    auto value = make<double>({batch.tree.sequences});
    {
        nb::gil_scoped_release release;
        tree_argmax(batch.tree, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S>
Labelled sample(In<S> node, In<S> edge, Vector offsets, Vector parents, std::size_t count, std::uint64_t seed) {
    const Batch<S> batch(node, edge, offsets, parents);
    auto labels = make<std::int32_t>({count, batch.tree.positions});
    auto value = make<double>({batch.tree.sequences});
    {
        nb::gil_scoped_release release;
        tree_sample(batch.tree, count, seed, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> Out<double> entropy(In<S> node, In<S> edge, Vector offsets, Vector parents) {
    const Batch<S> batch(node, edge, offsets, parents);
    auto value = make<double>({batch.tree.sequences});
    nb::gil_scoped_release release;
    tree_entropy(batch.tree, value.data());
    return value;
}

template <class S>
Out<double> score(In<S> node, In<S> edge, Vector offsets, Vector parents, In<std::int32_t> labels) {
    const Batch<S> batch(node, edge, offsets, parents);
    require_labels(labels, batch.tree.positions, batch.tree.labels);
    auto value = make<double>({batch.tree.sequences});
    nb::gil_scoped_release release;
    for (std::size_t s = 0; s < batch.tree.sequences; ++s) value.data()[s] = tree_score(batch.tree, s, labels.data());
    return value;
}

using Errors = In<std::int32_t>;

template <class S> void require_errors(const Errors& errors, const TreeBatch<S>& tree) {
    require_shape(errors, "errors", {tree.positions, tree.labels});
    for (std::size_t k = 0; k < tree.positions * tree.labels; ++k)
        if (errors.data()[k] < 0) throw std::invalid_argument("errors must not be negative.");
}

template <class S>
Out<double> best_by_errors(In<S> node, In<S> edge, Vector offsets, Vector parents, Errors errors, std::size_t levels) {
    const Batch<S> batch(node, edge, offsets, parents);
    require_errors(errors, batch.tree);
    auto value = make<double>({batch.tree.sequences, levels});
    nb::gil_scoped_release release;
    tree_best_by_errors(batch.tree, errors.data(), levels, value.data());
    return value;
}

template <class S>
Labelled argmax_at_errors(In<S> node, In<S> edge, Vector offsets, Vector parents, Errors errors, Vector counts) {
    const Batch<S> batch(node, edge, offsets, parents);
    require_errors(errors, batch.tree);
    require_shape(counts, "counts", {batch.tree.sequences});
    auto labels = make<std::int32_t>({batch.tree.positions});
    auto value = make<double>({batch.tree.sequences});
    {
        nb::gil_scoped_release release;
        tree_argmax_at_errors(batch.tree, errors.data(), counts.data(), labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> void add_functions(nb::module_& m) {
    using namespace nb::literals;
    const auto n = nb::arg("node").noconvert(), e = nb::arg("edge").noconvert(), o = nb::arg("offsets").noconvert(),
               p = nb::arg("parents").noconvert();
    m.def("tree_log_partition", &log_partition<S>, n, e, o, p);
    m.def("tree_marginals", &marginals<S>, n, e, o, p, "weights"_a = nb::none());
    m.def("tree_covariance", &covariance<S>, n, e, o, p, nb::arg("node_direction").noconvert(),
          nb::arg("edge_direction").noconvert(), "weights"_a = nb::none());
    m.def("tree_argmax", &argmax<S>, n, e, o, p);
    m.def("tree_sample", &sample<S>, n, e, o, p, "count"_a, "seed"_a);
    m.def("tree_entropy", &entropy<S>, n, e, o, p);
    m.def("tree_best_by_errors", &best_by_errors<S>, n, e, o, p, nb::arg("errors").noconvert(), "levels"_a);
    m.def("tree_argmax_at_errors", &argmax_at_errors<S>, n, e, o, p, nb::arg("errors").noconvert(),
          nb::arg("counts").noconvert());
    m.def("tree_score", &score<S>, n, e, o, p, nb::arg("labels").noconvert());
}

}  // namespace

void add_tree(nb::module_& m) {
    m.def(
        "tree_check", [](Vector offsets, Vector parents) { forest_of(offsets, parents); },
        nb::arg("offsets").noconvert(), nb::arg("parents").noconvert());
    add_functions<double>(m);
    add_functions<float>(m);
}

}  // namespace kernelfields::bindings
