// What Gram matrices (gram.hpp, gram_sparse.hpp) ask of the code compiled per instruction set (isa/).
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelfields {

constexpr std::size_t kTile = 512;       // columns of a tile of frequent features: as many bits
constexpr std::size_t kCountable = 255;  // features that one pass over bits can count

// Columns of a matrix, `tiles` tiles of kTile rows: tile t of column f has the bits (or numbers) of rows
// t * kTile ... . Column `columns` - 1 is empty.
struct BitTiles {
    std::size_t columns;
    const std::uint64_t* bits;  // [tile][column][kTile / 64]
};
template <class S> struct NumberTiles {
    std::size_t columns;
    const S* numbers;  // [tile][column][kTile]
};

template <class S> struct GramKernels {
    std::size_t width;  // numbers per vector

    // sums[l * sums_stride + r] += sum_c block[r * stride + c] * right[l * right_stride + c], c < columns,
    // for r < rows, l < m: dot products in S, added up in float64.
    void (*add_row_products)(const S* block, std::size_t stride, std::size_t rows, std::size_t columns, const S* right,
                             std::size_t right_stride, std::size_t m, double* sums, std::size_t sums_stride);

    // The same for rows that lie anywhere, row[r] + from on, in memory that goes on to `end`.
    void (*add_gathered_products)(const S* const* row, std::size_t rows, std::size_t from, std::size_t columns,
                                  const S* end, const S* right, std::size_t right_stride, std::size_t m, double* sums,
                                  std::size_t sums_stride);

    // sums[l * sums_stride + c] += sum_r block[r * stride + c] * left[r * m + l], the transpose; `columns`
    // a multiple of two vectors, sums in S: meant for some hundred rows.
    void (*add_column_products)(const S* block, std::size_t stride, std::size_t rows, std::size_t columns,
                                const S* left, std::size_t m, S* sums, std::size_t sums_stride);

    // The same for any number of columns, rows read in order; sums have room for whole vectors.
    void (*add_scaled_rows)(const S* block, std::size_t stride, std::size_t rows, std::size_t columns, const S* left,
                            std::size_t m, S* sums, std::size_t sums_stride);

    // out[j] = how many of the `count` columns have a one in row t * kTile + j; count <= kCountable.
    // `columns` has room for seven more.
    void (*count_bits)(const BitTiles&, std::size_t t, std::int32_t* columns, std::size_t count, S* out);

    // out[j] = sum_k value[k] * number of column k in row t * kTile + j.
    void (*sum_numbers)(const NumberTiles<S>&, std::size_t t, const std::int32_t* columns, const S* value,
                        std::size_t count, S* out);

    // products[j] becomes exp(-gamma max(0, left + right[j] - 2 products[j])).
    void (*gaussian)(S* products, std::size_t n, S left, const S* right, S gamma);

    // products[j] becomes (gamma products[j] + offset)^degree.
    void (*polynomial)(S* products, std::size_t n, S gamma, S offset, unsigned degree);

    // Losses and derivatives of rows, as row_losses.hpp says.
    double (*differentiate_rows)(double* scores, std::size_t stride, std::size_t labels, std::size_t rows,
                                 const std::int32_t* label, const double* times, double* best);
};

}  // namespace kernelfields
