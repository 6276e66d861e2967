// The k best projective trees: every item of the chart has a list of its best derivations, made longer only when
// somebody asks for more [huang2005better, algorithm 3].
#pragma once

#include "arcs.hpp"

#include <queue>
#include <utility>

namespace kernelfields {

class EisnerBest {
public:
    EisnerBest(std::size_t n, const double* theta, bool single_root)
        : n_(n), theta_(theta), single_(single_root), items_(3 * (n + 1) * (n + 1)) {}

    // Writes the heads of the tree of rank r = 0, 1, ... and returns its score; -inf where there are fewer.
    double tree(std::size_t r, std::int32_t* heads) {
        const Item goal{Kind::right, 0, n_};
        if (!has(goal, r)) return kNothing;
        write(goal, r, heads);
        return list(goal).best[r].score;
    }

private:
    enum class Kind { right, left, gap };
    struct Item {
        Kind kind;
        std::size_t i, j;
    };
    struct Derivation {
        double score;
        std::size_t split, first, second;  // ranks of both parts
        bool operator<(const Derivation& other) const {
            return score != other.score ? score < other.score : split > other.split;
        }
    };
    struct List {
        bool begun = false;
        std::vector<Derivation> best;
        std::priority_queue<Derivation> next;
    };
    struct Parts {
        Item first, second;
        double arc;
        std::size_t head, word;  // of the arc; word 0 for none
    };

    List& list(const Item& item) {
        return items_[(static_cast<std::size_t>(item.kind) * (n_ + 1) + item.i) * (n_ + 1) + item.j];
    }
    Parts parts(const Item& item, std::size_t k) const {
        const auto [kind, i, j] = item;
        if (kind == Kind::gap) return {{Kind::right, i, k}, {Kind::left, k + 1, j}, 0, 0, 0};
        if (kind == Kind::right) return {{Kind::gap, i, k}, {Kind::right, k, j}, theta_[arc_at(n_, k, i)], i, k};
        return {{Kind::left, i, k}, {Kind::gap, k, j}, theta_[arc_at(n_, k, j)], j, k};
    }
    void offer(const Item& item, std::size_t k, std::size_t first, std::size_t second) {
        const Parts both = parts(item, k);
        if (both.arc == kNothing || !has(both.first, first) || !has(both.second, second)) return;
        const double score = both.arc + list(both.first).best[first].score + list(both.second).best[second].score;
        list(item).next.push({score, k, first, second});
    }
    void begin(const Item& item) {
        list(item).begun = true;
        if (item.i == item.j) {
            list(item).best.push_back({0, 0, 0, 0});
            return;
        }
        const bool from_right = item.kind == Kind::right;
        const std::size_t end = item.kind == Kind::gap && item.i == 0 && single_ ? 1 : item.j + from_right;
        for (std::size_t k = item.i + from_right; k < end; ++k) offer(item, k, 0, 0);
    }
    // Whether an item has a derivation of this rank; finds it, if nobody has asked before.
    bool has(const Item& item, std::size_t rank) {
        if (!list(item).begun) begin(item);
        while (list(item).best.size() <= rank && !list(item).next.empty()) {
            const Derivation found = list(item).next.top();
            list(item).next.pop();
            list(item).best.push_back(found);
            offer(item, found.split, found.first, found.second + 1);  // every pair of ranks from one other only
            if (found.second == 0) offer(item, found.split, found.first + 1, 0);
        }
        return list(item).best.size() > rank;
    }
    void write(const Item& item, std::size_t rank, std::int32_t* heads) {
        if (item.i == item.j) return;
        const Derivation found = list(item).best[rank];
        const Parts both = parts(item, found.split);
        if (both.word > 0) heads[both.word - 1] = static_cast<std::int32_t>(both.head);
        write(both.first, found.first, heads);
        write(both.second, found.second, heads);
    }

    std::size_t n_;
    const double* theta_;
    bool single_;
    std::vector<List> items_;
};

}  // namespace kernelfields
