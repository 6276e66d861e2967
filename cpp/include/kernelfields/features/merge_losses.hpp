// How much mutual information of neighbouring clusters is lost if two of them become one.
#pragma once

#include "entropy_units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kernelfields {

// With counts n(a,b) of cluster b behind cluster a, sums l(a) and r(b) of rows and columns, N of all, and
// f(n) = n log n, the mutual information is
//
//     N I = Σ_ab f(n(a,b)) - Σ_a f(l(a)) - Σ_b f(r(b)) + f(N),
//
// so that with g(u,v) = f(u + v) - f(u) - f(v) the loss of merging a and b is
//
//     g(l(a), l(b)) + g(r(a), r(b)) - Σ_c≠a,b [g(n(a,c), n(b,c)) + g(n(c,a), n(c,b))] - own(a,b),
//     own(a,b) = f(n(a,a) + n(a,b) + n(b,a) + n(b,b)) - f(n(a,a)) - f(n(a,b)) - f(n(b,a)) - f(n(b,b)).
//
// g is 0 where one of its arguments is. So a merge of x and y, y with fewer neighbours, changes the losses of
// other pairs only where one of them is a neighbour of y, and a new cluster only those of its neighbours.
// Losses are whole numbers of units, hence the same whichever way they were come by.
class MergeLosses {
public:
    struct Pair {
        std::size_t first, second;
        std::int64_t loss;
    };

    // Room for `slots` clusters, of counts that add up to at most `most`.
    MergeLosses(std::size_t slots, std::int64_t most)
        : f_(most),
          slots_(slots),
          out_(slots * slots),
          in_(slots * slots),
          loss_(slots * slots, kNever),
          left_(slots),
          right_(slots),
          shared_(slots),
          active_(slots) {}

    const EntropyUnits& units() const { return f_; }
    std::int64_t& out(std::size_t a, std::size_t b) { return out_[a * slots_ + b]; }

    // Makes slot s a cluster; before[a] and after[a] are n(a,s) and n(s,a), those of s itself in `self`.
    void insert(std::size_t s, const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after,
                std::int64_t self) {
        const std::vector<std::int64_t> left = left_, right = right_;
        std::vector<std::size_t> changed;
        for (std::size_t a = 0; a < slots_; ++a) {
            if (before[a] == 0 && after[a] == 0) continue;
            changed.push_back(a);
            left_[a] += before[a];
            right_[a] += after[a];
        }
        for (const std::size_t a : changed)
            for (std::size_t b = 0; b < slots_; ++b)
                if (active_[b] && a != b && (b > a || (before[b] == 0 && after[b] == 0)))
                    loss(a, b) += f_.gain(left_[a], left_[b]) + f_.gain(right_[a], right_[b]) -
                                  f_.gain(left[a], left[b]) - f_.gain(right[a], right[b]) -
                                  f_.gain(before[a], before[b]) - f_.gain(after[a], after[b]);
        put(s, changed, before, after, self);
    }

    // The pair that loses least, the first of equal ones.
    Pair cheapest() const {
        Pair best{0, 0, kNever};
        for (std::size_t a = 1; a < slots_; ++a) {
            const std::int64_t* const row = loss_.data() + a * slots_;
            std::int64_t least = kNever;
            for (std::size_t b = 0; b < a; ++b) least = std::min(least, row[b]);
            if (least < best.loss) best = {static_cast<std::size_t>(std::find(row, row + a, least) - row), a, least};
        }
        return best;
    }

    std::size_t neighbours(std::size_t a) const {
        std::size_t count = 0;
        for (std::size_t b = 0; b < slots_; ++b) count += (out_[a * slots_ + b] != 0) + (in_[a * slots_ + b] != 0);
        return count;
    }

    // Slot x becomes both clusters, slot y is free again.
    void merge(std::size_t x, std::size_t y) {
        const std::vector<std::size_t> outs = contexts(out_, x, y), ins = contexts(in_, x, y);
        join_context(in_, ins, x, y);
        join_context(out_, outs, x, y);
        for (std::size_t b = 0; b < slots_; ++b)
            shared_[b] = active_[b] && b != x && b != y ? fixed(x, b) - loss(x, b) : 0;
        for (const std::size_t c : {x, y}) share(x, c, -1);
        share_all(x, outs, ins, -1);
        fold(x, y);
        share(x, x, 1);
        share_all(x, outs, ins, 1);
        settle(x);
    }

private:
    static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
    using Counts = std::vector<std::int64_t>;

    std::int64_t& loss(std::size_t a, std::size_t b) { return loss_[std::max(a, b) * slots_ + std::min(a, b)]; }

    // What the loss of a pair is apart from all contexts c; those of a and b themselves do not count.
    std::int64_t fixed(std::size_t a, std::size_t b) {
        const std::int64_t aa = out(a, a), ab = out(a, b), ba = out(b, a), bb = out(b, b);
        const std::int64_t own = f_(aa + ab + ba + bb) - f_(aa) - f_(ab) - f_(ba) - f_(bb);
        return f_.gain(left_[a], left_[b]) + f_.gain(right_[a], right_[b]) + f_.gain(aa, ba) + f_.gain(aa, ab) +
               f_.gain(ab, bb) + f_.gain(ba, bb) - own;
    }

    // Adds the context c, on both sides, to what x shares with every cluster.
    void share(std::size_t x, std::size_t c, std::int64_t sign) {
        share_side(out_[x * slots_ + c], in_.data() + c * slots_, sign);
        share_side(in_[x * slots_ + c], out_.data() + c * slots_, sign);
    }

    void share_side(std::int64_t count, const std::int64_t* others, std::int64_t sign) {
        if (count == 0) return;
        const std::int64_t one = f_(count);
        for (std::size_t b = 0; b < slots_; ++b)
            if (others[b]) shared_[b] += sign * (f_(count + others[b]) - one - f_(others[b]));
    }

    void share_all(std::size_t x, const std::vector<std::size_t>& outs, const std::vector<std::size_t>& ins,
                   std::int64_t sign) {
        for (const std::size_t c : outs) share_side(out_[x * slots_ + c], in_.data() + c * slots_, sign);
        for (const std::size_t c : ins) share_side(in_[x * slots_ + c], out_.data() + c * slots_, sign);
    }

    void settle(std::size_t x) {
        for (std::size_t b = 0; b < slots_; ++b)
            if (active_[b] && b != x) loss(x, b) = fixed(x, b) - shared_[b];
    }

    void put(std::size_t s, const std::vector<std::size_t>& neighbours, const Counts& before, const Counts& after,
             std::int64_t self) {
        left_[s] = right_[s] = self;
        out(s, s) = in_[s * slots_ + s] = self;
        for (const std::size_t a : neighbours) {
            out_[a * slots_ + s] = in_[s * slots_ + a] = before[a];
            out_[s * slots_ + a] = in_[a * slots_ + s] = after[a];
            left_[s] += after[a];
            right_[s] += before[a];
        }
        active_[s] = 1;
        std::fill(shared_.begin(), shared_.end(), 0);
        share(s, s, 1);
        for (const std::size_t c : neighbours) share(s, c, 1);
        settle(s);
    }

    // Other clusters next to y on one side.
    std::vector<std::size_t> contexts(const Counts& side, std::size_t x, std::size_t y) const {
        std::vector<std::size_t> found;
        for (std::size_t c = 0; c < slots_; ++c)
            if (c != x && c != y && side[y * slots_ + c]) found.push_back(c);
        return found;
    }

    // Other pairs: the contexts x and y become one. `touched` are the clusters that have y as a context.
    void join_context(const Counts& side, const std::vector<std::size_t>& touched, std::size_t x, std::size_t y) {
        const std::int64_t *const of_x = side.data() + x * slots_, *const of_y = side.data() + y * slots_;
        for (const std::size_t a : touched)
            for (std::size_t b = 0; b < slots_; ++b) {
                if (b == a || b == x || b == y || (of_x[b] | of_y[b]) == 0 || (of_y[b] && b < a)) continue;
                loss(a, b) -= f_.gain(of_x[a] + of_y[a], of_x[b] + of_y[b]) - f_.gain(of_x[a], of_x[b]) -
                              f_.gain(of_y[a], of_y[b]);
            }
    }

    void fold(std::size_t x, std::size_t y) {
        const std::int64_t self = out(x, x) + out(x, y) + out(y, x) + out(y, y);
        for (std::size_t c = 0; c < slots_; ++c) {
            const std::int64_t after = out(y, c), before = out(c, y);
            out(x, c) += after;
            out(c, x) += before;
            in_[c * slots_ + x] = out(x, c);
            in_[x * slots_ + c] = out(c, x);
        }
        for (std::size_t c = 0; c < slots_; ++c) out(y, c) = out(c, y) = in_[y * slots_ + c] = in_[c * slots_ + y] = 0;
        out(x, x) = in_[x * slots_ + x] = self;
        for (Counts* const sums : {&left_, &right_}) {
            (*sums)[x] += (*sums)[y];
            (*sums)[y] = 0;
        }
        active_[y] = 0;
        for (std::size_t b = 0; b < slots_; ++b) loss(y, b) = kNever;
    }

    EntropyUnits f_;
    std::size_t slots_;
    Counts out_, in_, loss_, left_, right_, shared_;
    std::vector<char> active_;
};

}  // namespace kernelfields
