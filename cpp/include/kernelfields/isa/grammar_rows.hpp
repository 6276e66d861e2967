// Rows of the charts of grammars, vector by vector.
#pragma once

#include "../structures/grammar_kernels.hpp"
#include "simd.hpp"

namespace kernelfields {
namespace {

// Rows are followed by as many numbers as a vector has.
struct GrammarRows {
    static KF_INLINE Bits<double> below(std::size_t count) {
        Bits<double> lane;
        for (std::size_t k = 0; k < kWidth<double>; ++k) lane[k] = static_cast<std::int64_t>(k);
        return lane < (Bits<double>{} + static_cast<std::int64_t>(count));
    }
};

struct SummedRows : GrammarRows {
    static KF_INLINE double times(double a, double b) { return a * b; }
    static KF_INLINE void raise(double& to, double by) { to += by; }
    static KF_INLINE bool none(double x) { return x == 0; }
    static KF_INLINE double zero(double) { return 0; }
    static KF_INLINE double dot(const double* a, const double* b, std::size_t count) {
        if (count == 1) return *a * *b;
        Vec<double> total{};
        std::size_t k = 0;
        for (; k + kWidth<double> <= count; k += kWidth<double>) total += load(a + k) * load(b + k);
        if (k < count) total += below(count - k) ? load(a + k) * load(b + k) : Vec<double>{};
        return sum<double>(total);
    }
    static KF_INLINE void add(double* to, double factor, const double* from, std::size_t count) {
        if (count == 1) {
            *to += factor * *from;
            return;
        }
        std::size_t k = 0;
        for (; k + kWidth<double> <= count; k += kWidth<double>) store(to + k, load(to + k) + factor * load(from + k));
        if (k == count) return;
        const Vec<double> old = load(to + k);
        store(to + k, below(count - k) ? old + factor * load(from + k) : old);
    }
};

struct MaximalRows : GrammarRows {
    static KF_INLINE double times(double a, double b) { return a + b; }
    static KF_INLINE void raise(double& to, double by) { to = by > to ? by : to; }
    static KF_INLINE bool none(double x) { return x == -kInfinity<double>; }
    static KF_INLINE double zero(double) { return -kInfinity<double>; }
    static KF_INLINE double dot(const double* a, const double* b, std::size_t count) {
        if (count == 1) return *a + *b;
        Vec<double> most = broadcast(-kInfinity<double>);
        std::size_t k = 0;
        for (; k + kWidth<double> <= count; k += kWidth<double>)
            most = maximum<double>(most, load(a + k) + load(b + k));
        if (k < count) {
            const Vec<double> x = load(a + k) + load(b + k);
            most = maximum<double>(most, below(count - k) ? x : broadcast(-kInfinity<double>));
        }
        return largest<double>(most);
    }
};

void grammar_inside_of(const RulesByChildren& g, const GrammarTables<double>& chart, const GrammarExtents& x,
                       const double* w, const double* u, double* sum) {
    grammar_inside<SummedRows>(g, chart, x, w, u, sum);
}

void grammar_outside_of(const RulesByChildren& g, const GrammarTables<double>& chart, const GrammarExtents& x,
                        const double* w, const double* u, const GrammarTables<double>& slope, double* down,
                        double* count) {
    grammar_outside<SummedRows>(g, chart, x, w, u, slope, down, count);
}

void grammar_best_of(const RulesByChildren& g, const GrammarTables<double>& chart, const GrammarExtents& x,
                     const double* w, const double* u, double* sum) {
    grammar_inside<MaximalRows>(g, chart, x, w, u, sum);
}

}  // namespace
}  // namespace kernelfields
