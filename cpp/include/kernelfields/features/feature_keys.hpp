// Values of a block to numbers of features: exactly, through a vocabulary, or by hashing.
#pragma once

#include "templates.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelfields {

// Values are numbers of strings of a channel.
struct ExactValues {
    using Value = std::int32_t;
    static constexpr Value nothing = none;
    const TemplateSet* set;
    const std::vector<StringPool>* pools;

    Value of(std::size_t channel, std::string_view text) const {
        const std::int32_t id = (*pools)[channel].find(text);
        return id == none ? none : id + static_cast<std::int32_t>(set->reserved(channel));
    }
    Value yes() const { return 0; }
    Value measure(std::size_t bin) const { return static_cast<Value>(bin); }
    Value mark(std::size_t which) const { return static_cast<Value>(which); }
};

// Values are hashes of strings; `nothing` is one of 2^64, which no hash may be.
struct HashedValues {
    using Value = std::uint64_t;
    static constexpr Value nothing = ~Value{0};

    static Value sane(Value hash) { return hash == nothing ? 0 : hash; }
    Value of(std::size_t, std::string_view text) const { return sane(hash_of(text)); }
    Value yes() const { return 1; }
    Value measure(std::size_t bin) const { return sane(mix(0xD15C + bin)); }
    Value mark(std::size_t which) const { return sane(mix(0xB0A4D5 + which)); }
};

// What the templates of tokens look at: the tokens of a block, each of which has one value for every part.
template <class V> struct TokenSource {
    const Block<V>& block;
    const Tokens& tokens;

    std::size_t size() const { return tokens.start(block.last) - tokens.start(block.first); }
    std::size_t first_row() const { return tokens.start(block.first); }
    std::size_t row(std::size_t t) const { return t; }

    // calls body(values of a part, first token of the block, how many) sentence by sentence
    template <class Body> void each(const TemplatePart& part, Body body) const {
        const std::size_t start = tokens.start(block.first);
        for (std::size_t s = block.first; s < block.last; ++s) {
            const V* const values = block.values[part.channel].data() + block.starts[s - block.first] + part.offset;
            body(values, tokens.start(s) - start, tokens.start(s + 1) - tokens.start(s));
        }
    }
};

// The values v_1 ... v_n of one template as one number, (v_1 r_2 + v_2) r_3 + ...: exact below 2^62.
// Where it could be larger, the number of what is before is looked up first.
class KeyPlan {
public:
    KeyPlan(const std::vector<TemplatePart>& parts, const std::vector<std::size_t>& sizes) : parts_(parts) {
        for (const TemplatePart& part : parts) {
            const std::uint64_t radix = std::max<std::size_t>(sizes[part.channel], 1);
            const bool fold = bound_ > limit / radix;
            steps_.push_back({static_cast<std::int64_t>(radix), fold ? static_cast<int>(prefixes_.size()) : none});
            if (fold) prefixes_.emplace_back();
            bound_ = (fold ? std::uint64_t{1} << 31 : bound_) * radix;
        }
    }

    std::uint64_t bound() const { return bound_; }
    std::size_t parts() const { return parts_.size(); }

    // Keys of all places of a source; -1 where there is no feature. Unknown prefixes are numbered if
    // `learn`, and have no feature otherwise.
    template <bool learn, class Self, class Source>
    static void keys(Self& self, const Source& source, std::vector<std::int64_t>& keys) {
        keys.assign(source.size(), 0);
        for (std::size_t p = 0; p < self.parts_.size(); ++p) {
            const Step step = self.steps_[p];
            if (step.prefix != none)
                for (std::int64_t& key : keys) key = shorten<learn>(self.prefixes_[step.prefix], key);
            source.each(self.parts_[p], [&](const std::int32_t* values, std::size_t at, std::size_t T) {
                std::int64_t* const key = keys.data() + at;
                for (std::size_t t = 0; t < T; ++t) {
                    const std::int64_t v = values[t], longer = key[t] * step.radix + v;
                    key[t] = (key[t] | v) < 0 ? -1 : longer;
                }
            });
        }
    }

    // The key of given values.
    std::int64_t learn(const std::int32_t* values) {
        std::int64_t key = 0;
        for (std::size_t p = 0; p < steps_.size(); ++p) {
            if (steps_[p].prefix != none) key = shorten<true>(prefixes_[steps_[p].prefix], key);
            key = key * steps_[p].radix + values[p];
        }
        return key;
    }

private:
    static constexpr std::uint64_t limit = std::uint64_t{1} << 62;
    struct Step {
        std::int64_t radix;
        int prefix;
    };

    template <bool learn, class Table> static std::int64_t shorten(Table& prefixes, std::int64_t key) {
        if (key < 0) return -1;
        if constexpr (learn)
            return prefixes.add(static_cast<std::uint64_t>(key), static_cast<std::int32_t>(prefixes.size()));
        else return prefixes.find(static_cast<std::uint64_t>(key));
    }

    std::vector<TemplatePart> parts_;
    std::vector<Step> steps_;
    std::vector<KeyTable> prefixes_;
    std::uint64_t bound_ = 1;
};

// Columns by the hashing trick, for all places of a source; `none` where a part has no value.
template <class Source>
void hash_columns(const Source& source, const std::vector<TemplatePart>& parts, std::uint64_t seed, std::uint64_t mask,
                  std::int32_t* out) {
    std::vector<std::uint64_t> hashes(source.size(), mix(seed));
    std::vector<char> absent(source.size());
    for (const TemplatePart& part : parts)
        source.each(part, [&](const std::uint64_t* v, std::size_t at, std::size_t T) {
            for (std::size_t t = 0; t < T; ++t) {
                hashes[at + t] = mix(hashes[at + t] ^ v[t]);
                absent[at + t] |= v[t] == HashedValues::nothing;
            }
        });
    for (std::size_t t = 0; t < hashes.size(); ++t)
        out[t] = absent[t] ? none : static_cast<std::int32_t>(hashes[t] & mask);
}

// Keys of one template to columns: an array where keys are small, otherwise a hash table.
class KeyIndex {
public:
    KeyIndex(std::uint64_t bound, std::size_t expected) {
        if (bound <= std::max<std::uint64_t>(1 << 17, 4 * expected)) dense_.assign(bound + 1, none);
    }

    bool add(std::int64_t key, std::int32_t column) {
        if (dense_.empty()) return table_.add(static_cast<std::uint64_t>(key), column) == column;
        std::int32_t& entry = dense_[static_cast<std::size_t>(key + 1)];
        if (entry != none) return false;
        entry = column;
        return true;
    }

    bool is_array() const { return !dense_.empty(); }

    // Of keys below the bound, in an array.
    template <class Key> void look_up(const Key* keys, std::size_t count, std::int32_t* out) const {
        for (std::size_t t = 0; t < count; ++t) out[t] = dense_[static_cast<std::size_t>(keys[t] + 1)];
    }

    void find(const std::vector<std::int64_t>& keys, std::int32_t* out) const {
        const std::size_t count = keys.size();
        if (is_array()) return look_up(keys.data(), count, out);
        constexpr std::size_t ahead = 12;
        for (std::size_t t = 0; t < std::min(ahead, count); ++t) table_.prefetch(static_cast<std::uint64_t>(keys[t]));
        for (std::size_t t = 0; t < count; ++t) {
            if (t + ahead < count) table_.prefetch(static_cast<std::uint64_t>(keys[t + ahead]));
            out[t] = keys[t] < 0 ? none : table_.find(static_cast<std::uint64_t>(keys[t]));
        }
    }

private:
    std::vector<std::int32_t> dense_;  // entry 0 is for the key -1
    KeyTable table_;
};

}  // namespace kernelfields
