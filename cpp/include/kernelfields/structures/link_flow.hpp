// Many-to-many links with fertility scores: a row or column in k pairs adds f(k), concave in k, so that the best set of
// pairs is a flow of least cost [lacoste2006word]. Paths of least cost from a row to a column, one after the other,
// each by Dijkstra's algorithm on a matrix, until none gains anything.
#pragma once

#include "pairs.hpp"

namespace kernelfields {

class LinkFlow {
public:
    // theta (m x n); fertility (m + n) x (most + 1), rows first; output 0 or 1 for every pair.
    void run(std::size_t m, std::size_t n, const double* theta, std::size_t most, const double* fertility,
             std::int32_t* output) {
        m_ = m;
        n_ = n;
        theta_ = theta;
        most_ = most;
        fertility_ = fertility;
        output_ = output;
        std::fill(output, output + m * n, 0);
        degree_.assign(m + n, 0);
        begin();
        while (n > 0 && m > 0 && shortest_path()) augment();
    }

private:
    static constexpr double kFar = std::numeric_limits<double>::infinity();

    // What one more pair of a row or column costs.
    double next(std::size_t v) const {
        if (degree_[v] == most_) return kFar;
        const double* f = fertility_ + v * (most_ + 1) + degree_[v];
        return f[0] - f[1];
    }
    // Potentials: distances without links, such that no cost is negative afterwards.
    void begin() {
        potential_.assign(m_ + n_, 0.0);
        end_ = kFar;
        for (std::size_t i = 0; i < m_; ++i) potential_[i] = next(i);
        for (std::size_t j = 0; j < n_; ++j) {
            double least = kFar;
            for (std::size_t i = 0; i < m_; ++i) least = std::min(least, potential_[i] - theta_[i * n_ + j]);
            potential_[m_ + j] = least;
            end_ = std::min(end_, least + next(m_ + j));
        }
        for (double& p : potential_)
            if (p == kFar) p = 0;  // nothing leads there, now or later
        if (end_ == kFar) end_ = 0;
    }
    void shorten(std::size_t v, double distance, std::size_t from) {
        if (distance >= distance_[v]) return;
        distance_[v] = distance;
        from_[v] = from;
    }
    // A path from a row that takes one more pair to a column that does; whether it gains anything.
    bool shortest_path() {
        const std::size_t none = m_ + n_;
        distance_.assign(none, kFar);
        from_.assign(none, none);
        done_.assign(none, 0);
        double best = kFar;
        for (std::size_t i = 0; i < m_; ++i) distance_[i] = std::max(0.0, next(i) - potential_[i]);
        for (;;) {
            std::size_t at = none;
            for (std::size_t v = 0; v < none; ++v)
                if (!done_[v] && distance_[v] < best && (at == none || distance_[v] < distance_[at])) at = v;
            if (at == none) break;
            done_[at] = 1;
            const double here = distance_[at];
            if (at < m_) {
                for (std::size_t j = 0; j < n_; ++j)
                    if (!output_[at * n_ + j]) shorten(m_ + j, here + reduced(-theta_[at * n_ + j], at, m_ + j), at);
                continue;
            }
            const std::size_t j = at - m_;
            for (std::size_t i = 0; i < m_; ++i)
                if (output_[i * n_ + j]) shorten(i, here + reduced(theta_[i * n_ + j], at, i), at);
            const double sink = here + std::max(0.0, next(at) + potential_[at] - end_);
            if (sink < best) {
                best = sink;
                last_ = at;
            }
        }
        if (best == kFar || best + end_ >= 0) return false;
        for (std::size_t v = 0; v < none; ++v) potential_[v] += std::min(distance_[v], best);
        end_ += best;
        return true;
    }
    double reduced(double cost, std::size_t from, std::size_t to) const {
        return std::max(0.0, cost + potential_[from] - potential_[to]);
    }
    void augment() {
        std::size_t v = last_;
        ++degree_[v];
        while (from_[v] < m_ + n_) {
            const std::size_t before = from_[v];
            if (v >= m_) output_[before * n_ + (v - m_)] = 1;
            else output_[v * n_ + (before - m_)] = 0;
            v = before;
        }
        ++degree_[v];
    }

    std::size_t m_ = 0, n_ = 0, most_ = 1, last_ = 0;
    const double *theta_ = nullptr, *fertility_ = nullptr;
    std::int32_t* output_ = nullptr;
    double end_ = 0;  // potential behind the columns
    std::vector<double> potential_, distance_;
    std::vector<std::size_t> from_, degree_;
    std::vector<char> done_;
};

// The best links of every item. fertility: (rows and columns of all items) x (most + 1), item by item.
template <class S>
void links_argmax(const PairBatch<S>& batch, std::size_t most, const S* fertility, std::int32_t* output,
                  double* value) {
    struct Memory {
        LinkFlow flow;
        std::vector<double> theta, fertility;
    };
    std::vector<Memory> memory;
    std::vector<std::size_t> vertex(batch.items + 1, 0);
    for (std::size_t s = 0; s < batch.items; ++s) vertex[s + 1] = vertex[s] + batch.rows(s) + batch.columns(s);
    for_each_item(
        batch, 150, [&](std::size_t threads) { memory.resize(threads); },
        [&](std::size_t s, std::size_t thread) {
            auto& [flow, theta, scores] = memory[thread];
            const std::size_t m = batch.rows(s), n = batch.columns(s);
            const S* own = fertility + vertex[s] * (most + 1);
            std::int32_t* pairs = output + batch.start(s);
            theta.assign(batch.scores(s), batch.scores(s) + m * n);
            scores.assign(own, own + (m + n) * (most + 1));
            value[s] = NAN;
            std::fill(pairs, pairs + m * n, 0);
            if (!usable_pairs(batch, s) || !usable(own, scores.size())) return;
            flow.run(m, n, theta.data(), most, scores.data(), pairs);
            value[s] = pairs_score(batch, s, pairs);
            for (std::size_t v = 0; v < m + n; ++v) {
                std::size_t degree = 0;
                for (std::size_t k = 0; k < (v < m ? n : m); ++k)
                    degree += static_cast<std::size_t>(v < m ? pairs[v * n + k] : pairs[k * n + (v - m)]);
                value[s] += scores[v * (most + 1) + degree];
            }
        });
}

}  // namespace kernelfields
