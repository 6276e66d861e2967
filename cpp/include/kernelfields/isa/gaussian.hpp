// Densities and sufficient statistics of Gaussians, one position per vector lane.
//
// Observations are taken relative to the mean of the state before they are squared, in densities as in
// statistics: sums of squares around another point would lose digits where a state is narrow.
#pragma once

#include "../emissions/emission_kernels.hpp"
#include "simd.hpp"
#include "transpose.hpp"

namespace kernelfields {
namespace {

KF_INLINE std::size_t vectors_of(std::size_t count) {
    return (count + kWidth<double> - 1) / kWidth<double>;
}

// Rows of labels (labels x kEmissionTile) to positions (count x labels), blocks of whole vectors at a time. What is
// written beyond the labels of a position is overwritten by the next.
inline void rows_to_positions(const double* rows, std::size_t labels, std::size_t count, double* positions) {
    constexpr std::size_t W = kWidth<double>;
    static_assert(W <= kEmissionSlack);
    for (std::size_t t = 0; t < count; t += W)
        for (std::size_t k = 0; k < labels; k += W) {
            Vec<double> block[W];
            KF_UNROLL
            for (std::size_t i = 0; i < W; ++i)
                block[i] = k + i < labels ? load(rows + (k + i) * kEmissionTile + t) : Vec<double>{};
            transpose(block);
            const std::size_t here = count - t < W ? count - t : W, wide = labels - k < W ? labels - k : W;
            if (k == 0)
                for (std::size_t i = 0; i < here; ++i) store(positions + (t + i) * labels, block[i]);
            else
                for (std::size_t i = 0; i < here; ++i) store_first(positions + (t + i) * labels + k, block[i], wide);
        }
}

// The reverse; rows have zeros beyond `count`, up to a whole vector.
inline void positions_to_rows(const double* positions, std::size_t labels, std::size_t count, double* rows) {
    constexpr std::size_t W = kWidth<double>;
    for (std::size_t t = 0; t < count; t += W)
        for (std::size_t k = 0; k < labels; k += W) {
            Vec<double> block[W];
            for (std::size_t i = 0; i < W; ++i)
                block[i] = t + i < count ? load(positions + (t + i) * labels + k) : Vec<double>{};
            transpose(block);
            const std::size_t wide = labels - k < W ? labels - k : W;
            for (std::size_t i = 0; i < wide; ++i) store(rows + (k + i) * kEmissionTile + t, block[i]);
        }
}

// centred[d] = x[d] - mean[d], whole vectors.
KF_INLINE void centre(const EmissionTile& tile, const double* mean, std::size_t columns, std::size_t vectors,
                      double* centred) {
    for (std::size_t d = 0; d < columns; ++d)
        for (std::size_t v = 0; v < vectors; ++v) {
            const std::size_t at = v * kWidth<double>;
            store(centred + d * kEmissionTile + at, load(tile.x + d * tile.stride + at) - broadcast(mean[d]));
        }
}

inline void diagonal_scores(const GaussianStates& states, const EmissionTile& tile, std::size_t vectors,
                            double* scores) {
    for (std::size_t k = 0; k < states.labels; ++k) {
        const double *mean = states.mean + k * states.columns, *factor = states.factor + k * states.columns;
        for (std::size_t v = 0; v < vectors; ++v) {
            Vec<double> total = broadcast(states.constant[k]);
            for (std::size_t d = 0; d < states.columns; ++d) {
                const Vec<double> c = load(tile.x + d * tile.stride + v * kWidth<double>) - broadcast(mean[d]);
                total -= c * c * broadcast(factor[d]);
            }
            store(scores + k * kEmissionTile + v * kWidth<double>, total);
        }
    }
}

inline void full_scores(const GaussianStates& states, const EmissionTile& tile, std::size_t vectors, double* centred,
                        double* scores) {
    const std::size_t D = states.columns;
    constexpr std::size_t kTogether = 4;  // hide the latency of one another's sums
    for (std::size_t k = 0; k < states.labels; ++k) {
        centre(tile, states.mean + k * D, D, vectors, centred);
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

void gaussian_scores(const GaussianStates& states, const EmissionTile& tile, const EmissionScratch& scratch,
                     double* scores) {
    if (states.full) full_scores(states, tile, vectors_of(tile.count), scratch.centred, scratch.rows);
    else diagonal_scores(states, tile, vectors_of(tile.count), scratch.rows);
    rows_to_positions(scratch.rows, states.labels, tile.count, scores);
}

inline void diagonal_sums(const GaussianStates& states, const EmissionTile& tile, const double* weight,
                          std::size_t vectors, double* sums) {
    const std::size_t D = states.columns;
    for (std::size_t k = 0; k < states.labels; ++k, sums += states.size()) {
        const double *mean = states.mean + k * D, *w = weight + k * kEmissionTile;
        Vec<double> count{};
        for (std::size_t v = 0; v < vectors; ++v) count += load(w + v * kWidth<double>);
        sums[0] += sum<double>(count);
        for (std::size_t d = 0; d < D; ++d) {
            Vec<double> first{}, second{};
            for (std::size_t v = 0; v < vectors; ++v) {
                const Vec<double> c = load(tile.x + d * tile.stride + v * kWidth<double>) - broadcast(mean[d]);
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

inline void full_sums(const GaussianStates& states, const EmissionTile& tile, const double* weight, std::size_t vectors,
                      double* centred, double* sums) {
    const std::size_t D = states.columns;
    alignas(64) double weighted[kEmissionTile];
    for (std::size_t k = 0; k < states.labels; ++k, sums += states.size()) {
        const double* w = weight + k * kEmissionTile;
        centre(tile, states.mean + k * D, D, vectors, centred);
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

void gaussian_sums(const GaussianStates& states, const EmissionTile& tile, const double* weight,
                   const EmissionScratch& scratch, double* sums) {
    positions_to_rows(weight, states.labels, tile.count, scratch.rows);
    if (states.full) full_sums(states, tile, scratch.rows, vectors_of(tile.count), scratch.centred, sums);
    else diagonal_sums(states, tile, scratch.rows, vectors_of(tile.count), sums);
}

}  // namespace
}  // namespace kernelfields
