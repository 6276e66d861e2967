#include "chain_arrays.hpp"
#include "kernelfields/structures/segment_best.hpp"
#include "kernelfields/structures/segment_covariance.hpp"
#include "kernelfields/structures/segment_kbest.hpp"
#include "kernelfields/structures/segment_sample.hpp"

namespace kernelfields::bindings {
namespace {

using Bins = In<std::int32_t>;

// The arrays of a batch, checked; scores of lengths are given for bins of lengths, and written out for every one.
template <class S> struct SegmentArrays {
    ChainArrays<S> arrays;
    std::vector<double> duration;
    SegmentBatch<S> batch;

    SegmentArrays(const In<S>& node, const In<S>& edge, const In<std::int64_t>& offsets, const In<S>& durations,
                  const Bins& bins)
        : arrays(node, edge, offsets) {
        const std::size_t L = arrays.chain.labels, longest = length_of(bins, "bins");
        if (longest == 0 || durations.ndim() != 2)
            throw std::invalid_argument("durations has shape " + shape_of(durations) + ", expected (bins, labels).");
        require_shape(durations, "durations", {durations.shape(0), L});
        require_below(bins, "bins", durations.shape(0));
        duration.resize(longest * L);
        for (std::size_t d = 0; d < longest; ++d)
            for (std::size_t j = 0; j < L; ++j)
                duration[d * L + j] =
                    static_cast<double>(durations.data()[static_cast<std::size_t>(bins.data()[d]) * L + j]);
        batch = {arrays.chain, longest, duration.data()};
    }
};

template <class S> using SegmentResult = std::tuple<Out<double>, Out<S>, Out<S>, Out<S>>;

// Calls run(out), and adds up what it says about lengths in their bins.
template <class S, class Run>
SegmentResult<S> run_segments(const SegmentBatch<S>& batch, const Bins& bins, std::size_t n_bins,
                              const std::optional<In<double>>& weights, Run run) {
    const ChainBatch<S>& chain = batch.chain;
    const std::size_t L = chain.labels;
    auto value = make<double>({chain.sequences});
    auto node = make<S>({chain.positions, L});
    auto edge = edge_output<S>(chain);
    auto duration = make<S>({n_bins, L});
    const double* weight = weights_of(weights, chain.sequences);
    {
        nb::gil_scoped_release release;
        std::vector<double> pairs(L * L), lengths(batch.longest * L), binned(n_bins * L);
        run(SegmentOut<S>{weight, value.data(), node.data(), chain.shared ? nullptr : edge.data(), pairs.data(),
                          lengths.data()});
        for (std::size_t k = 0; chain.shared && k < L * L; ++k) edge.data()[k] = static_cast<S>(pairs[k]);
        for (std::size_t k = 0; k < lengths.size(); ++k)
            binned[static_cast<std::size_t>(bins.data()[k / L]) * L + k % L] += lengths[k];
        for (std::size_t k = 0; k < binned.size(); ++k) duration.data()[k] = static_cast<S>(binned[k]);
    }
    return {value, node, edge, duration};
}

template <class S>
Out<double> log_partition(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> durations, Bins bins) {
    const SegmentArrays<S> given(node, edge, offsets, durations, bins);
    auto value = make<double>({given.batch.chain.sequences});
    nb::gil_scoped_release release;
    segment_log_partition(given.batch, value.data());
    return value;
}

template <class S>
SegmentResult<S> marginals(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> durations, Bins bins,
                           std::optional<In<double>> weights) {
    const SegmentArrays<S> given(node, edge, offsets, durations, bins);
    return run_segments<S>(given.batch, bins, durations.shape(0), weights,
                           [&](const SegmentOut<S>& out) { segment_marginals(given.batch, out); });
}

template <class S>
SegmentResult<S> covariance(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> durations, Bins bins,
                            In<S> node_direction, In<S> edge_direction, In<S> duration_direction,
                            std::optional<In<double>> weights) {
    const SegmentArrays<S> given(node, edge, offsets, durations, bins);
    const SegmentArrays<S> along(node_direction, edge_direction, offsets, duration_direction, bins);
    if (along.batch.chain.shared != given.batch.chain.shared || along.batch.chain.labels != given.batch.chain.labels)
        throw std::invalid_argument("edge_direction has shape " + shape_of(edge_direction) +
                                    ", expected the shape of edge.");
    return run_segments<S>(given.batch, bins, durations.shape(0), weights,
                           [&](const SegmentOut<S>& out) { segment_covariance(given.batch, along.batch, out); });
}

template <class S> Labelled argmax(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> durations, Bins bins) {
    const SegmentArrays<S> given(node, edge, offsets, durations, bins);
    auto labels = make<std::int32_t>({given.batch.chain.positions});
    auto value = make<double>({given.batch.chain.sequences});
    {
        nb::gil_scoped_release release;
        segment_argmax(given.batch, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S>
Labelled kbest(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> durations, Bins bins, std::size_t k) {
    const SegmentArrays<S> given(node, edge, offsets, durations, bins);
    auto labels = make<std::int32_t>({k, given.batch.chain.positions});
    auto value = make<double>({given.batch.chain.sequences, k});
    {
        nb::gil_scoped_release release;
        segment_kbest(given.batch, k, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> Labelled sample(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> durations, Bins bins,
                                   std::size_t count, std::uint64_t seed) {
    const SegmentArrays<S> given(node, edge, offsets, durations, bins);
    auto labels = make<std::int32_t>({count, given.batch.chain.positions});
    auto value = make<double>({given.batch.chain.sequences});
    {
        nb::gil_scoped_release release;
        segment_sample(given.batch, count, seed, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> Out<double> score(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> durations, Bins bins,
                                     In<std::int32_t> labels) {
    const SegmentArrays<S> given(node, edge, offsets, durations, bins);
    const ChainBatch<S>& chain = given.batch.chain;
    require_labels(labels, chain.positions, chain.labels);
    auto value = make<double>({chain.sequences});
    nb::gil_scoped_release release;
    for (std::size_t s = 0; s < chain.sequences; ++s)
        value.data()[s] = segment_score(given.batch, s, labels.data() + chain.first[s]);
    return value;
}

template <class S> void add_functions(nb::module_& m) {
    using namespace nb::literals;
    const auto n = nb::arg("node").noconvert(), e = nb::arg("edge").noconvert(), o = nb::arg("offsets").noconvert(),
               d = nb::arg("durations").noconvert(), b = nb::arg("bins").noconvert();
    m.def("segment_log_partition", &log_partition<S>, n, e, o, d, b);
    m.def("segment_marginals", &marginals<S>, n, e, o, d, b, "weights"_a = nb::none());
    m.def("segment_covariance", &covariance<S>, n, e, o, d, b, nb::arg("node_direction").noconvert(),
          nb::arg("edge_direction").noconvert(), nb::arg("duration_direction").noconvert(), "weights"_a = nb::none());
    m.def("segment_argmax", &argmax<S>, n, e, o, d, b);
    m.def("segment_kbest", &kbest<S>, n, e, o, d, b, "k"_a);
    m.def("segment_sample", &sample<S>, n, e, o, d, b, "count"_a, "seed"_a);
    m.def("segment_score", &score<S>, n, e, o, d, b, nb::arg("labels").noconvert());
}

}  // namespace

void add_segments(nb::module_& m) {
    add_functions<double>(m);
    add_functions<float>(m);
}

}  // namespace kernelfields::bindings
