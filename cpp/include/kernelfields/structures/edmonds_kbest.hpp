// The k best trees, projective or not: the trees that are left once the best is known are cut into sets, by the first
// word whose head is another one; the best of each is a tree with some arcs given and one forbidden
// [lawler1972procedure]. k n runs of Edmonds' algorithm at most.
#pragma once

#include "edmonds.hpp"

#include <queue>

namespace kernelfields {

class SpanningBest {
public:
    SpanningBest(std::size_t n, const double* theta, bool single_root)
        : n_(n), theta_(theta), single_(single_root), given_(n * (n + 1)) {
        Set all{0, 0, {}, std::vector<std::int32_t>(n)};
        add(std::move(all));
    }

    // The next best tree; its score, -inf where there is none left.
    double next(std::int32_t* heads) {
        if (sets_.empty()) return kNothing;
        const Set best = sets_.top();
        sets_.pop();
        std::copy(best.heads.begin(), best.heads.end(), heads);
        for (std::size_t m = best.fixed; m < n_; ++m) {
            Set other{0, m, best.heads, std::vector<std::int32_t>(n_)};
            other.banned = m == best.fixed ? best.banned : std::vector<std::int32_t>{};
            other.banned.push_back(best.heads[m]);
            add(std::move(other));
        }
        return best.score;
    }

private:
    // Trees in which the first `fixed` words have the heads of `given`, and the next one none of `banned`.
    struct Set {
        double score;
        std::size_t fixed;
        std::vector<std::int32_t> given, heads, banned{};
        bool operator<(const Set& other) const { return score < other.score; }
    };

    void add(Set set) {
        std::copy(theta_, theta_ + given_.size(), given_.begin());
        for (std::size_t m = 1; m <= set.fixed; ++m)
            for (std::size_t h = 0; h <= n_; ++h)
                if (static_cast<std::size_t>(set.given[m - 1]) != h) given_[arc_at(n_, m, h)] = kNothing;
        for (const std::int32_t h : set.banned)
            given_[arc_at(n_, set.fixed + 1, static_cast<std::size_t>(h))] = kNothing;
        if (!edmonds_.run(n_, given_.data(), single_, set.heads.data())) return;
        set.score = 0;
        for (std::size_t m = 1; m <= n_; ++m)
            set.score += theta_[arc_at(n_, m, static_cast<std::size_t>(set.heads[m - 1]))];
        sets_.push(std::move(set));
    }

    std::size_t n_;
    const double* theta_;
    bool single_;
    std::vector<double> given_;
    Edmonds edmonds_;
    std::priority_queue<Set> sets_;
};

}  // namespace kernelfields
