#include "kernelfields/structures/dependency_faults.hpp"
#include "kernelfields/structures/dependency_trees.hpp"
#include "pairwise.hpp"

namespace kernelfields::bindings {
namespace {

using Offsets = In<std::int64_t>;

template <class S> ArcBatch batch_of(const In<S>& arc, const Offsets& words, const Offsets& arcs, bool single_root) {
    if (arc.ndim() != 2 || arc.shape(1) == 0)
        throw std::invalid_argument("arc has shape " + shape_of(arc) + ", expected (arcs, labels).");
    const std::size_t sentences = length_of(words, "words") - 1;
    require_shape(arcs, "arcs", {sentences + 1});
    require_offsets(arcs, "arcs", arc.shape(0));
    require_offsets(words, "words", static_cast<std::size_t>(words.data()[sentences]));
    for (std::size_t s = 0; s < sentences; ++s) {
        const std::int64_t n = words.data()[s + 1] - words.data()[s];
        if (arcs.data()[s + 1] - arcs.data()[s] != n * (n + 1))
            throw std::invalid_argument("arcs has no n (n + 1) rows for sentence " + std::to_string(s) + ".");
    }
    return {sentences, words.data(), arcs.data(), arc.shape(1), arc.data(), single_root};
}

template <class S> using Sums = std::tuple<Out<double>, Out<S>>;

template <class S>
Out<double> log_partition(In<S> arc, Offsets words, Offsets arcs, bool single_root, bool projective) {
    const ArcBatch batch = batch_of(arc, words, arcs, single_root);
    auto value = make<double>({batch.sentences});
    nb::gil_scoped_release release;
    if (projective) dependency_marginals<ProjectiveSums>(batch, nullptr, value.data(), {});
    else dependency_marginals<MatrixTreeSums>(batch, nullptr, value.data(), {});
    return value;
}

template <class S>
Sums<S> marginals(In<S> arc, Offsets words, Offsets arcs, bool single_root, bool projective,
                  std::optional<In<double>> weights) {
    const ArcBatch batch = batch_of(arc, words, arcs, single_root);
    const double* weight = weights_of(weights, batch.sentences);
    auto value = make<double>({batch.sentences});
    auto parts = make<S>({arc.shape(0), arc.shape(1)});
    {
        nb::gil_scoped_release release;
        if (projective) dependency_marginals<ProjectiveSums>(batch, weight, value.data(), parts.data());
        else dependency_marginals<MatrixTreeSums>(batch, weight, value.data(), parts.data());
    }
    return {value, parts};
}

template <class S>
Sums<S> covariance(In<S> arc, Offsets words, Offsets arcs, bool single_root, bool projective, In<S> direction,
                   std::optional<In<double>> weights) {
    const ArcBatch batch = batch_of(arc, words, arcs, single_root);
    require_shape(direction, "direction", {arc.shape(0), arc.shape(1)});
    const double* weight = weights_of(weights, batch.sentences);
    auto value = make<double>({batch.sentences});
    auto change = make<S>({arc.shape(0), arc.shape(1)});
    {
        nb::gil_scoped_release release;
        if (projective)
            dependency_covariance<ProjectiveSums>(batch, direction.data(), weight, value.data(), change.data());
        else dependency_covariance<MatrixTreeSums>(batch, direction.data(), weight, value.data(), change.data());
    }
    return {value, change};
}

std::size_t words_of(const ArcBatch& batch) {
    return static_cast<std::size_t>(batch.first_word[batch.sentences]);
}

template <class S>
Out<double> entropy(In<S> arc, Offsets words, Offsets arcs, bool single_root, bool projective, In<std::int32_t> best) {
    const ArcBatch batch = batch_of(arc, words, arcs, single_root);
    require_shape(best, "best", {words_of(batch)});
    for (std::size_t s = 0; s < batch.sentences; ++s)
        if (!all_below(best.data() + batch.word(s), batch.words(s), (batch.words(s) + 1) * batch.labels))
            throw std::invalid_argument("best holds no output of sentence " + std::to_string(s) + ".");
    auto value = make<double>({batch.sentences});
    nb::gil_scoped_release release;
    if (projective) dependency_entropy<ProjectiveSums>(batch, best.data(), value.data());
    else dependency_entropy<MatrixTreeSums>(batch, best.data(), value.data());
    return value;
}

template <class S> Labelled argmax(In<S> arc, Offsets words, Offsets arcs, bool single_root, bool projective) {
    const ArcBatch batch = batch_of(arc, words, arcs, single_root);
    auto output = make<std::int32_t>({words_of(batch)});
    auto value = make<double>({batch.sentences});
    {
        nb::gil_scoped_release release;
        dependency_argmax(batch, projective, output.data(), value.data());
    }
    return {output, value};
}

template <class S>
Labelled kbest(In<S> arc, Offsets words, Offsets arcs, bool single_root, bool projective, std::size_t k) {
    const ArcBatch batch = batch_of(arc, words, arcs, single_root);
    auto output = make<std::int32_t>({k, words_of(batch)});
    auto value = make<double>({batch.sentences, k});
    {
        nb::gil_scoped_release release;
        dependency_kbest(batch, projective, k, output.data(), value.data());
    }
    return {output, value};
}

template <class S>
Labelled sample(In<S> arc, Offsets words, Offsets arcs, bool single_root, bool projective, std::size_t count,
                std::uint64_t seed) {
    const ArcBatch batch = batch_of(arc, words, arcs, single_root);
    auto output = make<std::int32_t>({count, words_of(batch)});
    auto value = make<double>({batch.sentences});
    {
        nb::gil_scoped_release release;
        dependency_sample(batch, projective, count, seed, output.data(), value.data());
    }
    return {output, value};
}

// Sentence, word (from 1) and kind of the first fault; kind 0 where there is none.
std::tuple<std::size_t, std::size_t, int> fault(In<std::int32_t> heads, Offsets words, bool single_root,
                                                bool projective) {
    require_offsets(words, "words", length_of(heads, "heads"));
    TreeFaults faults;
    for (std::size_t s = 0; s + 1 < words.shape(0); ++s) {
        const auto first = static_cast<std::size_t>(words.data()[s]),
                   end = static_cast<std::size_t>(words.data()[s + 1]);
        const FaultAt found = faults.first(end - first, heads.data() + first, single_root, projective);
        if (found.fault != TreeFault::none) return {s, found.word, static_cast<int>(found.fault)};
    }
    return {0, 0, 0};
}

template <class S> void add_functions(nb::module_& m) {
    using namespace nb::literals;
    const auto a = nb::arg("arc").noconvert(), w = nb::arg("words").noconvert(), o = nb::arg("arcs").noconvert();
    const auto r = nb::arg("single_root"), p = nb::arg("projective");
    m.def("dependency_log_partition", &log_partition<S>, a, w, o, r, p);
    m.def("dependency_marginals", &marginals<S>, a, w, o, r, p, "weights"_a = nb::none());
    m.def("dependency_covariance", &covariance<S>, a, w, o, r, p, nb::arg("direction").noconvert(),
          "weights"_a = nb::none());
    m.def("dependency_entropy", &entropy<S>, a, w, o, r, p, nb::arg("best").noconvert());
    m.def("dependency_argmax", &argmax<S>, a, w, o, r, p);
    m.def("dependency_kbest", &kbest<S>, a, w, o, r, p, "k"_a);
    m.def("dependency_sample", &sample<S>, a, w, o, r, p, "count"_a, "seed"_a);
}

}  // namespace

void add_dependency(nb::module_& m) {
    add_functions<double>(m);
    add_functions<float>(m);
    m.def("dependency_fault", &fault, nb::arg("heads").noconvert(), nb::arg("words").noconvert(),
          nb::arg("single_root"), nb::arg("projective"));
}

}  // namespace kernelfields::bindings
