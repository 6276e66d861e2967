// Averages over neighbours in a weighted graph, of many columns at once:
//
//     f_i = c_i sum_j a_ij f_j + b_i                     (spreading of labels, harmonic functions, Poisson learning)
//
// by sweeps over all vertices, or by conjugate gradients on (I - C A) f = b, symmetric in the inner product with
// m_i = 1/c_i. Vertices with c_i = 0 keep b_i. Rows are visited in fixed blocks and their sums added up in order: the
// same numbers on any number of threads.
#pragma once

#include "../core/stretches.hpp"
#include "../spaces/sparse.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace kernelfields {

constexpr std::size_t kVertexBlock = 512;  // rows whose products stay in the cache until they are used

// Where labels come from: b is `amount[k]` at vertex[k] and label[k], vertices never falling, and zero elsewhere.
struct LabelSources {
    std::size_t count;
    const std::int64_t* vertex;
    const std::int32_t* label;
    const double* amount;

    // The first source at `i` or later.
    std::size_t from(std::size_t i) const {
        return static_cast<std::size_t>(std::lower_bound(vertex, vertex + count, static_cast<std::int64_t>(i)) -
                                        vertex);
    }

    // Adds `share` times b to the rows from <= i < to.
    void add_to(std::size_t first_row, std::size_t end_row, std::size_t columns, double share, double* rows) const {
        for (std::size_t k = from(first_row); k < count && vertex[k] < static_cast<std::int64_t>(end_row); ++k)
            rows[(static_cast<std::size_t>(vertex[k]) - first_row) * columns + static_cast<std::size_t>(label[k])] +=
                share * amount[k];
    }
};

// How far a sweep went, in the sum over labels of a vertex: at most, and as a share of what is there. And the least sum
// at a vertex where there is something, and how many have nothing.
struct SweepChange {
    double absolute = 0, relative = 0, least = std::numeric_limits<double>::infinity();
    std::size_t empty = 0;

    void add(const SweepChange& other) {
        absolute = std::max(absolute, other.absolute);
        relative = std::max(relative, other.relative);
        least = std::min(least, other.least);
        empty += other.empty;
    }
};

inline std::size_t vertex_blocks(std::size_t vertices) {
    return (vertices + kVertexBlock - 1) / kVertexBlock;
}

// body(block, from, to) over blocks of vertices; `numbers` is about how many multiplications all of them take.
template <class Body> void for_each_vertex_block(std::size_t vertices, double numbers, Body body) {
    for_each_block_by_stretches(vertex_blocks(vertices), threads_for(0.3 * numbers), [&](std::size_t block) {
        body(block, block * kVertexBlock, std::min(vertices, (block + 1) * kVertexBlock));
    });
}

inline double product_size(const SparseRows<double>& graph, std::size_t columns) {
    return static_cast<double>(graph.first[graph.rows]) * static_cast<double>(columns);
}

// Rows from <= i < to of the product A f, into `out` (the whole array).
inline void neighbour_sums(const SparseRows<double>& graph, std::size_t from, std::size_t to, const double* f,
                           std::size_t columns, double* out) {
    std::fill(out + from * columns, out + to * columns, 0.0);
    sparse_kernels<double>().add_products(graph, from, to, f, f + graph.columns * columns, columns, columns,
                                          out + from * columns);
}

// What a vertex has now, what a sweep makes of it, and what becomes of that.
inline SweepChange change_of_row(const double* now, const double* next, std::size_t columns) {
    double change = 0, size = 0, sum = 0;
    for (std::size_t l = 0; l < columns; ++l) {
        change += std::abs(next[l] - now[l]);
        size += std::abs(next[l]);
        sum += now[l];
    }
    SweepChange result;
    result.absolute = change;
    if (change > 0) result.relative = change / size;
    if (size > 0 || sum != 0) result.least = sum;
    else result.empty = 1;
    return result;
}

// out = (1 - share) out + share (C A f + b), and how far f is from C A f + b.
inline SweepChange sweep_averages(const SparseRows<double>& graph, const double* scale, const LabelSources& sources,
                                  const double* f, std::size_t columns, double share, double* out) {
    std::vector<SweepChange> changes(vertex_blocks(graph.rows));
    for_each_vertex_block(graph.rows, product_size(graph, columns),
                          [&](std::size_t block, std::size_t from, std::size_t to) {
                              std::vector<double> next((to - from) * columns);
                              sparse_kernels<double>().mix_products(graph, from, to, f, f + graph.columns * columns,
                                                                    columns, 0.0, 1.0, scale, next.data());
                              sources.add_to(from, to, columns, 1.0, next.data());
                              for (std::size_t i = from; i < to; ++i) {
                                  const double* const row = next.data() + (i - from) * columns;
                                  changes[block].add(change_of_row(f + i * columns, row, columns));
                                  double* const kept = out + i * columns;
                                  for (std::size_t l = 0; l < columns;
                                       ++l)  // what `out` held need not be a number if nothing is kept
                                      kept[l] = share == 1 ? row[l] : (1 - share) * kept[l] + share * row[l];
                              }
                          });
    SweepChange result;
    for (const SweepChange& one : changes) result.add(one);
    return result;
}

// out = (1 - share) out + share (C A f + b), as above, in half the time.
inline void mix_averages(const SparseRows<double>& graph, const double* scale, const LabelSources& sources,
                         const double* f, std::size_t columns, double share, double* out) {
    for_each_vertex_block(graph.rows, product_size(graph, columns), [&](std::size_t, std::size_t from, std::size_t to) {
        double* const rows = out + from * columns;
        if (share == 1) std::fill(rows, out + to * columns, 0.0);
        sparse_kernels<double>().mix_products(graph, from, to, f, f + graph.columns * columns, columns, 1 - share,
                                              share, scale, rows);
        sources.add_to(from, to, columns, share, rows);
    });
}

// Sums of all blocks, added up in their order.
inline void add_blocks(const std::vector<double>& sums, std::size_t columns, double* out) {
    std::fill(out, out + columns, 0.0);
    for (std::size_t k = 0; k < sums.size(); ++k) out[k % columns] += sums[k];
}

// out = (I - C A) p, and curvature_l = sum_i m_i p_il out_il. Vertices with c_i = 0 have p_i = 0.
inline void less_averages(const SparseRows<double>& graph, const double* scale, const double* metric, const double* p,
                          std::size_t columns, double* out, double* curvature) {
    std::vector<double> sums(vertex_blocks(graph.rows) * columns);
    for_each_vertex_block(graph.rows, product_size(graph, columns),
                          [&](std::size_t block, std::size_t from, std::size_t to) {
                              neighbour_sums(graph, from, to, p, columns, out);
                              double* const sum = sums.data() + block * columns;
                              for (std::size_t i = from; i < to; ++i)
                                  for (std::size_t l = 0; l < columns; ++l) {
                                      const std::size_t k = i * columns + l;
                                      out[k] = p[k] - scale[i] * out[k];
                                      sum[l] += metric[i] * p[k] * out[k];
                                  }
                          });
    add_blocks(sums, columns, curvature);
}

// One step of conjugate gradients: f += a p, z -= a w; size_l = sum_i m_i z_il^2.
inline void conjugate_step(std::size_t vertices, std::size_t columns, const double* metric, const double* step,
                           const double* p, const double* w, double* f, double* z, double* size) {
    std::vector<double> sums(vertex_blocks(vertices) * columns);
    for_each_vertex_block(vertices, 4.0 * static_cast<double>(vertices * columns),
                          [&](std::size_t block, std::size_t from, std::size_t to) {
                              double* const sum = sums.data() + block * columns;
                              for (std::size_t i = from; i < to; ++i)
                                  for (std::size_t l = 0; l < columns; ++l) {
                                      const std::size_t k = i * columns + l;
                                      f[k] += step[l] * p[k];
                                      z[k] -= step[l] * w[k];
                                      sum[l] += metric[i] * z[k] * z[k];
                                  }
                          });
    add_blocks(sums, columns, size);
}

// The next direction: p = z + b p.
inline void conjugate_direction(std::size_t vertices, std::size_t columns, const double* share, const double* z,
                                double* p) {
    for_each_vertex_block(vertices, 2.0 * static_cast<double>(vertices * columns),
                          [&](std::size_t, std::size_t from, std::size_t to) {
                              for (std::size_t i = from; i < to; ++i)
                                  for (std::size_t l = 0; l < columns; ++l)
                                      p[i * columns + l] = z[i * columns + l] + share[l] * p[i * columns + l];
                          });
}

}  // namespace kernelfields
