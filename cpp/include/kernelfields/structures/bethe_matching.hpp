// Sums over matchings by belief propagation: Bethe's approximation of the permanent [vontobel2013bethe].
//
// Row i sends to its pair with column j  R(i, j) = -log(sum of exp(theta(i, k) + C(i, k)) over k != j, and of the
// weight of staying alone), columns likewise; a pair has the log-odds theta + R + C. The fixed point maximises the free
// energy, which is concave in the beliefs.
#pragma once

#include "matching.hpp"

namespace kernelfields {

struct BetheLimits {
    std::size_t iterations;
    double tolerance;  // of the largest change of a belief
};

class BetheMatching {
public:
    // `alone` holds log weights of rows, then of columns, that are in no pair.
    void start(std::size_t m, std::size_t n, const double* theta, const double* alone) {
        m_ = m;
        n_ = n;
        theta_ = theta;
        alone_ = alone;
        from_row_.assign(m * n, 0.0);
        from_column_.assign(m * n, 0.0);
        belief.assign(m * n, 0.0);
        line_.resize(std::max(m, n) + 1);
    }

    // Sends messages until beliefs change by no more than the tolerance; returns how many iterations it took.
    std::size_t run(const BetheLimits& limits) {
        for (std::size_t round = 1; round <= limits.iterations; ++round) {
            for (std::size_t i = 0; i < m_; ++i) send(i * n_, 1, n_, alone_[i], from_column_, from_row_);
            for (std::size_t j = 0; j < n_; ++j) send(j, n_, m_, alone_[m_ + j], from_row_, from_column_);
            change = 0;
            for (std::size_t k = 0; k < m_ * n_; ++k) {
                const double now = 1 / (1 + std::exp(-odds(k)));
                change = std::max(change, std::abs(now - belief[k]));
                belief[k] = now;
            }
            if (change <= limits.tolerance) return round;
        }
        return limits.iterations;
    }

    // Bethe's free energy of the beliefs: unlike sums of messages, which may grow for ever where the beliefs are 0 and
    // 1, it is right as soon as these are.
    double free_energy() const {
        std::vector<double> left(m_ + n_, 1.0);  // what rows and columns leave for staying alone
        double total = 0;
        for (std::size_t k = 0; k < m_ * n_; ++k) {
            const double b = belief[k], rest = 1 / (1 + std::exp(odds(k)));
            if (b > 0) total += b * (theta_[k] - std::log(b));
            if (rest > 0) total += rest * std::log(rest);
            left[k / n_] -= b;
            left[m_ + k % n_] -= b;
        }
        for (std::size_t v = 0; v < m_ + n_; ++v)
            if (alone_[v] > kNothing && left[v] > 0) total -= left[v] * std::log(left[v]);
        return total;
    }

    std::vector<double> belief;
    double change = 0;

private:
    static constexpr double kMost = 1e5;  // a message that leaves no choice

    double odds(std::size_t k) const {
        return theta_[k] == kNothing ? kNothing : theta_[k] + from_row_[k] + from_column_[k];
    }

    // What one row or column hears of its pairs, and last the weight of staying alone.
    void hear(std::size_t first, std::size_t step, std::size_t count, double alone, const std::vector<double>& heard) {
        for (std::size_t k = 0; k < count; ++k) line_[k] = theta_[first + k * step] + heard[first + k * step];
        line_[count] = alone;
    }
    // Each pair learns the sum over all others, with the largest of those others as the shift: nothing cancels.
    void send(std::size_t first, std::size_t step, std::size_t count, double alone, const std::vector<double>& heard,
              std::vector<double>& sent) {
        hear(first, step, count, alone, heard);
        const std::size_t top = first_largest(line_.data(), count + 1);
        const double most = line_[top];
        line_[top] = kNothing;
        const double others = log_sum_exp(line_.data(), count + 1);
        double rest = 0;
        for (std::size_t k = 0; k <= count; ++k) rest += line_[k] = std::exp(line_[k] - most);
        for (std::size_t k = 0; k < count; ++k) {
            const double left = k == top ? others : most + std::log1p(rest - line_[k]);
            sent[first + k * step] = std::clamp(-left, -kMost, kMost);
        }
    }

    std::size_t m_ = 0, n_ = 0;
    const double *theta_ = nullptr, *alone_ = nullptr;
    std::vector<double> from_row_, from_column_, line_;
};

template <class S> struct BetheOut {
    double *value, *change;
    std::int64_t* iterations;
    S* belief;  // or nothing
};

// Whether an item has a matching at all is settled by an assignment; -inf where not, NaN where scores are no numbers.
template <class S>
void bethe_matching(const PairBatch<S>& batch, bool complete, const BetheLimits& limits, const BetheOut<S>& out) {
    struct Memory {
        Assignment problem;
        BetheMatching bethe;
        std::vector<double> theta, alone;
    };
    std::vector<Memory> memory;
    for_each_item(
        batch, 2000, [&](std::size_t threads) { memory.resize(threads); },
        [&](std::size_t s, std::size_t thread) {
            auto& [problem, bethe, theta, alone] = memory[thread];
            const std::size_t m = batch.rows(s), n = batch.columns(s);
            if (out.belief) std::fill(out.belief + batch.start(s), out.belief + batch.start(s) + m * n, S{0});
            out.iterations[s] = 0;
            out.change[s] = 0;
            out.value[s] = NAN;
            if (!read_matching(batch, s, complete, problem)) return;
            out.value[s] = kNothing;
            if (!problem.solve()) return;
            theta.assign(batch.scores(s), batch.scores(s) + m * n);
            alone.assign(m + n, 0.0);
            if (complete && m <= n) std::fill(alone.begin(), alone.begin() + static_cast<std::ptrdiff_t>(m), kNothing);
            if (complete && n <= m) std::fill(alone.begin() + static_cast<std::ptrdiff_t>(m), alone.end(), kNothing);
            bethe.start(m, n, theta.data(), alone.data());
            out.iterations[s] = static_cast<std::int64_t>(bethe.run(limits));
            out.change[s] = bethe.change;
            out.value[s] = bethe.free_energy();
            for (std::size_t k = 0; out.belief && k < m * n; ++k)
                out.belief[batch.start(s) + k] = static_cast<S>(bethe.belief[k]);
        });
}

}  // namespace kernelfields
