// Products of sparse rows with a table of weights: one row of weights per feature, one column per
// label. Short rows are summed in registers; the rows of weights to come are fetched ahead, since
// rare features lie anywhere in a large table.
#pragma once

#include "../spaces/sparse_kernels.hpp"
#include "products.hpp"

namespace kernelfields {
namespace {

constexpr std::size_t kAhead = 12;  // features fetched ahead

// Adds `scale` times K vectors at p. Reading over the end of a row is harmless but at the very end.
template <class S, int K>
KF_INLINE void add_scaled(const S* p, const S* end, std::size_t left, S scale, Vec<S> (&sums)[K]) {
    if (p + K * kWidth<S> <= end) {
        for (int v = 0; v < K; ++v) sums[v] += scale * load(p + v * kWidth<S>);
        return;
    }
    for (int v = 0; v < K; ++v) {
        const std::size_t c = v * kWidth<S>;
        if (c < left) sums[v] += scale * load_first<S>(p + c, left - c, end, S(0));
    }
}

// The same for rows that are padded to whole vectors.
template <class S, int K> KF_INLINE void add_scaled(const S* p, S scale, Vec<S> (&sums)[K]) {
    for (int v = 0; v < K; ++v) sums[v] += scale * load(p + v * kWidth<S>);
}

// Fetches K vectors of a row.
template <class S, int K> KF_INLINE void fetch(const S* p) {
    constexpr int kLine = 64 / sizeof(S);
    for (int k = 0; k < K * static_cast<int>(kWidth<S>); k += kLine) __builtin_prefetch(p + k);
    __builtin_prefetch(p + K * kWidth<S> - 1);  // rows need not begin with a line
}

// K vectors of one row of the product, from column `at` on: out = joined(out, product).
template <class S, int K, class Joined>
KF_INLINE void join_product(const SparseRows<S>& x, std::size_t t, const S* table, const S* table_end,
                            std::size_t stride, std::size_t labels, std::size_t at, Joined joined, S* out,
                            const S* out_end) {
    const std::int64_t last = x.first[t + 1], end = x.first[x.rows];
    const std::int32_t* index = x.index;
    const S* value = x.value;
    const bool whole = at + K * kWidth<S> <= stride;
    Vec<S> sums[K] = {};
    for (std::int64_t k = x.first[t]; k < last; ++k) {
        if (k + static_cast<std::int64_t>(kAhead) < end)
            fetch<S, K>(table + static_cast<std::size_t>(index[k + kAhead]) * stride + at);
        const S* row = table + static_cast<std::size_t>(index[k]) * stride + at;
        const S scale = value ? value[k] : S(1);
        if (whole) add_scaled<S, K>(row, scale, sums);
        else add_scaled<S, K>(row, table_end, labels - at, scale, sums);
    }
    for (int v = 0; v < K; ++v) {
        const std::size_t c = at + v * kWidth<S>;
        if (c >= labels) break;
        const Vec<S> before = load_first<S>(out + c, labels - c, out_end, S(0));
        store_first<S>(out + c, joined(before, sums[v]), labels - c);
    }
}

// The rows from <= t < to; `joining(t)` is how row t joins what is there.
template <class S, class Joining>
KF_INLINE void join_products(const SparseRows<S>& x, std::size_t from, std::size_t to, const S* table,
                             const S* table_end, std::size_t stride, std::size_t labels, Joining joining, S* out) {
    const S* out_end = out + (to - from) * labels;  // rows beyond may belong to another thread
    const std::size_t vectors = (labels + kWidth<S> - 1) / kWidth<S>;
    for (std::size_t t = from; t < to; ++t, out += labels)
        with_vectors(vectors, [&](auto V) {
            const auto joined = joining(t);
            if constexpr (V.value > 0)
                join_product<S, V.value>(x, t, table, table_end, stride, labels, 0, joined, out, out_end);
            else
                for (std::size_t at = 0; at < labels; at += 4 * kWidth<S>)
                    join_product<S, 4>(x, t, table, table_end, stride, labels, at, joined, out, out_end);
        });
}

template <class S>
void add_products(const SparseRows<S>& x, std::size_t from, std::size_t to, const S* table, const S* table_end,
                  std::size_t stride, std::size_t labels, S* out) {
    const auto added = [](std::size_t) { return [](Vec<S> before, Vec<S> sum) { return before + sum; }; };
    join_products<S>(x, from, to, table, table_end, stride, labels, added, out);
}

template <class S>
void mix_products(const SparseRows<S>& x, std::size_t from, std::size_t to, const S* table, const S* table_end,
                  std::size_t labels, S kept, S share, const S* scale, S* out) {
    const auto mixed = [=](std::size_t t) {
        return [kept, gain = share * scale[t]](Vec<S> before, Vec<S> sum) { return kept * before + gain * sum; };
    };
    join_products<S>(x, from, to, table, table_end, labels, labels, mixed, out);
}

template <class S, int V>
KF_INLINE void add_transposed_row(const SparseRows<S>& x, std::size_t t, std::size_t limit, const S* in, const S* end,
                                  std::size_t labels, std::size_t stride, S* table) {
    const std::size_t vectors = V ? V : stride / kWidth<S>;
    for (std::size_t at = 0; at < vectors; at += V ? V : 1) {
        constexpr int kBlock = V ? V : 1;
        Vec<S> value[kBlock];
        for (int v = 0; v < kBlock; ++v) {
            const std::size_t c = (at + v) * kWidth<S>;
            value[v] = c < labels ? load_first<S>(in + t * labels + c, labels - c, end, S(0)) : Vec<S>{};
        }
        for (std::int64_t k = x.first[t]; k < x.first[t + 1]; ++k) {
            const auto column = static_cast<std::size_t>(x.index[k]);
            if (column >= limit) continue;
            S* row = table + column * stride + at * kWidth<S>;
            const S scale = x.value ? x.value[k] : S(1);
            for (int v = 0; v < kBlock; ++v) store(row + v * kWidth<S>, load(row + v * kWidth<S>) + scale * value[v]);
        }
    }
}

template <class S>
void add_transposed(const SparseRows<S>& x, std::size_t from, std::size_t to, std::size_t limit, const S* in,
                    const S* in_end, std::size_t labels, std::size_t stride, S* table) {
    with_vectors(stride / kWidth<S>, [&](auto V) {
        for (std::size_t t = from; t < to; ++t)
            add_transposed_row<S, V.value>(x, t, limit, in, in_end, labels, stride, table);
    });
}

}  // namespace
}  // namespace kernelfields
