// Counting the features of a batch, and choosing those that get a column.
#pragma once

#include "extraction.hpp"
#include "feature_index.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace kernelfields {

// The features of one template as they first appear.
struct TemplateCounts {
    KeyTable numbers;
    std::vector<std::int64_t> counts, firsts;  // how often; at which token first
    std::vector<std::int32_t> values;          // parts per feature
};

class FeatureCounts {
public:
    FeatureCounts(const TemplateSet& set, const Tokens& tokens)
        : set_(set), words_(set.columns), pools_(set.channels.size()), counts_(set.templates.size()) {
        for (std::size_t c = 0; c < set.columns; ++c)
            for (std::size_t t = 0; t < tokens.size(); ++t) words_[c].add(tokens.columns[c][t]);
        std::vector<const StringPool*> known;
        for (const StringPool& words : words_) known.push_back(&words);
        Encoder<ExactValues> encoder(set_, {&set_, &pools_}, known);
        std::vector<std::size_t> sizes;
        for (std::size_t k = 0; k < set.channels.size(); ++k) sizes.push_back(tabulate(encoder, k));
        for (const auto& parts : set.templates) plans_.emplace_back(parts, sizes);
        count(encoder, tokens);
    }

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
            return std::tie(a.count, a.first, a.j) < std::tie(b.count, b.first, b.j);
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
        std::vector<std::int64_t> keys;
        for (std::size_t b = 0; b + 1 < cuts.size(); ++b) {
            encoder.fill(block, tokens, cuts[b], cuts[b + 1]);
            for (std::size_t j = 0; j < plans_.size(); ++j) {
                KeyPlan::keys<true>(plans_[j], block, tokens, keys);
                count_keys(block, tokens, j, keys);
            }
        }
    }

    void count_keys(const Block<std::int32_t>& block, const Tokens& tokens, std::size_t j,
                    const std::vector<std::int64_t>& keys) {
        TemplateCounts& counts = counts_[j];
        const std::size_t start = tokens.start(block.first);
        std::size_t s = block.first;
        for (std::size_t t = 0; t < keys.size(); ++t) {
            while (tokens.start(s + 1) <= start + t) ++s;
            if (keys[t] < 0) continue;
            const auto next = static_cast<std::int32_t>(counts.counts.size());
            const std::int32_t feature = counts.numbers.add(static_cast<std::uint64_t>(keys[t]), next);
            if (feature == next) {
                counts.counts.push_back(0);
                counts.firsts.push_back(static_cast<std::int64_t>(start + t));
                const std::size_t place = block.starts[s - block.first] + start + t - tokens.start(s);
                for (const TemplatePart& part : set_.templates[j])
                    counts.values.push_back(*(block.values[part.channel].data() + place + part.offset));
            }
            ++counts.counts[static_cast<std::size_t>(feature)];
        }
    }

    const TemplateSet& set_;
    std::vector<StringPool> words_, pools_;
    std::vector<KeyPlan> plans_;
    std::vector<TemplateCounts> counts_;
};

}  // namespace kernelfields
