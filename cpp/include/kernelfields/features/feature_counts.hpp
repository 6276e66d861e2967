// Counting the features of a batch, and choosing those that get a column.
#pragma once

#include "extraction.hpp"
#include "feature_index.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace kernelfields {

// The features of one template as they first appear.
struct TemplateCounts {
    KeyTable numbers;
    std::vector<std::int64_t> counts, firsts;  // how often; in which row first
    std::vector<std::int32_t> values;          // parts per feature
};

class FeatureCounts {
public:
    FeatureCounts(const TemplateSet& set, const Tokens& tokens) : FeatureCounts(set, tokens, {&tokens}) {}
    FeatureCounts(const TemplateSet& set, const Cliques& cliques)
        : FeatureCounts(set, cliques, {&cliques.first(), &cliques.second()}) {}

    // Features with at least `least` occurrences, the most frequent first or the first first.
    FeatureState choose(std::int64_t least, bool by_frequency) const {
        struct Choice {
            std::int64_t count, first;
            std::size_t j, feature;
        };
        std::vector<Choice> chosen;
        for (std::size_t j = 0; j < counts_.size(); ++j)
            for (std::size_t f = 0; f < counts_[j].counts.size(); ++f)
                if (counts_[j].counts[f] >= least)
                    chosen.push_back({by_frequency ? -counts_[j].counts[f] : 0, counts_[j].firsts[f], j, f});
        std::sort(chosen.begin(), chosen.end(), [](const Choice& a, const Choice& b) {
            return std::tie(a.count, a.first, a.j, a.feature) < std::tie(b.count, b.first, b.j, b.feature);
        });
        FeatureState state{std::vector<StringPool>(pools_.size()), {}};
        for (const Choice& choice : chosen) {
            const auto& parts = set_.templates[choice.j];
            const std::int32_t* values = counts_[choice.j].values.data() + choice.feature * parts.size();
            state.features.push_back(static_cast<std::int32_t>(choice.j));
            for (std::size_t p = 0; p < parts.size(); ++p)
                state.features.push_back(renumber(state, parts[p].channel, values[p]));
        }
        return state;
    }

private:
    template <class Rows>
    FeatureCounts(const TemplateSet& set, const Rows& rows, std::initializer_list<const Tokens*> sides)
        : set_(set), words_(set.columns), pools_(set.channels.size()), counts_(set.templates.size()) {
        for (const Tokens* tokens : sides)
            for (std::size_t c = 0; c < set.columns; ++c)
                for (std::size_t t = 0; t < tokens->size(); ++t) words_[c].add(tokens->columns[c][t]);
        std::vector<const StringPool*> known;
        for (const StringPool& words : words_) known.push_back(&words);
        Encoder<ExactValues> encoder(set_, {&set_, &pools_}, known);
        std::vector<std::size_t> sizes;
        for (std::size_t k = 0; k < set.channels.size(); ++k) sizes.push_back(tabulate(encoder, k));
        for (const auto& parts : set.templates) plans_.emplace_back(parts, sizes);
        count(encoder, rows);
    }

    // Only strings that some feature needs are kept, those of frequent features side by side.
    std::int32_t renumber(FeatureState& state, std::size_t channel, std::int32_t value) const {
        const auto reserved = static_cast<std::int32_t>(set_.reserved(channel));
        if (value < reserved) return value;
        return reserved + state.pools[channel].add(pools_[channel][static_cast<std::size_t>(value - reserved)]);
    }

    std::size_t tabulate(Encoder<ExactValues>& encoder, std::size_t k) {
        const Channel channel = set_.channels[k];
        const auto reserved = static_cast<std::int32_t>(set_.reserved(k));
        if (channel.column >= 0) {
            const StringPool& words = words_[static_cast<std::size_t>(channel.column)];
            std::vector<std::int32_t> table(words.size(), none);
            std::string space;
            for (std::size_t w = 0; w < words.size(); ++w)
                if (set_.look(k, words[w], space))
                    table[w] = is_predicate(channel.transform) ? 0 : reserved + pools_[k].add(space);
            encoder.tabulate(k, std::move(table));
        }
        return static_cast<std::size_t>(reserved) + pools_[k].size();
    }

    void count(const Encoder<ExactValues>& encoder, const Tokens& tokens) {
        const std::vector<std::size_t> cuts = cut_blocks(tokens);
        Block<std::int32_t> block;
        for (std::size_t b = 0; b + 1 < cuts.size(); ++b) {
            encoder.fill(block, tokens, cuts[b], cuts[b + 1]);
            for (std::size_t j = 0; j < plans_.size(); ++j) count_keys(j, TokenSource<std::int32_t>{block, tokens});
        }
    }

    void count(const Encoder<ExactValues>& encoder, const Cliques& cliques) {
        const std::vector<std::size_t> cuts = cliques.cut();
        CliqueBlock<std::int32_t> block;
        for (std::size_t b = 0; b + 1 < cuts.size(); ++b) {
            block.fill(cliques, set_, encoder, cuts[b], cuts[b + 1]);
            for (std::size_t j = 0; j < plans_.size(); ++j) count_keys(j, block.source(set_.templates[j]));
        }
    }

    template <class Source> void count_keys(std::size_t j, const Source& source) {
        TemplateCounts& counts = counts_[j];
        const std::vector<TemplatePart>& parts = set_.templates[j];
        const std::size_t before = counts.counts.size();
        KeyPlan::keys<true>(plans_[j], source, keys_);
        fresh_.clear();
        for (std::size_t t = 0; t < keys_.size(); ++t) {
            if (keys_[t] < 0) continue;
            const auto next = static_cast<std::int32_t>(counts.counts.size());
            const std::int32_t feature = counts.numbers.add(static_cast<std::uint64_t>(keys_[t]), next);
            if (feature == next) {
                counts.counts.push_back(0);
                counts.firsts.push_back(static_cast<std::int64_t>(source.first_row() + source.row(t)));
                fresh_.push_back(t);
            }
            ++counts.counts[static_cast<std::size_t>(feature)];
        }
        if (fresh_.empty()) return;
        counts.values.resize(counts.counts.size() * parts.size());
        for (std::size_t p = 0; p < parts.size(); ++p) {
            std::size_t f = 0;
            source.each(parts[p], [&](const std::int32_t* values, std::size_t at, std::size_t T) {
                for (; f < fresh_.size() && fresh_[f] < at + T; ++f)
                    counts.values[(before + f) * parts.size() + p] = values[fresh_[f] - at];
            });
        }
    }

    const TemplateSet& set_;
    std::vector<StringPool> words_, pools_;
    std::vector<KeyPlan> plans_;
    std::vector<TemplateCounts> counts_;
    std::vector<std::int64_t> keys_;
    std::vector<std::size_t> fresh_;  // where features of a block appear for the first time
};

}  // namespace kernelfields
