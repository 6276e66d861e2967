// What the sparse products (sparse.hpp) ask of the code compiled per instruction set (isa/).
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelfields {

// Rows of features: row t has the columns index[first[t]] ... and their values (all one if null).
template <class S> struct SparseRows {
    std::size_t rows, columns;
    const std::int64_t* first;
    const std::int32_t* index;
    const S* value;
};

template <class S> struct SparseKernels {
    std::size_t width;  // numbers per vector

    // out[t - from] += sum_k value_k * table[index_k], for the rows from <= t < to. Rows of `out` have
    // `labels` numbers, rows of `table` at least as many, `stride` apart.
    void (*add_products)(const SparseRows<S>&, std::size_t from, std::size_t to, const S* table, const S* table_end,
                         std::size_t stride, std::size_t labels, S* out);

    // table[index_k] += value_k * in[t] for the columns below `limit`, the transpose of the above.
    void (*add_transposed)(const SparseRows<S>&, std::size_t from, std::size_t to, std::size_t limit, const S* in,
                           const S* in_end, std::size_t labels, std::size_t stride, S* table);
};

}  // namespace kernelfields
