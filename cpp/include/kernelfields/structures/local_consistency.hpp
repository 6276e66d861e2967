// Tables of probabilities with given marginals, near tables that nearly have them.
#pragma once

#include "factor_messages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kernelfields {

// Changes a table of probabilities over several vertices until its marginals are `wanted`, (arity x labels), and its
// zeros stay where the scores forbid an entry. Scaling first, where zeros leave no other way; then rows that have too
// much are scaled down, and the product of what is missing is added [altschuler2017, Algorithm 2]. Returns the mass
// that found no place.
class LocalConsistency {
public:
    LocalConsistency(std::size_t labels, std::size_t arity, MessageRoom& room)
        : L_(labels), arity_(arity), digits_(room.digits), marginal_(room.cavity) {
        marginal_.resize(std::max(marginal_.size(), (arity + 1) * labels));
    }

    double settle(double* table, std::size_t size, const double* scores, const double* wanted) {
        const bool forbids = std::any_of(scores, scores + size, [](double x) { return x == kNothing; });
        if (forbids)
            for (int n = 0; n < kScalings && distance(table, wanted) > kEnough; ++n)
                for (std::size_t k = 0; k < arity_; ++k) scale(table, wanted, k, false);
        for (std::size_t k = 0; k < arity_; ++k) scale(table, wanted, k, true);
        return fill(table, scores, wanted);
    }

private:
    static constexpr int kScalings = 200;
    static constexpr double kEnough = 1e-15;
    const std::size_t L_, arity_;
    std::vector<std::size_t>& digits_;
    std::vector<double>& marginal_;

    void sum(const double* table, std::size_t k) {
        double* m = marginal_.data() + k * L_;
        std::fill(m, m + L_, 0.0);
        for_each_entry(L_, arity_, digits_, [&](std::size_t n, const std::size_t* x) { m[x[k]] += table[n]; });
    }

    double distance(const double* table, const double* wanted) {
        double most = 0;
        for (std::size_t k = 0; k < arity_; ++k) {
            sum(table, k);
            for (std::size_t x = 0; x < L_; ++x)
                most = std::max(most, std::abs(marginal_[k * L_ + x] - wanted[k * L_ + x]));
        }
        return most;
    }

    // Marginals of one vertex become what is wanted, or at most that.
    void scale(double* table, const double* wanted, std::size_t k, bool only_down) {
        sum(table, k);
        double* factor = marginal_.data() + arity_ * L_;
        for (std::size_t x = 0; x < L_; ++x) {
            const double now = marginal_[k * L_ + x], ratio = now > 0 ? wanted[k * L_ + x] / now : 1;
            factor[x] = std::min(ratio, only_down ? 1.0 : std::numeric_limits<double>::max());  // 0 times it is 0
        }
        for_each_entry(L_, arity_, digits_, [&](std::size_t n, const std::size_t* x) { table[n] *= factor[x[k]]; });
    }

    double fill(double* table, const double* scores, const double* wanted) {
        double missing = 0;
        for (std::size_t k = 0; k < arity_; ++k) {
            sum(table, k);
            double here = 0;
            for (std::size_t x = 0; x < L_; ++x) {
                double& lack = marginal_[k * L_ + x];
                here += lack = std::max(wanted[k * L_ + x] - lack, 0.0);
            }
            missing = std::max(missing, here);
        }
        if (!(missing > 0)) return 0;
        double lost = 0;
        for_each_entry(L_, arity_, digits_, [&](std::size_t n, const std::size_t* x) {
            double mass = missing;  // times shares of it: no power of it overflows, however little is missing
            for (std::size_t k = 0; k < arity_; ++k) mass *= marginal_[k * L_ + x[k]] / missing;
            (scores[n] > kNothing ? table[n] : lost) += mass;
        });
        return lost;
    }
};

}  // namespace kernelfields
