// Minimum fill for graphs of up to 64 vertices, whose neighbours are the bits of a word: batches of thousands of small
// graphs would else spend more time on orders than on sums.
#pragma once

#include "graph_order.hpp"

#include <array>
#include <bit>

namespace kernelfields {

class SmallMinFill {
public:
    static constexpr std::size_t kMost = 64;

    SmallMinFill(const Graphs& graphs, std::size_t s) : n_(graphs.length(s)) {
        const std::size_t start = graphs.start(s);
        for (std::size_t v = 0; v < n_; ++v) choices_[v] = graphs.choices[start + v];
        for_each_clique(graphs, s, [&](std::size_t t, std::size_t, const std::int64_t* of) {
            std::uint64_t all = 0;
            for (std::size_t k = 0; k < graphs.types[t - 1].arity; ++k) {
                const std::size_t v = static_cast<std::size_t>(of[k]) - start;
                if (choices_[v] > 1) all |= bit(v);
            }
            join(all);
        });
    }

    // The same order as MinFill's.
    Elimination run(double most) {
        Elimination result;
        result.order.reserve(n_);
        std::uint64_t left = n_ == kMost ? ~std::uint64_t{0} : bit(n_) - 1;
        for (std::uint64_t changed = left; left; left &= ~bit(result.order.back())) {
            for_each(changed, [&](std::size_t v) { weigh(v); });
            std::size_t best = kMost;
            for_each(left, [&](std::size_t v) {
                if (best == kMost || fill_[v] < fill_[best] || (fill_[v] == fill_[best] && table_[v] < table_[best]))
                    best = v;
            });
            result.width = std::max<std::size_t>(result.width, static_cast<std::size_t>(std::popcount(near_[best])));
            result.largest = std::max(result.largest, table_[best]);
            result.entries += table_[best];
            result.messages += table_[best] / choices_[best];
            result.order.push_back(static_cast<std::uint32_t>(best));
            result.refused = table_[best] > most;
            if (result.refused) break;
            changed = remove(best);
        }
        return result;
    }

private:
    static std::uint64_t bit(std::size_t v) { return std::uint64_t{1} << v; }
    template <class Body> static void for_each(std::uint64_t set, Body body) {
        for (; set; set &= set - 1) body(static_cast<std::size_t>(std::countr_zero(set)));
    }
    void join(std::uint64_t all) {
        for_each(all, [&](std::size_t v) { near_[v] |= all & ~bit(v); });
    }
    void weigh(std::size_t v) {
        double fill = 0, table = choices_[v];
        for_each(near_[v], [&](std::size_t u) {
            table *= choices_[u];
            double missing = 0;
            for_each(near_[v] & ~near_[u] & ~bit(u) & (bit(u) - 1), [&](std::size_t w) { missing += choices_[w]; });
            fill += missing * choices_[u];
        });
        fill_[v] = fill;
        table_[v] = table;
    }
    // Whose weights change: neighbours, and where these get new ones, theirs.
    std::uint64_t remove(std::size_t v) {
        const std::uint64_t around = near_[v];
        std::uint64_t changed = around;
        for_each(around, [&](std::size_t u) {
            near_[u] &= ~bit(v);
            if (fill_[v] > 0) changed |= near_[u];
        });
        join(around);
        return changed;
    }

    std::size_t n_;
    std::array<std::uint64_t, kMost> near_{};
    std::array<double, kMost> choices_, fill_, table_;
};

// The better of two orders; a sweep is tried only where tables are large, for it costs as much as small ones take.
inline Elimination find_elimination(const Graphs& graphs, std::size_t s, double most) {
    constexpr double few = 1e5;
    Elimination fill =
        graphs.length(s) <= SmallMinFill::kMost ? SmallMinFill(graphs, s).run(most) : MinFill(graphs, s).run(most);
    if (!fill.refused && fill.entries <= few) return fill;
    Elimination sweep = eliminate_in_order(graphs, s, sweep_order(graphs, s), most);
    if (sweep.refused != fill.refused) return fill.refused ? sweep : fill;
    return !fill.refused && sweep.entries < fill.entries ? sweep : fill;
}

}  // namespace kernelfields
