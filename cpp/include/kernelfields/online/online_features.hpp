// Weights of sparse features, learnt from a few rows at a time: what online learning on any structure needs.
//
// Rows are those of cliques, each with a score for every label. Weights are kept as in online_weights.hpp, w = s v and
// average = A v + B z, so that a step costs what it changes, however many features there are.
#pragma once

#include "online_weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kernelfields {

template <class S> class OnlineFeatures {
public:
    OnlineFeatures(const SparseRows<S>& x, std::size_t labels) : x_(x), labels_(labels), v_(x.columns * labels) {}

    std::size_t size() const { return v_.size(); }
    std::size_t labels() const { return labels_; }
    std::size_t rows() const { return x_.rows; }

    // Scores of the rows from <= r < to.
    void scores(std::size_t from, std::size_t to, double* out) const {
        const std::size_t L = labels_;
        std::vector<S> sum(L);
        for (std::size_t r = from; r < to; ++r, out += L) {
            if (L == 1) {
                S total = 0;
                each(r, [&](std::size_t f, S value) { total += value * v_[f]; });
                out[0] = scaling_.scale * static_cast<double>(total);
                continue;
            }
            std::fill(sum.begin(), sum.end(), S(0));
            each(r, [&](std::size_t f, S value) {
                const S* const w = v_.data() + f * L;
                for (std::size_t l = 0; l < L; ++l) sum[l] += value * w[l];
            });
            for (std::size_t l = 0; l < L; ++l) out[l] = scaling_.scale * static_cast<double>(sum[l]);
        }
    }

    // w += factor * (sum over rows of x_r d_r); rows with no entry of d above `least` are passed over.
    void add(std::size_t from, std::size_t to, const double* d, double factor, double least) {
        const std::size_t L = labels_;
        const double unit = factor / scaling_.scale;
        const S ratio = static_cast<S>(scaling_.ratio());
        std::vector<S> row(L);
        for (std::size_t r = from; r < to; ++r, d += L) {
            if (std::none_of(d, d + L, [&](double y) { return std::abs(y) > least; })) continue;
            for (std::size_t l = 0; l < L; ++l) row[l] = static_cast<S>(unit * d[l]);
            each(r, [&](std::size_t f, S value) {
                add_multiple(v_.data() + f * L, row.data(), value);
                if (!z_.empty()) add_multiple(z_.data() + f * L, row.data(), ratio * value);
            });
        }
    }

    // Keeps sum over rows of x_r d_r, every weight once; returns the sum of its squares.
    double collect(std::size_t from, std::size_t to, const double* d) {
        const std::size_t L = labels_;
        change_.clear();
        for (std::size_t r = from; r < to; ++r, d += L)
            for (std::size_t l = 0; l < L; ++l)
                if (d[l] != 0)
                    each(r, [&](std::size_t f, S value) {
                        change_.emplace_back(f * L + l, static_cast<double>(value) * d[l]);
                    });
        std::sort(change_.begin(), change_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        std::size_t kept = 0;
        double square = 0;
        for (std::size_t k = 0; k < change_.size();) {
            auto entry = change_[k++];
            while (k < change_.size() && change_[k].first == entry.first) entry.second += change_[k++].second;
            square += entry.second * entry.second;
            if (entry.second != 0) change_[kept++] = entry;
        }
        change_.resize(kept);
        return square;
    }
    // w += factor * what was kept.
    void add_collected(double factor) {
        for (const auto& [key, value] : change_) change(key, factor * value);
    }

    // Sum of variances times squares of what was kept.
    double spread() const {
        double total = 0;
        for (const auto& [key, value] : change_) total += static_cast<double>(variance_[key]) * value * value;
        return total;
    }
    // w_k += alpha var_k d_k, 1/var_k += d_k^2 / gamma.
    void add_spread(double alpha, double gamma) {
        for (const auto& [key, value] : change_) {
            const double before = static_cast<double>(variance_[key]);
            change(key, alpha * before * value);
            variance_[key] = static_cast<S>(1 / (1 / before + value * value / gamma));
        }
    }
    bool has_variance() const { return !variance_.empty(); }
    void set_variance(double value) { variance_.assign(size(), static_cast<S>(value)); }
    void load_variance(const double* from) { variance_.assign(from, from + size()); }

    // w /= divisor
    void shrink(double divisor) { scaling_.scale /= divisor; }

    void begin_average() {
        unscale();
        z_.assign(size(), S(0));
        scaling_ = {1, 1, 1};  // the mean of one, v itself
        count_ = 1;
    }
    // The end of a step.
    void tick() {
        if (!z_.empty()) scaling_.tick(count_++);
        if (scaling_.scale < kSmallest) unscale();
    }

    void load(const double* from) {
        scaling_ = {};
        z_.clear();
        for (std::size_t k = 0; k < size(); ++k) v_[k] = static_cast<S>(from[k]);
    }
    void read(Kept kept, double* out) const {
        for (std::size_t k = 0; k < size(); ++k) out[k] = value(kept, k);
    }

private:
    // As s falls behind A, A v and B z become large and cancel.
    static constexpr double kSmallest = 1.0 / 16;

    template <class Body> void each(std::size_t row, Body body) const {
        constexpr std::int64_t kAhead = 24;
        const std::int64_t end = x_.first[row + 1], all = x_.first[x_.rows];
        for (std::int64_t k = x_.first[row]; k < end; ++k) {
            if (k + kAhead < all)
                __builtin_prefetch(v_.data() + static_cast<std::size_t>(x_.index[k + kAhead]) * labels_);
            body(static_cast<std::size_t>(x_.index[k]), x_.value ? x_.value[k] : S(1));
        }
    }
    void add_multiple(S* to, const S* from, S factor) const {
        for (std::size_t l = 0; l < labels_; ++l) to[l] += factor * from[l];
    }
    void change(std::size_t key, double by) {
        const double d = by / scaling_.scale;
        v_[key] += static_cast<S>(d);
        if (!z_.empty()) z_[key] += static_cast<S>(scaling_.ratio() * d);
    }
    double value(Kept kept, std::size_t k) const {
        if (kept == Kept::variance) return variance_.empty() ? 0 : static_cast<double>(variance_[k]);
        const double v = static_cast<double>(v_[k]);
        if (kept == Kept::weights || z_.empty()) return scaling_.scale * v;
        return scaling_.average * v + scaling_.rest * static_cast<double>(z_[k]);
    }
    // Multiplies everything out: v = w and z = average, s = B = 1 and A = 0.
    void unscale() {
        for (std::size_t k = 0; k < size(); ++k) {
            const double w = value(Kept::weights, k);
            if (!z_.empty()) z_[k] = static_cast<S>(value(Kept::average, k));
            v_[k] = static_cast<S>(w);
        }
        scaling_ = {1, z_.empty() ? 1.0 : 0.0, 1};
    }

    SparseRows<S> x_;
    std::size_t labels_;
    std::vector<S> v_, z_, variance_;
    std::vector<std::pair<std::size_t, double>> change_;
    Scaling scaling_;
    double count_ = 0;
};

}  // namespace kernelfields
