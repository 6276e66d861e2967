// Densities and sufficient statistics of Gaussians, one position per vector lane.
//
// Observations are taken relative to the mean of the state before they are squared, in densities as in
// statistics: sums of squares around another point would lose digits where a state is narrow.
#pragma once

#include "../emissions/emission_kernels.hpp"
#include "simd.hpp"

namespace kernelfields {
namespace {

KF_INLINE std::size_t vectors_of(std::size_t count) {
    return (count + kWidth<double> - 1) / kWidth<double>;
}

// centred[d] = x[d] - mean[d], whole vectors.
KF_INLINE void centre(const double* x, const double* mean, std::size_t columns, std::size_t vectors, double* centred) {
    for (std::size_t d = 0; d < columns; ++d)
        for (std::size_t v = 0; v < vectors; ++v) {
            const std::size_t at = d * kEmissionTile + v * kWidth<double>;
            store(centred + at, load(x + at) - broadcast(mean[d]));
        }
}

inline void diagonal_scores(const GaussianStates& states, const double* x, std::size_t vectors, double* scores) {
    for (std::size_t k = 0; k < states.labels; ++k) {
        const double *mean = states.mean + k * states.columns, *factor = states.factor + k * states.columns;
        for (std::size_t v = 0; v < vectors; ++v) {
            Vec<double> total = broadcast(states.constant[k]);
            for (std::size_t d = 0; d < states.columns; ++d) {
                const Vec<double> c = load(x + d * kEmissionTile + v * kWidth<double>) - broadcast(mean[d]);
                total -= c * c * broadcast(factor[d]);
            }
            store(scores + k * kEmissionTile + v * kWidth<double>, total);
        }
    }
}

inline void full_scores(const GaussianStates& states, const double* x, std::size_t vectors, double* centred,
                        double* scores) {
    const std::size_t D = states.columns;
    constexpr std::size_t kTogether = 4;  // hide the latency of one another's sums
    for (std::size_t k = 0; k < states.labels; ++k) {
        centre(x, states.mean + k * D, D, vectors, centred);
        const double* factor = states.factor + k * D * D;
        for (std::size_t v = 0; v < vectors; v += kTogether) {
            const std::size_t n = vectors - v < kTogether ? vectors - v : kTogether;
            Vec<double> total[kTogether];
            for (std::size_t i = 0; i < n; ++i) total[i] = broadcast(states.constant[k]);
            for (std::size_t d = 0; d < D; ++d) {
                Vec<double> z[kTogether] = {};
                for (std::size_t e = 0; e <= d; ++e) {
                    const Vec<double> f = broadcast(factor[d * D + e]);
                    const double* c = centred + e * kEmissionTile + v * kWidth<double>;
                    if (n == kTogether) {
                        for (std::size_t i = 0; i < kTogether; ++i) z[i] += f * load(c + i * kWidth<double>);
                    } else {
                        for (std::size_t i = 0; i < n; ++i) z[i] += f * load(c + i * kWidth<double>);
                    }
                }
                for (std::size_t i = 0; i < n; ++i) total[i] -= z[i] * z[i];
            }
            for (std::size_t i = 0; i < n; ++i) store(scores + k * kEmissionTile + (v + i) * kWidth<double>, total[i]);
        }
    }
}

void gaussian_scores(const GaussianStates& states, const double* x, std::size_t count, double* scratch,
                     double* scores) {
    if (states.full) full_scores(states, x, vectors_of(count), scratch, scores);
    else diagonal_scores(states, x, vectors_of(count), scores);
}

inline void diagonal_sums(const GaussianStates& states, const double* x, const double* weight, std::size_t vectors,
                          double* sums) {
    const std::size_t D = states.columns;
    for (std::size_t k = 0; k < states.labels; ++k, sums += states.size()) {
        const double *mean = states.mean + k * D, *w = weight + k * kEmissionTile;
        Vec<double> count{};
        for (std::size_t v = 0; v < vectors; ++v) count += load(w + v * kWidth<double>);
        sums[0] += sum<double>(count);
        for (std::size_t d = 0; d < D; ++d) {
            Vec<double> first{}, second{};
            for (std::size_t v = 0; v < vectors; ++v) {
                const Vec<double> c = load(x + d * kEmissionTile + v * kWidth<double>) - broadcast(mean[d]);
                const Vec<double> wc = load(w + v * kWidth<double>) * c;
                first += wc;
                second += wc * c;
            }
            sums[1 + d] += sum<double>(first);
            sums[1 + D + d] += sum<double>(second);
        }
    }
}

// sum_v left[v] right_e[v] for `n` neighbouring rows e, added to `to`.
template <std::size_t n>
KF_INLINE void products(const double* left, const double* right, std::size_t vectors, double* to) {
    Vec<double> total[n] = {};
    for (std::size_t v = 0; v < vectors; ++v) {
        const Vec<double> l = load(left + v * kWidth<double>);
        for (std::size_t i = 0; i < n; ++i) total[i] += l * load(right + i * kEmissionTile + v * kWidth<double>);
    }
    for (std::size_t i = 0; i < n; ++i) to[i] += sum<double>(total[i]);
}

inline void full_sums(const GaussianStates& states, const double* x, const double* weight, std::size_t vectors,
                      double* centred, double* sums) {
    const std::size_t D = states.columns;
    alignas(64) double weighted[kEmissionTile];
    for (std::size_t k = 0; k < states.labels; ++k, sums += states.size()) {
        const double* w = weight + k * kEmissionTile;
        centre(x, states.mean + k * D, D, vectors, centred);
        Vec<double> count{};
        for (std::size_t v = 0; v < vectors; ++v) count += load(w + v * kWidth<double>);
        sums[0] += sum<double>(count);
        double* second = sums + 1 + D;
        for (std::size_t d = 0; d < D; second += ++d) {
            Vec<double> first{};
            for (std::size_t v = 0; v < vectors; ++v) {
                const std::size_t at = v * kWidth<double>;
                const Vec<double> wc = load(w + at) * load(centred + d * kEmissionTile + at);
                store(weighted + at, wc);
                first += wc;
            }
            sums[1 + d] += sum<double>(first);
            std::size_t e = 0;
            for (; e + 4 <= d + 1; e += 4) products<4>(weighted, centred + e * kEmissionTile, vectors, second + e);
            for (; e <= d; ++e) products<1>(weighted, centred + e * kEmissionTile, vectors, second + e);
        }
    }
}

void gaussian_sums(const GaussianStates& states, const double* x, const double* weight, std::size_t count,
                   double* scratch, double* sums) {
    if (states.full) full_sums(states, x, weight, vectors_of(count), scratch, sums);
    else diagonal_sums(states, x, weight, vectors_of(count), sums);
}

}  // namespace
}  // namespace kernelfields
