#include "kernelfields/chain.hpp"
#include "arrays.hpp"
#include "kernelfields/chain_kbest.hpp"
#include "kernelfields/chain_sample.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace kernelfields::bindings {
namespace {

// The arrays of a batch, checked, with the place of each sequence's edges.
template <class S> struct Batch {
    std::vector<std::int64_t> edge_first;
    ChainBatch<S> chain;

    Batch(const In<S>& node, const In<S>& edge, const In<std::int64_t>& offsets) {
        if (node.ndim() != 2 || node.shape(1) == 0)
            throw std::invalid_argument("node has shape " + shape_of(node) + ", expected (positions, labels).");
        const std::size_t N = node.shape(0), L = node.shape(1);
        require_offsets(offsets, "offsets", N);
        const std::size_t sequences = offsets.shape(0) - 1;
        edge_first.assign(sequences + 1, 0);
        for (std::size_t s = 0; s < sequences; ++s) {
            const std::int64_t length = offsets.data()[s + 1] - offsets.data()[s];
            edge_first[s + 1] = edge_first[s] + (length > 0 ? length - 1 : 0);
        }
        const bool shared = edge.ndim() == 2;
        if (shared) require_shape(edge, "edge", {L, L});
        else require_shape(edge, "edge", {static_cast<std::size_t>(edge_first[sequences]), L, L});
        chain = {sequences, N, L, offsets.data(), edge_first.data(), node.data(), edge.data(), shared};
    }
};

const double* weights_of(const std::optional<In<double>>& weights, std::size_t sequences) {
    if (!weights) return nullptr;
    require_shape(*weights, "weights", {sequences});
    return weights->data();
}

template <class S>
Out<double> log_partition(In<S> node, In<S> edge, In<std::int64_t> offsets) {
    const Batch<S> batch(node, edge, offsets);
    auto value = make<double>({batch.chain.sequences});
    const MarginalsOut<S> out{nullptr, value.data(), nullptr, nullptr};
    nb::gil_scoped_release release;
    chain_marginals(batch.chain, out, nullptr);
    return value;
}

// Rounds double sums over shared edges to the type of the scores.
template <class S> void narrow(const std::vector<double>& from, S* to) {
    for (std::size_t k = 0; k < from.size(); ++k) to[k] = static_cast<S>(from[k]);
}

template <class S> Out<S> edge_output(const ChainBatch<S>& chain) {
    const std::size_t L = chain.labels;
    return chain.shared ? make<S>({L, L}) : make<S>({chain.edges(), L, L});
}

template <class S>
std::tuple<Out<double>, Out<S>, Out<S>> marginals(In<S> node, In<S> edge, In<std::int64_t> offsets, std::optional<In<double>> weights, int only) {
    const Batch<S> batch(node, edge, offsets);
    const ChainBatch<S>& chain = batch.chain;
    auto value = make<double>({chain.sequences});
    auto node_out = make<S>({chain.positions, chain.labels});
    auto edge_out = edge_output(chain);
    const MarginalsOut<S> out{weights_of(weights, chain.sequences), value.data(), node_out.data(),
                              chain.shared ? nullptr : edge_out.data()};
    {
        nb::gil_scoped_release release;
        std::vector<double> sums(chain.shared ? chain.labels * chain.labels : 0);
        chain_marginals(chain, out, chain.shared ? sums.data() : nullptr, only);
        if (chain.shared) narrow(sums, edge_out.data());
    }
    return std::make_tuple(value, node_out, edge_out);
}

template <class S>
std::tuple<Out<double>, Out<S>, Out<S>> covariance(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> node_direction, In<S> edge_direction,
                     std::optional<In<double>> weights, int only) {
    const Batch<S> batch(node, edge, offsets);
    const ChainBatch<S>& chain = batch.chain;
    const std::size_t L = chain.labels;
    require_shape(node_direction, "node_direction", {chain.positions, L});
    if (chain.shared) require_shape(edge_direction, "edge_direction", {L, L});
    else require_shape(edge_direction, "edge_direction", {chain.edges(), L, L});
    auto value = make<double>({chain.sequences});
    auto node_out = make<S>({chain.positions, L});
    auto edge_out = edge_output(chain);
    const CovarianceOut<S> out{node_direction.data(), edge_direction.data(), weights_of(weights, chain.sequences),
                               value.data(),          node_out.data(),       chain.shared ? nullptr : edge_out.data()};
    {
        nb::gil_scoped_release release;
        std::vector<double> sums(chain.shared ? L * L : 0);
        chain_covariance(chain, out, chain.shared ? sums.data() : nullptr, only);
        if (chain.shared) narrow(sums, edge_out.data());
    }
    return std::make_tuple(value, node_out, edge_out);
}

template <class S> std::tuple<Out<std::int32_t>, Out<double>> argmax(In<S> node, In<S> edge, In<std::int64_t> offsets) {
    const Batch<S> batch(node, edge, offsets);
    auto labels = make<std::int32_t>({batch.chain.positions});
    auto value = make<double>({batch.chain.sequences});
    {
        nb::gil_scoped_release release;
        chain_argmax(batch.chain, labels.data(), value.data());
    }
    return std::make_tuple(labels, value);
}

template <class S> std::tuple<Out<std::int32_t>, Out<double>> kbest(In<S> node, In<S> edge, In<std::int64_t> offsets, std::size_t k) {
    const Batch<S> batch(node, edge, offsets);
    auto labels = make<std::int32_t>({k, batch.chain.positions});
    auto value = make<double>({batch.chain.sequences, k});
    {
        nb::gil_scoped_release release;
        chain_kbest(batch.chain, k, labels.data(), value.data());
    }
    return std::make_tuple(labels, value);
}

template <class S>
std::tuple<Out<std::int32_t>, Out<double>> sample(In<S> node, In<S> edge, In<std::int64_t> offsets, std::size_t count, std::uint64_t seed) {
    const Batch<S> batch(node, edge, offsets);
    auto labels = make<std::int32_t>({count, batch.chain.positions});
    auto value = make<double>({batch.chain.sequences});
    {
        nb::gil_scoped_release release;
        chain_sample(batch.chain, count, seed, labels.data(), value.data());
    }
    return std::make_tuple(labels, value);
}

template <class S> Out<double> entropy(In<S> node, In<S> edge, In<std::int64_t> offsets) {
    const Batch<S> batch(node, edge, offsets);
    auto value = make<double>({batch.chain.sequences});
    nb::gil_scoped_release release;
    chain_entropy(batch.chain, value.data());
    return value;
}

template <class S> Out<double> score(In<S> node, In<S> edge, In<std::int64_t> offsets, In<std::int32_t> labels) {
    const Batch<S> batch(node, edge, offsets);
    require_labels(labels, batch.chain.positions, batch.chain.labels);
    auto value = make<double>({batch.chain.sequences});
    nb::gil_scoped_release release;
    for (std::size_t s = 0; s < batch.chain.sequences; ++s)
        value.data()[s] = chain_score(batch.chain, s, labels.data() + batch.chain.first[s]);
    return value;
}

template <class S> void add_functions(nb::module_& m) {
    using namespace nb::literals;
    const auto n = nb::arg("node").noconvert(), e = nb::arg("edge").noconvert(), o = nb::arg("offsets").noconvert();
    m.def("chain_log_partition", &log_partition<S>, n, e, o);
    m.def("chain_marginals", &marginals<S>, n, e, o, "weights"_a = nb::none(), "only"_a = -1);
    m.def("chain_covariance", &covariance<S>, n, e, o, nb::arg("node_direction").noconvert(),
          nb::arg("edge_direction").noconvert(), "weights"_a = nb::none(), "only"_a = -1);
    m.def("chain_argmax", &argmax<S>, n, e, o);
    m.def("chain_kbest", &kbest<S>, n, e, o, "k"_a);
    m.def("chain_sample", &sample<S>, n, e, o, "count"_a, "seed"_a);
    m.def("chain_entropy", &entropy<S>, n, e, o);
    m.def("chain_score", &score<S>, n, e, o, nb::arg("labels").noconvert());
}

}  // namespace

void add_chain(nb::module_& m) {
    add_functions<double>(m);
    add_functions<float>(m);
    m.def("isa", [] { return isa_name(current_isa()); });
    m.def("supported_isas", &supported_isas);
}

}  // namespace kernelfields::bindings
