#include "chain_arrays.hpp"
#include "kernelfields/structures/segment_best.hpp"
#include "kernelfields/structures/segment_covariance.hpp"
#include "kernelfields/structures/segment_kbest.hpp"
#include "kernelfields/structures/segment_sample.hpp"

namespace kernelfields::bindings {
namespace {

using Bins = In<std::int32_t>;

// Where candidates are: offsets of sequences; begin, end and label of each; which labels are bound to them.
using Places = std::tuple<In<std::int64_t>, In<std::int32_t>, In<std::int32_t>, In<std::int32_t>, In<std::uint8_t>>;

// The arrays of a batch, checked; scores of lengths are given for bins of lengths, and written out for every one.
template <class S> struct SegmentArrays {
    ChainArrays<S> arrays;
    std::vector<double> duration;
    SegmentCandidates<S> candidates{};
    SegmentBatch<S> batch;

    SegmentArrays(const In<S>& node, const In<S>& edge, const In<std::int64_t>& offsets, const In<S>& durations,
                  const Bins& bins, const std::optional<Places>& places, const In<S>& segment)
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
        batch = {arrays.chain, longest, duration.data(), nullptr};
        if (places) read_candidates(*places, segment);
    }
    SegmentArrays(const SegmentArrays&) = delete;

private:
    void read_candidates(const Places& places, const In<S>& segment) {
        const auto& [first, begin, end, label, bound] = places;
        const ChainBatch<S>& chain = arrays.chain;
        const std::size_t L = chain.labels, count = length_of(begin, "begin");
        require_offsets(first, "first", count);
        require_shape(first, "first", {chain.sequences + 1});
        require_shape(end, "end", {count});
        require_shape(label, "label", {count});
        require_shape(bound, "bound", {L});
        require_shape(segment, "segment", {count, L});
        candidates = {first.data(), begin.data(), end.data(), label.data(), bound.data(), segment.data()};
        for (std::size_t s = 0; s < chain.sequences; ++s)
            for (std::int64_t c = first.data()[s]; c < first.data()[s + 1]; ++c)
                require_place(static_cast<std::size_t>(c), chain.length(s), c == first.data()[s]);
        batch.candidates = &candidates;
    }
    void require_place(std::size_t c, std::size_t length, bool leads) const {
        const auto& x = candidates;
        const auto L = static_cast<std::int32_t>(arrays.chain.labels);
        if (x.begin[c] < 0 || x.end[c] <= x.begin[c] || static_cast<std::size_t>(x.end[c]) > length ||
            x.label[c] < -1 || x.label[c] >= L)
            throw std::invalid_argument("A candidate is not within its sequence, or has no label of the model.");
        if (!leads && (x.end[c] < x.end[c - 1] || (x.end[c] == x.end[c - 1] && x.begin[c] > x.begin[c - 1])))
            throw std::invalid_argument("Candidates are not in the order of their ends.");
        for (std::int32_t j = 0; static_cast<std::size_t>(x.end[c] - x.begin[c]) >= batch.longest && j < L; ++j)
            if (!x.bound[j] && (x.label[c] < 0 || x.label[c] == j))
                throw std::invalid_argument("A candidate of a label that is not bound to candidates is too long.");
    }
};

template <class S> using SegmentResult = std::tuple<Out<double>, Out<S>, Out<S>, Out<S>, Out<S>>;

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
    const SegmentCandidates<S>* given = batch.candidates;
    auto segment = make<S>({given ? static_cast<std::size_t>(given->first[chain.sequences]) : 0, L});
    const double* weight = weights_of(weights, chain.sequences);
    {
        nb::gil_scoped_release release;
        std::vector<double> pairs(L * L), lengths(batch.longest * L), binned(n_bins * L);
        run(SegmentOut<S>{weight, value.data(), node.data(), chain.shared ? nullptr : edge.data(), pairs.data(),
                          lengths.data(), segment.data()});
        for (std::size_t k = 0; chain.shared && k < L * L; ++k) edge.data()[k] = static_cast<S>(pairs[k]);
        for (std::size_t k = 0; k < lengths.size(); ++k)
            binned[static_cast<std::size_t>(bins.data()[k / L]) * L + k % L] += lengths[k];
        for (std::size_t k = 0; k < binned.size(); ++k) duration.data()[k] = static_cast<S>(binned[k]);
    }
    return {value, node, edge, duration, segment};
}

template <class S>
Out<double> log_partition(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> durations, Bins bins,
                          std::optional<Places> places, In<S> segment) {
    const SegmentArrays<S> given(node, edge, offsets, durations, bins, places, segment);
    auto value = make<double>({given.batch.chain.sequences});
    nb::gil_scoped_release release;
    segment_log_partition(given.batch, value.data());
    return value;
}

template <class S>
SegmentResult<S> marginals(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> durations, Bins bins,
                           std::optional<Places> places, In<S> segment, std::optional<In<double>> weights) {
    const SegmentArrays<S> given(node, edge, offsets, durations, bins, places, segment);
    return run_segments<S>(given.batch, bins, durations.shape(0), weights,
                           [&](const SegmentOut<S>& out) { segment_marginals(given.batch, out); });
}

template <class S>
SegmentResult<S> covariance(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> durations, Bins bins,
                            std::optional<Places> places, In<S> segment, In<S> node_direction, In<S> edge_direction,
                            In<S> duration_direction, In<S> segment_direction, std::optional<In<double>> weights) {
    const SegmentArrays<S> given(node, edge, offsets, durations, bins, places, segment);
    const SegmentArrays<S> along(node_direction, edge_direction, offsets, duration_direction, bins, places,
                                 segment_direction);
    if (along.batch.chain.shared != given.batch.chain.shared || along.batch.chain.labels != given.batch.chain.labels)
        throw std::invalid_argument("edge_direction has shape " + shape_of(edge_direction) +
                                    ", expected the shape of edge.");
    return run_segments<S>(given.batch, bins, durations.shape(0), weights,
                           [&](const SegmentOut<S>& out) { segment_covariance(given.batch, along.batch, out); });
}

template <class S> Labelled argmax(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> durations, Bins bins,
                                   std::optional<Places> places, In<S> segment) {
    const SegmentArrays<S> given(node, edge, offsets, durations, bins, places, segment);
    auto labels = make<std::int32_t>({given.batch.chain.positions});
    auto value = make<double>({given.batch.chain.sequences});
    {
        nb::gil_scoped_release release;
        segment_argmax(given.batch, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S>
Labelled kbest(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> durations, Bins bins,
               std::optional<Places> places, In<S> segment, std::size_t k) {
    const SegmentArrays<S> given(node, edge, offsets, durations, bins, places, segment);
    auto labels = make<std::int32_t>({k, given.batch.chain.positions});
    auto value = make<double>({given.batch.chain.sequences, k});
    {
        nb::gil_scoped_release release;
        segment_kbest(given.batch, k, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> Labelled sample(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> durations, Bins bins,
                                   std::optional<Places> places, In<S> segment, std::size_t count, std::uint64_t seed) {
    const SegmentArrays<S> given(node, edge, offsets, durations, bins, places, segment);
    auto labels = make<std::int32_t>({count, given.batch.chain.positions});
    auto value = make<double>({given.batch.chain.sequences});
    {
        nb::gil_scoped_release release;
        segment_sample(given.batch, count, seed, labels.data(), value.data());
    }
    return {labels, value};
}

template <class S> Out<double> score(In<S> node, In<S> edge, In<std::int64_t> offsets, In<S> durations, Bins bins,
                                     std::optional<Places> places, In<S> segment, In<std::int32_t> labels) {
    const SegmentArrays<S> given(node, edge, offsets, durations, bins, places, segment);
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
               d = nb::arg("durations").noconvert(), b = nb::arg("bins").noconvert(),
               c = nb::arg("segment").noconvert();
    const auto p = nb::arg("places").none();
    m.def("segment_log_partition", &log_partition<S>, n, e, o, d, b, p, c);
    m.def("segment_marginals", &marginals<S>, n, e, o, d, b, p, c, "weights"_a = nb::none());
    m.def("segment_covariance", &covariance<S>, n, e, o, d, b, p, c, nb::arg("node_direction").noconvert(),
          nb::arg("edge_direction").noconvert(), nb::arg("duration_direction").noconvert(),
          nb::arg("segment_direction").noconvert(), "weights"_a = nb::none());
    m.def("segment_argmax", &argmax<S>, n, e, o, d, b, p, c);
    m.def("segment_kbest", &kbest<S>, n, e, o, d, b, p, c, "k"_a);
    m.def("segment_sample", &sample<S>, n, e, o, d, b, p, c, "count"_a, "seed"_a);
    m.def("segment_score", &score<S>, n, e, o, d, b, p, c, nb::arg("labels").noconvert());
}

}  // namespace

void add_segments(nb::module_& m) {
    add_functions<double>(m);
    add_functions<float>(m);
}

}  // namespace kernelfields::bindings
