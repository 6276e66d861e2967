// Log-partitions, marginals, entropies and covariance products of trees, whichever way they are summed.
//
// Scores of a word are shifted by a constant such that the weights of all its arcs sum to 1: then so do all choices of
// one arc per word, trees or not, and every sum over trees, or parts of them, is at most 1. What underflows is below
// 1e-307, and does not matter while Z is far above; where it is not, the same recursion with wider numbers answers.
#pragma once

#include "../core/dual.hpp"
#include "arcs.hpp"
#include "eisner.hpp"
#include "matrix_tree.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

namespace kernelfields {

// What a thread needs for a sentence in numbers T.
template <class T> struct ArcMemory {
    std::vector<T> weight, marginal, table, other, row;
};

// The weights of one sentence, and what has been taken off their logarithms.
template <class T> double arc_weights(std::size_t n, const double* theta, T* weight) {
    double shift = 0;
    for (std::size_t m = 0; m < n; ++m) {
        const double* from = theta + m * (n + 1);
        T* to = weight + m * (n + 1);
        const double top = largest_of(from, n + 1);
        if (top == kNothing) return kNothing;
        double total = 0;
        for (std::size_t h = 0; h <= n; ++h) total += std::exp(from[h] - top);
        const double scale = top + std::log(total);
        for (std::size_t h = 0; h <= n; ++h) to[h] = from_log<T>(from[h] - scale);
        shift += scale;
    }
    return shift;
}

// The same with derivatives along a direction, which are taken from their mean: what all arcs of a word have in common
// changes no marginal, but may hide the rest.
template <class T>
double arc_weights(std::size_t n, const double* theta, const double* direction, Dual<T>* weight,
                   std::vector<T>& plain) {
    plain.resize(n * (n + 1));
    const double shift = arc_weights(n, theta, plain.data());
    if (shift == kNothing) return shift;
    for (std::size_t m = 0; m < n; ++m) {
        double mean = 0;
        for (std::size_t h = 0; h <= n; ++h) {
            const std::size_t a = m * (n + 1) + h;
            if (theta[a] > kNothing) mean += value_of(plain[a]) * direction[a];
        }
        for (std::size_t h = 0; h <= n; ++h) {
            const std::size_t a = m * (n + 1) + h;
            weight[a] = {plain[a], theta[a] > kNothing ? plain[a] * T(direction[a] - mean) : T{}};
        }
    }
    return shift;
}

template <class T> constexpr bool kUnbounded = std::is_same_v<T, Wide> || std::is_same_v<T, Dual<Wide>>;

// How trees are summed: log Z of weights, and marginals where there is room for them; NaN where Z is too small for T.
struct ProjectiveSums {
    static constexpr double kSmallest = -640;  // log Z; sums of products of numbers of at least 1e-307
    template <class T>
    static double run(std::size_t n, const std::vector<T>& weight, bool single_root, bool marginals,
                      ArcMemory<T>& memory) {
        const std::size_t stride = chart_stride(n, PlainRows::width);
        memory.table.resize(EisnerChart<T>::tables * (n + 1) * stride);
        const EisnerChart<T> chart(n, stride, memory.table.data());
        const T total = eisner_inside<PlainRows>(chart, weight.data(), single_root);
        const double log_partition = is_zero(total) ? kNothing : log_of(total);
        if (!kUnbounded<T> && !(log_partition > kSmallest)) return NAN;
        if (!marginals || log_partition == kNothing) return log_partition;
        memory.other.resize(memory.table.size());
        memory.row.resize(stride);
        memory.marginal.resize(n * (n + 1));
        const EisnerChart<T> slope(n, stride, memory.other.data());
        eisner_outside<PlainRows>(chart, weight.data(), single_root, slope, memory.row.data(), memory.marginal.data());
        return log_partition;
    }
};

struct MatrixTreeSums {
    static constexpr double kSmallest = -230;  // divisors may be as small as Z, and slopes as large as 1 / Z
    template <class T>
    static double run(std::size_t n, const std::vector<T>& weight, bool single_root, bool marginals,
                      ArcMemory<T>& memory) {
        std::vector<std::size_t> order(n);
        std::iota(order.begin(), order.end(), std::size_t{0});
        memory.row.resize(n);
        Elimination result = attempt(n, weight, single_root, order, memory);
        if (result.stuck > 1 && single_root) {
            // Its head can only be the root, or a word that depends on it: it is left to the last. Where there is a
            // second one, there is no tree.
            std::swap(order[0], order[result.stuck - 1]);
            result = attempt(n, weight, single_root, order, memory);
        }
        if (!kUnbounded<T> && !(result.log_partition > kSmallest)) return NAN;
        if (!marginals || result.log_partition == kNothing) return result.log_partition;
        memory.other.resize(n * (n + 1));
        memory.marginal.resize(n * (n + 1));
        eliminated_slopes<PlainRows>(memory.table.data(), n, n + 1, single_root, memory.row.data(),
                                     memory.other.data());
        permuted(n, order, [&](std::size_t a, std::size_t b) { memory.marginal[b] = weight[b] * memory.other[a]; });
        return result.log_partition;
    }

private:
    template <class T>
    static Elimination attempt(std::size_t n, const std::vector<T>& weight, bool single_root,
                               const std::vector<std::size_t>& order, ArcMemory<T>& memory) {
        memory.table.resize(n * (n + 1));
        permuted(n, order, [&](std::size_t a, std::size_t b) { memory.table[a] = weight[b]; });
        return eliminate<PlainRows>(memory.table.data(), n, n + 1, single_root, memory.row.data());
    }
    // visit(a, b): arc a, once word k + 1 is what was order[k] + 1, is arc b.
    template <class Visit> static void permuted(std::size_t n, const std::vector<std::size_t>& order, Visit visit) {
        for (std::size_t m = 0; m < n; ++m) {
            const std::size_t to = m * (n + 1), from = order[m] * (n + 1);
            visit(to, from);
            for (std::size_t h = 0; h < n; ++h) visit(to + h + 1, from + order[h] + 1);
        }
    }
};

struct ArcSums {
    ArcMemory<double> narrow;
    ArcMemory<Wide> wide;
    ArcMemory<Dual<double>> narrow_dual;
    ArcMemory<Dual<Wide>> wide_dual;
    std::vector<double> theta, direction, marginal, change, row;
    bool widened = false;  // whether the last sums needed more than doubles

    // Log-partition of theta, and marginals if asked for; in doubles, or wider numbers where these do not reach.
    template <class Sums> double run(std::size_t n, bool single_root, bool marginals) {
        if (n == 0) return 0;
        const double found = in<Sums>(n, single_root, marginals, narrow);
        widened = std::isnan(found);
        return widened ? in<Sums>(n, single_root, marginals, wide) : found;
    }
    // Marginals, and their change along the direction.
    template <class Sums> double differentiate(std::size_t n, bool single_root) {
        if (n == 0) return 0;
        const double found = along<Sums>(n, single_root, narrow_dual, narrow.weight);
        return std::isnan(found) ? along<Sums>(n, single_root, wide_dual, wide.weight) : found;
    }

private:
    template <class Sums, class T> double in(std::size_t n, bool single_root, bool marginals, ArcMemory<T>& memory) {
        memory.weight.resize(n * (n + 1));
        const double shift = arc_weights(n, theta.data(), memory.weight.data());
        if (shift == kNothing) return shift;
        const double found = Sums::run(n, memory.weight, single_root, marginals, memory);
        if (!marginals || !std::isfinite(found)) return shift + found;
        marginal.resize(n * (n + 1));
        for (std::size_t a = 0; a < marginal.size(); ++a) marginal[a] = std::max(0.0, value_of(memory.marginal[a]));
        return shift + found;
    }
    template <class Sums, class T>
    double along(std::size_t n, bool single_root, ArcMemory<Dual<T>>& memory, std::vector<T>& plain) {
        memory.weight.resize(n * (n + 1));
        const double shift = arc_weights(n, theta.data(), direction.data(), memory.weight.data(), plain);
        if (shift == kNothing) return shift;
        const double found = Sums::run(n, memory.weight, single_root, true, memory);
        if (!std::isfinite(found)) return shift + found;
        marginal.resize(n * (n + 1));
        change.resize(n * (n + 1));
        for (std::size_t a = 0; a < marginal.size(); ++a) {
            marginal[a] = std::max(0.0, value_of(memory.marginal[a].value));
            change[a] = value_of(memory.marginal[a].change);
        }
        return shift + found;
    }
};

}  // namespace kernelfields
