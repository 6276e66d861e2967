// Exact draws of trees, projective or not.
#pragma once

#include "../core/draw.hpp"
#include "arc_sums.hpp"

namespace kernelfields {

// Uniform numbers of one draw of one sentence.
struct Uniforms {
    std::uint64_t seed, draw, sentence, count = 0;
    double operator()() { return uniform_at(seed, draw, (sentence << 32) + count++); }
};

// The first of [from, to) at which the masses add up to a share of their sum; the last with any, if rounding has it.
template <class Mass> std::size_t draw_place(std::size_t from, std::size_t to, double share, Mass mass) {
    std::size_t last = from;
    for (std::size_t k = from; k < to; ++k) {
        const double m = mass(k);
        if (m <= 0) continue;
        last = k;
        if ((share -= m) < 0) break;
    }
    return last;
}

// Projective trees: from Eisner's chart, a split of every item in proportion to its share of the sum.
template <class T> class EisnerDraws {
public:
    EisnerDraws(const EisnerChart<T>& chart, const T* weight, bool single_root)
        : chart_(chart), weight_(weight), single_(single_root) {}

    void operator()(Uniforms& uniform, std::int32_t* heads) {
        pending_.assign(1, {Kind::right, 0, chart_.words});
        while (!pending_.empty()) {
            const Item item = pending_.back();
            pending_.pop_back();
            if (item.i < item.j) split(item, uniform(), heads);
        }
    }

private:
    enum class Kind { right, left, gap };
    struct Item {
        Kind kind;
        std::size_t i, j;
    };
    std::size_t at(std::size_t i, std::size_t j) const { return i * chart_.stride + j; }

    void split(const Item& item, double share, std::int32_t* heads) {
        const auto [kind, i, j] = item;
        if (kind == Kind::gap) {
            const std::size_t k = place(i, i == 0 && single_ ? 1 : j, share, chart_.gap[at(i, j)], [&](std::size_t c) {
                return chart_.right[at(i, c)] * chart_.left[at(c + 1, j)];
            });
            pending_.push_back({Kind::right, i, k});
            pending_.push_back({Kind::left, k + 1, j});
        } else if (kind == Kind::right) {
            const std::size_t k = place(i + 1, j + 1, share, chart_.right[at(i, j)], [&](std::size_t c) {
                return weight_[arc_at(chart_.words, c, i)] * chart_.gap[at(i, c)] * chart_.right[at(c, j)];
            });
            heads[k - 1] = static_cast<std::int32_t>(i);
            pending_.push_back({Kind::gap, i, k});
            pending_.push_back({Kind::right, k, j});
        } else {
            const std::size_t k = place(i, j, share, chart_.left[at(i, j)],
                                        [&](std::size_t c) { return chart_.left[at(i, c)] * chart_.below[at(c, j)]; });
            heads[k - 1] = static_cast<std::int32_t>(j);
            pending_.push_back({Kind::left, i, k});
            pending_.push_back({Kind::gap, k, j});
        }
    }
    template <class Mass>
    static std::size_t place(std::size_t from, std::size_t to, double share, T total, Mass mass) {
        return draw_place(from, to, share, [&](std::size_t k) { return value_of(mass(k) / total); });
    }

    const EisnerChart<T>& chart_;
    const T* weight_;
    bool single_;
    std::vector<Item> pending_;
};

// All trees: Wilson's walks [wilson1996generating], from each word to a head drawn by itself until one is reached that
// has been settled. How long that takes does not depend on the tree that results: where it takes too long, another
// way begins afresh, and draws remain exact. That way draws one head after the other: the probability that head h of
// word m is that of the arc, times that of a walk from h to reach the root before m [colbourn1996two]; a word whose
// head is drawn then becomes one with it. A single root word is drawn first, and is the root of all others.
class SpanningDraws {
public:
    // `theta` as in read_arcs; `root` has the probability of each word to be the single root, null for many.
    SpanningDraws(std::size_t n, const double* theta, const double* root) : n_(n), root_(root) {
        weight_.resize(n * (n + 1));
        cumulative_.resize(n * (n + 1));
        for (std::size_t m = 1; m <= n; ++m) {
            double total = 0, top = kNothing;
            for (std::size_t h = root ? 1 : 0; h <= n; ++h) top = std::max(top, theta[arc_at(n, m, h)]);
            for (std::size_t h = 0; h <= n; ++h) {
                const double above = (h == 0 && root) || top == kNothing ? kNothing : theta[arc_at(n, m, h)] - top;
                weight_[arc_at(n, m, h)] = from_log<Wide>(above);
                cumulative_[arc_at(n, m, h)] = total += std::exp(above);
            }
        }
    }

    void operator()(Uniforms& uniform, std::int32_t* heads) {
        std::size_t top = 0;
        if (root_) {
            top = 1 + draw_place(0, n_, uniform() * sum_of(root_, n_), [&](std::size_t k) { return root_[k]; });
            heads[top - 1] = 0;
        }
        if (!walk(uniform, top, heads)) contract(uniform, top, heads);
    }

private:
    bool walk(Uniforms& uniform, std::size_t top, std::int32_t* heads) {
        std::size_t steps = 200 + 50 * n_;
        settled_.assign(n_ + 1, false);
        settled_[top] = true;
        for (std::size_t word = 1; word <= n_; ++word) {
            for (std::size_t m = word; !settled_[m]; m = static_cast<std::size_t>(heads[m - 1])) {
                const double* row = cumulative_.data() + arc_at(n_, m, 0);
                if (steps-- == 0 || !(row[n_] > 0)) return false;
                const double* place = std::upper_bound(row, row + n_ + 1, uniform() * row[n_]);
                if (place == row + n_ + 1) place = std::lower_bound(row, row + n_ + 1, row[n_]);
                heads[m - 1] = static_cast<std::int32_t>(place - row);
            }
            for (std::size_t m = word; !settled_[m]; m = static_cast<std::size_t>(heads[m - 1])) settled_[m] = true;
        }
        return true;
    }

    // Nodes 1 ... count have one word each whose head is not known, node 0 has the root; the words of a node have
    // their heads in it.
    void contract(Uniforms& uniform, std::size_t top, std::int32_t* heads) {
        std::vector<std::size_t> open{0}, node(n_ + 1, 0);
        for (std::size_t m = 1; m <= n_; ++m)
            if (m != top) {
                node[m] = open.size();
                open.push_back(m);
            }
        while (open.size() > 1) {
            const std::size_t m = open[1];
            join(open, node);
            const std::size_t to = chosen_node(open.size() - 1, uniform());
            Wide total{};
            const auto mass = [&](std::size_t h) { return node[h] == to ? weight_[arc_at(n_, m, h)] : Wide{}; };
            for (std::size_t h = 0; h <= n_; ++h) total += mass(h);
            const std::size_t head =
                draw_place(0, n_ + 1, uniform(), [&](std::size_t h) { return value_of(mass(h) / total); });
            heads[m - 1] = static_cast<std::int32_t>(head);
            const std::size_t last = open.size() - 1;
            for (std::size_t& k : node) k = k == 1 ? to : k;
            for (std::size_t& k : node) k = k == last && last > 1 ? 1 : k;
            open[1] = open[last];
            open.pop_back();
        }
    }
    // between_(a, b): the weights of arcs from words of node b to the open word of node a.
    void join(const std::vector<std::size_t>& open, const std::vector<std::size_t>& node) {
        const std::size_t stride = open.size();
        between_.assign(stride * stride, Wide{});
        for (std::size_t a = 1; a < stride; ++a)
            for (std::size_t h = 0; h <= n_; ++h)
                if (node[h] != a) between_[a * stride + node[h]] += weight_[arc_at(n_, open[a], h)];
    }
    // Eliminates nodes count ... 2, then says how likely walks from each reach the root before node 1.
    std::size_t chosen_node(std::size_t count, double share) {
        const std::size_t stride = count + 1;
        const std::vector<Wide> own(between_.begin() + static_cast<std::ptrdiff_t>(stride),
                                    between_.begin() + static_cast<std::ptrdiff_t>(2 * stride));
        std::vector<Wide> reach(stride), sum(stride);
        for (std::size_t k = count; k > 1; --k) {
            const Wide* from = between_.data() + k * stride;
            for (std::size_t h = 0; h < k; ++h) sum[k] += from[h];
            for (std::size_t a = 1; a < k && !is_zero(sum[k]); ++a) {
                Wide* to = between_.data() + a * stride;
                PlainRows::add(to, to[k] / sum[k], from, k);
                to[a] = Wide{};
            }
        }
        reach[0] = 1.0;
        Wide total = own[0];
        for (std::size_t k = 2; k <= count; ++k) {
            if (!is_zero(sum[k])) reach[k] = PlainRows::dot(between_.data() + k * stride, reach.data(), k) / sum[k];
            total += own[k] * reach[k];
        }
        return draw_place(0, stride, share, [&](std::size_t k) { return value_of(own[k] * reach[k] / total); });
    }

    std::size_t n_;
    const double* root_;
    std::vector<Wide> weight_, between_;
    std::vector<double> cumulative_;
    std::vector<bool> settled_;
};

}  // namespace kernelfields
