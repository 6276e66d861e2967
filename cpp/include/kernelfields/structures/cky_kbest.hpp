// The k best labelled trees: every item of the chart has a list of its best derivations, made longer only when somebody
// asks for more [huang2005better, algorithm 3]. Items are spans with a label, as left parts (or the whole) and as right
// ones, and splits of spans.
#pragma once

#include "spans.hpp"

#include <numeric>
#include <queue>

namespace kernelfields {

class CkyBest {
public:
    CkyBest(const SpanBatch& batch, std::size_t s)
        : batch_(batch), scores_(batch.scores(s)), n_(batch.words(s)), items_(3 * spans_of(n_)), order_(spans_of(n_)) {
        // From short to long, so that no first derivation is looked for by a long chain of calls.
        for (std::size_t size = 1; size <= n_; ++size)
            for (std::size_t i = 0; i + size <= n_; ++i) has({Kind::right, i, i + size}, 0);
    }

    // Writes the spans of the tree of rank r = 0, 1, ..., span * labels + label, and returns its score; -inf where
    // there are fewer.
    double tree(std::size_t r, std::int32_t* output) {
        if (n_ == 0) return r == 0 ? 0 : kNothing;
        const Item goal{Kind::left, 0, n_};
        if (!has(goal, r)) return kNothing;
        next_ = output;
        write(goal, r);
        std::sort(output, next_);
        return list(goal).best[r].score;
    }

private:
    enum class Kind { left, right, split };
    struct Item {
        Kind kind;
        std::size_t i, j;
    };
    // Of a split: where it is, and the ranks of both parts. Of a span: 0, the ranks of its label and of its split.
    struct Derivation {
        double score;
        std::size_t place, first, second;
        bool operator<(const Derivation& other) const {
            return score != other.score ? score < other.score : place > other.place;
        }
    };
    struct List {
        bool begun = false;
        std::size_t followed = 0;  // of the best, how many have offered what comes next
        std::vector<Derivation> best;
        std::priority_queue<Derivation> next;
    };

    List& list(const Item& item) {
        return items_[static_cast<std::size_t>(item.kind) * spans_of(n_) + span_at(n_, item.i, item.j)];
    }
    double score_of(const Item& item, std::size_t label) const {
        return scores_[span_at(n_, item.i, item.j) * batch_.labels + label];
    }
    // The label of a rank, by score; labels where there are fewer, or no more is allowed.
    std::size_t label(const Item& item, std::size_t rank) {
        std::vector<std::uint32_t>& order = order_[span_at(n_, item.i, item.j)];
        if (order.empty()) {
            order.resize(batch_.labels);
            std::iota(order.begin(), order.end(), 0U);
            std::stable_sort(order.begin(), order.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return score_of(item, a) > score_of(item, b); });
        }
        const bool skips = item.kind == Kind::left && batch_.first_label(item.i, item.j) > 0;
        for (const std::uint32_t l : order)
            if (!(skips && l == 0) && rank-- == 0) return score_of(item, l) > kNothing ? l : batch_.labels;
        return batch_.labels;
    }
    void offer(const Item& item, std::size_t place, std::size_t first, std::size_t second) {
        double score = 0;
        if (item.kind == Kind::split) {
            const Item left{Kind::left, item.i, place}, right{Kind::right, place, item.j};
            if (!has(left, first) || !has(right, second)) return;
            score = list(left).best[first].score + list(right).best[second].score;
        } else {
            const std::size_t l = label(item, first);
            if (l == batch_.labels) return;
            score = score_of(item, l);
            const Item below{Kind::split, item.i, item.j};
            if (item.j - item.i == 1) {
                if (second > 0) return;
            } else {
                if (!has(below, second)) return;
                score += list(below).best[second].score;
            }
        }
        list(item).next.push({score, place, first, second});
    }
    void begin(const Item& item) {
        list(item).begun = true;
        if (item.kind != Kind::split) return offer(item, 0, 0, 0);
        for (std::size_t k = item.i + 1; k < item.j; ++k) offer(item, k, 0, 0);
    }
    // Offers what comes next after a derivation: every pair of ranks from one other only.
    void follow(const Item& item) {
        const Derivation found = list(item).best[list(item).followed];
        offer(item, found.place, found.first, found.second + 1);
        if (found.second == 0) offer(item, found.place, found.first + 1, 0);
    }
    // Whether an item has a derivation of this rank; finds it, if nobody has asked before.
    bool has(const Item& item, std::size_t rank) {
        if (!list(item).begun) begin(item);
        while (list(item).best.size() <= rank) {
            for (; list(item).followed < list(item).best.size(); ++list(item).followed) follow(item);
            if (list(item).next.empty()) break;
            list(item).best.push_back(list(item).next.top());
            list(item).next.pop();
        }
        return list(item).best.size() > rank;
    }
    void write(const Item& item, std::size_t rank) {
        const Derivation found = list(item).best[rank];
        if (item.kind == Kind::split) {
            write({Kind::left, item.i, found.place}, found.first);
            write({Kind::right, found.place, item.j}, found.second);
            return;
        }
        *next_++ = static_cast<std::int32_t>(span_at(n_, item.i, item.j) * batch_.labels + label(item, found.first));
        if (item.j - item.i > 1) write({Kind::split, item.i, item.j}, found.second);
    }

    const SpanBatch& batch_;
    Reals scores_;
    std::size_t n_;
    std::vector<List> items_;
    std::vector<std::vector<std::uint32_t>> order_;
    std::int32_t* next_ = nullptr;
};

}  // namespace kernelfields
