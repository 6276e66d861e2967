#include "kernelfields/structures/chain2.hpp"
#include "chain_arrays.hpp"
#include "kernelfields/structures/chain2_covariance.hpp"
#include "kernelfields/structures/chain2_kbest.hpp"
#include "kernelfields/structures/chain2_sample.hpp"

namespace kernelfields::bindings {
namespace {

// The arrays of a batch, checked.
template <class S> struct Batch {
    ChainArrays<S> pairs;
    Chain2Batch<S> chain;

    Batch(const In<S>& node, const In<S>& edge, const In<S>& triple, const In<std::int64_t>& offsets)
        : pairs(node, edge, offsets), chain{pairs.chain, triple.data()} {
        require_shape(triple, "triple", {labels(), labels(), labels()});
    }
    Batch(const Batch&) = delete;
    std::size_t sequences() const { return pairs.chain.sequences; }
    std::size_t positions() const { return pairs.chain.positions; }
    std::size_t labels() const { return pairs.chain.labels; }
};

using Vector = In<std::int64_t>;

// One number per sequence, arrays of the shapes of the node, edge and triple scores.
template <class S> using Parts2 = std::tuple<Out<double>, Out<S>, Out<S>, Out<S>>;

// run(sums) with sums of doubles over triples and over shared edges; to where they belong, rounded.
template <class S, class Run> void run_with_triples(const Batch<S>& batch, S* triple_out, double* edge_sums, Run run) {
    const std::size_t cube = batch.chain.cube();
    std::vector<double> sums(cube + batch.labels() * batch.labels());
    run(sums.data());
    for (std::size_t k = 0; k < cube; ++k) triple_out[k] = static_cast<S>(sums[k]);
    if (edge_sums) std::copy(sums.begin() + static_cast<std::ptrdiff_t>(cube), sums.end(), edge_sums);
}

template <class S> Out<double> log_partition(In<S> node, In<S> edge, In<S> triple, Vector offsets) {
    const Batch<S> batch(node, edge, triple, offsets);
    auto value = make<double>({batch.sequences()});
    nb::gil_scoped_release release;
    chain2_marginals(batch.chain, MarginalsOut<S>{nullptr, value.data(), nullptr, nullptr}, nullptr);
    return value;
}

template <class S>
Parts2<S> marginals(In<S> node, In<S> edge, In<S> triple, Vector offsets, std::optional<In<double>> weights,
                    bool scaled) {
    const Batch<S> batch(node, edge, triple, offsets);
    auto triple_out = make<S>({batch.labels(), batch.labels(), batch.labels()});
    auto parts = run_marginals<S>(batch.pairs.chain, weights, [&](const MarginalsOut<S>& out, double* edge_sums) {
        run_with_triples(batch, triple_out.data(), edge_sums,
                         [&](double* sums) { chain2_marginals(batch.chain, out, sums, scaled); });
    });
    return std::tuple_cat(parts, std::make_tuple(triple_out));
}

template <class S>
Parts2<S> covariance(In<S> node, In<S> edge, In<S> triple, Vector offsets, In<S> node_direction, In<S> edge_direction,
                     In<S> triple_direction, std::optional<In<double>> weights) {
    const Batch<S> batch(node, edge, triple, offsets);
    require_shape(triple_direction, "triple_direction", {batch.labels(), batch.labels(), batch.labels()});
    auto triple_out = make<S>({batch.labels(), batch.labels(), batch.labels()});
    auto parts = run_covariance<S>(batch.pairs.chain, node_direction, edge_direction, weights,
                                   [&](const CovarianceOut<S>& out, double* edge_sums) {
                                       run_with_triples(batch, triple_out.data(), edge_sums, [&](double* sums) {
                                           chain2_covariance(batch.chain, out, triple_direction.data(), sums);
                                       });
                                   });
    return std::tuple_cat(parts, std::make_tuple(triple_out));
}

template <class S> Labelled argmax(In<S> node, In<S> edge, In<S> triple, Vector offsets) {
    const Batch<S> batch(node, edge, triple, offsets);
    auto labels = make<std::int32_t>({batch.positions()});
    auto value = make<double>({batch.sequences()});
    {
        nb::gil_scoped_release release;
        chain2_argmax(batch.chain, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> Labelled kbest(In<S> node, In<S> edge, In<S> triple, Vector offsets, std::size_t k) {
    const Batch<S> batch(node, edge, triple, offsets);
    auto labels = make<std::int32_t>({k, batch.positions()});
    auto value = make<double>({batch.sequences(), k});
    {
        nb::gil_scoped_release release;
        chain2_kbest(batch.chain, k, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S>
Labelled sample(In<S> node, In<S> edge, In<S> triple, Vector offsets, std::size_t count, std::uint64_t seed) {
    const Batch<S> batch(node, edge, triple, offsets);
    auto labels = make<std::int32_t>({count, batch.positions()});
    auto value = make<double>({batch.sequences()});
    {
        nb::gil_scoped_release release;
        chain2_sample(batch.chain, count, seed, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> Out<double> entropy(In<S> node, In<S> edge, In<S> triple, Vector offsets) {
    const Batch<S> batch(node, edge, triple, offsets);
    auto value = make<double>({batch.sequences()});
    nb::gil_scoped_release release;
    chain2_entropy(batch.chain, value.data());
    return value;
}

template <class S>
Out<double> score(In<S> node, In<S> edge, In<S> triple, Vector offsets, In<std::int32_t> labels) {
    const Batch<S> batch(node, edge, triple, offsets);
    require_labels(labels, batch.positions(), batch.labels());
    auto value = make<double>({batch.sequences()});
    nb::gil_scoped_release release;
    for (std::size_t s = 0; s < batch.sequences(); ++s)
        value.data()[s] = chain2_score(batch.chain, s, labels.data() + offsets.data()[s]);
    return value;
}

template <class S> void add_functions(nb::module_& m) {
    using namespace nb::literals;
    const auto n = nb::arg("node").noconvert(), e = nb::arg("edge").noconvert(), t = nb::arg("triple").noconvert(),
               o = nb::arg("offsets").noconvert();
    m.def("chain2_log_partition", &log_partition<S>, n, e, t, o);
    m.def("chain2_marginals", &marginals<S>, n, e, t, o, "weights"_a = nb::none(), "scaled"_a = true);
    m.def("chain2_covariance", &covariance<S>, n, e, t, o, nb::arg("node_direction").noconvert(),
          nb::arg("edge_direction").noconvert(), nb::arg("triple_direction").noconvert(), "weights"_a = nb::none());
    m.def("chain2_argmax", &argmax<S>, n, e, t, o);
    m.def("chain2_kbest", &kbest<S>, n, e, t, o, "k"_a);
    m.def("chain2_sample", &sample<S>, n, e, t, o, "count"_a, "seed"_a);
    m.def("chain2_entropy", &entropy<S>, n, e, t, o);
    m.def("chain2_score", &score<S>, n, e, t, o, nb::arg("labels").noconvert());
}

}  // namespace

void add_chain2(nb::module_& m) {
    add_functions<double>(m);
    add_functions<float>(m);
}

}  // namespace kernelfields::bindings
