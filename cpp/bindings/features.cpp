// Python face of templates.hpp and what stands on it.
#include "kernelfields/features/feature_counts.hpp"

#include "arrays.hpp"
#include "tokens.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>
#include <tuple>

namespace kernelfields::bindings {
namespace {

using Sparse = std::tuple<Out<std::int64_t>, Out<std::int32_t>, Out<std::int64_t>>;
using State = std::tuple<Out<std::uint8_t>, Out<std::int64_t>, Out<std::int64_t>, Out<std::int32_t>>;
using Names = std::vector<std::string>;
using Clusters = std::shared_ptr<WordPaths>;
using Keep = std::optional<In<std::uint8_t>>;
using Siblings = std::optional<std::tuple<In<std::int32_t>, In<std::int64_t>>>;  // rows and offsets

template <class T, class From> Out<T> copied(const From* from, std::size_t size) {
    auto out = make<T>({size});
    std::copy(from, from + size, out.data());
    return out;
}

// Rows of (template, column, offset, transform, anchor).
TemplateSet read_templates(const In<std::int32_t>& parts, std::size_t templates, std::size_t columns, bool marks,
                           const Clusters& clusters, int kind) {
    if (parts.ndim() != 2 || parts.shape(1) != 5)
        throw std::invalid_argument("parts has shape " + shape_of(parts) + ", expected (parts, 5).");
    if (!known_kind(kind)) throw std::invalid_argument("There is no kind of cliques of that number.");
    TemplateSet set(templates, columns, marks, clusters, static_cast<CliqueKind>(kind));
    for (std::size_t p = 0; p < parts.shape(0); ++p) {
        const std::int32_t* row = parts.data() + 5 * p;
        if (row[0] < 0) throw std::invalid_argument("A part belongs to no template.");
        set.add_part(static_cast<std::size_t>(row[0]), row[1], row[2], row[3], row[4]);
    }
    return set;
}

void require_columns(const TemplateSet& set, const Tokens& tokens) {
    if (tokens.columns.size() != set.columns)
        throw std::invalid_argument("The tokens have " + std::to_string(tokens.columns.size()) +
                                    " columns, the templates " + std::to_string(set.columns) + ".");
}

// Siblings of sentences, every word of them being one.
Cliques siblings_of(const Tokens& tokens, const Siblings& given) {
    const auto& [rows, offsets] = *given;
    require_shape(offsets, "offsets", {tokens.sentences() + 1});
    require_shape(rows, "siblings", {rows.shape(0), 3});
    require_offsets(offsets, "offsets", rows.shape(0));
    for (std::size_t s = 0; s < tokens.sentences(); ++s) {
        const auto n = static_cast<std::int32_t>(tokens.start(s + 1) - tokens.start(s));
        for (std::int64_t r = offsets.data()[s]; r < offsets.data()[s + 1]; ++r) {
            const std::int32_t* const row = rows.data() + 3 * r;
            const auto [low, high] = std::minmax({row[0], row[1], row[2]});
            if (low < 0 || high > n || row[2] == 0)
                throw std::invalid_argument("Row " + std::to_string(r) + " of siblings has words that sentence " +
                                            std::to_string(s) + " has not.");
        }
    }
    return {tokens, {rows.data(), {offsets.data(), offsets.data() + offsets.size()}}};
}

// The cliques of sentences, or of pairs of sentences; of a kind that is not that of tokens.
Cliques cliques_of(const TemplateSet& set, const Tokens& tokens, const Tokens* others, const Keep& keep,
                   const Siblings& siblings) {
    const bool pairs = set.kind == CliqueKind::pairs;
    require_columns(set, tokens);
    if ((set.kind == CliqueKind::siblings) != siblings.has_value())
        throw std::invalid_argument("Siblings, and no other cliques, are listed.");
    if (siblings) return siblings_of(tokens, siblings);
    if (pairs != (others != nullptr)) throw std::invalid_argument("Pairs, and no other cliques, have two sentences.");
    if (pairs && others->sentences() != tokens.sentences())
        throw std::invalid_argument("There are not as many sentences on both sides.");
    if (pairs) require_columns(set, *others);
    Cliques cliques(set.kind, tokens, pairs ? *others : tokens, keep ? keep->data() : nullptr);
    if (keep) require_shape(*keep, "keep", {cliques.size()});
    return cliques;
}

template <class Batch, class Extract>
Sparse sparse_rows(const Batch& tokens, const std::vector<std::int64_t>& offsets, Extract extract) {
    Rows rows;
    {
        nb::gil_scoped_release release;
        rows = extract();
    }
    auto indptr = make<std::int64_t>({tokens.size() + 1});
    auto indices = make<std::int32_t>({rows.size()});
    {
        nb::gil_scoped_release release;
        rows.write(indptr.data(), indices.data());
    }
    return {indptr, indices, copied<std::int64_t>(offsets.data(), offsets.size())};
}

// extract(tokens) or extract(cliques), as the templates say.
template <class Extract>
Sparse rows_of(const TemplateSet& set, const Tokens& tokens, const Tokens* others, const Keep& keep,
               const Siblings& siblings, Extract extract) {
    if (set.kind == CliqueKind::tokens) {
        require_columns(set, tokens);
        return sparse_rows(tokens, tokens.offsets, [&] { return extract(tokens); });
    }
    const Cliques cliques = cliques_of(set, tokens, others, keep, siblings);
    return sparse_rows(cliques, cliques.offsets(), [&] { return extract(cliques); });
}

std::unique_ptr<FeatureIndex> fit(const Tokens& tokens, In<std::int32_t> parts, std::size_t templates, bool marks,
                                  std::int64_t min_count, bool by_frequency, const Clusters& clusters, int kind,
                                  const Tokens* others, const Keep& keep, const Siblings& siblings) {
    TemplateSet set = read_templates(parts, templates, tokens.columns.size(), marks, clusters, kind);
    std::optional<Cliques> cliques;
    if (set.kind != CliqueKind::tokens) cliques = cliques_of(set, tokens, others, keep, siblings);
    nb::gil_scoped_release release;
    const FeatureCounts counts = cliques ? FeatureCounts(set, *cliques) : FeatureCounts(set, tokens);
    FeatureState state = counts.choose(min_count, by_frequency);
    return std::make_unique<FeatureIndex>(std::move(set), std::move(state));
}

// Untrusted: may come from a file.
FeatureState read_state(const In<std::uint8_t>& bytes, const In<std::int64_t>& ends, const In<std::int64_t>& sizes,
                        const In<std::int32_t>& features) {
    FeatureState state{std::vector<StringPool>(sizes.size()),
                       std::vector<std::int32_t>(features.data(), features.data() + features.size())};
    std::size_t string = 0;
    std::int64_t start = 0;
    for (std::size_t k = 0; k < sizes.size(); ++k)
        for (std::int64_t n = 0; n < sizes.data()[k]; ++n, ++string) {
            const std::int64_t end = string < ends.size() ? ends.data()[string] : -1;
            if (end < start || static_cast<std::size_t>(end) > bytes.size())
                throw std::invalid_argument("The ends of strings do not fit their bytes.");
            const auto* text = reinterpret_cast<const char*>(bytes.data()) + start;
            if (state.pools[k].add({text, static_cast<std::size_t>(end - start)}) != n)
                throw std::invalid_argument("A string occurs twice.");
            start = end;
        }
    return state;
}

State state_of(const FeatureIndex& index) {
    std::string bytes;
    std::vector<std::size_t> ends, sizes;
    for (const StringPool& pool : index.state().pools) {
        for (std::size_t id = 0; id < pool.size(); ++id) {
            bytes += pool[id];
            ends.push_back(bytes.size());
        }
        sizes.push_back(pool.size());
    }
    const auto& features = index.state().features;
    return {copied<std::uint8_t>(bytes.data(), bytes.size()), copied<std::int64_t>(ends.data(), ends.size()),
            copied<std::int64_t>(sizes.data(), sizes.size()), copied<std::int32_t>(features.data(), features.size())};
}

Names names_of(const FeatureIndex& index, const Names& texts) {
    if (texts.size() != index.templates().templates.size())
        throw std::invalid_argument("There must be one text per template.");
    Names names;
    for (std::size_t column = 0; column < index.size(); ++column) names.push_back(index.name(column, texts));
    return names;
}

Sparse hashed(const Tokens& tokens, In<std::int32_t> parts, const Names& texts, bool marks, int bits,
              const Clusters& clusters, int kind, const Tokens* others, const Keep& keep, const Siblings& siblings) {
    const TemplateSet set = read_templates(parts, texts.size(), tokens.columns.size(), marks, clusters, kind);
    if (bits < 1 || bits > 31) throw std::invalid_argument("bits must be 1 to 31.");
    std::vector<std::uint64_t> seeds;
    for (const std::string& text : texts) seeds.push_back(hash_of(text));
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    return rows_of(set, tokens, others, keep, siblings,
                   [&](const auto& batch) { return hashed_rows(set, seeds, mask, batch); });
}

}  // namespace

void add_features(nb::module_& m) {
    using namespace nb::literals;
    const auto others = nb::arg("others").none() = nb::none();
    const auto keep = nb::arg("keep").noconvert().none() = nb::none();
    const auto siblings = nb::arg("siblings").none() = nb::none();
    nb::class_<Tokens>(m, "Tokens", "Sentences, packed column by column.")
        .def_prop_ro("sentences", &Tokens::sentences)
        .def("__len__", &Tokens::size);
    m.def("pack_tokens", &pack_tokens, "sentences"_a, "columns"_a);
    nb::class_<FeatureIndex>(m, "FeatureIndex", "Which values of which templates have a column.")
        .def(
            "__init__",
            [](FeatureIndex* self, In<std::int32_t> parts, std::size_t templates, std::size_t columns, bool marks,
               In<std::uint8_t> bytes, In<std::int64_t> ends, In<std::int64_t> sizes, In<std::int32_t> features,
               const Clusters& clusters, int kind) {
                new (self) FeatureIndex(read_templates(parts, templates, columns, marks, clusters, kind),
                                        read_state(bytes, ends, sizes, features));
            },
            nb::arg("parts").noconvert(), "templates"_a, "columns"_a, "marks"_a, nb::arg("bytes").noconvert(),
            nb::arg("ends").noconvert(), nb::arg("sizes").noconvert(), nb::arg("features").noconvert(),
            nb::arg("clusters").none() = nb::none(), "kind"_a = 0)
        .def("__len__", &FeatureIndex::size)
        .def(
            "rows",
            [](const FeatureIndex& index, const Tokens& tokens, const Tokens* others, const Keep& keep,
               const Siblings& siblings) {
                return rows_of(index.templates(), tokens, others, keep, siblings,
                               [&](const auto& batch) { return index.rows(batch); });
            },
            "tokens"_a, others, keep, siblings)
        .def("names", &names_of, "texts"_a)
        .def("state", &state_of);
    m.def("fit_features", &fit, "tokens"_a, nb::arg("parts").noconvert(), "templates"_a, "marks"_a, "min_count"_a,
          "by_frequency"_a, nb::arg("clusters").none() = nb::none(), "kind"_a = 0, others, keep, siblings);
    m.def("hashed_features", &hashed, "tokens"_a, nb::arg("parts").noconvert(), "texts"_a, "marks"_a, "bits"_a,
          nb::arg("clusters").none() = nb::none(), "kind"_a = 0, others, keep, siblings);
}

}  // namespace kernelfields::bindings
