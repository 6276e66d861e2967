// The function f that shares of detours stand for, as the detours of an instance see and change it.
//
//   f = - sum_d share_d r(parts of d),   the gain of d:  cost_d + <parts of d, scores of f>
//
// r that of the inner product lambda <., .>.
#pragma once

#include "detour_set.hpp"
#include "detour_weights.hpp"
#include "margin_data.hpp"

namespace kernelfields {

// An instance with its right labels, its weight and its detours.
template <class Instance> struct MarginInstance {
    Instance at;
    const std::int32_t* right;
    double capacity;
    DetourSet<Instance>* set;
};

template <class Weights, class Instance> class DetourFunction {
public:
    using S = typename Weights::Number;
    using Bound = MarginInstance<Instance>;

    DetourFunction(const MarginData<S>& data, Weights weights, LabelPenalties penalties)
        : data_(data), weights_(std::move(weights)), free_(data.labels, penalties) {}

    const Weights& weights() const { return weights_; }
    const DetourLabels& free() const { return free_; }
    double square() const { return weights_.square() + free_.square(); }
    void clear() {
        weights_.clear();
        free_.clear();
    }
    // Between `open` and `close` only instances taken since `begin` are looked at and changed.
    void begin() { weights_.begin(); }
    void take(const Bound& s) { weights_.take(s.at.from, s.at.from + s.at.length); }
    void open() { weights_.open(); }
    void close() { weights_.close(); }

    double gain(const Bound& s, const Detour& d) const {
        double sum = d.cost;
        each_part(
            s, d,
            [&](std::size_t t, std::int32_t wrong, std::int32_t right) {
                sum += weights_.difference(s.at.from + t, wrong, right);
                sum += free_.difference(s.at.is_source(t), s.at.is_sink(t), wrong, right);
            },
            [&](std::size_t wrong, std::size_t right) { sum += free_.edge_difference(wrong, right); });
        return sum;
    }
    // The same by scores of the instance that include costs.
    double gain(const Bound& s, const Detour& d, const MarginScores<S>& scores) const {
        double sum = 0;
        each_part(
            s, d,
            [&](std::size_t t, std::int32_t wrong, std::int32_t right) {
                sum += scores.node(t, wrong) - scores.node(t, right);
            },
            [&](std::size_t wrong, std::size_t right) { sum += scores.edge(wrong) - scores.edge(right); });
        return sum;
    }
    // What costs and fixed scores add; the detour need not be one of the set.
    double cost(const Bound& s, const Detour& d, const std::int32_t* words) const {
        double sum = 0;
        each_part(
            s, d, words,
            [&](std::size_t t, std::int32_t wrong, std::int32_t) {
                const std::size_t at = (s.at.from + t) * data_.labels + static_cast<std::size_t>(wrong);
                sum += static_cast<double>(data_.fixed[at]);
            },
            [&](std::size_t wrong, std::size_t right) {
                sum += static_cast<double>(data_.edge_fixed[wrong]) - static_cast<double>(data_.edge_fixed[right]);
            });
        return sum;
    }

    void move(const Bound& s, Detour& d, double by) {
        const double before = d.share;
        s.set->change(s.at, d, by);
        by = d.share - before;
        each_part(
            s, d,
            [&](std::size_t t, std::int32_t wrong, std::int32_t right) {
                weights_.change(s.at.from + t, wrong, right, by);
                free_.change(s.at.is_source(t), s.at.is_sink(t), wrong, right, by);
            },
            [&](std::size_t wrong, std::size_t right) { free_.change_edge(wrong, right, by); });
    }

    void add_to(DetourSum& sum, const Bound& s, const Detour& d, double factor) const {
        each_part(
            s, d,
            [&](std::size_t t, std::int32_t wrong, std::int32_t right) {
                sum.vertices.push_back({s.at.from + t, wrong, factor});
                sum.vertices.push_back({s.at.from + t, right, -factor});
            },
            [&](std::size_t wrong, std::size_t right) {
                sum.pairs.push_back({wrong, factor});
                sum.pairs.push_back({right, -factor});
            });
    }
    // |r(sum)|^2.
    double square(const DetourSum& sum, const Bound& s) { return weights_.square(sum) + free_.square(sum, s.at); }

private:
    // Calls vertex(t, wrong, right) and edge(wrong pair, right pair), numbers of pairs, for all that a detour changes.
    template <class Vertex, class Edge>
    void each_part(const Bound& s, const Detour& d, Vertex vertex, Edge edge) const {
        each_part(s, d, s.set->words(d), vertex, edge);
    }
    template <class Vertex, class Edge>
    void each_part(const Bound& s, const Detour& d, const std::int32_t* words, Vertex vertex, Edge edge) const {
        s.at.each_part(d, words, s.right, vertex,
                       [&](LabelPair wrong, LabelPair right) { edge(number(wrong), number(right)); });
    }
    std::size_t number(LabelPair pair) const {
        return static_cast<std::size_t>(pair.left) * data_.labels + static_cast<std::size_t>(pair.right);
    }

    MarginData<S> data_;
    Weights weights_;
    DetourLabels free_;
};

}  // namespace kernelfields
