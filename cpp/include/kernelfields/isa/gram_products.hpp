// Products of a block of a Gram matrix with a few columns, from either side.
//
// Vectors run along the columns of the block, so that any number m of right-hand sides is served
// without padding: rows times A are dot products (Aᵀ given), the transpose adds multiples of rows.
// Twelve sums stay in registers in both, twenty-four where there are twice as many registers. Where rows come
// from memory, not from the cache, the transpose reads them in order instead, and keeps its sums in the cache.
#pragma once

#include "../gram/gram_kernels.hpp"
#include "simd.hpp"

namespace kernelfields {
namespace {

// The same vector, read once: compilers would rather read it again for every product, and reading is what
// limits these.
template <class S> KF_INLINE Vec<S> in_register(Vec<S> v) {
#if defined(__AVX512F__)
    __asm__("" : "+v"(v));
#elif defined(__x86_64__)
    __asm__("" : "+x"(v));
#endif
    return v;
}

// Calls body(integral constant n) for n <= most.
template <int n> struct Count {
    static constexpr int value = n;
};
template <int most, class Body> KF_INLINE void with_count(std::size_t n, Body body) {
    if constexpr (most > 1)
        if (n < most) return with_count<most - 1>(n, body);
    body(Count<most>{});
}

// Splits `total` into the fewest parts of at most `most`, as equal as can be: body(from, size).
template <class Body> KF_INLINE void split_evenly(std::size_t total, std::size_t most, Body body) {
    const std::size_t parts = (total + most - 1) / most;
    for (std::size_t part = 0, from = 0; part < parts; ++part) {
        const std::size_t size = (total - from) / (parts - part);
        body(from, size);
        from += size;
    }
}

// Right-hand sides that rows are multiplied with at a time: sums of four rows, a vector of each of the
// right-hand sides and one of a row are all the registers there are.
constexpr std::size_t kAtOnce = KF_VECTOR_BYTES == 64 ? 6 : 3;

// Rows, row(r) for r < R, end where their memory ends: up to there, a vector may reach into what follows.
template <class S, int R, int L, class Row>
KF_INLINE void row_products(Row row, std::size_t columns, const S* end, const S* right, std::size_t right_stride,
                            double* sums, std::size_t sums_stride) {
    Vec<S> total[R][L] = {};
    const auto add = [&](std::size_t c, auto load_from) {
        Vec<S> a[L];
        for (int l = 0; l < L; ++l) a[l] = in_register<S>(load(right + l * right_stride + c));
        for (int r = 0; r < R; ++r) {
            const Vec<S> k = in_register<S>(load_from(row(r) + c));
            for (int l = 0; l < L; ++l) total[r][l] += k * a[l];
        }
    };
    std::size_t c = 0;
    for (; c + kWidth<S> <= columns; c += kWidth<S>) add(c, [](const S* p) { return load(p); });
    if (const std::size_t rest = columns - c)
        add(c, [rest, end](const S* p) { return load_first<S>(p, rest, end, S(0)); });
    for (int r = 0; r < R; ++r)
        for (int l = 0; l < L; ++l) sums[l * sums_stride + r] += static_cast<double>(sum<S>(total[r][l]));
}

template <class S, class Row>
KF_INLINE void add_products_of(Row row, std::size_t rows, std::size_t columns, const S* end, const S* right,
                               std::size_t right_stride, std::size_t m, double* sums, std::size_t sums_stride) {
    split_evenly(m, kAtOnce, [&](std::size_t l, std::size_t labels) {
        with_count<kAtOnce>(labels, [&](auto L) {
            const auto add = [&](std::size_t from, auto R) {
                row_products<S, R.value, L.value>([&](int r) { return row(from + static_cast<std::size_t>(r)); },
                                                  columns, end, right + l * right_stride, right_stride,
                                                  sums + l * sums_stride + from, sums_stride);
            };
            std::size_t r = 0;
            for (; r + 4 <= rows; r += 4) add(r, Count<4>{});
            for (; r < rows; ++r) add(r, Count<1>{});
        });
    });
}

template <class S>
void add_row_products(const S* block, std::size_t stride, std::size_t rows, std::size_t columns, const S* right,
                      std::size_t right_stride, std::size_t m, double* sums, std::size_t sums_stride) {
    const S* end = block + rows * stride - (stride - columns);
    add_products_of<S>([=](std::size_t r) { return block + r * stride; }, rows, columns, end, right, right_stride, m,
                       sums, sums_stride);
}

template <class S>
void add_gathered_products(const S* const* row, std::size_t rows, std::size_t from, std::size_t columns, const S* end,
                           const S* right, std::size_t right_stride, std::size_t m, double* sums,
                           std::size_t sums_stride) {
    add_products_of<S>([=](std::size_t r) { return row[r] + from; }, rows, columns, end, right, right_stride, m, sums,
                       sums_stride);
}

template <class S, int L>
KF_INLINE void column_products(const S* block, std::size_t stride, std::size_t rows, const S* left, std::size_t m,
                               S* sums, std::size_t sums_stride) {
    Vec<S> total[L][2];
    for (int l = 0; l < L; ++l)
        for (int v = 0; v < 2; ++v) total[l][v] = load(sums + l * sums_stride + v * kWidth<S>);
    for (std::size_t r = 0; r < rows; ++r, block += stride, left += m) {
        const Vec<S> k[2] = {load(block), load(block + kWidth<S>)};
        for (int l = 0; l < L; ++l) {
            const Vec<S> a = broadcast(left[l]);
            for (int v = 0; v < 2; ++v) total[l][v] += k[v] * a;
        }
    }
    for (int l = 0; l < L; ++l)
        for (int v = 0; v < 2; ++v) store(sums + l * sums_stride + v * kWidth<S>, total[l][v]);
}

template <class S>
void add_column_products(const S* block, std::size_t stride, std::size_t rows, std::size_t columns, const S* left,
                         std::size_t m, S* sums, std::size_t sums_stride) {
    for (std::size_t c = 0; c < columns; c += 2 * kWidth<S>)
        split_evenly(m, 6, [&](std::size_t l, std::size_t labels) {
            with_count<6>(labels, [&](auto L) {
                column_products<S, L.value>(block + c, stride, rows, left + l, m, sums + l * sums_stride + c,
                                            sums_stride);
            });
        });
}

// Adds multiples of R rows to sums: rows are read once and in order, sums stay in the cache.
template <class S, int R, int L>
KF_INLINE void scaled_rows(const S* block, std::size_t stride, std::size_t columns, const S* end, const S* left,
                           std::size_t m, S* sums, std::size_t sums_stride) {
    Vec<S> a[R][L];
    for (int r = 0; r < R; ++r)
        for (int l = 0; l < L; ++l) a[r][l] = broadcast(left[r * m + l]);
    const auto add = [&](std::size_t c, auto load_from) {
        Vec<S> k[R];
        for (int r = 0; r < R; ++r) k[r] = load_from(block + r * stride + c);
        for (int l = 0; l < L; ++l) {
            S* place = sums + l * sums_stride + c;
            Vec<S> total = load(place);
            for (int r = 0; r < R; ++r) total += k[r] * a[r][l];
            store(place, total);
        }
    };
    std::size_t c = 0;
    for (; c + kWidth<S> <= columns; c += kWidth<S>) add(c, [](const S* p) { return load(p); });
    if (const std::size_t rest = columns - c)
        add(c, [rest, end](const S* p) { return load_first<S>(p, rest, end, S(0)); });
}

template <class S>
void add_scaled_rows(const S* block, std::size_t stride, std::size_t rows, std::size_t columns, const S* left,
                     std::size_t m, S* sums, std::size_t sums_stride) {
    const S* end = block + rows * stride - (stride - columns);
    split_evenly(m, 4, [&](std::size_t l, std::size_t labels) {
        with_count<4>(labels, [&](auto L) {
            const auto add = [&](std::size_t r, auto R) {
                scaled_rows<S, R.value, L.value>(block + r * stride, stride, columns, end, left + r * m + l, m,
                                                 sums + l * sums_stride, sums_stride);
            };
            std::size_t r = 0;
            for (; r + 4 <= rows; r += 4) add(r, Count<4>{});
            for (; r < rows; ++r) add(r, Count<1>{});
        });
    });
}

}  // namespace
}  // namespace kernelfields
