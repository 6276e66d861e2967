// What the templates of cliques look at: batches of cliques, and the values around the anchors of a block of them.
#pragma once

#include "feature_keys.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kernelfields {

// Siblings that are looked at: rows of (head, inner, outer), words from 1 on, the head itself where there is no inner
// word; those of sentence s are from offsets[s] on.
struct SiblingRows {
    const std::int32_t* rows = nullptr;
    std::vector<std::int64_t> offsets;
};

// The cliques of one sentence after the other, or of pairs of sentences.
class Cliques {
public:
    // `keep` says which rows are looked at, or is null: the others have no features. `second` is that of pairs.
    Cliques(CliqueKind kind, const Tokens& first, const Tokens& second, const std::uint8_t* keep)
        : kind_(kind), first_(&first), second_(&second), keep_(keep) {
        for (std::size_t s = 0; s < first.sentences(); ++s)
            offsets_.push_back(offsets_.back() +
                               static_cast<std::int64_t>(clique_count(kind, words(0, s), words(1, s))));
    }

    Cliques(const Tokens& tokens, SiblingRows siblings)
        : kind_(CliqueKind::siblings),
          first_(&tokens),
          second_(&tokens),
          siblings_(siblings.rows),
          offsets_(std::move(siblings.offsets)) {}

    CliqueKind kind() const { return kind_; }
    const Tokens& first() const { return *first_; }
    const Tokens& second() const { return *second_; }
    const Tokens& side(std::size_t k) const { return k && kind_ == CliqueKind::pairs ? *second_ : *first_; }
    std::size_t words(std::size_t k, std::size_t s) const { return side(k).start(s + 1) - side(k).start(s); }
    const std::vector<std::int64_t>& offsets() const { return offsets_; }
    std::size_t start(std::size_t s) const { return static_cast<std::size_t>(offsets_[s]); }
    std::size_t size() const { return static_cast<std::size_t>(offsets_.back()); }

    // Blocks of whole sentences, of about so many cliques that their values stay in cache.
    std::vector<std::size_t> cut() const {
        constexpr std::size_t kBlock = 4096;
        std::vector<std::size_t> cuts{0};
        for (std::size_t s = 0; s < first_->sentences(); ++s)
            if (start(s + 1) - start(cuts.back()) >= kBlock) cuts.push_back(s + 1);
        if (cuts.back() != first_->sentences()) cuts.push_back(first_->sentences());
        return cuts;
    }

    // visit(row, first, second, third) for the cliques of a sentence that have features. Of siblings, the third is
    // behind the sentence where there is no inner word.
    template <class Visit> void each(std::size_t s, Visit visit) const {
        std::size_t row = start(s);
        if (kind_ == CliqueKind::siblings) {
            const auto behind = static_cast<std::ptrdiff_t>(words(0, s));
            for (const std::int32_t* mine = siblings_ + 3 * row; row < start(s + 1); ++row, mine += 3)
                visit(row, mine[0] - 1, mine[2] - 1, mine[1] == mine[0] ? behind : mine[1] - 1);
            return;
        }
        for_each_clique(kind_, words(0, s), words(1, s), [&](std::ptrdiff_t a, std::ptrdiff_t b) {
            if (!(kind_ == CliqueKind::arcs && a == b) && (!keep_ || keep_[row])) visit(row, a, b, a);
            ++row;
        });
    }

private:
    CliqueKind kind_;
    const Tokens *first_, *second_;
    const std::uint8_t* keep_ = nullptr;
    const std::int32_t* siblings_ = nullptr;
    std::vector<std::int64_t> offsets_{0};
};

// The different values of a channel between the anchors of every clique, from left to right.
template <class V> struct Between {
    std::vector<std::size_t> owner;  // number of the clique within its block
    std::vector<V> values;
};

// Some cliques, and the values of all channels around their anchors.
template <class V> class CliqueBlock {
public:
    // The places that one template sees: cliques, or what is between their anchors, each with its clique.
    struct Source {
        const CliqueBlock& block;
        const Between<V>* between;

        std::size_t size() const { return between ? between->owner.size() : block.rows.size(); }
        std::size_t first_row() const { return 0; }
        std::size_t clique(std::size_t t) const { return between ? between->owner[t] : t; }
        std::size_t row(std::size_t t) const { return block.rows[clique(t)]; }

        template <class Body> void each(const TemplatePart& part, Body body) const {
            if (part.anchor == Anchor::between) return body(between->values.data(), 0, size());
            thread_local std::vector<V> gathered;
            gathered.resize(size());
            const std::size_t k = part.anchor == Anchor::third ? 2 : static_cast<std::size_t>(part.anchor);
            const std::vector<V>& measured = block.measured_[part.channel];
            const V* const values = block.side(k).values[part.channel].data() + part.offset;
            const std::size_t* const place = block.places_[k].data();
            if (!measured.empty())
                for (std::size_t t = 0; t < size(); ++t) gathered[t] = measured[clique(t)];
            else if (between)
                for (std::size_t t = 0; t < size(); ++t) gathered[t] = values[place[between->owner[t]]];
            else
                for (std::size_t t = 0; t < size(); ++t) gathered[t] = values[place[t]];
            body(gathered.data(), 0, size());
        }
    };

    std::vector<std::size_t> rows;  // of the cliques of the block that have features

    template <class Values>
    void fill(const Cliques& cliques, const TemplateSet& set, const Encoder<Values>& encoder, std::size_t first,
              std::size_t last) {
        pairs_ = cliques.kind() == CliqueKind::pairs;
        encoder.fill(sides_[0], cliques.first(), first, last);
        if (pairs_) encoder.fill(sides_[1], cliques.second(), first, last);
        const bool threes = cliques.kind() == CliqueKind::siblings;
        rows.clear();
        for (auto& places : places_) places.clear();
        const std::size_t channels = set.channels.size();
        measured_.resize(channels);
        for (auto& values : measured_) values.clear();
        for (std::size_t s = first; s < last; ++s) {
            const std::size_t from[] = {side(0).starts[s - first], side(1).starts[s - first]};
            cliques.each(s, [&](std::size_t row, std::ptrdiff_t a, std::ptrdiff_t b, std::ptrdiff_t c) {
                rows.push_back(row);
                places_[0].push_back(from[0] + static_cast<std::size_t>(a));  // -1 is in the margin
                places_[1].push_back(from[1] + static_cast<std::size_t>(b));
                if (threes) places_[2].push_back(from[0] + static_cast<std::size_t>(c));
                for (std::size_t k = 0; k < channels; ++k)
                    if (const Transform transform = set.channels[k].transform; is_measure(transform))
                        measured_[k].push_back(
                            encoder.values().measure(bin(transform, a, b, cliques.words(0, s), cliques.words(1, s))));
            });
        }
        between_.assign(channels, {});
        for (const auto& parts : set.templates)
            for (const TemplatePart& part : parts)
                if (part.anchor == Anchor::between) look_between<Values>(part.channel);
    }

    Source source(const std::vector<TemplatePart>& parts) const {
        for (const TemplatePart& part : parts)
            if (part.anchor == Anchor::between) return {*this, &between_[part.channel]};
        return {*this, nullptr};
    }

private:
    const Block<V>& side(std::size_t k) const { return sides_[pairs_ ? k : 0]; }

    static std::size_t bin(Transform transform, std::ptrdiff_t a, std::ptrdiff_t b, std::size_t n, std::size_t m) {
        switch (transform) {
            case Transform::distance: return distance_bin(b - a);
            case Transform::direction: return direction_bin(b - a);
            case Transform::steps: return steps_bin(b - a);
            default: return relative_bin(a, b, n, m);
        }
    }

    // Values are numbered first, so that a table says for which clique each was last seen.
    template <class Values> void look_between(std::size_t channel) {
        Between<V>& found = between_[channel];
        if (!found.owner.empty()) return;
        const std::vector<V>& values = sides_[0].values[channel];
        std::vector<V> different(values);
        std::sort(different.begin(), different.end());
        different.erase(std::unique(different.begin(), different.end()), different.end());
        std::vector<std::size_t> number(values.size()), seen(different.size(), rows.size());
        for (std::size_t t = 0; t < values.size(); ++t)
            number[t] = static_cast<std::size_t>(std::lower_bound(different.begin(), different.end(), values[t]) -
                                                 different.begin());
        for (std::size_t c = 0; c < rows.size(); ++c) {
            const auto [low, high] = std::minmax(places_[0][c], places_[1][c]);
            for (std::size_t t = low + 1; t < high; ++t) {
                if (values[t] == Values::nothing || seen[number[t]] == c) continue;
                seen[number[t]] = c;
                found.owner.push_back(c);
                found.values.push_back(values[t]);
            }
        }
    }

    bool pairs_ = false;
    Block<V> sides_[2];
    std::vector<std::size_t> places_[3];    // by anchor
    std::vector<std::vector<V>> measured_;  // by channel, of measures only
    std::vector<Between<V>> between_;       // by channel, of those that templates look for between anchors
};

}  // namespace kernelfields
