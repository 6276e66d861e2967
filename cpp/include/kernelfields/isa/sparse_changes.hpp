// Weights changed by the sparse rows of one sequence, in place: what online learning does between
// two sequences. All features of a row change by the same vector over labels, held in registers.
#pragma once

#include "../spaces/sparse_kernels.hpp"
#include "products.hpp"

namespace kernelfields {
namespace {

// The lanes whose bit is set, the lowest bit first.
template <class S> KF_INLINE Bits<S> lanes_of(std::uint32_t word) {
    Bits<S> bit;
    for (std::size_t k = 0; k < kWidth<S>; ++k) bit[k] = 1 << k;
    return ((Bits<S>{} + static_cast<std::int32_t>(word & ((1U << kWidth<S>)-1))) & bit) != 0;
}

// Fetches a row of a table that is about to change.
template <class S> KF_INLINE void fetch_row(S* row, std::size_t numbers) {
    for (std::size_t k = 0; k < numbers; k += 64 / sizeof(S)) __builtin_prefetch(row + k, 1);
}

// K vectors of one row, from vector `at` on, into all its features.
template <class S, int K, bool Masked, bool Twice>
KF_INLINE void change_by(const SparseRows<S>& x, std::size_t t, const Vec<S> (&value)[K], std::size_t at, S ratio,
                         const ChangingRows<S>& rows) {
    constexpr std::int64_t kFetch = 6;
    const std::int64_t last = x.first[t + 1];
    for (std::int64_t k = x.first[t]; k < last; ++k) {
        const auto column = static_cast<std::size_t>(x.index[k]);
        if (Twice && k + kFetch < last)
            fetch_row(rows.second + static_cast<std::size_t>(x.index[k + kFetch]) * rows.stride, rows.stride);
        const S scale = x.value ? x.value[k] : S(1);
        S* row = rows.first + column * rows.stride + at * kWidth<S>;
        S* other = Twice ? rows.second + column * rows.stride + at * kWidth<S> : nullptr;
        for (int v = 0; v < K; ++v) {
            const std::size_t c = (at + v) * kWidth<S>;
            Vec<S> change = scale * value[v];
            if constexpr (Masked) {
                const std::uint32_t word = rows.bits[column * rows.words + c / 32] >> (c % 32);
                change = lanes_of<S>(word) ? change : Vec<S>{};
            }
            store(row + v * kWidth<S>, load(row + v * kWidth<S>) + change);
            if constexpr (Twice) store(other + v * kWidth<S>, load(other + v * kWidth<S>) + ratio * change);
        }
    }
}

template <class S, int K>
KF_INLINE void change_block(const SparseRows<S>& x, std::size_t t, const S* in, const S* end, std::size_t labels,
                            std::size_t at, S factor, S ratio, S least, const ChangingRows<S>& rows) {
    Vec<S> value[K];
    Bits<S> counts{};
    for (int v = 0; v < K; ++v) {
        const std::size_t c = (at + v) * kWidth<S>;
        value[v] = c < labels ? load_first<S>(in + c, labels - c, end, S(0)) : Vec<S>{};
        counts |= (value[v] > least) | (value[v] < -least);
        value[v] *= factor;
    }
    if (!any<S>(counts)) return;
    if (rows.bits && rows.second) change_by<S, K, true, true>(x, t, value, at, ratio, rows);
    else if (rows.bits) change_by<S, K, true, false>(x, t, value, at, ratio, rows);
    else if (rows.second) change_by<S, K, false, true>(x, t, value, at, ratio, rows);
    else change_by<S, K, false, false>(x, t, value, at, ratio, rows);
}

template <class S>
void change_rows(const SparseRows<S>& x, std::size_t from, std::size_t to, const S* in, const S* in_end,
                 std::size_t labels, S factor, S ratio, S least, const ChangingRows<S>& rows) {
    const std::size_t vectors = rows.stride / kWidth<S>;
    with_vectors(vectors, [&](auto V) {
        constexpr int kBlock = V.value ? V.value : 1;
        for (std::size_t t = from; t < to; ++t, in += labels)
            for (std::size_t at = 0; at < vectors; at += kBlock)
                change_block<S, kBlock>(x, t, in, in_end, labels, at, factor, ratio, least, rows);
    });
}

}  // namespace
}  // namespace kernelfields
