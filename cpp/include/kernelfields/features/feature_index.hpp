// A fitted set of features: which values of which templates have a column.
#pragma once

#include "clique_extraction.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kernelfields {

// What defines an index: the strings of each channel, and for each column the number of its template
// followed by its values, one column behind the other.
struct FeatureState {
    std::vector<StringPool> pools;
    std::vector<std::int32_t> features;
};

class FeatureIndex {
public:
    FeatureIndex(TemplateSet set, FeatureState state)
        : set_(std::move(set)), state_(std::move(state)), encoder_(set_, {&set_, &state_.pools}, known_words()) {
        if (state_.pools.size() != set_.channels.size()) throw std::invalid_argument("Strings of another template.");
        std::vector<std::size_t> sizes;
        for (std::size_t k = 0; k < state_.pools.size(); ++k)
            sizes.push_back(set_.reserved(k) + state_.pools[k].size());
        for (const auto& parts : set_.templates) plans_.emplace_back(parts, sizes);
        locate(sizes);
        index();
        tabulate();
    }
    FeatureIndex(const FeatureIndex&) = delete;

    std::size_t size() const { return starts_.size(); }
    const FeatureState& state() const { return state_; }
    const TemplateSet& templates() const { return set_; }

    Rows rows(const Tokens& tokens) const {
        const auto find = [&](std::size_t j, auto& space, std::int32_t* out) {
            const auto& parts = set_.templates[j];
            const TokenSource<std::int32_t> source{space.block, tokens};
            if (parts.size() == 1 && indices_[j].is_array()) {  // the value is the key
                source.each(parts[0], [&](const std::int32_t* values, std::size_t at, std::size_t T) {
                    indices_[j].look_up(values, T, out + at);
                });
            } else {
                KeyPlan::keys<false>(plans_[j], source, space.keys);
                indices_[j].find(space.keys, out);
            }
        };
        return extract<std::int32_t>(tokens, plans_.size(), encoder_, find);
    }

    Rows rows(const Cliques& cliques) const {
        return extract_cliques<std::int32_t>(cliques, set_, encoder_,
                                             [&](std::size_t j, const auto& source, auto& space, std::int32_t* out) {
                                                 KeyPlan::keys<false>(plans_[j], source, space.keys);
                                                 indices_[j].find(space.keys, out);
                                             });
    }

    // A text for each column, unlike any other's: the template's, then values with & and \ escaped.
    std::string name(std::size_t column, const std::vector<std::string>& texts) const {
        const std::int32_t* feature = state_.features.data() + starts_[column];
        const auto j = static_cast<std::size_t>(feature[0]);
        std::string text = texts[j];
        for (std::size_t p = 0; p < set_.templates[j].size(); ++p) {
            text += p ? '&' : '=';
            append_value(text, set_.templates[j][p].channel, static_cast<std::size_t>(feature[p + 1]));
        }
        return text;
    }

private:
    // Words that are values themselves: the others are looked at anew in each block.
    std::vector<const StringPool*> known_words() const {
        static const StringPool empty;
        std::vector<const StringPool*> known(set_.columns, &empty);
        for (std::size_t k = 0; k < std::min(set_.channels.size(), state_.pools.size()); ++k)
            if (set_.channels[k].transform == Transform::word)
                known[static_cast<std::size_t>(set_.channels[k].column)] = &state_.pools[k];
        return known;
    }

    void locate(const std::vector<std::size_t>& sizes) {
        const std::vector<std::int32_t>& all = state_.features;
        for (std::size_t at = 0; at < all.size();) {
            starts_.push_back(at);
            if (all[at] < 0 || static_cast<std::size_t>(all[at]) >= set_.templates.size())
                throw std::invalid_argument("A feature of no template.");
            const auto& parts = set_.templates[static_cast<std::size_t>(all[at++])];
            if (all.size() - at < parts.size()) throw std::invalid_argument("A feature breaks off.");
            for (const TemplatePart& part : parts)
                if (const std::int32_t v = all[at++]; v < 0 || static_cast<std::size_t>(v) >= sizes[part.channel])
                    throw std::invalid_argument("A feature has a value of no string.");
        }
        if (starts_.size() > 0x7FFFFFFF) throw std::length_error("More than 2^31 features.");
    }

    void index() {
        std::vector<std::size_t> expected(plans_.size());
        for (const std::size_t at : starts_) ++expected[static_cast<std::size_t>(state_.features[at])];
        for (std::size_t j = 0; j < plans_.size(); ++j) indices_.emplace_back(plans_[j].bound(), expected[j]);
        for (std::size_t column = 0; column < starts_.size(); ++column) {
            const std::int32_t* feature = state_.features.data() + starts_[column];
            const auto j = static_cast<std::size_t>(feature[0]);
            if (!indices_[j].add(plans_[j].learn(feature + 1), static_cast<std::int32_t>(column)))
                throw std::invalid_argument("A feature occurs twice.");
        }
    }

    void tabulate() {
        const auto known = known_words();
        for (std::size_t k = 0; k < set_.channels.size(); ++k) {
            if (set_.channels[k].column < 0) continue;
            const StringPool& words = *known[static_cast<std::size_t>(set_.channels[k].column)];
            std::vector<std::int32_t> table(words.size());
            constexpr std::size_t piece = 4096;
            const int threads = threads_for(100.0 * static_cast<double>(words.size()));
            for_each_block((words.size() + piece - 1) / piece, threads, [&](std::size_t b, std::size_t) {
                std::string space;
                for (std::size_t w = b * piece; w < std::min(words.size(), (b + 1) * piece); ++w)
                    table[w] = encoder_.value(k, words[w], space);
            });
            encoder_.tabulate(k, std::move(table));
        }
    }

    void append_value(std::string& text, std::size_t channel, std::size_t value) const {
        const std::size_t reserved = set_.reserved(channel);
        const Transform transform = set_.channels[channel].transform;
        if (is_measure(transform)) {
            text += measure_text(transform, value);
        } else if (is_predicate(transform)) {
            text += '1';
        } else if (value < reserved) {
            const bool before = value < set_.margin;
            text += before ? "__BOS" : "__EOS";
            text += std::to_string(before ? value + 1 : value - set_.margin + 1) + "__";
        } else {
            const std::string_view word = state_.pools[channel][value - reserved];
            if (word.starts_with("__")) text += '\\';
            for (const char c : word) {
                if (c == '&' || c == '\\') text += '\\';
                text += c;
            }
        }
    }

    TemplateSet set_;
    FeatureState state_;
    Encoder<ExactValues> encoder_;
    std::vector<KeyPlan> plans_;
    std::vector<KeyIndex> indices_;
    std::vector<std::size_t> starts_;
};

// The hashing trick: no vocabulary, columns may be shared. `seeds` tell templates apart.
inline Rows hashed_rows(const TemplateSet& set, const std::vector<std::uint64_t>& seeds, std::uint64_t mask,
                        const Tokens& tokens) {
    static const StringPool empty;
    const Encoder<HashedValues> encoder(set, {}, std::vector<const StringPool*>(set.columns, &empty));
    return extract<std::uint64_t>(tokens, set.templates.size(), encoder,
                                  [&](std::size_t j, auto& space, std::int32_t* out) {
                                      hash_columns(TokenSource<std::uint64_t>{space.block, tokens}, set.templates[j],
                                                   seeds[j], mask, out);
                                  });
}

inline Rows hashed_rows(const TemplateSet& set, const std::vector<std::uint64_t>& seeds, std::uint64_t mask,
                        const Cliques& cliques) {
    static const StringPool empty;
    const Encoder<HashedValues> encoder(set, {}, std::vector<const StringPool*>(set.columns, &empty));
    return extract_cliques<std::uint64_t>(cliques, set, encoder,
                                          [&](std::size_t j, const auto& source, auto&, std::int32_t* out) {
                                              hash_columns(source, set.templates[j], seeds[j], mask, out);
                                          });
}

}  // namespace kernelfields
