// The best labelling of forests: max messages to the roots, then labels from the roots to the leaves.
//
//   u_v(j) = node_v(j) + sum over children c of m_c(j)        m_v(i) = max_j [ edge_v(i, j) + u_v(j) ]
//
// Ties go to the lowest label given that of the parent. Single precision shifts messages to a largest entry of zero.
#pragma once

#include "../structures/tree_kernels.hpp"
#include "chain_argmax.hpp"

namespace kernelfields {
namespace {

template <class S> struct TreeMax {
    const TreeBatch<S>& batch;
    const TreeGroup& group;
    const S *edges, *transposed;  // shared ones, rows padded with -inf
    std::size_t L, stride;
    S *u, *m;   // slots x stride
    S* row;     // one row of edge scores
    bool* bad;  // per instance: scores that are NaN or +inf

    KF_INLINE const S* scores(std::size_t k) const { return batch.edge + batch.edge_at(group.vertex[k]); }
    KF_INLINE const S* end() const { return batch.edge + (batch.shared ? 1 : batch.edges()) * L * L; }

    KF_INLINE void collect_max(std::size_t k) const {
        const S* node = batch.node + group.vertex[k] * L;
        Bits<S> good = ~Bits<S>{};
        for (std::size_t j = 0; j < stride; j += kWidth<S>) {
            Vec<S> value = load_scores<S, S>(node, j, L, batch.node + batch.positions * L);
            good &= value <= std::numeric_limits<S>::max();
            for (std::size_t c = group.child[k]; c < group.child[k + 1]; ++c) value += load(m + c * stride + j);
            store(u + k * stride + j, value);
        }
        if (any<S>(~good)) bad[group.owner[k]] = true;
    }
    template <int R> KF_INLINE void send_max(std::size_t at) const {
        const S* from[R];
        for (int r = 0; r < R; ++r) from[r] = u + (at + r) * stride;
        max_plus<S, R>(transposed, L, stride, from, [&](int r, std::size_t v, Vec<S> value) {
            store(m + (at + r) * stride + v * kWidth<S>, value);
        });
    }
    KF_INLINE void send_own(std::size_t k) const {
        const S* pairs = scores(k);
        if (!scan<S, S>(pairs, L, L, end()).finite) bad[group.owner[k]] = true;
        for (std::size_t j = 0; j < stride; ++j) m[k * stride + j] = -kInfinity<S>;
        for (std::size_t i = 0; i < L; ++i) {
            Vec<S> high = broadcast(-kInfinity<S>);
            for (std::size_t j = 0; j < stride; j += kWidth<S>)
                high = maximum<S>(load_scores<S, S>(pairs + i * L, j, L, end()) + load(u + k * stride + j), high);
            m[k * stride + i] = largest<S>(high);
        }
    }
    KF_INLINE void climb_max() const {
        for (std::size_t d = group.levels; d-- > 0;) {
            const std::size_t first = group.level[d], last = group.level[d + 1];
            for (std::size_t k = first; k < last; ++k) collect_max(k);
            if (d == 0) break;
            if (batch.shared)
                for (std::size_t k = first; k < last; k += kRows)
                    with_rows(last - k, [&](auto R) { send_max<R.value>(k); });
            else
                for (std::size_t k = first; k < last; ++k) send_own(k);
            if constexpr (sizeof(S) < sizeof(double))
                for (std::size_t k = first; k < last; ++k) max_shift(m + k * stride, stride);
        }
    }
    // Edge scores from label i of the parent, padded.
    KF_INLINE const S* from_label(std::size_t k, std::int32_t i) const {
        const auto at = static_cast<std::size_t>(i);
        if (batch.shared) return edges + at * stride;
        for (std::size_t j = 0; j < stride; j += kWidth<S>)
            store(row + j, load_scores<S, S>(scores(k) + at * L, j, L, end()));
        return row;
    }
};

template <class S>
void tree_argmax(const TreeBatch<S>& batch, const S* edges, const TreeGroup& group, std::int32_t* labels, Arena arena,
                 Outcome* outcome) {
    const std::size_t L = batch.labels, stride = padded(L, kWidth<S>);
    const TreeMax<S> max{batch,
                         group,
                         edges,
                         edges + L * stride,
                         L,
                         stride,
                         take<S>(arena, group.slots * stride),
                         take<S>(arena, group.slots * stride),
                         take<S>(arena, stride),
                         take<bool>(arena, group.count)};
    const S* zeros = zero_row<S>(arena, stride);
    std::memset(max.bad, 0, group.count * sizeof(bool));
    max.climb_max();
    for (std::size_t k = 0; k < group.slots; ++k) {
        std::int32_t& label = labels[group.vertex[k]];
        label = 0;  // no label attains a maximum that is NaN
        if (max.bad[group.owner[k]]) continue;
        const bool root = k < group.level[1];
        label = first_largest(max.u + k * stride,
                              root ? zeros : max.from_label(k, labels[group.vertex[group.parent[k]]]), stride);
    }
    for (std::size_t k = 0; k < group.count; ++k)
        outcome[group.instance[k]] = max.bad[k] ? Outcome::not_finite : Outcome::done;
}

}  // namespace
}  // namespace kernelfields
