// The k best assignments: what is left once the best is known is cut into sets, by the first row whose partner is
// another one; the best of each is an assignment with some partners given and some of one row forbidden
// [murty1968algorithm].
#pragma once

#include "assignment.hpp"

#include <queue>

namespace kernelfields {

class MatchingBest {
public:
    explicit MatchingBest(const Assignment& problem)
        : problem_(problem), rows_(problem.rows()), columns_(problem.columns()) {
        Set all{0, 0, {}, std::vector<std::int32_t>(rows_)};
        add(std::move(all));
    }

    // The next best assignment; whether there is one.
    bool next(std::int32_t* columns) {
        if (sets_.empty()) return false;
        const Set best = sets_.top();
        sets_.pop();
        std::copy(best.columns.begin(), best.columns.end(), columns);
        for (std::size_t i = best.fixed; i < rows_; ++i) {
            Set other{0, i, best.columns, std::vector<std::int32_t>(rows_)};
            other.banned = i == best.fixed ? best.banned : std::vector<std::int32_t>{};
            other.banned.push_back(best.columns[i]);
            add(std::move(other));
        }
        return true;
    }

private:
    // Assignments in which the first `fixed` rows have the columns of `given`, and the next one none of `banned`.
    struct Set {
        double score;
        std::size_t fixed;
        std::vector<std::int32_t> given, columns, banned{};
        bool operator<(const Set& other) const { return score < other.score; }
    };

    void add(Set set) {
        Assignment some = problem_;
        const auto ban = [&](std::size_t i, std::int32_t j) {
            (j < 0 ? some.none(i) : some.score(i, static_cast<std::size_t>(j))) = kNothing;
        };
        for (std::size_t i = 0; i < set.fixed; ++i)
            for (std::int32_t j = -1; j < static_cast<std::int32_t>(columns_); ++j)
                if (j != set.given[i]) ban(i, j);
        for (const std::int32_t j : set.banned) ban(set.fixed, j);
        if (!some.solve()) return;
        set.score = 0;
        for (std::size_t i = 0; i < rows_; ++i) {
            const std::int32_t j = set.columns[i] = some.column(i);
            set.score += j < 0 ? some.none(i) : some.score(i, static_cast<std::size_t>(j));
        }
        if (set.score > kNothing) sets_.push(std::move(set));
    }

    Assignment problem_;
    std::size_t rows_, columns_;
    std::priority_queue<Set> sets_;
};

}  // namespace kernelfields
