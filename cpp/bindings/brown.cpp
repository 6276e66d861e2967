// Python face of brown.hpp and word_paths.hpp.
#include "kernelfields/features/brown.hpp"

#include "arrays.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <tuple>

namespace kernelfields::bindings {
namespace {

using Names = std::vector<std::string>;

std::shared_ptr<WordPaths> word_paths(const Names& words, const Names& paths) {
    if (words.size() != paths.size()) throw std::invalid_argument("There must be one path per word.");
    auto result = std::make_shared<WordPaths>();
    for (std::size_t w = 0; w < words.size(); ++w) result->add(words[w], paths[w]);
    return result;
}

std::tuple<Names, Out<std::int64_t>> words_of(const BrownClustering& brown) {
    const Bigrams& text = brown.text();
    Names words;
    auto counts = make<std::int64_t>({text.size()});
    for (std::size_t w = 0; w < text.size(); ++w) {
        words.emplace_back(text.word(w));
        counts.data()[w] = text.count(w);
    }
    return {words, counts};
}

std::tuple<Out<std::int32_t>, Out<double>> merges_of(const BrownClustering& brown) {
    const auto& merges = brown.merges();
    auto pairs = make<std::int32_t>({merges.size(), 2});
    auto losses = make<double>({merges.size()});
    for (std::size_t m = 0; m < merges.size(); ++m) {
        pairs.data()[2 * m] = merges[m].first;
        pairs.data()[2 * m + 1] = merges[m].second;
        losses.data()[m] = merges[m].loss;
    }
    return {pairs, losses};
}

}  // namespace

void add_brown(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<WordPaths>(m, "WordPaths", "Words and the paths of their clusters.")
        .def(nb::new_(&word_paths), "words"_a, "paths"_a)
        .def("__len__", &WordPaths::size);
    nb::class_<BrownClustering>(m, "BrownClustering", "Greedy merges of words.")
        .def(
            "__init__",
            [](BrownClustering* self, const Tokens& tokens, std::size_t clusters, std::int64_t min_count) {
                if (tokens.columns.size() != 1) throw std::invalid_argument("Words are one column.");
                nb::gil_scoped_release release;
                new (self) BrownClustering(Bigrams(tokens.columns[0], tokens.offsets, min_count), clusters);
            },
            "tokens"_a, "clusters"_a, "min_count"_a)
        .def("insert", &BrownClustering::insert, "words"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("join", &BrownClustering::join, "merges"_a, nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("pairs", [](const BrownClustering& brown) { return brown.text().pairs(); })
        .def("words", &words_of)
        .def("paths", &BrownClustering::paths)
        .def("merges", &merges_of);
}

}  // namespace kernelfields::bindings
