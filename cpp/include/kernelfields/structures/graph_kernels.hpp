// What junction trees ask of the code compiled per instruction set: products and sums of tables, block by block.
#pragma once

#include "../core/arena.hpp"

#include <cstddef>
#include <cstdint>

namespace kernelfields {

constexpr std::size_t kBlockEntries = 2048;  // of a clique's table that is worked on at once: 16 kB
constexpr std::size_t kBlockLevels = 12;     // vertices that such a block varies over, at most

// How the numbers of a smaller table lie along a block of a clique's: runs of `run` entries see numbers in a row, or
// one and the same; from one run to the next, levels from the innermost on, `count` runs that are `step` apart.
struct Pattern {
    std::uint32_t run, levels;
    bool varies;
    std::uint32_t count[kBlockLevels], step[kBlockLevels];
};

struct GraphKernels {
    // block(x) = small(x), block(x) *= small(x) and small += sums of block(x) over what it does not vary with.
    void (*assign)(double* block, const Pattern&, const double* small);
    void (*multiply)(double* block, const Pattern&, const double* small);
    void (*sum)(const double* block, const Pattern&, double* small);
    // The same for scores: block(x) += small(x), small = max(small, block(x)).
    void (*add)(double* block, const Pattern&, const double* small);
    void (*largest)(const double* block, const Pattern&, double* small);

    void (*exp)(double* x, std::size_t count);
    // The largest entry, and the smallest that is not zero (the largest where all are).
    void (*range)(const double* x, std::size_t count, double* largest, double* smallest);
    void (*scale)(double* x, std::size_t count, double factor);
    // x <- factor y / x, 0 where x is 0.
    void (*divide)(double* x, const double* y, std::size_t count, double factor);
};

}  // namespace kernelfields
