// The weights of a linear chain while they are learnt from one sequence after the other.
//
// All of them are rows of one table, one column per label: a row for every feature, then the bias, the
// first and the last label of a sequence, then one row for every first label of a pair. They are kept as
//
//   w = s v            a penalty shrinks all of them by a change of s alone
//   average = A v + B z     the mean of w over all steps, by changes of A and B alone, since a step
//                           v <- v + d needs no more than z <- z - (A / B) d
//
// so that a step costs what it changes. Node weights and edge weights have an s, A and B of their own,
// since their penalties may differ.
#pragma once

#include "dispatch.hpp"
#include "sparse.hpp"

#include <cstring>
#include <vector>

namespace kernelfields {

// s, A and B.
struct Scaling {
    double scale = 1, average = 1, rest = 1;

    // What z changes by for every unit that v changes by.
    double ratio() const { return -average / rest; }
    // Takes the present w into an average of `count` others.
    void tick(double count) {
        const double share = 1 / (count + 1);
        average = (1 - share) * average + share * scale;
        rest *= 1 - share;
    }
};

enum class Kept { weights, average, variance };

template <class S> class OnlineWeights {
public:
    // edge_pairs (labels x labels, or null for all): which pairs of labels have a weight.
    OnlineWeights(std::size_t features, std::size_t labels, const WeightPairs& pairs, const std::uint8_t* edge_pairs)
        : features_(features),
          labels_(labels),
          stride_(padded(labels, sparse_kernels<S>().width)),
          words_((labels + 31) / 32),
          pairs_(pairs),
          table_(rows(), stride_) {
        table_.clear(0, rows());
        const bool all = pairs.first[features] == static_cast<std::int64_t>(features * labels) && !edge_pairs;
        if (!all) mark_pairs(edge_pairs);
    }

    std::size_t rows() const { return features_ + 3 + labels_; }
    std::size_t bias() const { return features_; }
    std::size_t start() const { return features_ + 1; }
    std::size_t end() const { return features_ + 2; }
    std::size_t edge(std::size_t label) const { return features_ + 3 + label; }
    std::size_t stride() const { return stride_; }
    std::size_t key(std::size_t row, std::size_t label) const { return row * stride_ + label; }
    const S* row(std::size_t r) const { return table_.row(r); }
    Scaling& of_row(std::size_t row) { return row < edge(0) ? node : edges; }
    ChangingRows<S> changing() const {
        return {table_.row(0), second_ ? second_->row(0) : nullptr, bits_.empty() ? nullptr : bits_.data(), words_,
                stride_};
    }
    bool has(std::size_t row, std::size_t label) const {
        return bits_.empty() || (bits_[row * words_ + label / 32] >> (label % 32) & 1U);
    }
    bool averaging() const { return second_ != nullptr; }

    // From here on w is averaged; the present w counts as the first.
    void begin_average() {
        if (!second_) second_ = std::make_unique<WeightTable<S>>(rows(), stride_);
        second_->clear(0, rows());
        for (Scaling* part : {&node, &edges}) *part = {part->scale, part->scale, 1};
        count_ = 1;
    }
    void tick() {
        if (second_) {
            node.tick(count_);
            edges.tick(count_);
            ++count_;
        }
        if (node.scale < kSmallest || edges.scale < kSmallest) unscale();
    }
    void set_variance(double value) {
        if (!variance_) variance_ = std::make_unique<WeightTable<S>>(rows(), stride_);
        std::fill_n(variance_->row(0), rows() * stride_, static_cast<S>(value));
    }
    S* variance() const { return variance_ ? variance_->row(0) : nullptr; }

    // w += change at one place, which must have a weight.
    void add(std::size_t key, double change) {
        const Scaling& part = of_row(key / stride_);
        const double d = change / part.scale;
        table_.row(0)[key] += static_cast<S>(d);
        if (second_) second_->row(0)[key] += static_cast<S>(part.ratio() * d);
    }
    // w += factor * change in one row.
    template <class Change> void add_row(std::size_t row, const Change* change, double factor) {
        const Scaling& part = of_row(row);
        const double unit = factor / part.scale, ratio = part.ratio();
        for (std::size_t j = 0; j < labels_; ++j) {
            if (!has(row, j)) continue;
            const double d = unit * static_cast<double>(change[j]);
            table_.row(row)[j] += static_cast<S>(d);
            if (second_) second_->row(row)[j] += static_cast<S>(ratio * d);
        }
    }

    // Weights of the pairs, and of the rows behind the features (3 + labels, labels).
    void load(const double* weights, const double* free) {
        node = edges = {};
        second_.reset();
        table_.clear(0, rows());
        for_each_weight([&](std::size_t key, std::size_t at) { table_.row(0)[key] = static_cast<S>(weights[at]); });
        for (std::size_t r = 0; r < 3 + labels_; ++r)
            for (std::size_t j = 0; j < labels_; ++j)
                table_.row(features_ + r)[j] = static_cast<S>(has(features_ + r, j) ? free[r * labels_ + j] : 0);
    }
    void read(Kept kept, double* weights, double* free) {
        for_each_weight([&](std::size_t key, std::size_t at) { weights[at] = value(kept, key); });
        for (std::size_t r = 0; r < 3 + labels_; ++r)
            for (std::size_t j = 0; j < labels_; ++j) free[r * labels_ + j] = value(kept, key(features_ + r, j));
    }

    Scaling node, edges;

private:
    // As s falls behind A, A v and B z become large and cancel.
    static constexpr double kSmallest = 1.0 / 16;

    void mark_pairs(const std::uint8_t* edge_pairs) {
        bits_.assign(rows() * words_, 0);
        const auto mark = [&](std::size_t row, std::size_t j) { bits_[row * words_ + j / 32] |= 1U << (j % 32); };
        for (std::size_t f = 0; f < features_; ++f)
            for (std::int64_t p = pairs_.first[f]; p < pairs_.first[f + 1]; ++p)
                mark(f, static_cast<std::size_t>(pairs_.label[p]));
        for (std::size_t r = 0; r < 3 + labels_; ++r)
            for (std::size_t j = 0; j < labels_; ++j)
                if (r < 3 || !edge_pairs || edge_pairs[(r - 3) * labels_ + j]) mark(features_ + r, j);
    }
    template <class Body> void for_each_weight(Body body) const {
        for (std::size_t f = 0; f < features_; ++f)
            for (std::int64_t p = pairs_.first[f]; p < pairs_.first[f + 1]; ++p)
                body(key(f, static_cast<std::size_t>(pairs_.label[p])), static_cast<std::size_t>(p));
    }
    double value(Kept kept, std::size_t key) {
        const Scaling& part = of_row(key / stride_);
        const double v = static_cast<double>(table_.row(0)[key]);
        if (kept == Kept::variance) return variance_ ? static_cast<double>(variance_->row(0)[key]) : 0;
        if (kept == Kept::weights || !second_) return part.scale * v;
        return part.average * v + part.rest * static_cast<double>(second_->row(0)[key]);
    }
    // Multiplies everything out: v = w and z = average, s = B = 1 and A = 0.
    void unscale() {
        for (std::size_t key = 0; key < rows() * stride_; ++key) {
            const double w = value(Kept::weights, key);
            if (second_) second_->row(0)[key] = static_cast<S>(value(Kept::average, key));
            table_.row(0)[key] = static_cast<S>(w);
        }
        node = edges = {1, 0, 1};
    }

    std::size_t features_, labels_, stride_, words_;
    WeightPairs pairs_;
    WeightTable<S> table_;
    std::unique_ptr<WeightTable<S>> second_, variance_;
    std::vector<std::uint32_t> bits_;
    double count_ = 0;
};

}  // namespace kernelfields
