// Kernel expansions as functions that detours are scored by (detour_weights.hpp).
//
// Sum over t of f_{y_t}(x_t), f_l = sum_o alpha_{o,l} k(x_o, .): the values of f at all observations are kept. Those of
// a panel, the positions that are open, follow every change, by the small matrix between them, which stays in the
// cache; all others, for which rows of the Gram matrix have to come from memory, when the panel is closed. So an ascent
// may go over a panel several times for one pass over memory; what has not changed costs nothing.
#pragma once

#include "../spaces/sparse.hpp"
#include "detours.hpp"

#include <algorithm>
#include <vector>

namespace kernelfields {

template <class S> class DetourExpansion {
public:
    using Number = S;
    static constexpr std::size_t kPanel = 192;
    static constexpr int kRounds = 8;
    static constexpr double kFurther = 0.3;
    // Position t sees observation row[t]; gram has size x size numbers.
    DetourExpansion(const S* gram, std::size_t size, const std::int64_t* row, std::size_t positions, std::size_t labels,
                    double penalty)
        : gram_(gram),
          size_(size),
          row_(row),
          labels_(labels),
          penalty_(penalty),
          image_(labels * size),
          alpha_(labels * size),
          place_(positions) {}
    std::size_t positions() const { return place_.size(); }
    std::size_t labels() const { return labels_; }
    void clear() {
        std::fill(image_.begin(), image_.end(), S(0));
        std::fill(alpha_.begin(), alpha_.end(), 0.0);
    }
    void begin() { panel_.clear(); }
    void take(std::size_t from, std::size_t to) {
        for (std::size_t t = from; t < to; ++t) {
            place_[t] = panel_.size();
            panel_.push_back(t);
        }
    }
    void open() {
        const std::size_t count = panel_.size();
        width_ = padded(count, 16);
        between_.resize(count * width_);
        for (std::size_t k = 0; k < count; ++k) {
            const S* row = gram(k);
            for (std::size_t m = 0; m <= k; ++m)
                between_[k * width_ + m] = between_[m * width_ + k] = row[observation(m)];
        }
        values_.resize(labels_ * width_);
        for (std::size_t l = 0; l < labels_; ++l)
            for (std::size_t k = 0; k < count; ++k) values_[l * width_ + k] = image_[l * size_ + observation(k)];
        pending_.assign(count * labels_, 0.0);
    }
    void close() {
        each_pending([&](std::size_t k, std::size_t l, double by) {
            alpha_[l * size_ + observation(k)] += by;
            sparse_kernels<S>().add_multiple(image_.data() + l * size_, gram(k), static_cast<S>(by), size_);
        });
        panel_.clear();
    }
    // Adds the values at positions that are open; if none are, at any.
    void add_scores(std::size_t from, std::size_t to, S* out) const {
        for (std::size_t t = from; t < to; ++t, out += labels_) {
            const S* values = panel_.empty() ? image_.data() + row_[t] : values_.data() + place_[t];
            const std::size_t stride = panel_.empty() ? size_ : width_;
            for (std::size_t l = 0; l < labels_; ++l) out[l] += values[l * stride];
        }
    }
    double difference(std::size_t t, std::int32_t left, std::int32_t right) const {
        return static_cast<double>(values_[at(t, left)]) - static_cast<double>(values_[at(t, right)]);
    }
    void change(std::size_t t, std::int32_t left, std::int32_t right, double by) {
        const double unit = by / penalty_;
        const S* row = between_.data() + place_[t] * width_;
        add(t, left, row, -unit);
        add(t, right, row, unit);
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
                const S product = between_[place_[left.position] * width_ + place_[right.position]];
                total += (a == b ? 1 : 2) * left.factor * right.factor * static_cast<double>(product);
            }
        return std::max(total, 0.0) / penalty_;
    }

private:
    std::size_t observation(std::size_t k) const { return static_cast<std::size_t>(row_[panel_[k]]); }
    const S* gram(std::size_t k) const { return gram_ + observation(k) * size_; }
    std::size_t at(std::size_t t, std::int32_t label) const {
        return static_cast<std::size_t>(label) * width_ + place_[t];
    }
    void add(std::size_t t, std::int32_t label, const S* row, double by) {
        const auto l = static_cast<std::size_t>(label);
        pending_[place_[t] * labels_ + l] += by;
        sparse_kernels<S>().add_multiple(values_.data() + l * width_, row, static_cast<S>(by), width_);
    }
    template <class Body> void each_pending(Body body) const {
        for (std::size_t k = 0; k < panel_.size(); ++k)
            for (std::size_t l = 0; l < labels_; ++l)
                if (pending_[k * labels_ + l] != 0) body(k, l, pending_[k * labels_ + l]);
    }

    const S* gram_;
    std::size_t size_;
    const std::int64_t* row_;
    std::size_t labels_;
    double penalty_;
    std::vector<S> image_;             // labels x size
    std::vector<double> alpha_;        // the same
    std::vector<std::size_t> place_;   // of every position in the panel, if it is there
    std::vector<std::size_t> panel_;   // the positions of the panel
    std::size_t width_ = 0;            // their number, padded
    std::vector<S> between_, values_;  // panel x width: their Gram matrix; labels x width: f
    std::vector<double> pending_;      // panel x labels: changes of alpha
};

}  // namespace kernelfields
