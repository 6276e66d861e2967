// Coordinate ascent on the dual of a max-margin chain, the shares of detours (detours.hpp) being the coordinates.
//
//   max  sum_d share_d cost_d - 1/2 |f|^2,   f = - sum_d share_d r(parts of d),   shares packed into every edge
//
// r and |.| those of the inner product lambda <., .>. The gain of a detour, cost_d + <parts of d, scores of f>, is the
// derivative in its share, and the square of r(parts of d) the second one: every step is exact. A visit looks for the
// worst labelling of a sequence and takes its detours in; then every share goes as far as is best, and where others
// leave no room, shares trade places: the pairwise steps of Frank and Wolfe that need no decomposition into vertices
// [garber2016]. Between visits there are passes over the detours that are known.
#pragma once

#include "detour_packing.hpp"
#include "detour_search.hpp"
#include "detour_weights.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace kernelfields {

struct AscentPass {
    double loss = 0;  // sum of the losses of sequences, each before its visit
    double gap = 0;   // sum of their duality gaps
    double gain = 0;  // by how much the dual has risen
};

template <class Weights> class DetourAscent {
public:
    using S = typename Weights::Number;
    DetourAscent(const MarginData<S>& data, Weights weights, LabelPenalties penalties)
        : data_(data),
          weights_(std::move(weights)),
          free_(data.labels, penalties),
          search_(data),
          sets_(data.sequences) {}

    // Visits some sequences. The loss is NaN if a score is not finite; nothing is changed from there on.
    AscentPass visit(const std::int64_t* order, std::size_t count) {
        AscentPass pass;
        gain_ = 0;
        for (std::size_t k = 0; k < count && !std::isnan(pass.loss); ++k) visit(bound(order[k]), pass);
        pass.gain = gain_;
        return pass;
    }
    // Goes through the detours of some sequences without a search; returns by how much the dual has risen.
    double improve(const std::int64_t* order, std::size_t count) {
        gain_ = 0;
        for (std::size_t k = 0; k < count; ++k) {
            const Bound s = bound(order[k]);
            const std::vector<Detour>& list = s.set->list;
            if (std::all_of(list.begin(), list.end(), [](const Detour& d) { return d.asleep; })) continue;
            weights_.bind(s.from, s.from + s.length);
            sweep(s, true);
            weights_.flush();
        }
        return gain_;
    }
    // Sum of the losses at f.
    double loss() {
        double total = 0;
        for (std::size_t s = 0; s < data_.sequences; ++s)
            if (data_.length(s) > 0) total += data_.capacity(s) * positive(search_.look(s, weights_, free_));
        return total;
    }
    double level() const {
        double total = 0;
        for (const DetourSet& set : sets_)
            for (const Detour& detour : set.list) total += detour.share * detour.cost;
        return total;
    }
    double square() const { return weights_.square() + free_.square(); }
    void forget(std::uint32_t patience) {
        for (DetourSet& set : sets_) set.forget(patience);
    }
    const std::vector<DetourSet>& sets() const { return sets_; }

    // Adds sum_d share_d parts_d to positions x labels and labels x labels numbers.
    void add_mixture(double* node, double* edge) {
        const std::size_t L = data_.labels;
        for (std::size_t s = 0; s < data_.sequences; ++s) {
            const Bound here = bound(static_cast<std::int64_t>(s));
            sum_.clear();
            for (const Detour& detour : here.set->list)
                if (detour.share > 0) add_to_sum(here, detour, detour.share);
            for (const auto& v : sum_.vertices) node[v.position * L + static_cast<std::size_t>(v.label)] += v.factor;
            for (const auto& pair : sum_.pairs) edge[pair.pair] += pair.factor;
        }
    }
    void clear() {
        for (DetourSet& set : sets_) set.clear();
        weights_.clear();
        free_.clear();
    }
    // Takes in a detour with a share; false if there is no room for it.
    bool take(std::size_t sequence, std::uint32_t from, std::uint32_t length, const std::int32_t* labels,
              double share) {
        const Bound s = bound(static_cast<std::int64_t>(sequence));
        Detour& detour = s.set->list[known(s, from, length, labels)];
        if (share < 0 || s.set->load(detour) + share > s.capacity * (1 + kRounding)) return false;
        if (share == 0) return true;
        weights_.bind(s.from, s.from + s.length);
        move(s, detour, share);
        weights_.flush();
        return true;
    }

private:
    static constexpr double kRounding = 1e-9, kInfinite = std::numeric_limits<double>::infinity();

    // One sequence.
    struct Bound {
        std::size_t index, from, length;
        const std::int32_t* right;
        double capacity;
        DetourSet* set;
    };
    Bound bound(std::int64_t index) {
        const auto s = static_cast<std::size_t>(index);
        const auto from = static_cast<std::size_t>(data_.first[s]);
        return {s, from, data_.length(s), data_.label + from, data_.capacity(s), &sets_[s]};
    }
    static double positive(double x) { return std::isnan(x) ? x : std::max(x, 0.0); }

    // Calls vertex(t, wrong, right) and edge(wrong pair, right pair) for all that a detour changes.
    template <class Vertex, class Edge> void each_part(const Bound& s, const Detour& d, Vertex vertex,
                                                       Edge edge) const {
        const std::int32_t* labels = s.set->labels(d);
        const auto label = [&](std::size_t t) { return d.from <= t && t < d.end() ? labels[t - d.from] : s.right[t]; };
        for (std::size_t t = d.from; t < d.end(); ++t) vertex(t, labels[t - d.from], s.right[t]);
        const std::size_t last = std::min<std::size_t>(d.end(), s.length - 1);
        for (std::size_t t = std::max<std::size_t>(d.from, 1); t <= last; ++t)
            edge(pair(label(t - 1), label(t)), pair(s.right[t - 1], s.right[t]));
    }
    std::size_t pair(std::int32_t left, std::int32_t right) const {
        return static_cast<std::size_t>(left) * data_.labels + static_cast<std::size_t>(right);
    }

    // The gain at f.
    double gain(const Bound& s, const Detour& d) const {
        double sum = d.cost;
        each_part(
            s, d,
            [&](std::size_t t, std::int32_t wrong, std::int32_t right) {
                sum += weights_.difference(s.from + t, wrong, right);
                sum += free_.difference(t == 0, t + 1 == s.length, wrong, right);
            },
            [&](std::size_t wrong, std::size_t right) { sum += free_.edge_difference(wrong, right); });
        return sum;
    }
    // The same where the search has just looked.
    double seen_gain(const Bound& s, const Detour& d) const {
        double sum = 0;
        each_part(
            s, d,
            [&](std::size_t t, std::int32_t wrong, std::int32_t right) {
                sum += search_.node(t, wrong) - search_.node(t, right);
            },
            [&](std::size_t wrong, std::size_t right) { sum += search_.edge(wrong) - search_.edge(right); });
        return sum;
    }
    double cost(const Bound& s, const Detour& d) const {
        double sum = 0;
        each_part(
            s, d,
            [&](std::size_t t, std::int32_t wrong, std::int32_t) {
                sum += static_cast<double>(data_.fixed[(s.from + t) * data_.labels + static_cast<std::size_t>(wrong)]);
            },
            [&](std::size_t wrong, std::size_t right) {
                sum += static_cast<double>(data_.edge_fixed[wrong]) - static_cast<double>(data_.edge_fixed[right]);
            });
        return sum;
    }

    void move(const Bound& s, Detour& d, double by) {
        const double before = d.share;
        s.set->change(d, by);
        by = d.share - before;
        each_part(
            s, d,
            [&](std::size_t t, std::int32_t wrong, std::int32_t right) {
                weights_.change(s.from + t, wrong, right, by);
                free_.change(t == 0, t + 1 == s.length, wrong, right, by);
            },
            [&](std::size_t wrong, std::size_t right) { free_.change_edge(wrong, right, by); });
    }

    void add_to_sum(const Bound& s, const Detour& d, double factor) {
        each_part(
            s, d,
            [&](std::size_t t, std::int32_t wrong, std::int32_t right) {
                sum_.vertices.push_back({s.from + t, wrong, factor});
                sum_.vertices.push_back({s.from + t, right, -factor});
            },
            [&](std::size_t wrong, std::size_t right) {
                sum_.pairs.push_back({wrong, factor});
                sum_.pairs.push_back({right, -factor});
            });
    }
    double square_of_sum(const Bound& s) {
        return weights_.square(sum_) + free_.square(sum_, s.from, s.from + s.length);
    }

    std::size_t known(const Bound& s, std::uint32_t from, std::uint32_t length, const std::int32_t* labels) {
        const std::size_t k = s.set->find(from, length, labels, s.length);
        Detour& d = s.set->list[k];
        d.asleep = false;
        if (d.square < 0) {
            d.cost = cost(s, d);
            sum_.clear();
            add_to_sum(s, d, 1);
            d.square = square_of_sum(s);
        }
        return k;
    }

    void visit(const Bound& s, AscentPass& pass) {
        if (s.length == 0 || s.capacity == 0) return;
        const double value = positive(search_.look(s.index, weights_, free_));
        pass.loss += s.capacity * value;
        if (std::isnan(value)) return;
        double gap = s.capacity * value;
        for (const Detour& d : s.set->list)
            if (d.share > 0) gap -= d.share * seen_gain(s, d);
        pass.gap += std::max(gap, 0.0);
        take_worst(s);
        weights_.bind(s.from, s.from + s.length);
        sweep(s, false);
        weights_.flush();
    }

    // Takes in the detours of the labelling that was found.
    void take_worst(const Bound& s) {
        const std::int32_t* best = search_.best();
        for (std::size_t t = 0; t < s.length; ++t) {
            const std::size_t from = t;
            while (t < s.length && best[t] != s.right[t]) ++t;
            if (t > from) known(s, static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(t - from), best + from);
        }
    }

    // Every share in turn, or every one that seemed worth it; those that had no room trade places.
    void sweep(const Bound& s, bool awake_only) {
        for (int round = 0; round < Weights::kSweeps; ++round) {
            crowded_ = false;
            for (std::size_t d = 0; d < s.set->list.size(); ++d)
                if (!awake_only || !s.set->list[d].asleep) step(s, d);
            if (crowded_) trade(s);
        }
    }

    // One share, as far as is best.
    void step(const Bound& s, std::size_t k) {
        Detour& d = s.set->list[k];
        const double slope = gain(s, d);
        d.asleep = d.share == 0 && slope <= 0;
        if (d.asleep) return;
        const double wanted = newton(slope, d.square), room = std::max(s.capacity - s.set->load(d), 0.0);
        const double by = std::clamp(wanted, -d.share, room);
        if (by != 0) {
            move(s, d, by);
            gain_ += by * (slope - 0.5 * by * d.square);
        }
        crowded_ |= wanted > room * (1 + kRounding);
    }
    static double newton(double slope, double square) {
        if (square > 0) return slope / square;
        return slope > 0 ? kInfinite : -kInfinite;
    }

    // Pairwise steps. Of the packings of detours one has the largest gain. Of those that some distribution behind the
    // shares can contain, which touch every edge that is full, one has the least. Share goes from the latter to the
    // former, apart for each stretch of edges in which the two overlap.
    void trade(const Bound& s) {
        std::vector<Detour>& list = s.set->list;
        gains_.resize(list.size());
        for (std::size_t k = 0; k < list.size(); ++k) gains_[k] = gain(s, list[k]);
        const double full = s.capacity * (1 - kRounding);
        aim_.assign(list.size(), 0);
        packing_.best(s.length, list, [&](std::size_t k) { return gains_[k]; }, [](std::size_t) { return true; });
        for (std::size_t k : packing_.chosen()) ++aim_[k];
        const auto shared = [&](std::size_t k) { return list[k].share > 0 ? -gains_[k] : -kInfinite; };
        packing_.best(s.length, list, shared,
                      [&](std::size_t e) { return s.set->load(static_cast<std::uint32_t>(e)) < full; });
        for (std::size_t k : packing_.chosen()) --aim_[k];
        moved_.clear();
        for (std::size_t k = 0; k < list.size(); ++k)
            if (aim_[k] != 0) moved_.push_back(k);
        std::sort(moved_.begin(), moved_.end(),
                  [&](std::size_t a, std::size_t b) { return list[a].from < list[b].from; });
        for (std::size_t k = 0; k < moved_.size();) {
            const std::size_t from = k;
            std::uint32_t end = list[moved_[k]].end();
            for (++k; k < moved_.size() && list[moved_[k]].from <= end; ++k) end = std::max(end, list[moved_[k]].end());
            trade(s, moved_.data() + from, moved_.data() + k);
        }
    }
    void trade(const Bound& s, const std::size_t* from, const std::size_t* to) {
        std::vector<Detour>& list = s.set->list;
        double slope = 0;
        sum_.clear();
        for (const std::size_t* k = from; k != to; ++k) {
            slope += aim_[*k] * gain(s, list[*k]);
            add_to_sum(s, list[*k], aim_[*k]);
        }
        const double square = square_of_sum(s);
        const double by = std::min(newton(slope, square), room(s, from, to));
        if (!(slope > 0) || !(by > 0)) return;
        for (const int sign : {-1, 1})
            for (const std::size_t* k = from; k != to; ++k)
                if (aim_[*k] == sign) move(s, list[*k], sign * by);
        gain_ += by * (slope - 0.5 * by * square);
    }
    // How much share those that give have, and how much those that take have room for where nobody gives.
    double room(const Bound& s, const std::size_t* from, const std::size_t* to) {
        const std::vector<Detour>& list = s.set->list;
        double least = s.capacity;
        change_.assign(s.length + 1, 0);
        for (const std::size_t* k = from; k != to; ++k) {
            if (aim_[*k] < 0) least = std::min(least, list[*k].share);
            for (std::uint32_t e = list[*k].from; e <= list[*k].end(); ++e) change_[e] += aim_[*k];
        }
        for (std::uint32_t e = 0; e <= s.length; ++e)
            if (change_[e] > 0) least = std::min(least, s.capacity - s.set->load(e));
        return least;
    }

    MarginData<S> data_;
    Weights weights_;
    DetourLabels free_;
    DetourSearch<S> search_;
    std::vector<DetourSet> sets_;
    DetourSum sum_;
    DetourPacking packing_;
    std::vector<std::size_t> moved_;
    std::vector<double> gains_;
    std::vector<int> aim_, change_;
    bool crowded_ = false;
    double gain_ = 0;
};

}  // namespace kernelfields
