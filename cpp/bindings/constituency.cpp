#include "kernelfields/structures/constituency.hpp"
#include "kernelfields/structures/constituency_trees.hpp"
#include "pairwise.hpp"

namespace kernelfields::bindings {
namespace {

using Offsets = In<std::int64_t>;

template <class S> SpanBatch batch_of(const In<S>& span, const Offsets& words, const Offsets& spans, bool empty) {
    if (span.ndim() != 2 || span.shape(1) == 0)
        throw std::invalid_argument("span has shape " + shape_of(span) + ", expected (spans, labels).");
    const std::size_t sentences = length_of(words, "words") - 1;
    require_shape(spans, "spans", {sentences + 1});
    require_offsets(spans, "spans", span.shape(0));
    require_offsets(words, "words", static_cast<std::size_t>(words.data()[sentences]));
    for (std::size_t s = 0; s < sentences; ++s) {
        const std::int64_t n = words.data()[s + 1] - words.data()[s];
        if (spans.data()[s + 1] - spans.data()[s] != n * (n + 1) / 2)
            throw std::invalid_argument("spans has no n (n + 1) / 2 rows for sentence " + std::to_string(s) + ".");
        if (n * (n + 1) / 2 * static_cast<std::int64_t>(span.shape(1)) > std::numeric_limits<std::int32_t>::max())
            throw std::invalid_argument("Sentence " + std::to_string(s) +
                                        " has more spans times labels than 2^31 - 1.");
    }
    return {sentences, words.data(), spans.data(), span.shape(1), span.data(), empty};
}

template <class S> using Sums = std::tuple<Out<double>, Out<S>>;

template <class S> Out<double> log_partition(In<S> span, Offsets words, Offsets spans, bool empty) {
    const SpanBatch batch = batch_of(span, words, spans, empty);
    auto value = make<double>({batch.sentences});
    nb::gil_scoped_release release;
    constituency_marginals(batch, nullptr, value.data(), {});
    return value;
}

template <class S>
Sums<S> marginals(In<S> span, Offsets words, Offsets spans, bool empty, std::optional<In<double>> weights) {
    const SpanBatch batch = batch_of(span, words, spans, empty);
    const double* weight = weights_of(weights, batch.sentences);
    auto value = make<double>({batch.sentences});
    auto parts = make<S>({span.shape(0), span.shape(1)});
    {
        nb::gil_scoped_release release;
        constituency_marginals(batch, weight, value.data(), parts.data());
    }
    return {value, parts};
}

template <class S> Sums<S> covariance(In<S> span, Offsets words, Offsets spans, bool empty, In<S> direction,
                                      std::optional<In<double>> weights) {
    const SpanBatch batch = batch_of(span, words, spans, empty);
    require_shape(direction, "direction", {span.shape(0), span.shape(1)});
    const double* weight = weights_of(weights, batch.sentences);
    auto value = make<double>({batch.sentences});
    auto change = make<S>({span.shape(0), span.shape(1)});
    {
        nb::gil_scoped_release release;
        constituency_covariance(batch, direction.data(), weight, value.data(), change.data());
    }
    return {value, change};
}

template <class S> Out<double> entropy(In<S> span, Offsets words, Offsets spans, bool empty) {
    const SpanBatch batch = batch_of(span, words, spans, empty);
    auto value = make<double>({batch.sentences});
    nb::gil_scoped_release release;
    constituency_entropy(batch, value.data());
    return value;
}

template <class S> Labelled argmax(In<S> span, Offsets words, Offsets spans, bool empty) {
    const SpanBatch batch = batch_of(span, words, spans, empty);
    auto output = make<std::int32_t>({output_places(batch).back()});
    auto value = make<double>({batch.sentences});
    {
        nb::gil_scoped_release release;
        constituency_argmax(batch, output.data(), value.data());
    }
    return {output, value};
}

template <class S> Labelled kbest(In<S> span, Offsets words, Offsets spans, bool empty, std::size_t k) {
    const SpanBatch batch = batch_of(span, words, spans, empty);
    auto output = make<std::int32_t>({k, output_places(batch).back()});
    auto value = make<double>({batch.sentences, k});
    {
        nb::gil_scoped_release release;
        constituency_kbest(batch, k, output.data(), value.data());
    }
    return {output, value};
}

template <class S>
Labelled sample(In<S> span, Offsets words, Offsets spans, bool empty, std::size_t count, std::uint64_t seed) {
    const SpanBatch batch = batch_of(span, words, spans, empty);
    auto output = make<std::int32_t>({count, output_places(batch).back()});
    auto value = make<double>({batch.sentences});
    {
        nb::gil_scoped_release release;
        constituency_sample(batch, count, seed, output.data(), value.data());
    }
    return {output, value};
}

template <class S> void add_functions(nb::module_& m) {
    using namespace nb::literals;
    const auto x = nb::arg("span").noconvert(), w = nb::arg("words").noconvert(), o = nb::arg("spans").noconvert();
    const auto e = nb::arg("empty");
    m.def("constituency_log_partition", &log_partition<S>, x, w, o, e);
    m.def("constituency_marginals", &marginals<S>, x, w, o, e, "weights"_a = nb::none());
    m.def("constituency_covariance", &covariance<S>, x, w, o, e, nb::arg("direction").noconvert(),
          "weights"_a = nb::none());
    m.def("constituency_entropy", &entropy<S>, x, w, o, e);
    m.def("constituency_argmax", &argmax<S>, x, w, o, e);
    m.def("constituency_kbest", &kbest<S>, x, w, o, e, "k"_a);
    m.def("constituency_sample", &sample<S>, x, w, o, e, "count"_a, "seed"_a);
}

}  // namespace

void add_constituency(nb::module_& m) {
    add_functions<double>(m);
    add_functions<float>(m);
}

}  // namespace kernelfields::bindings
