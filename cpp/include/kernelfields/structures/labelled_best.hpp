// The k best trees with relations, from the k best by the best relations of their arcs: a tree that is not among these
// has k trees before it, whatever its relations.
#pragma once

#include "arcs.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

namespace kernelfields {

class LabelledBest {
public:
    LabelledBest(const ArcBatch& batch, std::size_t s) : batch_(batch), s_(s), n_(batch.words(s)) {}

    void add(double score, const std::int32_t* heads) {
        trees_.emplace_back(heads, heads + n_);
        states_.push({score, trees_.size() - 1, 0, std::vector<std::uint32_t>(n_)});
    }
    // The next best output; its score, -inf where there is none left. Ranks of relations rise at the last word at which
    // they are not the best, or after it: each choice comes from one other only, which is no worse.
    double next(std::int32_t* output) {
        if (states_.empty()) return kNothing;
        const State best = states_.top();
        states_.pop();
        for (std::size_t m = 0; m < n_; ++m) {
            const std::int32_t head = trees_[best.tree][m];
            const auto L = static_cast<std::int32_t>(batch_.labels);
            output[m] = head * L + ranked(m, head)[best.rank[m]];
        }
        for (std::size_t m = best.last; m < n_; ++m) {
            const std::vector<std::int32_t>& order = ranked(m, trees_[best.tree][m]);
            const std::size_t rank = best.rank[m];
            if (rank + 1 == order.size()) continue;
            const double less = score(m, best, order[rank]) - score(m, best, order[rank + 1]);
            if (!std::isfinite(less)) continue;
            State other{best.score - less, best.tree, m, best.rank};
            ++other.rank[m];
            states_.push(std::move(other));
        }
        return best.score;
    }

private:
    struct State {
        double score;
        std::size_t tree, last;
        std::vector<std::uint32_t> rank;
        bool operator<(const State& other) const { return score < other.score; }
    };
    std::size_t arc(std::size_t m, std::int32_t head) const {
        return arc_at(n_, m + 1, static_cast<std::size_t>(head)) * batch_.labels;
    }
    double score(std::size_t m, const State& state, std::int32_t label) const {
        return batch_.scores(s_)[arc(m, trees_[state.tree][m]) + static_cast<std::size_t>(label)];
    }
    // Relations of an arc, best first.
    const std::vector<std::int32_t>& ranked(std::size_t m, std::int32_t head) {
        if (order_.empty()) order_.resize(n_ * (n_ + 1));
        std::vector<std::int32_t>& order = order_[arc_at(n_, m + 1, static_cast<std::size_t>(head))];
        if (!order.empty()) return order;
        const Reals scores = batch_.scores(s_) + arc(m, head);
        order.resize(batch_.labels);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
            return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
        });
        return order;
    }

    const ArcBatch& batch_;
    std::size_t s_, n_;
    std::vector<std::vector<std::int32_t>> trees_, order_;
    std::priority_queue<State> states_;
};

}  // namespace kernelfields
