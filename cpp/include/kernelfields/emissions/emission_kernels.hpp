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

struct EmissionKernels {
    // scores (labels x kEmissionTile) of a tile of observations x (columns x kEmissionTile). `scratch` is columns x
    // kEmissionTile.
    void (*gaussian_scores)(const GaussianStates&, const double* x, std::size_t count, double* scratch, double* scores);
    // Adds the statistics of a tile, weighted by `weight` (labels x kEmissionTile, zeros beyond count), to `sums`.
    void (*gaussian_sums)(const GaussianStates&, const double* x, const double* weight, std::size_t count,
                          double* scratch, double* sums);
};

}  // namespace kernelfields
