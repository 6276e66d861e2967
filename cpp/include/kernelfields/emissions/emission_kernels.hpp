// What the HMM driver (hmm.hpp) asks of the code compiled per instruction set (isa/gaussian.hpp).
#pragma once

#include <cstddef>

namespace kernelfields {

// One Gaussian per state: log p(x|k) = constant_k - sum of squares.
//   diagonal: sum_d factor[k, d] (x_d - mean[k, d])^2
//   full:     sum_d (sum_{e <= d} factor[k, d, e] (x_e - mean[k, e]))^2
struct GaussianStates {
    std::size_t labels, columns;
    const double* mean;      // labels x columns
    const double* factor;    // labels x columns, or labels x columns x columns (lower triangles)
    const double* constant;  // labels
    bool full;

    // Numbers in the statistics of one state: sum of weights, of weighted x - mean, of weighted squares
    // (diagonal) or products of all pairs e <= d (full, row by row).
    std::size_t size() const { return 1 + columns + (full ? columns * (columns + 1) / 2 : columns); }
};

// Positions that are worked on together; rows of a tile have so many numbers.
constexpr std::size_t kEmissionTile = 256;

// Observations of a tile: column d is at x + d * stride, in whole vectors.
struct EmissionTile {
    const double* x;
    std::size_t stride, count;
};

// Rooms that kernels work in.
struct EmissionScratch {
    double* centred;  // columns x kEmissionTile
    double* rows;     // labels x kEmissionTile
};

// How many numbers beyond the last position kernels may read or write of scores and weights.
constexpr std::size_t kEmissionSlack = 8;

struct EmissionKernels {
    // scores (positions x labels) of a tile of observations.
    void (*gaussian_scores)(const GaussianStates&, const EmissionTile&, const EmissionScratch&, double* scores);
    // Adds the statistics of a tile, weighted by `weight` (positions x labels), to `sums`.
    void (*gaussian_sums)(const GaussianStates&, const EmissionTile&, const double* weight, const EmissionScratch&,
                          double* sums);
};

}  // namespace kernelfields
