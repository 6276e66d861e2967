// The functions that detours are scored by: linear ones of sparse features, and kernel expansions.
//
// A score has a Riesz element r with <r(g), f> = <g, scores of f> in the inner product lambda <., .>; `change`
// subtracts those of vertices. Between `bind` and `flush` only positions from <= t < to are looked at and changed.
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
    static constexpr int kSweeps = 1;  // over the detours of a sequence while it is bound
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
    void bind(std::size_t, std::size_t) {}
    void flush() {}

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

// Sum over t of f_{y_t}(x_t), f_l = sum_o alpha_{o,l} k(x_o, .): the values of f at all observations are kept. Those of
// the sequence that is bound follow every change; all others, for which rows of the Gram matrix have to come from
// memory, when it is left. So it pays to go over a sequence several times.
template <class S> class DetourExpansion {
public:
    using Number = S;
    static constexpr int kSweeps = 3;
    // Position t sees observation row[t]; gram has size x size numbers.
    DetourExpansion(const S* gram, std::size_t size, const std::int64_t* row, std::size_t positions, std::size_t labels,
                    double penalty)
        : gram_(gram),
          size_(size),
          row_(row),
          positions_(positions),
          labels_(labels),
          penalty_(penalty),
          image_(labels * size),
          alpha_(labels * size) {}
    std::size_t positions() const { return positions_; }
    std::size_t labels() const { return labels_; }
    void clear() {
        std::fill(image_.begin(), image_.end(), S(0));
        std::fill(alpha_.begin(), alpha_.end(), 0.0);
    }
    void add_scores(std::size_t from, std::size_t to, S* out) const {
        for (std::size_t t = from; t < to; ++t)
            for (std::size_t l = 0; l < labels_; ++l) out[(t - from) * labels_ + l] += image_[at(t, l)];
    }
    void bind(std::size_t from, std::size_t to) {
        from_ = from;
        to_ = to;
        local_.resize((to - from) * labels_);
        pending_.assign(local_.size(), 0.0);
        for (std::size_t t = from; t < to; ++t)
            for (std::size_t l = 0; l < labels_; ++l) local_[here(t, l)] = static_cast<double>(image_[at(t, l)]);
    }
    void flush() {
        for (std::size_t t = from_; t < to_; ++t)
            for (std::size_t l = 0; l < labels_; ++l) {
                const double by = pending_[here(t, l)];
                if (by == 0) continue;
                alpha_[at(t, l)] += by;
                sparse_kernels<S>().add_multiple(image_.data() + l * size_, gram(t), static_cast<S>(by), size_);
            }
    }
    double difference(std::size_t t, std::int32_t left, std::int32_t right) const {
        return local_[here(t, left)] - local_[here(t, right)];
    }
    void change(std::size_t t, std::int32_t left, std::int32_t right, double by) {
        const double unit = by / penalty_;
        pending_[here(t, left)] -= unit;
        pending_[here(t, right)] += unit;
        for (std::size_t u = from_; u < to_; ++u) {
            const double step = unit * static_cast<double>(gram(t)[row_[u]]);
            local_[here(u, left)] -= step;
            local_[here(u, right)] += step;
        }
    }
    double square() const {
        double total = 0;
        for (std::size_t k = 0; k < alpha_.size(); ++k) total += alpha_[k] * static_cast<double>(image_[k]);
        return penalty_ * total;
    }
    double square(const DetourSum& sum) const {
        double total = 0;
        for (std::size_t a = 0; a < sum.vertices.size(); ++a)
            for (std::size_t b = 0; b <= a; ++b) {
                const DetourSum::Vertex &left = sum.vertices[a], &right = sum.vertices[b];
                if (left.label != right.label) continue;
                const double product = static_cast<double>(gram(left.position)[row_[right.position]]);
                total += (a == b ? 1 : 2) * left.factor * right.factor * product;
            }
        return std::max(total, 0.0) / penalty_;
    }

private:
    template <class Label> std::size_t at(std::size_t t, Label label) const {
        return static_cast<std::size_t>(label) * size_ + static_cast<std::size_t>(row_[t]);
    }
    template <class Label> std::size_t here(std::size_t t, Label label) const {
        return (t - from_) * labels_ + static_cast<std::size_t>(label);
    }
    const S* gram(std::size_t t) const { return gram_ + static_cast<std::size_t>(row_[t]) * size_; }

    const S* gram_;
    std::size_t size_;
    const std::int64_t* row_;
    std::size_t positions_, labels_;
    double penalty_;
    std::vector<S> image_;       // labels x size
    std::vector<double> alpha_;  // the same
    std::size_t from_ = 0, to_ = 0;
    std::vector<double> local_, pending_;  // of the positions that are bound: values, and changes of alpha
};

}  // namespace kernelfields
