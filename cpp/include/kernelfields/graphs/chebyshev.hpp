// Polynomials of a sparse symmetric matrix times many vectors, by T_{k+1} = 2 t T_k - T_{k-1}.
#pragma once

#include "averages.hpp"

namespace kernelfields {

// before <- (diag(shift) + A) now - before, a block of rows at a time, so that they are read and written once.
inline void chebyshev_step(const SparseRows<double>& links, const double* shift, const double* now, std::size_t columns,
                           double* before) {
    for_each_vertex_block(links.rows, product_size(links, columns), [&](std::size_t, std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            const double* const x = now + i * columns;
            double* const y = before + i * columns;
            for (std::size_t l = 0; l < columns; ++l) y[l] = shift[i] * x[l] - y[l];
        }
        sparse_kernels<double>().add_products(links, from, to, now, now + links.columns * columns, columns, columns,
                                              before + from * columns);
    });
}

}  // namespace kernelfields
