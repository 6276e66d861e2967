// Sequential minimal optimisation: the dual of a support vector machine, two coefficients at a time.
#pragma once

#include <cstddef>
#include <limits>

namespace kernelfields {

// max <y, b> - 1/2 <b, K b> over low <= b <= high, sum b = 0. For a support vector machine b_i is y_i times
// the dual variable of row i, and its bounds are 0 and y_i c_i.
struct MarginDual {
    std::size_t count;
    const double* gram;    // (count, count), symmetric
    const double* labels;  // y
    const double* low;
    const double* high;
    double* coef;    // b, a feasible start; the solution
    double* scores;  // K b at the start; at the solution
};

struct MarginEnd {
    std::size_t steps;
    double most;   // the largest slope y_i - (K b)_i among coefficients that can rise
    double least;  // the smallest among those that can fall; optimal if it is not below `most`
};

namespace smo_detail {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

struct Ends {
    double most = -std::numeric_limits<double>::infinity();
    double least = std::numeric_limits<double>::infinity();
    std::size_t rising = kNone;
};

inline Ends ends_of(const MarginDual& p) {
    Ends ends;
    for (std::size_t t = 0; t < p.count; ++t) {
        const double slope = p.labels[t] - p.scores[t];
        if (p.coef[t] < p.high[t] && slope > ends.most) {
            ends.most = slope;
            ends.rising = t;
        }
        if (p.coef[t] > p.low[t] && slope < ends.least) ends.least = slope;
    }
    return ends;
}

// Curvature of the objective where b_i rises as b_j falls; equal rows have none, up to rounding.
inline double curvature(const MarginDual& p, std::size_t i, std::size_t j) {
    constexpr double kFlat = 1e-12;
    const double found = p.gram[i * p.count + i] + p.gram[j * p.count + j] - 2.0 * p.gram[i * p.count + j];
    return found > kFlat ? found : kFlat;
}

// The partner that falls: the one with which the unbounded step gains most, (slope_i - slope_j)^2 / curvature.
inline std::size_t falling(const MarginDual& p, std::size_t i, double most) {
    std::size_t best = kNone;
    double gain = 0.0;
    for (std::size_t j = 0; j < p.count; ++j) {
        const double ahead = most - (p.labels[j] - p.scores[j]);
        if (!(p.coef[j] > p.low[j] && ahead > 0.0)) continue;
        const double mine = ahead * ahead / curvature(p, i, j);
        if (mine > gain) {
            gain = mine;
            best = j;
        }
    }
    return best;
}

inline void step(const MarginDual& p, std::size_t i, std::size_t j, double ahead) {
    const double rise = p.high[i] - p.coef[i], fall = p.coef[j] - p.low[j];
    double length = ahead / curvature(p, i, j);
    length = length < rise ? length : rise;
    length = length < fall ? length : fall;
    // bounds are reached exactly: what is next to one would be chosen again
    p.coef[i] = length == rise ? p.high[i] : p.coef[i] + length;
    p.coef[j] = length == fall ? p.low[j] : p.coef[j] - length;
    const double* const up = p.gram + i * p.count;
    const double* const down = p.gram + j * p.count;
    for (std::size_t t = 0; t < p.count; ++t) p.scores[t] += length * (up[t] - down[t]);
}

}  // namespace smo_detail

// Steps until most - least <= tolerance, or a number of them.
inline MarginEnd smo(const MarginDual& p, double tolerance, std::size_t limit) {
    using namespace smo_detail;
    for (std::size_t steps = 0;; ++steps) {
        const Ends ends = ends_of(p);
        const bool done = ends.rising == kNone || !(ends.most - ends.least > tolerance) || steps == limit;
        const std::size_t j = done ? kNone : falling(p, ends.rising, ends.most);
        if (j == kNone) return {steps, ends.most, ends.least};
        step(p, ends.rising, j, ends.most - (p.labels[j] - p.scores[j]));
    }
}

}  // namespace kernelfields
