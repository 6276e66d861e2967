// The weights of a linear chain while they are learnt from one sequence after the other.
//
// Features with weights for many labels have a row of a table, one column per label, padded to whole
// vectors; behind them come rows for the bias, for the first and the last label of a sequence, and for
// every first label of a pair. Features with weights for a few labels only, most of them in text, have
// those packed one behind the other: a few megabytes, which stay in the cache, instead of many.
//
// Weights are kept as
//
//   w = s v                 a penalty shrinks all of them by a change of s alone
//   average = A v + B z     the mean of w over all steps, by changes of A and B alone, since a step
//                           v <- v + d needs no more than z <- z - (A / B) d
//
// so that a step costs what it changes. Node weights and edge weights have an s, A and B of their own,
// since their penalties may differ.
#pragma once

#include "../core/dispatch.hpp"
#include "../spaces/sparse.hpp"

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

// A weight of a feature that has few: v, z, and whether the feature has another one behind it.
template <class S> struct PackedWeight {
    S value, second;
    std::uint16_t label, more;
};

enum class Kept { weights, average, variance };

template <class S> class OnlineWeights {
public:
    static constexpr std::size_t kNone = ~std::size_t{0};

    // edge_pairs (labels x labels, or null for all): which pairs of labels have a weight.
    OnlineWeights(std::size_t features, std::size_t labels, const WeightPairs& pairs, const std::uint8_t* edge_pairs)
        : features_(features),
          labels_(labels),
          stride_(padded(labels, sparse_kernels<S>().width)),
          words_((labels + 31) / 32),
          pairs_(pairs),
          slot_(place_features()),
          table_(rows(), stride_) {
        table_.clear(0, rows());
        const bool all = pairs.first[features] == static_cast<std::int64_t>(features * labels) && !edge_pairs;
        if (!all) mark_pairs(edge_pairs);
    }

    // Rows of the table.
    std::size_t rows() const { return wide_ + 3 + labels_; }
    std::size_t bias() const { return wide_; }
    std::size_t start() const { return wide_ + 1; }
    std::size_t end() const { return wide_ + 2; }
    std::size_t edge(std::size_t label) const { return wide_ + 3 + label; }
    std::size_t stride() const { return stride_; }
    const S* row(std::size_t r) const { return table_.row(r); }
    bool any_packed() const { return wide_ < features_; }
    // The row of a feature, or, below zero, minus one minus where its packed weights begin.
    std::int32_t slot(std::size_t feature) const { return slot_[feature]; }
    PackedWeight<S>* packed() { return packed_.data(); }
    ChangingRows<S> changing() const {
        return {table_.row(0), averaging_ ? second_->row(0) : nullptr, bits_.empty() ? nullptr : bits_.data(), words_,
                stride_};
    }

    // Places of single weights, all in one count: those of the table, then the packed ones. kNone if
    // there is no such weight.
    std::size_t key_of_row(std::size_t row, std::size_t label) const {
        return has(row, label) ? row * stride_ + label : kNone;
    }
    std::size_t key_of_feature(std::size_t feature, std::size_t label) const {
        if (slot_[feature] >= 0) return key_of_row(static_cast<std::size_t>(slot_[feature]), label);
        const std::int64_t begin = pairs_.first[feature], end = pairs_.first[feature + 1];
        for (std::int64_t p = begin; p < end; ++p)
            if (static_cast<std::size_t>(pairs_.label[p]) == label)
                return rows() * stride_ + static_cast<std::size_t>(~slot_[feature] + p - begin);
        return kNone;
    }

    bool averaging() const { return averaging_; }
    // From here on w is averaged; the present w counts as the first.
    void begin_average() {
        if (!second_) second_ = std::make_unique<WeightTable<S>>(rows(), stride_);
        second_->clear(0, rows());
        for (auto& weight : packed_) weight.second = 0;
        for (Scaling* part : {&node, &edges}) *part = {part->scale, part->scale, 1};
        count_ = 1;
        averaging_ = true;
    }
    void tick() {
        if (averaging_) {
            node.tick(count_);
            edges.tick(count_);
            ++count_;
        }
        if (node.scale < kSmallest || edges.scale < kSmallest) unscale();
    }
    void set_variance(double value) { variance_.assign(keys(), static_cast<S>(value)); }
    // Variances of the pairs, and of the rows behind the features, as `load` takes weights.
    void load_variance(const double* weights, const double* free) {
        variance_.assign(keys(), S(1));
        for_each_weight([&](std::size_t key, std::size_t at) { variance_[key] = static_cast<S>(weights[at]); });
        for (std::size_t r = 0; r < 3 + labels_; ++r)
            for (std::size_t j = 0; j < labels_; ++j)
                variance_[(wide_ + r) * stride_ + j] = static_cast<S>(free[r * labels_ + j]);
    }
    std::vector<S>& variance() { return variance_; }

    // w += change at one place.
    void add(std::size_t key, double change) {
        const Scaling& part = of_key(key);
        const double d = change / part.scale;
        value(key) += static_cast<S>(d);
        if (averaging_) second(key) += static_cast<S>(part.ratio() * d);
    }
    // w += factor * change in one row.
    template <class Change> void add_row(std::size_t row, const Change* change, double factor) {
        const Scaling& part = row < edge(0) ? node : edges;
        const double unit = factor / part.scale, ratio = part.ratio();
        for (std::size_t j = 0; j < labels_; ++j) {
            if (!has(row, j)) continue;
            const double d = unit * static_cast<double>(change[j]);
            table_.row(row)[j] += static_cast<S>(d);
            if (averaging_) second_->row(row)[j] += static_cast<S>(ratio * d);
        }
    }

    // Weights of the pairs, and of the rows behind the features (3 + labels, labels).
    void load(const double* weights, const double* free) {
        node = edges = {};
        averaging_ = false;
        for_each_weight([&](std::size_t key, std::size_t at) { value(key) = static_cast<S>(weights[at]); });
        for (std::size_t r = 0; r < 3 + labels_; ++r)
            for (std::size_t j = 0; j < labels_; ++j)
                if (has(wide_ + r, j)) table_.row(wide_ + r)[j] = static_cast<S>(free[r * labels_ + j]);
    }
    void read(Kept kept, double* weights, double* free) {
        for_each_weight([&](std::size_t key, std::size_t at) { weights[at] = kept_value(kept, key); });
        for (std::size_t r = 0; r < 3 + labels_; ++r)
            for (std::size_t j = 0; j < labels_; ++j)
                free[r * labels_ + j] = kept_value(kept, (wide_ + r) * stride_ + j);
    }

    Scaling node, edges;

private:
    // As s falls behind A, A v and B z become large and cancel.
    static constexpr double kSmallest = 1.0 / 16;

    // A feature is packed if it has at most a fifth of the labels (and their numbers fit).
    std::vector<std::int32_t> place_features() {
        std::vector<std::int32_t> slot(features_);
        const auto few =
            static_cast<std::int64_t>(labels_ == 1 || labels_ > 65535 ? 0 : std::max<std::size_t>(labels_ / 5, 1));
        for (std::size_t f = 0; f < features_; ++f) {
            const std::int64_t begin = pairs_.first[f], count = pairs_.first[f + 1] - begin;
            if (count == 0 || count > few) {
                slot[f] = static_cast<std::int32_t>(wide_++);
                continue;
            }
            slot[f] = ~static_cast<std::int32_t>(packed_.size());
            for (std::int64_t p = begin; p < begin + count; ++p)
                packed_.push_back({0, 0, static_cast<std::uint16_t>(pairs_.label[p]), p + 1 < begin + count});
        }
        return slot;
    }
    void mark_pairs(const std::uint8_t* edge_pairs) {
        bits_.assign(rows() * words_, 0);
        const auto mark = [&](std::size_t row, std::size_t j) { bits_[row * words_ + j / 32] |= 1U << (j % 32); };
        for (std::size_t f = 0; f < features_; ++f)
            for (std::int64_t p = pairs_.first[f]; slot_[f] >= 0 && p < pairs_.first[f + 1]; ++p)
                mark(static_cast<std::size_t>(slot_[f]), static_cast<std::size_t>(pairs_.label[p]));
        for (std::size_t r = 0; r < 3 + labels_; ++r)
            for (std::size_t j = 0; j < labels_; ++j)
                if (r < 3 || !edge_pairs || edge_pairs[(r - 3) * labels_ + j]) mark(wide_ + r, j);
    }
    bool has(std::size_t row, std::size_t label) const {
        return bits_.empty() || (bits_[row * words_ + label / 32] >> (label % 32) & 1U);
    }
    template <class Body> void for_each_weight(Body body) const {
        for (std::size_t f = 0; f < features_; ++f)
            for (std::int64_t p = pairs_.first[f]; p < pairs_.first[f + 1]; ++p) {
                const std::size_t key = slot_[f] < 0 ? rows() * stride_ + static_cast<std::size_t>(~slot_[f] + p) -
                                                           static_cast<std::size_t>(pairs_.first[f])
                                                     : static_cast<std::size_t>(slot_[f]) * stride_ +
                                                           static_cast<std::size_t>(pairs_.label[p]);
                body(key, static_cast<std::size_t>(p));
            }
    }
    std::size_t keys() const { return rows() * stride_ + packed_.size(); }
    bool in_table(std::size_t key) const { return key < rows() * stride_; }
    Scaling& of_key(std::size_t key) { return in_table(key) && key >= edge(0) * stride_ ? edges : node; }
    S& value(std::size_t key) { return in_table(key) ? table_.row(0)[key] : packed_[key - rows() * stride_].value; }
    S& second(std::size_t key) { return in_table(key) ? second_->row(0)[key] : packed_[key - rows() * stride_].second; }
    double kept_value(Kept kept, std::size_t key) {
        if (kept == Kept::variance) return variance_.empty() ? 0 : static_cast<double>(variance_[key]);
        const Scaling& part = of_key(key);
        const double v = static_cast<double>(value(key));
        if (kept == Kept::weights || !averaging_) return part.scale * v;
        return part.average * v + part.rest * static_cast<double>(second(key));
    }
    // Multiplies everything out: v = w and z = average, s = B = 1 and A = 0.
    void unscale() {
        for (std::size_t key = 0; key < keys(); ++key) {
            const double w = kept_value(Kept::weights, key);
            if (averaging_) second(key) = static_cast<S>(kept_value(Kept::average, key));
            value(key) = static_cast<S>(w);
        }
        node = edges = {1, 0, 1};
    }

    std::size_t features_, labels_, stride_, words_, wide_ = 0;
    WeightPairs pairs_;
    std::vector<PackedWeight<S>> packed_;
    std::vector<std::int32_t> slot_;
    WeightTable<S> table_;
    std::unique_ptr<WeightTable<S>> second_;
    std::vector<S> variance_;
    std::vector<std::uint32_t> bits_;
    bool averaging_ = false;
    double count_ = 0;
};

}  // namespace kernelfields
