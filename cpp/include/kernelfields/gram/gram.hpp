// Gram matrices in memory, and their products with a few columns, on all cores.
//
// A symmetric K of size n is kept as panels: rows p * kPanel ... of K from their diagonal block on to
// the right, one panel behind the other, half the memory of n x n. Each entry off the diagonal blocks
// is read once and serves two products, K A and its mirror image.
//
// Results do not depend on the number of threads: the work is cut into a number of groups that n alone
// decides, each adds to sums of its own, and those are added up in order. Products of float32 are
// added up in float32 over at most kStretch columns or kPanel rows, in float64 beyond.
#pragma once

#include "../core/arena.hpp"
#include "../core/dispatch.hpp"
#include "../core/memory.hpp"
#include "../core/parallel.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace kernelfields {

constexpr std::size_t kPanel = 256;     // rows of a panel
constexpr std::size_t kStrip = 64;      // rows that go through the cache together ...
constexpr std::size_t kStretch = 1024;  // ... with as many columns

// Memory of its own, not initialised.
template <class T> class Block {
public:
    explicit Block(std::size_t count) : data_(static_cast<T*>(allocate(std::max<std::size_t>(count, 1) * sizeof(T)))) {}
    T* get() const { return data_.get(); }

private:
    struct Release {
        void operator()(T* p) const { release(p); }
    };
    std::unique_ptr<T, Release> data_;
};

// Numbers from one row to the next: an odd number of cache lines, so that rows below each other do
// not compete for the same places of the cache; `columns` rounded up to pairs of vectors fit.
template <class S> std::size_t row_stride(std::size_t columns) {
    const std::size_t line = 64 / sizeof(S);
    return (padded(columns, 2 * line) / line | 1) * line;
}

template <class S> struct PanelPlan {
    explicit PanelPlan(std::size_t n) : size(n), panels((n + kPanel - 1) / kPanel), begin(panels + 1) {
        for (std::size_t p = 0; p < panels; ++p) begin[p + 1] = begin[p] + rows(p) * stride(p);
    }
    std::size_t first(std::size_t p) const { return p * kPanel; }
    std::size_t rows(std::size_t p) const { return std::min(kPanel, size - first(p)); }
    std::size_t columns(std::size_t p) const { return size - first(p); }
    std::size_t stride(std::size_t p) const { return row_stride<S>(columns(p)); }
    std::size_t total() const { return begin.back(); }
    // Where row i has its entry of column 0; there is memory from the diagonal block of i on.
    std::size_t row(std::size_t i) const {
        const std::size_t p = i / kPanel;
        return begin[p] + (i - first(p)) * stride(p) - first(p);
    }
    bool holds(std::size_t i, std::size_t j) const { return j >= i / kPanel * kPanel; }

    std::size_t size, panels;
    std::vector<std::size_t> begin;  // where each panel starts
};

// Touches every page of fresh memory on all cores, and clears what lies beyond the rows.
template <class S> void prepare_panels(const PanelPlan<S>& plan, S* panels) {
    constexpr std::size_t kPage = 4096 / sizeof(S);
    for_each_block(plan.panels, threads_for(static_cast<double>(plan.total())), [&](std::size_t p, std::size_t) {
        for (std::size_t r = 0; r < plan.rows(p); ++r) {
            S* row = panels + plan.begin[p] + r * plan.stride(p);
            for (std::size_t c = 0; c < plan.columns(p); c += kPage) row[c] = 0;
            std::fill(row + plan.columns(p), row + plan.stride(p), S(0));
        }
    });
}

// K[rows, columns] of a packed K.
template <class S>
void take_block(const PanelPlan<S>& plan, const S* panels, const std::int64_t* rows, std::size_t n,
                const std::int64_t* columns, std::size_t m, S* out) {
    constexpr std::size_t kRows = 16;
    const double work = 2.0 * static_cast<double>(n) * static_cast<double>(m);
    for_each_block((n + kRows - 1) / kRows, threads_for(work), [&](std::size_t block, std::size_t) {
        for (std::size_t r = block * kRows; r < std::min(n, (block + 1) * kRows); ++r) {
            const auto i = static_cast<std::size_t>(rows[r]);
            const std::size_t row = plan.row(i);
            for (std::size_t c = 0; c < m; ++c) {
                const auto j = static_cast<std::size_t>(columns[c]);
                out[r * m + c] = panels[plan.holds(i, j) ? row + j : plan.row(j) + i];
            }
        }
    });
}

// A in the precision of K, by rows (n x m) and transposed.
template <class S> class Columns {
public:
    template <class T>
    Columns(const T* a, std::size_t n, std::size_t m)
        : stride_(row_stride<S>(n)), by_rows_(n * m), transposed_(m * stride_) {
        std::transform(a, a + n * m, by_rows_.get(), [](T x) { return static_cast<S>(x); });
        for (std::size_t l = 0; l < m; ++l) {
            S* column = transposed_.get() + l * stride_;
            for (std::size_t i = 0; i < n; ++i) column[i] = by_rows_.get()[i * m + l];
            std::fill(column + n, column + stride_, S(0));
        }
    }
    const S* rows(std::size_t i, std::size_t m) const { return by_rows_.get() + i * m; }
    const S* transposed(std::size_t i) const { return transposed_.get() + i; }
    std::size_t stride() const { return stride_; }

private:
    std::size_t stride_;
    Block<S> by_rows_, transposed_;
};

// Part of a panel: the columns `from` to `to` of K.
struct Piece {
    std::size_t panel, from, to;
};

// The pieces in order, cut into groups of about equal work; group g has pieces first[g] to first[g + 1].
template <class S> struct PieceGroups {
    explicit PieceGroups(const PanelPlan<S>& plan) {
        std::vector<double> work;
        double total = 0;
        for (std::size_t p = 0; p < plan.panels; ++p)
            for (std::size_t c = plan.first(p); c < plan.size; c += kStretch) {
                pieces.push_back({p, c, std::min(c + kStretch, plan.size)});
                total += static_cast<double>(plan.rows(p) * (pieces.back().to - c));
                work.push_back(total);
            }
        const std::size_t groups = std::clamp<std::size_t>(plan.size / 512, 1, 8) * (plan.size > 16384 ? 4 : 1);
        for (std::size_t g = 0; g <= groups; ++g)
            first.push_back(static_cast<std::size_t>(
                std::lower_bound(work.begin(), work.end(),
                                 total * static_cast<double>(g) / static_cast<double>(groups) - 0.5) -
                work.begin()));
        first.back() = pieces.size();
    }
    std::size_t size() const { return first.size() - 1; }
    std::vector<Piece> pieces;
    std::vector<std::size_t> first;
};

// sums += the part of K A, transposed, that a piece of K and its mirror image contribute. `scratch`
// holds m rows of kStretch numbers.
template <class S>
void add_piece(const PanelPlan<S>& plan, const S* panels, const Piece& piece, const Columns<S>& a, std::size_t m,
               double* sums, std::size_t sums_stride, S* scratch) {
    const GramKernels<S>& kernels = gram_kernels<S>();
    const std::size_t first = plan.first(piece.panel), rows = plan.rows(piece.panel);
    const std::size_t stride = plan.stride(piece.panel), beyond = std::max(piece.from, first + rows);
    const std::size_t mirrored = beyond < piece.to ? padded(piece.to - beyond, 2 * kernels.width) : 0;
    std::fill(scratch, scratch + m * kStretch, S(0));
    for (std::size_t r = 0; r < rows; r += kStrip) {
        const S* strip = panels + plan.row(first + r);
        const std::size_t height = std::min(kStrip, rows - r);
        kernels.add_row_products(strip + piece.from, stride, height, piece.to - piece.from, a.transposed(piece.from),
                                 a.stride(), m, sums + first + r, sums_stride);
        kernels.add_column_products(strip + beyond, stride, height, mirrored, a.rows(first + r, m), m, scratch,
                                    kStretch);
    }
    for (std::size_t l = 0; l < m && mirrored; ++l)
        for (std::size_t c = 0; c < piece.to - beyond; ++c)
            sums[l * sums_stride + beyond + c] += static_cast<double>(scratch[l * kStretch + c]);
}

inline double product_work(double entries, std::size_t m) {
    return entries * (0.05 + 0.05 * static_cast<double>(m));
}

// out = K A for a packed K; A and out are n x m.
template <class S, class T>
void packed_times(const PanelPlan<S>& plan, const S* panels, const T* right, std::size_t m, T* out) {
    const std::size_t n = plan.size, stride = row_stride<double>(n);
    if (n == 0 || m == 0) return;
    const Columns<S> a(right, n, m);
    const PieceGroups<S> groups(plan);
    const int threads = threads_for(product_work(static_cast<double>(n) * static_cast<double>(n), m));
    const Block<double> sums(groups.size() * m * stride);
    const auto sums_of = [&](std::size_t g) { return sums.get() + g * m * stride; };
    // Columns to the left of a group's first panel get nothing from it.
    const auto start = [&](std::size_t g) { return plan.first(groups.pieces[groups.first[g]].panel); };
    for_each_block(groups.size(), threads, [&](std::size_t g, std::size_t) {
        if (groups.first[g] == groups.first[g + 1]) return;
        const Block<S> scratch(m * kStretch);
        for (std::size_t l = 0; l < m; ++l)
            std::fill(sums_of(g) + l * stride + start(g), sums_of(g) + l * stride + n, 0.0);
        for (std::size_t k = groups.first[g]; k < groups.first[g + 1]; ++k)
            add_piece(plan, panels, groups.pieces[k], a, m, sums_of(g), stride, scratch.get());
    });
    constexpr std::size_t kRange = 256;
    for_each_block((n + kRange - 1) / kRange, threads, [&](std::size_t range, std::size_t) {
        const std::size_t from = range * kRange, to = std::min(n, from + kRange);
        for (std::size_t l = 0; l < m; ++l) {
            double total[kRange] = {};
            for (std::size_t g = 0; g < groups.size(); ++g) {
                if (groups.first[g] == groups.first[g + 1]) continue;
                for (std::size_t i = std::max(from, start(g)); i < to; ++i)
                    total[i - from] += sums_of(g)[l * stride + i];
            }
            for (std::size_t i = from; i < to; ++i) out[i * m + l] = static_cast<T>(total[i - from]);
        }
    });
}

// out = K A for any K of n rows, `stride` numbers apart, and `columns` columns.
template <class S, class T>
void plain_times(const S* matrix, std::size_t stride, std::size_t n, std::size_t columns, const T* right, std::size_t m,
                 T* out) {
    if (n == 0 || m == 0) return;
    const Columns<S> a(right, columns, m);
    const double work = product_work(static_cast<double>(n) * static_cast<double>(columns), m);
    for_each_block((n + kStrip - 1) / kStrip, threads_for(work), [&](std::size_t strip, std::size_t) {
        const std::size_t from = strip * kStrip, rows = std::min(kStrip, n - from);
        std::vector<double> sums(m * kStrip);
        for (std::size_t c = 0; c < columns; c += kStretch)
            gram_kernels<S>().add_row_products(matrix + from * stride + c, stride, rows,
                                               std::min(kStretch, columns - c), a.transposed(c), a.stride(), m,
                                               sums.data(), kStrip);
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t l = 0; l < m; ++l) out[(from + r) * m + l] = static_cast<T>(sums[l * kStrip + r]);
    });
}

// out = K^T A, columns x m, for the same K. Rows are cut into groups that n alone decides.
template <class S, class T>
void plain_transposed_times(const S* matrix, std::size_t stride, std::size_t n, std::size_t columns, const T* left,
                            std::size_t m, double* out) {
    const std::size_t groups = std::clamp<std::size_t>(n / 1024, 1, 64), width = row_stride<S>(columns);
    const int threads = threads_for(product_work(static_cast<double>(n) * static_cast<double>(columns), m));
    const Block<double> sums(groups * m * columns);
    for_each_block(groups, threads, [&](std::size_t g, std::size_t) {
        double* total = sums.get() + g * m * columns;
        const Block<S> scratch(m * width), some(kPanel * m);
        std::fill(total, total + m * columns, 0.0);
        const std::size_t end = n * (g + 1) / groups;
        for (std::size_t r = n * g / groups; r < end; r += kPanel) {
            const std::size_t rows = std::min(kPanel, end - r);
            std::transform(left + r * m, left + (r + rows) * m, some.get(), [](T x) { return static_cast<S>(x); });
            std::fill(scratch.get(), scratch.get() + m * width, S(0));
            for (std::size_t c = 0; c < columns; c += kStretch)
                gram_kernels<S>().add_scaled_rows(matrix + r * stride + c, stride, rows,
                                                  std::min(kStretch, columns - c), some.get(), m, scratch.get() + c,
                                                  width);
            for (std::size_t l = 0; l < m; ++l)
                for (std::size_t c = 0; c < columns; ++c)
                    total[l * columns + c] += static_cast<double>(scratch.get()[l * width + c]);
        }
    });
    for (std::size_t c = 0; c < columns; ++c)
        for (std::size_t l = 0; l < m; ++l) {
            out[c * m + l] = 0;
            for (std::size_t g = 0; g < groups; ++g) out[c * m + l] += sums.get()[(g * m + l) * columns + c];
        }
}

// Inner products to the Gaussian kernel, in place, for rows `stride` numbers apart.
template <class S>
void gaussian_transform(S* products, std::size_t stride, std::size_t rows, std::size_t columns, const S* left,
                        const S* right, S gamma) {
    const double work = static_cast<double>(rows) * static_cast<double>(columns);
    for_each_block(rows, threads_for(work), [&](std::size_t i, std::size_t) {
        gram_kernels<S>().gaussian(products + i * stride, columns, left[i], right, gamma);
    });
}

// Inner products to a polynomial kernel, likewise.
template <class S>
void polynomial_transform(S* products, std::size_t stride, std::size_t rows, std::size_t columns, S gamma, S offset,
                          unsigned degree) {
    const double work = 0.5 * static_cast<double>(rows) * static_cast<double>(columns);
    for_each_block(rows, threads_for(work), [&](std::size_t i, std::size_t) {
        gram_kernels<S>().polynomial(products + i * stride, columns, gamma, offset, degree);
    });
}

}  // namespace kernelfields
