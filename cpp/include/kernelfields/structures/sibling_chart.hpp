// Projective trees in which neighbouring words of one head, on the same side of it, have scores of their own
// [mcdonald2006online]. With words 0 ... n, 0 being the root,
//
//   arm[h, m]  = w(h, m) ( first(h, m) side[m, h +- 1] + sum_i sibling(h, i, m) arm[h, i] between[i, m] )
//   side[h, t] = sum_m arm[h, m] side[m, t],           side[h, h] = 1
//   between[a, b] = sum_k side[a, k] side[b, k + 1]
//
// for i between h and m, m between h and t, a <= k < b: an arm is a head with its words up to m on one side of it, and
// a side with all that is below them. Z = side[0, n]. Everything is a sum of products of two entries, which is written
// down once: sums, derivatives, the best tree and draws go through the same terms.
#pragma once

#include "../core/dual.hpp"
#include "../core/logarithms.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kernelfields {

// Scores as numbers whose sum is the larger one, and whose product is the sum.
struct Highest {
    double score = kNothing;

    Highest() = default;
    Highest(double value) : score(value > 0 ? std::log(value) : kNothing) {}  // NOLINT: 1 is one
    static Highest of(double score) {
        Highest result;
        result.score = score;
        return result;
    }
    friend Highest operator+(Highest a, Highest b) { return of(std::max(a.score, b.score)); }
    friend Highest operator*(Highest a, Highest b) { return of(a.score + b.score); }
    Highest& operator+=(Highest b) { return *this = *this + b; }
};
inline bool is_zero(Highest a) {
    return a.score == kNothing;
}
template <> inline Highest from_log<Highest>(double x) {
    return Highest::of(x);
}

// What a sentence has: scores of arcs (arcs.hpp), and of words that have the same head on the same side with nothing of
// that head in between, by head, outer and inner word, the inner one being the head itself where there is none.
struct SiblingScores {
    std::size_t words;
    const double* arc;
    std::size_t rows;
    const std::int32_t* row;  // rows x (head, inner, outer), sorted by head, outer, inner
    const double* score;      // rows
    bool single_root;
};

constexpr std::size_t kNoRow = static_cast<std::size_t>(-1);

template <class T> class SiblingChart {
public:
    enum Kind { arm, side, between };
    struct Item {
        Kind kind;
        std::size_t a, b;  // head and word; head and end; both words
    };

    // `arc` and `sibling` are weights, the latter one per row.
    SiblingChart(const SiblingScores& scores, std::vector<T> arc, std::vector<T> sibling)
        : n_(scores.words),
          width_(n_ + 1),
          scores_(scores),
          arc_(std::move(arc)),
          sibling_(std::move(sibling)),
          first_(width_ * width_ + 1, scores.rows),
          value_(3 * width_ * width_) {
        std::size_t key = 0;
        for (std::size_t r = 0; r < scores.rows; ++r)
            for (const std::size_t mine = head(r) * width_ + outer(r); key <= mine; ++key) first_[key] = r;
        for (std::size_t i = 0; i <= n_; ++i) value_[at({side, i, i})] = T(1.0);
        for_each_item([&](Item item) {
            T sum{};
            for_each_term(item, [&](const T& factor, std::size_t left, std::size_t right, std::size_t) {
                sum += factor * value_[left] * value_[right];
            });
            value_[at(item)] = sum;
        });
    }

    const T& total() const { return value_[at(whole())]; }
    Item whole() const { return {side, 0, n_}; }
    const T& value(std::size_t place) const { return value_[place]; }

    // visit(factor, left, right, row): the item is the sum of factor * value(left) * value(right) over all of them.
    // Arcs of weight zero are left out.
    template <class Visit> void for_each_term(Item item, Visit visit) const {
        const auto [kind, a, b] = item;
        if (kind == between) {
            for (std::size_t k = a; k < b; ++k) visit(T(1.0), at({side, a, k}), at({side, b, k + 1}), kNoRow);
        } else if (kind == side) {
            const std::size_t low = a < b ? a + 1 : b, high = a < b ? b : a - 1;
            for (std::size_t m = low; m <= high; ++m)
                if (const std::size_t mine = at({arm, a, m}); !is_zero(value_[mine]))
                    visit(T(1.0), mine, at({side, m, b}), kNoRow);
        } else {
            arms(a, b, visit);
        }
    }

    // Derivatives of log Z: of arcs (n (n + 1)) and of rows, all zero before.
    void differentiate(std::vector<T>& arc_slope, std::vector<T>& row_slope) const {
        std::vector<T> slope(value_.size());
        slope[at(whole())] = T(1.0) / total();
        std::vector<Item> items;
        for_each_item([&](Item item) { items.push_back(item); });
        for (std::size_t k = items.size(); k-- > 0;) {
            const Item item = items[k];
            const T mine = slope[at(item)];
            if (is_zero(mine)) continue;
            if (item.kind == arm) arc_slope[arc_of(item.a, item.b)] = mine * value_[at(item)];
            for_each_term(item, [&](const T& factor, std::size_t left, std::size_t right, std::size_t row) {
                const T scaled = mine * factor;
                slope[left] += scaled * value_[right];
                slope[right] += scaled * value_[left];
                if (row != kNoRow) row_slope[row] = scaled * value_[left] * value_[right];
            });
        }
    }

    // Heads (0 ... n) of all words of one tree: choose(weights) says which term of an item to take.
    template <class Choose> void trace(Choose choose, std::int32_t* heads) const {
        std::vector<std::size_t> waiting{at(whole())};
        std::vector<T> weight;
        std::vector<std::pair<std::size_t, std::size_t>> parts;
        while (!waiting.empty()) {
            const Item item = item_at(waiting.back());
            waiting.pop_back();
            if (item.kind == side && item.a == item.b) continue;
            if (item.kind == arm) heads[item.b - 1] = static_cast<std::int32_t>(item.a);
            weight.clear();
            parts.clear();
            for_each_term(item, [&](const T& factor, std::size_t left, std::size_t right, std::size_t) {
                weight.push_back(factor * value_[left] * value_[right]);
                parts.emplace_back(left, right);
            });
            const auto [left, right] = parts[choose(weight)];
            waiting.push_back(left);
            waiting.push_back(right);
        }
    }

private:
    std::size_t head(std::size_t r) const { return static_cast<std::size_t>(scores_.row[3 * r]); }
    std::size_t inner(std::size_t r) const { return static_cast<std::size_t>(scores_.row[3 * r + 1]); }
    std::size_t outer(std::size_t r) const { return static_cast<std::size_t>(scores_.row[3 * r + 2]); }
    std::size_t arc_of(std::size_t h, std::size_t m) const { return (m - 1) * width_ + h; }
    std::size_t at(Item item) const {
        return (static_cast<std::size_t>(item.kind) * width_ + item.a) * width_ + item.b;
    }
    Item item_at(std::size_t place) const {
        return {static_cast<Kind>(place / (width_ * width_)), place / width_ % width_, place % width_};
    }

    // All items, each behind those that it is made of; nothing is above the root.
    template <class Visit> void for_each_item(Visit visit) const {
        for (std::size_t size = 1; size <= n_; ++size)
            for (std::size_t a = 0; a + size <= n_; ++a) {
                const std::size_t b = a + size;
                if (a > 0) visit({between, a, b});
                visit({arm, a, b});
                if (a > 0) visit({arm, b, a});
                visit({side, a, b});
                if (a > 0) visit({side, b, a});
            }
    }

    // The inner word of the arm from h to m is any between them, or h itself if there is none.
    template <class Visit> void arms(std::size_t h, std::size_t m, Visit visit) const {
        const T& weight = arc_[arc_of(h, m)];
        if (is_zero(weight)) return;  // most arcs of pruned trees
        std::size_t row = first_[h * width_ + m];
        const std::size_t end = first_[h * width_ + m + 1];
        const std::size_t low = h < m ? h : m + 1, high = h < m ? m - 1 : h;
        for (std::size_t i = low; i <= high; ++i) {
            const bool listed = row < end && inner(row) == i;
            const std::size_t mine = listed ? row++ : kNoRow;
            const T factor = listed ? weight * sibling_[mine] : weight;
            if (i == h) visit(factor, at({side, m, h < m ? h + 1 : h - 1}), at({side, h, h}), mine);
            else if (h > 0 || !scores_.single_root)
                visit(factor, at({arm, h, i}), at({between, std::min(i, m), std::max(i, m)}), mine);
        }
    }

    std::size_t n_, width_;
    SiblingScores scores_;
    std::vector<T> arc_, sibling_;
    std::vector<std::size_t> first_;  // rows by head and outer word
    std::vector<T> value_;            // arms, sides, between
};

}  // namespace kernelfields
