// Viterbi: the best labelling.
//
//   d_1 = node_1                  d_t(j) = node_t(j) + max_i d_{t-1}(i) + edge(i, j)
//
// The forward pass keeps values only. Back-pointers would cost as much again for all label pairs;
// the way back recomputes the maximum for the one label it passes through. Ties go to the lowest
// label. Each d_t is shifted to a largest entry of zero: rounding does not grow with length.
#pragma once

#include "chain_rows.hpp"

namespace kernelfields {
namespace {

template <class S> struct MaxRow {
    std::size_t sequence, length;
    S* best;  // d_t, length x stride
    Outcome outcome;
};

template <class S>
KF_INLINE void max_finish(const ChainBatch<S>& batch, MaxRow<S>& row, std::size_t t, std::size_t stride) {
    const std::size_t L = batch.labels;
    const S* node = batch.node + (static_cast<std::size_t>(batch.first[row.sequence]) + t) * L;
    S* best = row.best + t * stride;
    Vec<S> high = broadcast(-kInfinity<S>);
    Bits<S> good = ~Bits<S>{};
    for (std::size_t k = 0; k < stride; k += kWidth<S>) {
        const Vec<S> score = load_scores<S, S>(node, k, L, batch.node + batch.positions * L);
        const Vec<S> value = load(best + k) + score;
        good &= score <= std::numeric_limits<S>::max();
        store(best + k, value);
        high = maximum<S>(value, high);
    }
    const S top = largest<S>(high);
    if (any<S>(~good)) row.outcome = Outcome::not_finite;
    if (!(top > -kInfinity<S>)) return;  // no labelling: stays -inf to the end
    for (std::size_t k = 0; k < stride; k += kWidth<S>) store(best + k, load(best + k) - top);
}

template <class S> KF_INLINE std::int32_t first_largest(const S* left, const S* right, std::size_t L) {
    std::int32_t best = 0;
    for (std::size_t i = 1; i < L; ++i)
        if (left[i] + right[i] > left[best] + right[best]) best = static_cast<std::int32_t>(i);
    return best;
}

// transposed(t)[j] is the column j of the edge scores between t and t + 1.
template <class S, class Columns>
KF_INLINE void trace_back(const MaxRow<S>& row, std::size_t L, std::size_t stride, Columns columns, std::int32_t* labels) {
    const S* best = row.best + (row.length - 1) * stride;
    std::int32_t label = 0;
    for (std::size_t i = 1; i < L; ++i)
        if (best[i] > best[label]) label = static_cast<std::int32_t>(i);
    labels[row.length - 1] = label;
    for (std::size_t t = row.length - 1; t-- > 0;) {
        label = first_largest(row.best + t * stride, columns(t, label), L);
        labels[t] = label;
    }
}

template <class S>
KF_INLINE void max_start(const ChainBatch<S>& batch, MaxRow<S>& row, std::size_t stride) {
    for (std::size_t k = 0; k < stride; k += kWidth<S>) store(row.best + k, Vec<S>{});
    max_finish(batch, row, 0, stride);
}

template <class S, int R>
KF_INLINE void max_step(const ChainBatch<S>& batch, MaxRow<S>* rows, const S* A, std::size_t t, std::size_t stride) {
    const S* from[R];
    for (int r = 0; r < R; ++r) from[r] = rows[r].best + (t - 1) * stride;
    max_plus<S, R>(A, batch.labels, stride, from, [&](int r, std::size_t v, Vec<S> value) {
        store(rows[r].best + t * stride + v * kWidth<S>, value);
    });
    for (int r = 0; r < R; ++r) max_finish(batch, rows[r], t, stride);
}

// Edge scores of one step with rows padded by -inf.
template <class S> KF_INLINE void pad_edges(const S* edge, const S* end, std::size_t L, std::size_t stride, S* out) {
    for (std::size_t i = 0; i < L; ++i)
        for (std::size_t k = 0; k < stride; k += kWidth<S>)
            store(out + i * stride + k, load_scores<S, S>(edge + i * L, k, L, end));
}

template <class S>
void argmax_shared(const ChainBatch<S>& batch, const S* edges, Group group, std::int32_t* labels, Arena arena,
                   Outcome* outcome) {
    const std::size_t L = batch.labels, stride = padded(L, kWidth<S>);
    const S* transposed = edges + L * stride;
    MaxRow<S> rows[kRows] = {};
    for (std::size_t g = 0; g < group.count; ++g) {
        const std::size_t s = group.sequence[g];
        rows[g] = {s, batch.length(s), take<S>(arena, batch.length(s) * stride), Outcome::done};
        max_start(batch, rows[g], stride);
    }
    std::size_t running = group.count;
    for (std::size_t t = 1; t < rows[0].length; ++t) {
        while (rows[running - 1].length <= t) --running;
        with_rows(running, [&](auto R) { max_step<S, R.value>(batch, rows, edges, t, stride); });
    }
    const auto columns = [&](std::size_t, std::int32_t j) { return transposed + static_cast<std::size_t>(j) * L; };
    for (std::size_t g = 0; g < group.count; ++g) {
        trace_back(rows[g], L, stride, columns, labels + batch.first[rows[g].sequence]);
        outcome[rows[g].sequence] = rows[g].outcome;
    }
}

template <class S>
void argmax_per_edge(const ChainBatch<S>& batch, const S*, Group group, std::int32_t* labels, Arena arena,
                     Outcome* outcome) {
    const std::size_t L = batch.labels, stride = padded(L, kWidth<S>);
    const S* end = batch.edge + batch.edges() * L * L;
    S* step = take<S>(arena, L * stride);
    S* column = take<S>(arena, L);
    for (std::size_t g = 0; g < group.count; ++g) {
        Arena local = arena;
        const std::size_t s = group.sequence[g];
        const S* edge = batch.edge + static_cast<std::size_t>(batch.edge_first[s]) * L * L;
        MaxRow<S> row{s, batch.length(s), take<S>(local, batch.length(s) * stride), Outcome::done};
        if (!scan<S, S>(edge, (row.length - 1) * L, L, end).finite) row.outcome = Outcome::not_finite;
        max_start(batch, row, stride);
        for (std::size_t t = 1; t < row.length; ++t) {
            pad_edges(edge + (t - 1) * L * L, end, L, stride, step);
            max_step<S, 1>(batch, &row, step, t, stride);
        }
        const auto columns = [&](std::size_t t, std::int32_t j) {
            for (std::size_t i = 0; i < L; ++i) column[i] = edge[(t * L + i) * L + static_cast<std::size_t>(j)];
            return static_cast<const S*>(column);
        };
        trace_back(row, L, stride, columns, labels + batch.first[s]);
        outcome[s] = row.outcome;
    }
}

// Shared edge scores with padded rows, then their transpose (unpadded).
template <class S> void prepare_max_edges(const S* edge, std::size_t L, S* out) {
    const std::size_t stride = padded(L, kWidth<S>);
    pad_edges(edge, edge + L * L, L, stride, out);
    for (std::size_t i = 0; i < L; ++i)
        for (std::size_t j = 0; j < L; ++j) out[L * stride + j * L + i] = edge[i * L + j];
}

}  // namespace
}  // namespace kernelfields
