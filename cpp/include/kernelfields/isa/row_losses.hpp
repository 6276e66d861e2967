// Log-losses of rows and their derivatives, from scores.
#pragma once

#include "simd.hpp"

namespace kernelfields {
namespace {

// Scores become exp(score - best), and best becomes the sum of these. Two labels share one exponential.
KF_INLINE void exponentiate(double* scores, std::size_t stride, std::size_t labels, std::size_t r, double* best) {
    using V = Vec<double>;
    const V top = load(best + r);
    if (labels == 2) {
        const V above = load(scores + stride + r), power = exp<double>(above > V{} ? -above : above);
        const V one = broadcast(1.0);
        store(scores + r, above > V{} ? power : one);
        store(scores + stride + r, above > V{} ? one : power);
        return store(best + r, one + power);
    }
    V total{};
    for (std::size_t l = 0; l < labels; ++l) {
        const V power = exp<double>(load(scores + l * stride + r) - top);
        store(scores + l * stride + r, power);
        total += power;
    }
    store(best + r, total);
}

// scores[l * stride + r], whose label 0 has zeros, becomes times[r] * (probability - observed) for r < rows; they
// have room for whole vectors. On the way, best[r] becomes the sum of all exp(score - largest score). Returns the
// part of the loss without logarithms of these.
inline double differentiate_rows(double* scores, std::size_t stride, std::size_t labels, std::size_t rows,
                                 const std::int32_t* label, const double* times, double* best) {
    using V = Vec<double>;
    double loss = 0;
    for (std::size_t r = 0; r < rows; r += kWidth<double>) {
        V top{};
        for (std::size_t l = 1; l < labels; ++l) top = maximum<double>(top, load(scores + l * stride + r));
        store(best + r, top);
    }
    for (std::size_t r = 0; r < rows; ++r)
        loss += times[r] * (best[r] - scores[static_cast<std::size_t>(label[r]) * stride + r]);
    for (std::size_t r = 0; r < rows; r += kWidth<double>) {
        exponentiate(scores, stride, labels, r, best);
        const V factor = load(times + r) / load(best + r);
        for (std::size_t l = 0; l < labels; ++l) store(scores + l * stride + r, factor * load(scores + l * stride + r));
    }
    for (std::size_t r = 0; r < rows; ++r) scores[static_cast<std::size_t>(label[r]) * stride + r] -= times[r];
    return loss;
}

}  // namespace
}  // namespace kernelfields
