// What a max-margin model learns from, and the scores of one instance as a search for its worst labelling sees them.
#pragma once

#include "detour_labels.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kernelfields {

// Instances with their right labels.
template <class S> struct MarginData {
    std::size_t sequences, labels;
    const std::int64_t* first;  // sequences + 1
    const std::int32_t* label;  // the right ones
    const double* weight;       // of every instance, or null
    const S* fixed;             // positions x labels: cost plus fixed scores, less those of the right label
    const S* edge_fixed;        // labels x labels: fixed scores

    std::size_t length(std::size_t s) const { return static_cast<std::size_t>(first[s + 1] - first[s]); }
    double capacity(std::size_t s) const { return weight ? weight[s] : 1.0; }
    std::size_t longest() const {
        std::size_t result = 0;
        for (std::size_t s = 0; s < sequences; ++s) result = std::max(result, length(s));
        return result;
    }
};

// Costs included.
template <class S> class MarginScores {
public:
    explicit MarginScores(const MarginData<S>& data)
        : data_(data), node_(data.longest() * data.labels), edge_(data.labels * data.labels) {}

    // `scale` multiplies what is learnt.
    template <class Instance, class Weights>
    void fill(const Instance& at, const Weights& weights, const DetourLabels& free, double scale) {
        const std::size_t L = data_.labels;
        const S* fixed = data_.fixed + at.from * L;
        for (std::size_t t = 0; t < at.length; ++t) {
            S* row = node_.data() + t * L;
            for (std::size_t l = 0; l < L; ++l) row[l] = fixed[t * L + l] + static_cast<S>(free.bias()[l]);
            if (at.is_source(t))
                for (std::size_t l = 0; l < L; ++l) row[l] += static_cast<S>(free.start()[l]);
            if (at.is_sink(t))
                for (std::size_t l = 0; l < L; ++l) row[l] += static_cast<S>(free.end()[l]);
        }
        weights.add_scores(at.from, at.from + at.length, node_.data());
        for (std::size_t k = 0; k < L * L; ++k) edge_[k] = static_cast<S>(free.edges()[k]) + data_.edge_fixed[k];
        if (scale == 1) return;
        stretch(node_.data(), fixed, at.length * L, static_cast<S>(scale));
        stretch(edge_.data(), data_.edge_fixed, L * L, static_cast<S>(scale));
    }
    const S* nodes() const { return node_.data(); }
    const S* edges() const { return edge_.data(); }
    double node(std::size_t t, std::int32_t label) const {
        return static_cast<double>(node_[t * data_.labels + static_cast<std::size_t>(label)]);
    }
    double edge(std::size_t pair) const { return static_cast<double>(edge_[pair]); }

private:
    // Where fixed scores forbid something, that is all there is.
    static void stretch(S* scores, const S* fixed, std::size_t count, S scale) {
        for (std::size_t k = 0; k < count; ++k)
            if (std::isfinite(fixed[k])) scores[k] = fixed[k] + scale * (scores[k] - fixed[k]);
    }

    MarginData<S> data_;
    std::vector<S> node_, edge_;
};

}  // namespace kernelfields
