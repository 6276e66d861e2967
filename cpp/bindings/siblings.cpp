#include "kernelfields/structures/siblings.hpp"
#include "pairwise.hpp"

#include <array>

namespace kernelfields::bindings {
namespace {

using Offsets = In<std::int64_t>;
using Weights = std::optional<In<double>>;
using Parts = std::tuple<Out<double>, Out<double>, Out<double>>;

// Rows (head, inner, outer) of one sentence: the outer word is on one side of the head, the inner one between them or
// the head itself; in order of head, outer and inner word.
void require_rows(const std::int32_t* row, std::size_t count, std::int32_t words) {
    std::array<std::int32_t, 3> before{-1, -1, -1};
    for (std::size_t r = 0; r < count; ++r, row += 3) {
        const std::int32_t head = row[0], inner = row[1], outer = row[2];
        const bool inside = inner == head || (head < inner && inner < outer) || (outer < inner && inner < head);
        if (head < 0 || head > words || outer < 1 || outer > words || head == outer || !inside)
            throw std::invalid_argument("A row of siblings is none of head, inner and outer word.");
        const std::array<std::int32_t, 3> key{head, outer, inner};
        if (!(before < key)) throw std::invalid_argument("Rows of siblings must be sorted and different.");
        before = key;
    }
}

// Scores of a batch, checked.
SiblingBatch batch_of(const In<double>& arc, const Offsets& words, const Offsets& arcs, const In<std::int32_t>& row,
                      const Offsets& rows, const In<double>& sibling, bool single_root) {
    const std::size_t sentences = length_of(words, "words") - 1;
    require_offsets(words, "words", static_cast<std::size_t>(words.data()[sentences]));
    require_shape(arcs, "arcs", {sentences + 1});
    require_offsets(arcs, "arcs", length_of(arc, "arc"));
    require_shape(rows, "rows", {sentences + 1});
    require_offsets(rows, "rows", length_of(sibling, "sibling"));
    require_shape(row, "row", {sibling.shape(0), 3});
    for (std::size_t s = 0; s < sentences; ++s) {
        const std::int64_t n = words.data()[s + 1] - words.data()[s];
        if (arcs.data()[s + 1] - arcs.data()[s] != n * (n + 1))
            throw std::invalid_argument("arcs has no n (n + 1) rows for sentence " + std::to_string(s) + ".");
        const std::int64_t from = rows.data()[s];
        require_rows(row.data() + 3 * from, static_cast<std::size_t>(rows.data()[s + 1] - from),
                     static_cast<std::int32_t>(n));
    }
    return {sentences, words.data(), arcs.data(), rows.data(), arc.data(), row.data(), sibling.data(), single_root};
}

std::size_t words_of(const SiblingBatch& batch) {
    return static_cast<std::size_t>(batch.first_word[batch.sentences]);
}

Out<double> zeros(std::size_t count) {
    auto result = make<double>({count});
    std::fill_n(result.data(), count, 0.0);
    return result;
}

Out<double> log_partition(In<double> arc, Offsets words, Offsets arcs, In<std::int32_t> row, Offsets rows,
                          In<double> sibling, bool single_root) {
    const SiblingBatch batch = batch_of(arc, words, arcs, row, rows, sibling, single_root);
    auto value = make<double>({batch.sentences});
    nb::gil_scoped_release release;
    sibling_marginals(batch, nullptr, value.data(), nullptr, nullptr);
    return value;
}

Parts marginals(In<double> arc, Offsets words, Offsets arcs, In<std::int32_t> row, Offsets rows, In<double> sibling,
                bool single_root, Weights weights) {
    const SiblingBatch batch = batch_of(arc, words, arcs, row, rows, sibling, single_root);
    const double* weight = weights_of(weights, batch.sentences);
    auto value = make<double>({batch.sentences});
    auto arc_part = zeros(arc.shape(0)), row_part = zeros(sibling.shape(0));
    nb::gil_scoped_release release;
    sibling_marginals(batch, weight, value.data(), arc_part.data(), row_part.data());
    return {value, arc_part, row_part};
}

Parts covariance(In<double> arc, Offsets words, Offsets arcs, In<std::int32_t> row, Offsets rows, In<double> sibling,
                 bool single_root, In<double> arc_along, In<double> sibling_along, Weights weights) {
    const SiblingBatch batch = batch_of(arc, words, arcs, row, rows, sibling, single_root);
    const double* weight = weights_of(weights, batch.sentences);
    require_shape(arc_along, "arc_along", {arc.shape(0)});
    require_shape(sibling_along, "sibling_along", {sibling.shape(0)});
    auto value = make<double>({batch.sentences});
    auto arc_part = zeros(arc.shape(0)), row_part = zeros(sibling.shape(0));
    nb::gil_scoped_release release;
    sibling_covariance(batch, arc_along.data(), sibling_along.data(), weight, value.data(), arc_part.data(),
                       row_part.data());
    return {value, arc_part, row_part};
}

Labelled argmax(In<double> arc, Offsets words, Offsets arcs, In<std::int32_t> row, Offsets rows, In<double> sibling,
                bool single_root) {
    const SiblingBatch batch = batch_of(arc, words, arcs, row, rows, sibling, single_root);
    auto heads = make<std::int32_t>({words_of(batch)});
    auto value = make<double>({batch.sentences});
    nb::gil_scoped_release release;
    sibling_argmax(batch, heads.data(), value.data());
    return {heads, value};
}

Labelled sample(In<double> arc, Offsets words, Offsets arcs, In<std::int32_t> row, Offsets rows, In<double> sibling,
                bool single_root, std::size_t count, std::uint64_t seed) {
    const SiblingBatch batch = batch_of(arc, words, arcs, row, rows, sibling, single_root);
    auto heads = make<std::int32_t>({count, words_of(batch)});
    auto value = make<double>({batch.sentences});
    nb::gil_scoped_release release;
    sibling_sample(batch, count, seed, heads.data(), value.data());
    return {heads, value};
}

}  // namespace

void add_siblings(nb::module_& m) {
    using namespace nb::literals;
    const auto a = nb::arg("arc").noconvert(), w = nb::arg("words").noconvert(), o = nb::arg("arcs").noconvert();
    const auto r = nb::arg("row").noconvert(), f = nb::arg("rows").noconvert(), s = nb::arg("sibling").noconvert();
    const auto one = nb::arg("single_root");
    m.def("sibling_log_partition", &log_partition, a, w, o, r, f, s, one);
    m.def("sibling_marginals", &marginals, a, w, o, r, f, s, one, "weights"_a = nb::none());
    m.def("sibling_covariance", &covariance, a, w, o, r, f, s, one, nb::arg("arc_along").noconvert(),
          nb::arg("sibling_along").noconvert(), "weights"_a = nb::none());
    m.def("sibling_argmax", &argmax, a, w, o, r, f, s, one);
    m.def("sibling_sample", &sample, a, w, o, r, f, s, one, "count"_a, "seed"_a);
}

}  // namespace kernelfields::bindings
