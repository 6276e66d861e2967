// A distribution for every sequence, p_i ~ exp(theta_i + fixed), by its scores theta_i and its marginals mu_i. Of
// sequences that were never visited all mass is on the right labels, which no scores could do.
#pragma once

#include "../structures/single_chain.hpp"
#include "labelled_chains.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kernelfields {

template <class S> class ChainDistributions {
public:
    // `pairs` says whether there are scores of label pairs besides fixed ones; each sequence has its own.
    ChainDistributions(const LabelledChains<S>& data, bool pairs)
        : data_(data),
          pairs_(pairs),
          theta_(data.positions() * data.labels),
          mu_(theta_.size()),
          edge_theta_(pairs ? data.sequences * data.labels * data.labels : 0),
          edge_mu_(edge_theta_.size()),
          value_(data.sequences),
          visited_(data.sequences) {
        for (std::size_t s = 0; s < data_.sequences; ++s) forget(s);
    }
    bool pairs() const { return pairs_; }
    bool visited(std::size_t s) const { return visited_[s]; }
    const S* theta(std::size_t s) const { return theta_.data() + data_.from(s) * data_.labels; }
    const S* mu(std::size_t s) const { return mu_.data() + data_.from(s) * data_.labels; }
    const S* edge_theta(std::size_t s) const { return edge_theta_.data() + s * data_.labels * data_.labels; }
    const S* edge_mu(std::size_t s) const { return edge_mu_.data() + s * data_.labels * data_.labels; }
    // log Z(theta_i + fixed) - <theta_i, mu_i> - fixed(y_i), or 0 with all mass on y_i.
    double value(std::size_t s) const { return value_[s]; }

    // All mass on the right labels.
    void forget(std::size_t s) {
        const std::size_t L = data_.labels;
        S *node = mu_.data() + data_.from(s) * L, *edge = edge_mu_.data() + (pairs_ ? s * L * L : 0);
        std::fill_n(node, data_.length(s) * L, S(0));
        if (pairs_) std::fill_n(edge, L * L, S(0));
        data_.each_right(
            s, [&](std::size_t k) { node[k] = 1; },
            [&](std::size_t k) {
                if (pairs_) edge[k] += 1;
            });
        value_[s] = 0;
        visited_[s] = false;
    }
    void set(std::size_t s, const S* theta, const S* mu, const S* edge_theta, const double* edge_mu, double value) {
        const std::size_t L = data_.labels, from = data_.from(s) * L;
        std::copy_n(theta, data_.length(s) * L, theta_.data() + from);
        std::copy_n(mu, data_.length(s) * L, mu_.data() + from);
        for (std::size_t k = 0; pairs_ && k < L * L; ++k) {
            edge_theta_[s * L * L + k] = edge_theta[k];
            edge_mu_[s * L * L + k] = static_cast<S>(edge_mu[k]);
        }
        value_[s] = value;
        visited_[s] = true;
    }

    // Adds weight_i (mu_i - y_i) to positions x labels and labels x labels numbers; returns the sum of weighted values.
    // All in double, from theta alone. To `size` it adds the largest scores of all cliques: rounding is a share of
    // that.
    double add_mismatch(double* node, double* edge, double& size) const {
        SingleChain<double> chain(data_.labels);
        double level = 0;
        for (std::size_t s = 0; s < data_.sequences; ++s)
            if (data_.counts(s) && visited_[s]) level += data_.times(s) * add_mismatch(s, chain, node, edge, size);
        return level;
    }

private:
    double add_mismatch(std::size_t s, SingleChain<double>& chain, double* node, double* edge, double& size) const {
        const std::size_t L = data_.labels, T = data_.length(s), from = data_.from(s) * L;
        const double w = data_.times(s);
        const std::vector<double> own(theta(s), theta(s) + T * L);
        std::vector<double> pairs(L * L), full(own), edge_full(data_.edge_fixed, data_.edge_fixed + L * L);
        if (pairs_) std::copy_n(edge_theta(s), L * L, pairs.begin());
        for (std::size_t k = 0; k < T * L; ++k) full[k] += static_cast<double>(data_.fixed[from + k]);
        for (std::size_t k = 0; k < L * L; ++k) edge_full[k] += pairs[k];
        std::vector<double> mu(T * L), sums(L * L);
        double level = chain.marginals(full.data(), T, edge_full.data(), mu.data(), sums.data());
        for (std::size_t k = 0; k < T * L; ++k) {
            level -= own[k] * mu[k];
            node[from + k] += w * mu[k];
        }
        for (std::size_t k = 0; k < L * L; ++k) {
            level -= pairs[k] * sums[k];
            edge[k] += w * sums[k];
        }
        for (std::size_t t = 0; t < T; ++t) size += w * largest(own.data() + t * L, L);
        size += w * static_cast<double>(T - 1) * largest(pairs.data(), L * L);
        data_.each_right(s, [&](std::size_t k) { node[from + k] -= w; }, [&](std::size_t k) { edge[k] -= w; });
        return level - data_.fixed_of_right(s);
    }
    static double largest(const double* numbers, std::size_t count) {
        double most = 0;
        for (std::size_t k = 0; k < count; ++k) most = std::max(most, std::abs(numbers[k]));
        return most;
    }

    LabelledChains<S> data_;
    bool pairs_;
    std::vector<S> theta_, mu_;            // positions x labels
    std::vector<S> edge_theta_, edge_mu_;  // sequences x labels x labels
    std::vector<double> value_;
    std::vector<char> visited_;
};

}  // namespace kernelfields
