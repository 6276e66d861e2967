// Brown clusters of words: greedy merges that keep most mutual information of neighbours.
#pragma once

#include "bigrams.hpp"
#include "merge_losses.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kernelfields {

// One merge; clusters are named by their most frequent words, the first has the more frequent one.
struct BrownMerge {
    std::int32_t first, second;
    double loss;  // of mutual information in nats, times the number of pairs
};

// Words come in the order of their frequency, each as a cluster; whenever there are more than `clusters`, the
// two that lose least become one. `finish` merges what is left to a tree. [liang2005, section 4.2]
class BrownClustering {
public:
    BrownClustering(Bigrams text, std::size_t clusters)
        : text_(std::move(text)),
          clusters_(std::min(clusters, text_.size())),
          losses_(clusters_ + 1, text_.pairs()),
          slot_of_(text_.size()),
          members_(clusters_ + 1) {}

    const Bigrams& text() const { return text_; }
    const std::vector<BrownMerge>& merges() const { return merges_; }

    // Takes some more words; returns how many are left.
    std::size_t insert(std::size_t words) {
        const std::size_t last = std::min(text_.size(), next_ + words);
        for (; next_ < last; ++next_) {
            insert_word(next_);
            if (next_ >= clusters_) merge_cheapest();
        }
        return text_.size() - next_;
    }

    // Merges two clusters of all, down to one; returns how many merges are left.
    std::size_t join(std::size_t merges) {
        if (paths_of_.empty())
            for (const auto& members : members_)
                if (!members.empty()) paths_of_.push_back(members);
        while (merges-- > 0 && alive_ > 1) merge_cheapest();
        return alive_ > 1 ? alive_ - 1 : 0;
    }

    // The path from the root to each word's cluster, 0 to the side with the more frequent word.
    std::vector<std::string> paths() const {
        std::vector<std::string> of(text_.size());
        const std::size_t joins = paths_of_.size() - std::min<std::size_t>(paths_of_.size(), 1);
        for (std::size_t m = 0; m < joins; ++m) {
            const BrownMerge& merge = merges_[merges_.size() - 1 - m];
            std::string& first = of[static_cast<std::size_t>(merge.first)];
            of[static_cast<std::size_t>(merge.second)] = first + '1';
            first += '0';
        }
        for (const auto& members : paths_of_) {
            const std::string path = joins ? of[named(members)] : "0";
            for (const std::int32_t word : members) of[static_cast<std::size_t>(word)] = path;
        }
        return of;
    }

private:
    static std::size_t named(const std::vector<std::int32_t>& members) {
        return static_cast<std::size_t>(*std::min_element(members.begin(), members.end()));
    }

    void insert_word(std::size_t word) {
        const auto empty = std::find_if(members_.begin(), members_.end(), [](const auto& m) { return m.empty(); });
        const auto slot = static_cast<std::size_t>(empty - members_.begin());
        std::vector<std::int64_t> before(members_.size()), after(members_.size());
        for (const WordPair& pair : text_.before(word))
            before[slot_of_[static_cast<std::size_t>(pair.word)]] += pair.count;
        for (const WordPair& pair : text_.after(word))
            after[slot_of_[static_cast<std::size_t>(pair.word)]] += pair.count;
        losses_.insert(slot, before, after, text_.self(word));
        slot_of_[word] = slot;
        members_[slot].push_back(static_cast<std::int32_t>(word));
        ++alive_;
    }

    void merge_cheapest() {
        auto [x, y, loss] = losses_.cheapest();
        std::size_t names[] = {named(members_[x]), named(members_[y])};
        std::sort(std::begin(names), std::end(names));
        merges_.push_back(
            {static_cast<std::int32_t>(names[0]), static_cast<std::int32_t>(names[1]), losses_.units().value(loss)});
        if (losses_.neighbours(x) < losses_.neighbours(y)) std::swap(x, y);
        losses_.merge(x, y);
        for (const std::int32_t word : members_[y]) slot_of_[static_cast<std::size_t>(word)] = x;
        members_[x].insert(members_[x].end(), members_[y].begin(), members_[y].end());
        members_[y].clear();
        --alive_;
    }

    Bigrams text_;
    std::size_t clusters_;
    MergeLosses losses_;
    std::vector<std::size_t> slot_of_;
    std::vector<std::vector<std::int32_t>> members_;   // words of each slot
    std::vector<std::vector<std::int32_t>> paths_of_;  // words of each cluster, before the last merges
    std::vector<BrownMerge> merges_;
    std::size_t next_ = 0, alive_ = 0;
};

}  // namespace kernelfields
