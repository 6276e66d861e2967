// Viterbi: the best labelling.
//
//   d_1 = node_1                  d_t(j) = node_t(j) + max_i d_{t-1}(i) + edge(i, j)
//
// The forward pass keeps values only. Back-pointers would cost as much again for all label pairs;
// the way back recomputes the maximum for the one label it passes through. Ties go to the lowest
// label. Every few steps d_t is shifted to a largest entry of zero: rounding does not grow with length.
#pragma once

#include "chain_rows.hpp"

namespace kernelfields {
namespace {

template <class S> struct MaxRow {
    std::size_t sequence, length;
    S* best;  // d_t, length x stride
    const S* node;
    std::int32_t* labels;
    double* value;  // of the sequence, or null
    Bits<S> good;   // false where a score is NaN or +inf
};

// Shifts d_t to a largest entry of zero. Without any allowed labelling it stays -inf to the end.
template <class S> KF_INLINE void max_shift(S* best, std::size_t stride) {
    Vec<S> high = broadcast(-kInfinity<S>);
    for (std::size_t k = 0; k < stride; k += kWidth<S>) high = maximum<S>(load(best + k), high);
    const S top = largest<S>(high);
    if (!(top > -kInfinity<S>)) return;
    for (std::size_t k = 0; k < stride; k += kWidth<S>) store(best + k, load(best + k) - top);
}

// First index at which left + right is largest; rows padded with -inf. Free of branches: where the
// maximum lies cannot be predicted. Indices are kept as floating-point numbers, for their minimum.
template <class S> KF_INLINE std::int32_t first_largest(const S* left, const S* right, std::size_t stride) {
    Vec<S> high = broadcast(-kInfinity<S>), index, first = broadcast(static_cast<S>(stride));
    for (std::size_t k = 0; k < kWidth<S>; ++k) index[k] = static_cast<S>(k);
    for (std::size_t k = 0; k < stride; k += kWidth<S>) high = maximum<S>(load(left + k) + load(right + k), high);
    const S top = largest<S>(high);
    for (std::size_t k = 0; k < stride; k += kWidth<S>) {
        first = minimum<S>(load(left + k) + load(right + k) == top ? index : first, first);
        index += static_cast<S>(kWidth<S>);
    }
    return static_cast<std::int32_t>(-largest<S>(-first));
}

// The way back of several rows at once, each step waiting for the one before: together they hide it.
// columns(t, j) is the column j of the edge scores between t and t + 1, padded.
template <class S, class Columns>
KF_INLINE void trace_back(const MaxRow<S>* rows, std::size_t count, std::size_t stride, const S* zeros,
                          Columns columns) {
    for (std::size_t r = 0; r < count; ++r) {
        const std::size_t last = rows[r].length - 1;
        const S* best = rows[r].best + last * stride;
        rows[r].labels[last] = first_largest(best, zeros, stride);
        if (rows[r].value) *rows[r].value = static_cast<double>(best[rows[r].labels[last]]);
    }
    std::size_t running = count;
    for (std::size_t back = 1; count > 0 && back < rows[0].length; ++back) {
        while (rows[running - 1].length <= back) --running;
        for (std::size_t r = 0; r < running; ++r) {
            const std::size_t t = rows[r].length - 1 - back;
            rows[r].labels[t] = first_largest(rows[r].best + t * stride, columns(t, rows[r].labels[t + 1]), stride);
        }
    }
}

// Keeps the rows with good scores, still longest first, and returns their number. There is no way
// back through NaN: no label attains the maximum. Those sequences get label zero throughout.
template <class S> KF_INLINE std::size_t drop_bad(MaxRow<S>* rows, std::size_t count, Outcome* outcome) {
    std::size_t kept = 0;
    for (std::size_t r = 0; r < count; ++r) {
        const bool bad = any<S>(~rows[r].good);
        outcome[rows[r].sequence] = bad ? Outcome::not_finite : Outcome::done;
        if (bad) std::memset(rows[r].labels, 0, rows[r].length * sizeof(std::int32_t));
        else rows[kept++] = rows[r];
    }
    return kept;
}

template <class S>
KF_INLINE MaxRow<S> max_row(const ChainBatch<S>& batch, std::size_t s, std::size_t stride, Arena& arena,
                            std::int32_t* labels, double* value) {
    const std::size_t first = static_cast<std::size_t>(batch.first[s]);
    return {s,
            batch.length(s),
            take<S>(arena, batch.length(s) * stride),
            batch.node + first * batch.labels,
            labels + first,
            value ? value + s : nullptr,
            ~Bits<S>{}};
}

template <class S> KF_INLINE const S* zero_row(Arena& arena, std::size_t stride) {
    S* row = take<S>(arena, stride);
    std::memset(row, 0, stride * sizeof(S));
    return row;
}

template <class S>
KF_INLINE void max_start(const ChainBatch<S>& batch, MaxRow<S>& row, std::size_t stride) {
    for (std::size_t k = 0; k < stride; k += kWidth<S>) {
        const Vec<S> score = load_scores<S, S>(row.node, k, batch.labels, batch.node + batch.positions * batch.labels);
        row.good &= score <= std::numeric_limits<S>::max();
        store(row.best + k, score);
    }
}

// Scores grow with length, and rounding with them: single precision shifts them. Double precision has
// digits enough, and plain sums decide between labellings of equal score as other programs do.
template <class S> constexpr std::size_t kShiftEvery = sizeof(S) < sizeof(double) ? 8 : ~std::size_t{0};

template <class S, int R>
KF_INLINE void max_step(const ChainBatch<S>& batch, MaxRow<S>* rows, const S* A, std::size_t t, std::size_t stride) {
    const std::size_t L = batch.labels;
    const S *from[R], *node[R], *end = batch.node + batch.positions * L;
    S* to[R];
    Bits<S> good[R];
    for (int r = 0; r < R; ++r) {
        from[r] = rows[r].best + (t - 1) * stride;
        to[r] = rows[r].best + t * stride;
        node[r] = rows[r].node + t * L;
        good[r] = rows[r].good;
    }
    max_plus<S, R>(A, L, stride, from, [&](int r, std::size_t v, Vec<S> value) {
        const Vec<S> score = load_scores<S, S>(node[r], v * kWidth<S>, L, end);
        good[r] &= score <= std::numeric_limits<S>::max();
        store(to[r] + v * kWidth<S>, value + score);
    });
    for (int r = 0; r < R; ++r) {
        rows[r].good = good[r];
        if (t % kShiftEvery<S> == 0) max_shift(to[r], stride);
    }
}

// Edge scores of one step with rows padded by -inf.
template <class S> KF_INLINE void pad_edges(const S* edge, const S* end, std::size_t L, std::size_t stride, S* out) {
    for (std::size_t i = 0; i < L; ++i)
        for (std::size_t k = 0; k < stride; k += kWidth<S>)
            store(out + i * stride + k, load_scores<S, S>(edge + i * L, k, L, end));
}

template <class S>
void argmax_shared(const ChainBatch<S>& batch, const S* edges, Group group, std::int32_t* labels, double* value,
                   Arena arena, Outcome* outcome) {
    const std::size_t L = batch.labels, stride = padded(L, kWidth<S>);
    const S* transposed = edges + L * stride;
    MaxRow<S> rows[kRows] = {};
    for (std::size_t g = 0; g < group.count; ++g) {
        const std::size_t s = group.sequence[g];
        rows[g] = max_row(batch, s, stride, arena, labels, value);
        max_start(batch, rows[g], stride);
    }
    std::size_t running = group.count;
    for (std::size_t t = 1; t < rows[0].length; ++t) {
        while (rows[running - 1].length <= t) --running;
        with_rows(running, [&](auto R) { max_step<S, R.value>(batch, rows, edges, t, stride); });
    }
    const auto columns = [&](std::size_t, std::int32_t j) { return transposed + static_cast<std::size_t>(j) * stride; };
    const std::size_t finite = drop_bad(rows, group.count, outcome);
    trace_back(rows, finite, stride, zero_row<S>(arena, stride), columns);
}

template <class S>
void argmax_per_edge(const ChainBatch<S>& batch, const S*, Group group, std::int32_t* labels, double* value,
                     Arena arena, Outcome* outcome) {
    const std::size_t L = batch.labels, stride = padded(L, kWidth<S>);
    const S* end = batch.edge + batch.edges() * L * L;
    S* step = take<S>(arena, L * stride);
    S* column = take<S>(arena, stride);
    const S* zeros = zero_row<S>(arena, stride);
    for (std::size_t g = 0; g < group.count; ++g) {
        Arena local = arena;
        const std::size_t s = group.sequence[g];
        const S* edge = batch.edge + static_cast<std::size_t>(batch.edge_first[s]) * L * L;
        MaxRow<S> row = max_row(batch, s, stride, local, labels, value);
        if (!scan<S, S>(edge, (row.length - 1) * L, L, end).finite) row.good = Bits<S>{};
        max_start(batch, row, stride);
        for (std::size_t t = 1; t < row.length; ++t) {
            pad_edges(edge + (t - 1) * L * L, end, L, stride, step);
            max_step<S, 1>(batch, &row, step, t, stride);
        }
        const auto columns = [&](std::size_t t, std::int32_t j) {
            for (std::size_t i = 0; i < stride; ++i)
                column[i] = i < L ? edge[(t * L + i) * L + static_cast<std::size_t>(j)] : -kInfinity<S>;
            return static_cast<const S*>(column);
        };
        trace_back(&row, drop_bad(&row, 1, outcome), stride, zeros, columns);
    }
}

// Shared edge scores, then their transpose, rows padded with -inf.
template <class S> void prepare_max_edges(const S* edge, std::size_t L, S* out) {
    const std::size_t stride = padded(L, kWidth<S>);
    pad_edges(edge, edge + L * L, L, stride, out);
    for (std::size_t i = 0; i < stride; ++i)
        for (std::size_t j = 0; j < L; ++j) out[(L + j) * stride + i] = i < L ? edge[i * L + j] : -kInfinity<S>;
}

}  // namespace
}  // namespace kernelfields
