// Packings: sets of detours of which no two touch the same edge.
//
// `best` finds the one with the largest sum of worth(k); edges for which may_skip does not hold have to be touched. It
// is empty where there is none.
#pragma once

#include "detour_patches.hpp"
#include "detour_runs.hpp"

#include <limits>
#include <numeric>
#include <vector>

namespace kernelfields {

// What packings of chains and of forests have in common: detours by the edge that they begin at, the last first.
class DetourPacking {
public:
    const std::vector<std::size_t>& chosen() const { return chosen_; }

protected:
    static constexpr std::size_t kNone = ~std::size_t{0};
    static constexpr double kNever = -std::numeric_limits<double>::infinity();

    void start(const std::vector<Detour>& list, std::size_t edges) {
        order_.resize(list.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::sort(order_.begin(), order_.end(),
                  [&](std::size_t a, std::size_t b) { return list[a].from > list[b].from; });
        choice_.assign(edges, kNone);
        chosen_.clear();
        next_ = 0;
    }
    // The largest of `skipped` and of value(k) for all k that begin at edge e.
    template <class Value> double choose(const std::vector<Detour>& list, std::size_t e, double skipped, Value value) {
        for (; next_ < order_.size() && list[order_[next_]].from == e; ++next_) {
            const double sum = value(order_[next_]);
            if (sum <= skipped) continue;
            skipped = sum;
            choice_[e] = order_[next_];
        }
        return skipped;
    }

    std::vector<std::size_t> order_, choice_, chosen_;
    std::size_t next_ = 0;
};

class ChainPacking : public DetourPacking {
public:
    // From the last edge to the first,
    //
    //   value(e) = max { value(e + 1) if e may be skipped,  worth(k) + value(end of k + 1) for all k that begin at e }
    template <class Worth, class MaySkip>
    void best(const ChainInstance& chain, const DetourSet<ChainInstance>& set, Worth worth, MaySkip may_skip) {
        start(set.list, chain.edges());
        value_.assign(chain.edges() + 1, 0.0);
        for (std::size_t e = chain.edges(); e-- > 0;)
            value_[e] = choose(set.list, e, may_skip(e) ? value_[e + 1] : kNever,
                               [&](std::size_t k) { return worth(k) + value_[end_of(set.list[k]) + 1]; });
        if (!(value_[0] > kNever)) return;
        for (std::size_t e = 0; e < chain.edges();) {
            if (choice_[e] != kNone) chosen_.push_back(choice_[e]);
            e = choice_[e] == kNone ? e + 1 : end_of(set.list[choice_[e]]) + 1;
        }
    }

private:
    std::vector<double> value_;  // edges + 1, the last behind all
};

class ForestPacking : public DetourPacking {
public:
    // From the leaves to the roots, with below(v) the sum of value over the children of v,
    //
    //   value(v) = max { below(v) if the edge of v may be skipped,
    //                    worth(k) + sum of below(c) for all k with top v, c the children of its vertices outside it }
    //
    // The edges of such c are touched: nothing else may begin there, but at their children.
    template <class Worth, class MaySkip>
    void best(const ForestInstance& tree, const DetourSet<ForestInstance>& set, Worth worth, MaySkip may_skip) {
        start(set.list, tree.edges());
        below_.assign(tree.length, 0.0);
        double total = 0;
        for (std::size_t v = tree.length; v-- > 0;) {
            const double value = choose(set.list, v, may_skip(v) ? below_[v] : kNever, [&](std::size_t k) {
                double sum = worth(k);
                each_border(tree, set, k, [&](std::size_t c) { sum += below_[c]; });
                return sum;
            });
            (tree.is_root(v) ? total : below_[tree.parent[v]]) += value;
        }
        if (total > kNever) collect(tree, set);
    }

private:
    template <class Body>
    static void each_border(const ForestInstance& tree, const DetourSet<ForestInstance>& set, std::size_t k,
                            Body body) {
        const Detour& patch = set.list[k];
        tree.each_child(patch, set.words(patch), [&](std::size_t, std::size_t c, std::size_t m) {
            if (m == patch.length) body(c);
        });
    }
    // From the roots down, past what has been chosen.
    void collect(const ForestInstance& tree, const DetourSet<ForestInstance>& set) {
        open_.assign(tree.length, 0);
        std::fill_n(open_.begin(), tree.level[1], 1);
        const auto open_below = [&](std::size_t v) {
            std::fill(open_.begin() + tree.child[v], open_.begin() + tree.child[v + 1], 1);
        };
        for (std::size_t v = 0; v < tree.length; ++v) {
            if (!open_[v]) continue;
            if (choice_[v] == kNone) {
                open_below(v);
                continue;
            }
            chosen_.push_back(choice_[v]);
            each_border(tree, set, choice_[v], open_below);
        }
    }

    std::vector<double> below_;
    std::vector<char> open_;
};

}  // namespace kernelfields
