// Words of a text by frequency, and how often one follows another.
#pragma once

#include "templates.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelfields {

// Another word, and how often it is next to this one.
struct WordPair {
    std::int32_t word;
    std::int64_t count;
};

// Words that occur at least `least` times, the most frequent first and equal ones by their bytes, so that the
// order of sentences does not matter. Two tokens are a pair if they are neighbours in a sentence and both kept.
class Bigrams {
public:
    Bigrams(const TokenColumn& tokens, const std::vector<std::int64_t>& offsets, std::int64_t least) {
        std::vector<std::int32_t> text;
        const std::vector<std::int32_t> rank = count_words(tokens, least, text);
        before_.resize(size());
        after_.resize(size());
        self_.resize(size());
        for (const auto& [key, count] : count_pairs(text, rank, offsets)) add(key, count);
    }

    std::size_t size() const { return counts_.size(); }
    std::string_view word(std::size_t w) const { return pool_[order_[w]]; }
    std::int64_t count(std::size_t w) const { return counts_[w]; }

    // Pairs of w with more frequent words: (v, w) and (w, v).
    const std::vector<WordPair>& before(std::size_t w) const { return before_[w]; }
    const std::vector<WordPair>& after(std::size_t w) const { return after_[w]; }
    std::int64_t self(std::size_t w) const { return self_[w]; }
    std::int64_t pairs() const { return total_; }

private:
    using Counted = std::vector<std::pair<std::uint64_t, std::int64_t>>;

    // Returns the rank of each distinct word, or none; `text` gets the distinct word of each token.
    std::vector<std::int32_t> count_words(const TokenColumn& tokens, std::int64_t least,
                                          std::vector<std::int32_t>& text) {
        std::vector<std::int64_t> counts;
        for (std::size_t t = 0; t < tokens.ends.size(); ++t) {
            text.push_back(pool_.add(tokens[t]));
            counts.resize(pool_.size());
            ++counts[static_cast<std::size_t>(text.back())];
        }
        for (std::size_t id = 0; id < pool_.size(); ++id)
            if (counts[id] >= least) order_.push_back(id);
        std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return counts[a] != counts[b] ? counts[a] > counts[b] : pool_[a] < pool_[b];
        });
        std::vector<std::int32_t> rank(pool_.size(), none);
        for (std::size_t w = 0; w < order_.size(); ++w) {
            rank[order_[w]] = static_cast<std::int32_t>(w);
            counts_.push_back(counts[order_[w]]);
        }
        return rank;
    }

    // Pairs as first · 2^31 + second, in their order.
    static Counted count_pairs(const std::vector<std::int32_t>& text, const std::vector<std::int32_t>& rank,
                               const std::vector<std::int64_t>& offsets) {
        KeyTable numbers;
        Counted counted;
        for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
            for (std::int64_t t = offsets[s] + 1; t < offsets[s + 1]; ++t) {
                const auto at = static_cast<std::size_t>(t);
                const std::int32_t first = rank[static_cast<std::size_t>(text[at - 1])];
                const std::int32_t second = rank[static_cast<std::size_t>(text[at])];
                if (first == none || second == none) continue;
                const std::uint64_t key = static_cast<std::uint64_t>(first) << 31 | static_cast<std::uint64_t>(second);
                const auto next = static_cast<std::int32_t>(counted.size());
                const std::int32_t number = numbers.add(key, next);
                if (number == next) counted.emplace_back(key, 0);
                ++counted[static_cast<std::size_t>(number)].second;
            }
        std::sort(counted.begin(), counted.end());
        return counted;
    }

    void add(std::uint64_t key, std::int64_t count) {
        const std::size_t first = key >> 31, second = key & 0x7FFFFFFF;
        total_ += count;
        if (first == second) self_[first] = count;
        else if (first < second) before_[second].push_back({static_cast<std::int32_t>(first), count});
        else after_[first].push_back({static_cast<std::int32_t>(second), count});
    }

    StringPool pool_;
    std::vector<std::size_t> order_;
    std::vector<std::int64_t> counts_, self_;
    std::vector<std::vector<WordPair>> before_, after_;
    std::int64_t total_ = 0;
};

}  // namespace kernelfields
