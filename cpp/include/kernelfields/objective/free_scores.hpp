// Scores of labels alone, as distributions change them: of every label, of the first and the last one, of label pairs.
#pragma once

#include "detour_labels.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kernelfields {

template <class S> class FreeScores {
public:
    FreeScores(std::size_t labels, LabelPenalties penalties)
        : labels_(labels), penalties_(penalties), numbers_(3 * labels), edges_(labels * labels), sum_(labels) {}

    const S* edges() const { return edges_.data(); }
    void clear() {
        std::fill(numbers_.begin(), numbers_.end(), S(0));
        std::fill(edges_.begin(), edges_.end(), S(0));
    }
    // Adds the scores of labels at `length` positions, a whole sequence.
    void add_scores(S* out, std::size_t length) const {
        for (std::size_t t = 0; t < length; ++t) add(out + t * labels_, numbers_.data(), 1);
        add(out, numbers_.data() + labels_, 1);
        add(out + (length - 1) * labels_, numbers_.data() + 2 * labels_, 1);
    }
    // Adds a multiple of the Riesz element of a change of marginals, `pairs` (or null) that of pairs.
    void change(const S* node, std::size_t length, const S* pairs, double factor) {
        sum(node, length);
        add(numbers_.data(), sum_.data(), factor / penalties_.bias);
        add(numbers_.data() + labels_, node, factor / penalties_.boundary);
        add(numbers_.data() + 2 * labels_, node + (length - 1) * labels_, factor / penalties_.boundary);
        const S by = static_cast<S>(factor / penalties_.edge);
        for (std::size_t k = 0; pairs && k < edges_.size(); ++k) edges_[k] += by * pairs[k];
    }
    // The squared norm of that Riesz element.
    double square(const S* node, std::size_t length, const S* pairs) {
        double total = 0;
        if (std::isfinite(penalties_.bias)) {
            sum(node, length);
            total += square(sum_.data(), labels_) / penalties_.bias;
        }
        if (std::isfinite(penalties_.boundary))
            total += (square(node, labels_) + square(node + (length - 1) * labels_, labels_)) / penalties_.boundary;
        return total + (pairs ? square(pairs, edges_.size()) / penalties_.edge : 0.0);
    }

private:
    void add(S* to, const S* from, double factor) const {
        const S by = static_cast<S>(factor);
        for (std::size_t l = 0; l < labels_; ++l) to[l] += by * from[l];
    }
    void sum(const S* node, std::size_t length) {
        std::fill(sum_.begin(), sum_.end(), S(0));
        for (std::size_t t = 0; t < length; ++t) add(sum_.data(), node + t * labels_, 1);
    }
    static double square(const S* numbers, std::size_t count) {
        return sparse_kernels<S>().dot_product(numbers, numbers, count);
    }

    std::size_t labels_;
    LabelPenalties penalties_;  // infinite ones keep their scores at zero
    std::vector<S> numbers_;    // of every label, of the first one, of the last one
    std::vector<S> edges_;
    std::vector<S> sum_;
};

}  // namespace kernelfields
