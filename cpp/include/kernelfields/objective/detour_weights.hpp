// The functions that detours are scored by: linear ones of sparse features; kernel expansions are in
// detour_expansion.hpp.
//
// A score has a Riesz element r with <r(g), f> = <g, scores of f> in the inner product lambda <., .>; `change`
// subtracts those of vertices. Between `open` and `close` only positions taken since `begin` are looked at and changed.
#pragma once

#include "../spaces/sparse.hpp"
#include "detours.hpp"

#include <algorithm>
#include <vector>

namespace kernelfields {

// Sum over t of <w_{y_t}, x_t>: weights in a table, one row for each feature.
template <class S> class DetourFeatures {
public:
    using Number = S;
    static constexpr std::size_t kPanel = 0;  // positions that are open at a time, unless one instance has more
    static constexpr int kRounds = 1;         // over the instances of a panel, at most
    static constexpr double kFurther = 0;     // over-relaxation at the end
    DetourFeatures(const SparseRows<S>& x, std::size_t labels, double penalty)
        : x_(x),
          labels_(labels),
          stride_(padded(labels, 4)),
          penalty_(penalty),
          table_(x.columns, stride_),
          added_(x.columns) {
        clear();
    }
    std::size_t positions() const { return x_.rows; }
    std::size_t labels() const { return labels_; }
    void clear() { table_.clear(0, std::max<std::size_t>(x_.columns, 1)); }
    void begin() {}
    void take(std::size_t, std::size_t) {}
    void open() {}
    void close() {}

    // out[t - from][l] += <w_l, x_t> for from <= t < to.
    void add_scores(std::size_t from, std::size_t to, S* out) const {
        sparse_kernels<S>().add_products(x_, from, to, table_.row(0), table_.row(x_.columns), stride_, labels_, out);
    }
    // <w_left - w_right, x_t>.
    double difference(std::size_t t, std::int32_t left, std::int32_t right) const {
        S sum = 0;
        each(t, [&](const S* row, S value) { sum += value * (row[left] - row[right]); });
        return static_cast<double>(sum);
    }
    // Subtracts `by` times the Riesz element of (t, left) minus (t, right).
    void change(std::size_t t, std::int32_t left, std::int32_t right, double by) {
        const S unit = static_cast<S>(by / penalty_);
        each(t, [&](S* row, S value) {
            row[left] -= unit * value;
            row[right] += unit * value;
        });
    }
    // lambda |w|^2.
    double square() const {
        double total = 0;
        for (std::size_t f = 0; f < x_.columns; ++f) {
            const S* row = table_.row(f);
            total += sparse_kernels<S>().dot_product(row, row, labels_);
        }
        return penalty_ * total;
    }
    // The squared norm of the Riesz element of a sum: label by label, the features of its vertices are added up.
    double square(const DetourSum& sum) {
        vertices_ = sum.vertices;
        std::stable_sort(vertices_.begin(), vertices_.end(),
                         [](const DetourSum::Vertex& a, const DetourSum::Vertex& b) { return a.label < b.label; });
        double total = 0;
        for (std::size_t from = 0, to = 0; from < vertices_.size(); from = to) {
            for (; to < vertices_.size() && vertices_[to].label == vertices_[from].label; ++to)
                each_feature(vertices_[to].position,
                             [&](double& added, double value) { added += vertices_[to].factor * value; });
            for (std::size_t v = from; v < to; ++v)
                each_feature(vertices_[v].position, [&](double& added, double) {
                    total += added * added;
                    added = 0;
                });
        }
        return total / penalty_;
    }

private:
    template <class Body> void each(std::size_t t, Body body) const {
        for (std::int64_t k = x_.first[t]; k < x_.first[t + 1]; ++k)
            body(table_.row(static_cast<std::size_t>(x_.index[k])), x_.value ? x_.value[k] : S(1));
    }

    // Calls body(sum of a feature, its value) for those of position t.
    template <class Body> void each_feature(std::size_t t, Body body) {
        for (std::int64_t k = x_.first[t]; k < x_.first[t + 1]; ++k)
            body(added_[static_cast<std::size_t>(x_.index[k])], x_.value ? static_cast<double>(x_.value[k]) : 1.0);
    }

    SparseRows<S> x_;
    std::size_t labels_, stride_;
    double penalty_;
    WeightTable<S> table_;
    std::vector<double> added_;  // columns, zero between calls
    std::vector<DetourSum::Vertex> vertices_;
};

}  // namespace kernelfields
