// Products and sums of tables along blocks of a larger one (Pattern, in structures/graph_kernels.hpp).
#pragma once

#include "../structures/graph_kernels.hpp"
#include "simd.hpp"

#include <type_traits>

namespace kernelfields {
namespace {

// row(block, small) for every run, `small` where its numbers lie. Two levels are loops, further ones are counted.
template <class T, class U, class Row> KF_INLINE void for_each_run(T* block, const Pattern& pattern, U* small,
                                                                   Row row) {
    const std::uint32_t levels = pattern.levels;
    const std::size_t run = pattern.run;
    const std::size_t n0 = levels > 0 ? pattern.count[0] : 1, s0 = levels > 0 ? pattern.step[0] : 0;
    const std::size_t n1 = levels > 1 ? pattern.count[1] : 1, s1 = levels > 1 ? pattern.step[1] : 0;
    std::uint32_t index[kBlockLevels] = {};
    for (;;) {
        for (std::size_t j = 0; j < n1; ++j)
            for (std::size_t k = 0; k < n0; ++k, block += run) row(block, small + j * s1 + k * s0);
        std::uint32_t level = 2;
        for (; level < levels; ++level) {
            if (++index[level] < pattern.count[level]) {
                small += pattern.step[level];
                break;
            }
            small -= std::size_t{pattern.step[level]} * (pattern.count[level] - 1);
            index[level] = 0;
        }
        if (level >= levels) return;
    }
}

// body(R) with the length of runs as a constant where it is small, 0 for others.
template <class Body> KF_INLINE void with_run(std::size_t run, Body body) {
    switch (run) {
        case 1: return body(std::integral_constant<std::size_t, 1>{});
        case 2: return body(std::integral_constant<std::size_t, 2>{});
        case 3: return body(std::integral_constant<std::size_t, 3>{});
        case 4: return body(std::integral_constant<std::size_t, 4>{});
        case 5: return body(std::integral_constant<std::size_t, 5>{});
        case 6: return body(std::integral_constant<std::size_t, 6>{});
        case 8: return body(std::integral_constant<std::size_t, 8>{});
        case 9: return body(std::integral_constant<std::size_t, 9>{});
        case 16: return body(std::integral_constant<std::size_t, 16>{});
        default: return body(std::integral_constant<std::size_t, 0>{});
    }
}

// to(x) = op(to(x), small(x)).
template <class Op> KF_INLINE void combine(double* __restrict block, const Pattern& pattern, const double* small,
                                           Op op) {
    with_run(pattern.run, [&](auto R) {
        const std::size_t run = R.value ? R.value : pattern.run;
        if (pattern.varies)
            for_each_run(block, pattern, small, [&](double* __restrict to, const double* __restrict from) {
                for (std::size_t k = 0; k < run; ++k) to[k] = op(to[k], from[k]);
            });
        else
            for_each_run(block, pattern, small, [&](double* __restrict to, const double* from) {
                const double x = *from;
                for (std::size_t k = 0; k < run; ++k) to[k] = op(to[k], x);
            });
    });
}

void assign_table(double* block, const Pattern& pattern, const double* small) {
    combine(block, pattern, small, [](double, double x) { return x; });
}
void multiply_table(double* block, const Pattern& pattern, const double* small) {
    combine(block, pattern, small, [](double a, double x) { return a * x; });
}
void add_table(double* block, const Pattern& pattern, const double* small) {
    combine(block, pattern, small, [](double a, double x) { return a + x; });
}

struct Plus {
    static KF_INLINE double of(double a, double b) { return a + b; }
    static KF_INLINE Vec<double> of(Vec<double> a, Vec<double> b) { return a + b; }
};
struct Most {
    static KF_INLINE double of(double a, double b) { return b > a ? b : a; }
    static KF_INLINE Vec<double> of(Vec<double> a, Vec<double> b) { return maximum<double>(b, a); }
};

// All numbers of a row into one.
template <class Op> KF_INLINE double fold(const double* x, std::size_t count) {
    constexpr std::size_t W = kWidth<double>;
    std::size_t k = 0;
    double result = x[0];
    if (count >= 2 * W) {
        Vec<double> a = load(x), b = load(x + W);
        for (k = 2 * W; k + 2 * W <= count; k += 2 * W) {
            a = Op::of(a, load(x + k));
            b = Op::of(b, load(x + k + W));
        }
        result = reduce(Op::of(a, b), [](Vec<double> p, Vec<double> q) { return Op::of(p, q); });
    } else {
        k = 1;
    }
    for (; k < count; ++k) result = Op::of(result, x[k]);
    return result;
}

// small(x) = op(small(x), all entries of the block that see it).
template <class Op> KF_INLINE void collect(const double* block, const Pattern& pattern, double* small) {
    with_run(pattern.run, [&](auto R) {
        const std::size_t run = R.value ? R.value : pattern.run;
        if (pattern.varies)
            for_each_run(block, pattern, small, [&](const double* __restrict from, double* __restrict to) {
                for (std::size_t k = 0; k < run; ++k) to[k] = Op::of(to[k], from[k]);
            });
        else
            for_each_run(block, pattern, small, [&](const double* from, double* to) {
                if (R.value && R.value < 2 * kWidth<double>) {
                    double x = from[0];
                    for (std::size_t k = 1; k < run; ++k) x = Op::of(x, from[k]);
                    *to = Op::of(*to, x);
                } else {
                    *to = Op::of(*to, fold<Op>(from, run));
                }
            });
    });
}

void sum_table(const double* block, const Pattern& pattern, double* small) {
    collect<Plus>(block, pattern, small);
}
void largest_table(const double* block, const Pattern& pattern, double* small) {
    collect<Most>(block, pattern, small);
}

void exp_all(double* x, std::size_t count) {
    constexpr std::size_t W = kWidth<double>;
    std::size_t k = 0;
    for (; k + W <= count; k += W) store(x + k, exp<double>(load(x + k)));
    if (k < count) store_first(x + k, exp<double>(load_first(x + k, count - k, x + count, 0.0)), count - k);
}

void range_of(const double* x, std::size_t count, double* largest, double* smallest) {
    constexpr std::size_t W = kWidth<double>;
    Vec<double> high{}, low = broadcast(kInfinity<double>);
    double top = 0, bottom = kInfinity<double>;
    std::size_t k = 0;
    for (; k + W <= count; k += W) {
        const Vec<double> v = load(x + k);
        high = maximum<double>(high, v);
        low = minimum<double>(low, v > 0 ? v : broadcast(kInfinity<double>));
    }
    for (; k < count; ++k) {
        top = x[k] > top ? x[k] : top;
        bottom = x[k] > 0 && x[k] < bottom ? x[k] : bottom;
    }
    const double wide = kernelfields::largest<double>(high);
    const double narrow = reduce(low, [](Vec<double> a, Vec<double> b) { return minimum<double>(a, b); });
    *largest = wide > top ? wide : top;
    *smallest = narrow < bottom ? narrow : bottom;
    if (*smallest > *largest) *smallest = *largest;
}

void scale_all(double* x, std::size_t count, double factor) {
    for (std::size_t k = 0; k < count; ++k) x[k] *= factor;
}

void divide_all(double* __restrict x, const double* __restrict y, std::size_t count, double factor) {
    for (std::size_t k = 0; k < count; ++k) x[k] = x[k] > 0 ? factor * y[k] / x[k] : 0.0;
}

}  // namespace
}  // namespace kernelfields
