// Log-partitions, marginals, entropies and covariance products of trees, whichever way they are summed.
//
// Scores of a word are shifted by a constant such that the weights of all its arcs sum to 1: then so do all choices of
// one arc per word, trees or not, and every sum over trees, or parts of them, is at most 1. What underflows is below
// 1e-307, and does not matter while Z is far above; where it is not, the same recursion with wider numbers answers.
#pragma once

#include "../core/dispatch.hpp"
#include "../core/dual.hpp"
#include "arcs.hpp"
#include "eisner.hpp"
#include "matrix_tree.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <type_traits>

namespace kernelfields {

// What a thread needs for a sentence in numbers T.
template <class T> struct ArcMemory {
    std::vector<T> weight, marginal, table, other, row;

    // So many numbers, from where a vector begins in memory.
    static T* aligned(std::vector<T>& numbers, std::size_t count) {
        numbers.resize(count + kPiece / sizeof(double));
        void* place = numbers.data();
        std::size_t room = numbers.size() * sizeof(T);
        return static_cast<T*>(std::align(kPiece, count * sizeof(T), place, room));
    }
};

// The weights of one sentence; returns what has been taken off their logarithms, -inf where a word has no head.
inline double arc_weights(std::size_t n, const double* theta, double* weight) {
    return dependency_kernels().weights(n, theta, weight);
}
inline double arc_weights(std::size_t n, const double* theta, Wide* weight) {
    double shift = 0;
    for (std::size_t m = 0; m < n; ++m, theta += n + 1) {
        const double scale = log_sum_exp(theta, n + 1);
        if (scale == kNothing) return scale;
        for (std::size_t h = 0; h <= n; ++h) *weight++ = from_log<Wide>(theta[h] - scale);
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
        const std::size_t stride = stride_of<T>(n);
        const std::size_t size = EisnerChart<T>::tables * (n + 1) * stride;
        const EisnerChart<T> chart(n, stride, memory.aligned(memory.table, size));
        const T total = inside(chart, weight.data(), single_root);
        const double log_partition = is_zero(total) ? kNothing : log_of(total);
        if (!kUnbounded<T> && !(log_partition > kSmallest)) return NAN;
        if (!marginals || log_partition == kNothing) return log_partition;
        memory.marginal.resize(n * (n + 1));
        const EisnerChart<T> slope(n, stride, memory.aligned(memory.other, size));
        outside(chart, weight.data(), single_root, slope, memory.aligned(memory.row, stride), memory.marginal.data());
        return log_partition;
    }
    template <class T> static std::size_t stride_of(std::size_t n) {
        return chart_stride(n, std::is_same_v<T, double> ? dependency_kernels().width : PlainRows::width);
    }

private:
    template <class T> static T inside(const EisnerChart<T>& chart, const T* weight, bool single_root) {
        if constexpr (std::is_same_v<T, double>) return dependency_kernels().inside(chart, weight, single_root);
        else return eisner_inside<PlainRows>(chart, weight, single_root);
    }
    template <class T>
    static void outside(const EisnerChart<T>& chart, const T* weight, bool single_root, const EisnerChart<T>& slope,
                        T* row, T* marginal) {
        if constexpr (std::is_same_v<T, double>)
            dependency_kernels().outside(chart, weight, single_root, slope, row, marginal);
        else eisner_outside<PlainRows>(chart, weight, single_root, slope, row, marginal);
    }
};

struct MatrixTreeSums {
    static constexpr double kSmallest =
        -230;  // log of a product of divisors: slopes may be as large as its inverse squared
    template <class T>
    static double run(std::size_t n, const std::vector<T>& weight, bool single_root, bool marginals,
                      ArcMemory<T>& memory) {
        std::vector<std::size_t> order(n);
        std::iota(order.begin(), order.end(), std::size_t{0});
        memory.row.resize(n);
        ReducedWords result = attempt(n, weight, single_root, order, memory);
        if (result.stuck > 1 && single_root) {
            // Its head can only be the root, or a word that depends on it: it is left to the last. Where there is a
            // second one, there is no tree.
            std::swap(order[0], order[result.stuck - 1]);
            result = attempt(n, weight, single_root, order, memory);
        }
        if (!kUnbounded<T> && !(result.lowest > kSmallest)) return NAN;
        if (!marginals || result.log_partition == kNothing) return result.log_partition;
        const std::size_t stride = ProjectiveSums::stride_of<T>(n);
        memory.other.resize(n * stride);
        memory.marginal.resize(n * (n + 1));
        if constexpr (std::is_same_v<T, double>)
            dependency_kernels().slopes(memory.table.data(), n, stride, single_root, memory.row.data(),
                                        memory.other.data());
        else
            eliminated_slopes<PlainRows>(memory.table.data(), n, stride, single_root, memory.row.data(),
                                         memory.other.data());
        permuted(n, stride, order,
                 [&](std::size_t a, std::size_t b) { memory.marginal[b] = weight[b] * memory.other[a]; });
        return result.log_partition;
    }

private:
    template <class T>
    static ReducedWords attempt(std::size_t n, const std::vector<T>& weight, bool single_root,
                                const std::vector<std::size_t>& order, ArcMemory<T>& memory) {
        const std::size_t stride = ProjectiveSums::stride_of<T>(n);
        memory.table.resize(n * stride);
        permuted(n, stride, order, [&](std::size_t a, std::size_t b) { memory.table[a] = weight[b]; });
        if constexpr (std::is_same_v<T, double>)
            return dependency_kernels().eliminate(memory.table.data(), n, stride, single_root, memory.row.data());
        else return eliminate<PlainRows>(memory.table.data(), n, stride, single_root, memory.row.data());
    }
    // visit(a, b): arc a, once word k + 1 is what was order[k] + 1 and rows are `stride` apart, is arc b.
    template <class Visit>
    static void permuted(std::size_t n, std::size_t stride, const std::vector<std::size_t>& order, Visit visit) {
        for (std::size_t m = 0; m < n; ++m) {
            const std::size_t to = m * stride, from = order[m] * (n + 1);
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
