// Rows of the charts of dependency trees, vector by vector.
#pragma once

#include "../structures/dependency_kernels.hpp"
#include "simd.hpp"

#include <cmath>

namespace kernelfields {
namespace {

// Whole vectors from where they begin in memory, up to over the end of a row: numbers that have just been stored are
// loaded again in the same vectors, which is many times faster. What is in front of the first number of `from`, or of
// one of the factors of a product, is zero, or is added to what nobody looks at; behind the last there are zeros.
struct PaddedRows {
    static constexpr std::size_t width = kWidth<double>;
    static KF_INLINE std::size_t back(const double* p) {
        return reinterpret_cast<std::uintptr_t>(p) / sizeof(double) % width;
    }
    static KF_INLINE void add(double* to, double factor, const double* from, std::size_t count) {
        const std::size_t before = back(to);
        to -= before;
        from -= before;
        for (std::size_t k = 0; k < count + before; k += width) store(to + k, load(to + k) + factor * load(from + k));
    }
    // One number, as part of its vector: a vector that holds a number stored by itself would have to wait for it.
    static KF_INLINE void raise(double* place, double by) {
        const std::size_t before = back(place);
        Bits<double> lane;
        for (std::size_t k = 0; k < width; ++k) lane[k] = static_cast<std::int64_t>(k);
        const Bits<double> here = lane == (Bits<double>{} + static_cast<std::int64_t>(before));
        place -= before;
        store(place, load(place) + (here ? broadcast(by) : Vec<double>{}));
    }
    static KF_INLINE double dot(const double* a, const double* b, std::size_t count) {
        const std::size_t before = back(a);
        a -= before;
        b -= before;
        Vec<double> total{};
        for (std::size_t k = 0; k < count + before; k += width) total += load(a + k) * load(b + k);
        return sum<double>(total);
    }
};

// Where there are numbers behind the first `count`, which are kept.
struct FirstNumbers {
    static KF_INLINE Bits<double> below(std::size_t count) {
        Bits<double> lane;
        for (std::size_t k = 0; k < kWidth<double>; ++k) lane[k] = static_cast<std::int64_t>(k);
        return lane < (Bits<double>{} + static_cast<std::int64_t>(count));
    }
    static KF_INLINE void add(double* to, double factor, const double* from, std::size_t count) {
        std::size_t k = 0;
        for (; k + kWidth<double> <= count; k += kWidth<double>) store(to + k, load(to + k) + factor * load(from + k));
        if (k == count) return;
        const Vec<double> old = load(to + k);
        store(to + k, below(count - k) ? old + factor * load(from + k) : old);
    }
    static KF_INLINE double dot(const double* a, const double* b, std::size_t count) {
        Vec<double> total{};
        std::size_t k = 0;
        for (; k + kWidth<double> <= count; k += kWidth<double>) total += load(a + k) * load(b + k);
        if (k < count) total += below(count - k) ? load(a + k) * load(b + k) : Vec<double>{};
        return sum<double>(total);
    }
};

double normalised_weights(std::size_t words, const double* theta, double* weight) {
    const std::size_t heads = words + 1;
    const double* end = theta + words * heads;
    double shift = 0;
    for (std::size_t m = 0; m < words; ++m, theta += heads, weight += heads) {
        Vec<double> top = broadcast(-kInfinity<double>), total{};
        for (std::size_t h = 0; h < heads; h += kWidth<double>)
            top = maximum<double>(top, load_first(theta + h, heads - h, end, -kInfinity<double>));
        const double most = largest<double>(top);
        if (most == -kInfinity<double>) return most;
        for (std::size_t h = 0; h < heads; h += kWidth<double>) {
            const Vec<double> e = exp<double>(load_first(theta + h, heads - h, end, -kInfinity<double>) - most);
            total += e;
            store_first(weight + h, e, heads - h);
        }
        const double mass = sum<double>(total), inverse = 1 / mass;
        for (std::size_t h = 0; h < heads; ++h) weight[h] *= inverse;
        shift += most + std::log(mass);
    }
    return shift;
}

double projective_inside(const EisnerChart<double>& chart, const double* weight, bool single_root) {
    return eisner_inside<PaddedRows>(chart, weight, single_root);
}

void projective_outside(const EisnerChart<double>& chart, const double* weight, bool single_root,
                        const EisnerChart<double>& slope, double* row, double* marginal) {
    eisner_outside<PaddedRows>(chart, weight, single_root, slope, row, marginal);
}

ReducedWords eliminated(double* weight, std::size_t n, std::size_t stride, bool single_root, double* divisor) {
    return eliminate<FirstNumbers>(weight, n, stride, single_root, divisor);
}

void slopes_of(const double* weight, std::size_t n, std::size_t stride, bool single_root, const double* divisor,
               double* slope) {
    eliminated_slopes<FirstNumbers>(weight, n, stride, single_root, divisor, slope);
}

}  // namespace
}  // namespace kernelfields
