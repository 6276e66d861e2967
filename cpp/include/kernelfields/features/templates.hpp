// Templates: which values of which tokens make a feature, and the values of a block of sentences.
#pragma once

#include "cliques.hpp"
#include "transforms.hpp"
#include "vocabulary.hpp"
#include "word_paths.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelfields {

// One column of all tokens of a batch.
struct TokenColumn {
    std::string bytes;
    std::vector<std::size_t> ends;

    void push(std::string_view token) {
        bytes += token;
        ends.push_back(bytes.size());
    }
    std::string_view operator[](std::size_t token) const {
        const std::size_t start = token ? ends[token - 1] : 0;
        return std::string_view(bytes).substr(start, ends[token] - start);
    }
};

// Sentence s has tokens offsets[s] to offsets[s + 1].
struct Tokens {
    std::vector<TokenColumn> columns;
    std::vector<std::int64_t> offsets{0};

    std::size_t sentences() const { return offsets.size() - 1; }
    std::size_t size() const { return static_cast<std::size_t>(offsets.back()); }
    std::size_t start(std::size_t sentence) const { return static_cast<std::size_t>(offsets[sentence]); }
};

// What a column looks like through a transform: the source of values. Column -1 is none.
struct Channel {
    int column;
    Transform transform;
    bool operator==(const Channel&) const = default;
};

// A part looks at the place `offset` behind an anchor; of tokens there is one anchor, the token itself.
struct TemplatePart {
    std::size_t channel;
    int offset;
    Anchor anchor = Anchor::first;
};

// A template is a conjunction of parts; without parts it is true everywhere.
struct TemplateSet {
    static constexpr int farthest = 100;

    std::vector<Channel> channels;
    std::vector<std::vector<TemplatePart>> templates;
    std::size_t columns;
    std::size_t margin = 0;  // the largest distance to a neighbour
    bool marks;              // whether places beyond a sentence have values
    std::shared_ptr<const WordPaths> clusters;
    CliqueKind kind;

    TemplateSet(std::size_t templates_, std::size_t columns_, bool marks_, std::shared_ptr<const WordPaths> clusters_,
                CliqueKind kind_)
        : templates(templates_), columns(columns_), marks(marks_), clusters(std::move(clusters_)), kind(kind_) {
        margin = has_root(kind);  // the place before the first word
    }

    void add_part(std::size_t to, int column, int offset, int transform, int anchor) {
        if (to >= templates.size()) throw std::invalid_argument("A part belongs to no template.");
        if (!known_transform(transform)) throw std::invalid_argument("There is no transform of that number.");
        require_anchor(templates[to], static_cast<Transform>(transform), anchor);
        const bool place = is_place(static_cast<Transform>(transform)) || is_measure(static_cast<Transform>(transform));
        if (place ? column != -1 || offset != 0 : column < 0 || static_cast<std::size_t>(column) >= columns)
            throw std::invalid_argument("A part belongs to no column.");
        if (is_cluster(static_cast<Transform>(transform)) && !clusters)
            throw std::invalid_argument("A part needs clusters of words.");
        if (std::abs(offset) > farthest) throw std::invalid_argument("Offsets go up to 100.");
        const Channel channel{column, static_cast<Transform>(transform)};
        const auto found = std::find(channels.begin(), channels.end(), channel);
        const auto id = static_cast<std::size_t>(found - channels.begin());
        if (found == channels.end()) channels.push_back(channel);
        templates[to].push_back({id, offset, static_cast<Anchor>(anchor)});
        margin = std::max(margin, static_cast<std::size_t>(std::abs(offset)) + has_root(kind));
    }

    // Writes what a word looks like through a channel; false if it has no value.
    bool look(std::size_t channel, std::string_view word, std::string& out) const {
        const Transform transform = channels[channel].transform;
        if (!is_cluster(transform)) return apply(transform, word, out);
        return clusters->start_of(word, static_cast<int>(transform) - static_cast<int>(Transform::cluster), out);
    }

    // Values of a channel: first the marks of places before and behind a sentence, then strings. A
    // predicate has the value 0 where it holds, and none beyond a sentence.
    std::size_t reserved(std::size_t channel) const {
        if (is_measure(channels[channel].transform)) return kMeasures;
        return is_predicate(channels[channel].transform) ? 1 : 2 * margin;
    }

private:
    void require_anchor(const std::vector<TemplatePart>& before, Transform transform, int anchor) const {
        const bool tokens = kind == CliqueKind::tokens, between = anchor == static_cast<int>(Anchor::between);
        const bool third = anchor == static_cast<int>(Anchor::third);
        if (anchor < 0 || anchor > 3 || (tokens && anchor != 0) || (third && kind != CliqueKind::siblings))
            throw std::invalid_argument("There is no anchor of that number.");
        if (tokens ? is_measure(transform) : is_place(transform))
            throw std::invalid_argument("A transform is not for such templates.");
        if (transform == Transform::relative && kind != CliqueKind::pairs)
            throw std::invalid_argument("Relative places are for pairs.");
        if (!between) return;
        if (kind == CliqueKind::pairs) throw std::invalid_argument("Nothing is between the words of two sentences.");
        for (const TemplatePart& part : before)
            if (part.anchor == Anchor::between) throw std::invalid_argument("A template looks between anchors twice.");
    }
};

// The values of some sentences, channel by channel, each sentence with `margin` places on both sides.
template <class V> struct Block {
    std::size_t first = 0, last = 0;  // sentences
    std::vector<std::size_t> starts;  // the places of their first tokens
    std::vector<std::vector<V>> values;
    std::vector<StringPool> fresh;  // per column, words that the encoder does not know
    std::vector<std::uint32_t> words;
    std::vector<V> fresh_values;
};

// Tokens to values. `Values` has a type Value with a `nothing`, gives values to words, and marks.
template <class Values> class Encoder {
public:
    using V = typename Values::Value;

    // The words of column c that are known; they should be few enough to keep, many enough to help.
    Encoder(const TemplateSet& set, Values values, std::vector<const StringPool*> known)
        : set_(set), values_(std::move(values)), known_(std::move(known)) {}

    void tabulate(std::size_t channel, std::vector<V> table) {
        tables_.resize(set_.channels.size());
        tables_[channel] = std::move(table);
    }

    const Values& values() const { return values_; }

    V value(std::size_t channel, std::string_view word, std::string& space) const {
        if (!set_.look(channel, word, space)) return Values::nothing;
        return is_predicate(set_.channels[channel].transform) ? values_.yes() : values_.of(channel, space);
    }

    void fill(Block<V>& block, const Tokens& tokens, std::size_t first, std::size_t last) const {
        block.first = first;
        block.last = last;
        std::size_t places = 0;
        block.starts.clear();
        for (std::size_t s = first; s < last; ++s) {
            block.starts.push_back(places += set_.margin);
            places += tokens.start(s + 1) - tokens.start(s) + set_.margin;
        }
        block.fresh.resize(set_.columns);
        block.values.resize(set_.channels.size());
        for (auto& values : block.values) values.resize(places);
        for (std::size_t c = 0; c < set_.columns; ++c)
            if (used(c)) fill_column(block, tokens, c);
        for (std::size_t k = 0; k < set_.channels.size(); ++k) fill_margins(block, tokens, k);
    }

private:
    bool used(std::size_t column) const {
        return std::any_of(set_.channels.begin(), set_.channels.end(),
                           [&](const Channel& channel) { return channel.column == static_cast<int>(column); });
    }

    void fill_column(Block<V>& block, const Tokens& tokens, std::size_t c) const {
        const std::size_t start = tokens.start(block.first), count = tokens.start(block.last) - start;
        const auto known = static_cast<std::uint32_t>(known_[c]->size());
        StringPool& fresh = block.fresh[c];
        fresh.clear();
        block.words.resize(count);
        for (std::size_t t = 0; t < count; ++t) {
            const std::string_view word = tokens.columns[c][start + t];
            const std::uint64_t hash = hash_of(word);
            const std::int32_t id = known_[c]->find(word, hash);
            block.words[t] =
                id != none ? static_cast<std::uint32_t>(id) : known + static_cast<std::uint32_t>(fresh.add(word, hash));
        }
        for (std::size_t k = 0; k < set_.channels.size(); ++k)
            if (set_.channels[k].column == static_cast<int>(c)) fill_channel(block, tokens, k, known);
    }

    void fill_channel(Block<V>& block, const Tokens& tokens, std::size_t k, std::uint32_t known) const {
        const StringPool& fresh = block.fresh[static_cast<std::size_t>(set_.channels[k].column)];
        std::string space;
        block.fresh_values.resize(fresh.size());
        for (std::size_t id = 0; id < fresh.size(); ++id) block.fresh_values[id] = value(k, fresh[id], space);
        const V* const table = known ? tables_[k].data() : nullptr;
        const std::uint32_t* word = block.words.data();
        for (std::size_t s = block.first; s < block.last; ++s) {
            V* const out = block.values[k].data() + block.starts[s - block.first];
            const std::size_t T = tokens.start(s + 1) - tokens.start(s);
            for (std::size_t t = 0; t < T; ++t, ++word)
                out[t] = *word < known ? table[*word] : block.fresh_values[*word - known];
        }
    }

    void fill_margins(Block<V>& block, const Tokens& tokens, std::size_t k) const {
        const Transform transform = set_.channels[k].transform;
        if (is_measure(transform)) return;
        const bool marked = set_.marks && !is_predicate(transform);
        for (std::size_t s = block.first; s < block.last; ++s) {
            V* const out = block.values[k].data() + block.starts[s - block.first];
            const std::size_t T = tokens.start(s + 1) - tokens.start(s);
            for (std::size_t m = 1; m <= set_.margin; ++m) {
                *(out - m) = marked ? values_.mark(m - 1) : Values::nothing;
                out[T + m - 1] = marked ? values_.mark(set_.margin + m - 1) : Values::nothing;
            }
            if (set_.channels[k].column >= 0 || T == 0) continue;
            std::fill(out, out + T, Values::nothing);
            out[transform == Transform::begin ? 0 : T - 1] = values_.yes();
        }
    }

    const TemplateSet& set_;
    Values values_;
    std::vector<const StringPool*> known_;
    std::vector<std::vector<V>> tables_;
};

}  // namespace kernelfields
