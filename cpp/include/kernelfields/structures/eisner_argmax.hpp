// The best projective tree: the recursions of eisner.hpp with maxima for sums, then splits on the way back.
#pragma once

#include "arcs.hpp"

#include <utility>

namespace kernelfields {

class EisnerArgmax {
public:
    // Heads of words 1 ... n; theta as in read_arcs. Returns the score, -inf where there is no tree. Ties go to the
    // first split.
    double run(std::size_t n, const double* theta, bool single_root, std::int32_t* heads) {
        n_ = n;
        theta_ = theta;
        single_ = single_root;
        for (auto* table : {&right_, &left_, &gap_, &below_}) table->assign((n + 1) * (n + 1), kNothing);
        for (std::size_t i = n + 1; i-- > 0;) fill(i);
        if (right_[n] == kNothing) return kNothing;
        pending_.assign(1, {Kind::right, 0, n});
        while (!pending_.empty()) {
            const Item item = pending_.back();
            pending_.pop_back();
            if (item.i < item.j) split(item, heads);
        }
        return right_[n];
    }

private:
    enum class Kind { right, left, gap };
    struct Item {
        Kind kind;
        std::size_t i, j;
    };
    double arc(std::size_t h, std::size_t m) const { return theta_[arc_at(n_, m, h)]; }
    std::size_t at(std::size_t i, std::size_t j) const { return i * (n_ + 1) + j; }

    // to(j) = max(to(j), score + from(j)).
    static void raise(double* to, double score, const double* from, std::size_t count) {
        if (score == kNothing) return;
        for (std::size_t k = 0; k < count; ++k) {
            const double x = score + from[k];
            to[k] = x > to[k] ? x : to[k];
        }
    }
    void fill(std::size_t i) {
        right_[at(i, i)] = left_[at(i, i)] = 0;
        for (std::size_t k = i; k <= n_; ++k) {
            if (k > i) {
                if (i > 0) below_[at(i, k)] = arc(k, i) + gap_[at(i, k)];
                raise(&right_[at(i, k)], arc(i, k) + gap_[at(i, k)], &right_[at(k, k)], n_ + 1 - k);
            }
            if (k < n_ && !(i == 0 && single_ && k > 0))
                raise(&gap_[at(i, k + 1)], right_[at(i, k)], &left_[at(k + 1, k + 1)], n_ - k);
        }
        for (std::size_t k = i; i > 0 && k < n_; ++k)
            raise(&left_[at(i, k + 1)], left_[at(i, k)], &below_[at(k, k + 1)], n_ - k);
    }
    void split(const Item& item, std::int32_t* heads) {
        const auto [kind, i, j] = item;
        if (kind == Kind::gap) {
            const std::size_t k = first(i, i == 0 && single_ ? 1 : j, gap_[at(i, j)],
                                        [&](std::size_t c) { return right_[at(i, c)] + left_[at(c + 1, j)]; });
            pending_.push_back({Kind::right, i, k});
            pending_.push_back({Kind::left, k + 1, j});
        } else if (kind == Kind::right) {
            const std::size_t k = first(i + 1, j + 1, right_[at(i, j)],
                                        [&](std::size_t c) { return (arc(i, c) + gap_[at(i, c)]) + right_[at(c, j)]; });
            heads[k - 1] = static_cast<std::int32_t>(i);
            pending_.push_back({Kind::gap, i, k});
            pending_.push_back({Kind::right, k, j});
        } else {
            const std::size_t k =
                first(i, j, left_[at(i, j)], [&](std::size_t c) { return left_[at(i, c)] + below_[at(c, j)]; });
            heads[k - 1] = static_cast<std::int32_t>(j);
            pending_.push_back({Kind::left, i, k});
            pending_.push_back({Kind::gap, k, j});
        }
    }
    // The first split whose score is the largest, which is `best`.
    template <class Score> static std::size_t first(std::size_t from, std::size_t to, double best, Score score) {
        while (from + 1 < to && score(from) != best) ++from;
        return from;
    }

    std::size_t n_ = 0;
    const double* theta_ = nullptr;
    bool single_ = false;
    std::vector<double> right_, left_, gap_, below_;
    std::vector<Item> pending_;
};

}  // namespace kernelfields
