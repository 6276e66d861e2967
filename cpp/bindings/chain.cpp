#include "chain_arrays.hpp"
#include "kernelfields/structures/chain_kbest.hpp"
#include "kernelfields/structures/chain_marginals.hpp"
#include "kernelfields/structures/chain_sample.hpp"
#include "pairwise.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace kernelfields::bindings {
namespace {

template <class S>
Out<double> log_partition(In<S> node, In<S> edge, In<std::int64_t> offsets) {
    const ChainArrays<S> batch(node, edge, offsets);
    auto value = make<double>({batch.chain.sequences});
    const MarginalsOut<S> out{nullptr, value.data(), nullptr, nullptr};
    nb::gil_scoped_release release;
    chain_marginals(batch.chain, out, nullptr);
    return value;
}

template <class S>
Parts<S> marginals(In<S> node, In<S> edge, In<std::int64_t> offsets, std::optional<In<double>> weights, int only,
                   bool together) {
    const ChainArrays<S> batch(node, edge, offsets);
    return run_marginals<S>(batch.chain, weights, [&](const MarginalsOut<S>& out, double* sums) {
        chain_marginals(batch.chain, out, sums, together ? Rounded::together : Rounded::alone, only);
    });
}

template <class S>
Parts<S> covariance(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> node_direction, In<S> edge_direction,
                    std::optional<In<double>> weights, int only) {
    const ChainArrays<S> batch(node, edge, offsets);
    return run_covariance<S>(batch.chain, node_direction, edge_direction, weights,
                             [&](const CovarianceOut<S>& out, double* sums) {
                                 chain_covariance(batch.chain, out, sums, only);
                             });
}

template <class S> Labelled argmax(In<S> node, In<S> edge, In<std::int64_t> offsets) {
    const ChainArrays<S> batch(node, edge, offsets);
    auto labels = make<std::int32_t>({batch.chain.positions});
    auto value = make<double>({batch.chain.sequences});
    {
        nb::gil_scoped_release release;
        chain_argmax(batch.chain, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> Labelled kbest(In<S> node, In<S> edge, In<std::int64_t> offsets, std::size_t k) {
    const ChainArrays<S> batch(node, edge, offsets);
    auto labels = make<std::int32_t>({k, batch.chain.positions});
    auto value = make<double>({batch.chain.sequences, k});
    {
        nb::gil_scoped_release release;
        chain_kbest(batch.chain, k, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S>
Labelled sample(In<S> node, In<S> edge, In<std::int64_t> offsets, std::size_t count, std::uint64_t seed) {
    const ChainArrays<S> batch(node, edge, offsets);
    auto labels = make<std::int32_t>({count, batch.chain.positions});
    auto value = make<double>({batch.chain.sequences});
    {
        nb::gil_scoped_release release;
        chain_sample(batch.chain, count, seed, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> Out<double> entropy(In<S> node, In<S> edge, In<std::int64_t> offsets) {
    const ChainArrays<S> batch(node, edge, offsets);
    auto value = make<double>({batch.chain.sequences});
    nb::gil_scoped_release release;
    chain_entropy(batch.chain, value.data());
    return value;
}

template <class S> Out<double> score(In<S> node, In<S> edge, In<std::int64_t> offsets, In<std::int32_t> labels) {
    const ChainArrays<S> batch(node, edge, offsets);
    require_labels(labels, batch.chain.positions, batch.chain.labels);
    auto value = make<double>({batch.chain.sequences});
    nb::gil_scoped_release release;
    for (std::size_t s = 0; s < batch.chain.sequences; ++s)
        value.data()[s] = chain_score(batch.chain, s, labels.data() + batch.chain.first[s]);
    return value;
}

template <class S, class W>
void label_scores(nb::ndarray<S, nb::c_contig, nb::device::cpu> node, In<std::int64_t> offsets, In<W> every,
                  In<W> first, In<W> last) {
    if (node.ndim() != 2) throw std::invalid_argument("node must have two dimensions.");
    require_offsets(offsets, "offsets", node.shape(0));
    for (const In<W>& scores : {every, first, last}) require_shape(scores, "scores", {node.shape(1)});
    add_label_scores<S, W>(node.data(), offsets.data(), offsets.shape(0) - 1, node.shape(1),
                           {every.data(), first.data(), last.data()});
}

template <class S, class W> void add_label_function(nb::module_& m) {
    const auto keep = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def("chain_add_label_scores", &label_scores<S, W>, keep("node"), keep("offsets"), keep("every"), keep("first"),
          keep("last"));
}

template <class S> void add_functions(nb::module_& m) {
    using namespace nb::literals;
    const auto n = nb::arg("node").noconvert(), e = nb::arg("edge").noconvert(), o = nb::arg("offsets").noconvert();
    m.def("chain_log_partition", &log_partition<S>, n, e, o);
    m.def("chain_marginals", &marginals<S>, n, e, o, "weights"_a = nb::none(), "only"_a = -1, "together"_a = false);
    m.def("chain_covariance", &covariance<S>, n, e, o, nb::arg("node_direction").noconvert(),
          nb::arg("edge_direction").noconvert(), "weights"_a = nb::none(), "only"_a = -1);
    m.def("chain_argmax", &argmax<S>, n, e, o);
    m.def("chain_kbest", &kbest<S>, n, e, o, "k"_a);
    m.def("chain_sample", &sample<S>, n, e, o, "count"_a, "seed"_a);
    m.def("chain_entropy", &entropy<S>, n, e, o);
    add_label_function<S, double>(m);
    add_label_function<S, float>(m);
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
