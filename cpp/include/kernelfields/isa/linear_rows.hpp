// Products of sparse rows with weights of which only some (feature, label) pairs exist. The frequent
// features of a row come first; their weights are whole rows of a table that stays in the cache. Of the
// others only the pairs are read. Last come those with a single pair, most of them: there is nothing to
// look up and no branch to guess wrongly.
#pragma once

#include "../spaces/sparse_kernels.hpp"
#include "products.hpp"

namespace kernelfields {
namespace {

// The frequent part of one row, K vectors from column `at` on, added to `base`.
template <class S, int K>
KF_INLINE std::int64_t frequent_product(const SparseRows<S>& x, std::size_t t, const PairedWeights<S>& w, const S* base,
                                        std::size_t at, S* out, const S* out_end) {
    Vec<S> sums[K];
    for (int v = 0; v < K; ++v) sums[v] = load(base + at + v * kWidth<S>);
    std::int64_t k = x.first[t];
    for (const std::int64_t last = x.first[t + 1]; k < last; ++k) {
        const auto column = static_cast<std::size_t>(x.index[k]);
        if (column >= w.frequent) break;
        const S scale = x.value ? x.value[k] : S(1);
        const S* row = w.table + column * w.stride + at;
        for (int v = 0; v < K; ++v) sums[v] += scale * load(row + v * kWidth<S>);
    }
    for (int v = 0; v < K; ++v) {
        const std::size_t c = at + v * kWidth<S>;
        if (c + kWidth<S> <= w.labels || (c < w.labels && out + c + kWidth<S> <= out_end)) store(out + c, sums[v]);
        else if (c < w.labels) store_first<S>(out + c, sums[v], w.labels - c);
    }
    return k;
}

// Calls add(pair, value) for the features of row t from the k-th number on.
template <class S, class Pairs, class Add>
KF_INLINE void for_each_pair(const SparseRows<S>& x, std::size_t t, std::int64_t k, const Pairs& w, Add add) {
    const std::int64_t last = x.first[t + 1];
    for (; k < last; ++k) {
        const auto column = static_cast<std::size_t>(x.index[k]);
        if (column >= w.single) break;
        const S scale = x.value ? x.value[k] : S(1);
        for (std::int64_t p = w.first[column]; p < w.first[column + 1]; ++p) add(p, scale);
    }
    const std::int64_t shift = w.first[w.single] - static_cast<std::int64_t>(w.single);
    for (; k < last; ++k) add(x.index[k] + shift, x.value ? x.value[k] : S(1));
}

// out[t - from] = base + sum_k value_k * weights[index_k]. Rows are written in order, each vector over
// the start of the row to come; `out_end` is where the memory ends.
template <class S>
void linear_scores(const SparseRows<S>& x, std::size_t from, std::size_t to, const PairedWeights<S>& w, const S* base,
                   S* out, const S* out_end) {
    with_vectors(w.stride / kWidth<S>, [&](auto V) {
        for (std::size_t t = from; t < to; ++t, out += w.labels) {
            std::int64_t k = 0;
            if constexpr (V.value > 0) k = frequent_product<S, V.value>(x, t, w, base, 0, out, out_end);
            else
                for (std::size_t at = 0; at < w.stride; at += kWidth<S>)
                    k = frequent_product<S, 1>(x, t, w, base, at, out, out_end);
            for_each_pair(x, t, k, w, [&](std::int64_t p, S scale) { out[w.label[p]] += scale * w.weight[p]; });
        }
    });
}

// The transpose: table and pairs of `w` take the sums of value_k * in[t - from].
template <class S>
void linear_transposed(const SparseRows<S>& x, std::size_t from, std::size_t to, const PairedSums<S>& w, const S* in,
                       const S* in_end) {
    with_vectors(w.stride / kWidth<S>, [&](auto V) {
        constexpr int kBlock = V.value > 0 ? V.value : 1;
        for (std::size_t t = from; t < to; ++t, in += w.labels) {
            std::int64_t k = 0;
            for (std::size_t at = 0; at < w.stride; at += kBlock * kWidth<S>) {
                Vec<S> row[kBlock];
                for (int v = 0; v < kBlock; ++v) {
                    const std::size_t c = at + v * kWidth<S>;
                    row[v] = c < w.labels ? load_first<S>(in + c, w.labels - c, in_end, S(0)) : Vec<S>{};
                }
                k = x.first[t];
                for (const std::int64_t last = x.first[t + 1]; k < last; ++k) {
                    const auto column = static_cast<std::size_t>(x.index[k]);
                    if (column >= w.frequent) break;
                    const S scale = x.value ? x.value[k] : S(1);
                    S* sum = w.table + column * w.stride + at;
                    for (int v = 0; v < kBlock; ++v)
                        store(sum + v * kWidth<S>, load(sum + v * kWidth<S>) + scale * row[v]);
                }
            }
            for_each_pair(x, t, k, w, [&](std::int64_t p, S scale) { w.rare[p] += scale * in[w.label[p]]; });
        }
    });
}

}  // namespace
}  // namespace kernelfields
