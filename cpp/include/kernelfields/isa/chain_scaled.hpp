// Forward-backward by scaled recursions, edge scores shared by all positions.
//
//   alpha_1 = b_1 / c_1           alpha_t = (alpha_{t-1} A) * b_t / c_t      c_t makes the sum one
//   beta_T  = 1                   beta_t  = A (b_{t+1} * beta_{t+1})         scaled to sum one
//   log Z   = sum_t log c_t + (largest scores taken out)
//   mu_t(i)    = alpha_t(i) beta_t(i) / n_t                                  n_t = <alpha_t, beta_t>
//   mu_t(i, j) = alpha_t(i) A(i, j) b_{t+1}(j) beta_{t+1}(j) / n_t           beta_t before scaling
#pragma once

#include "chain_rows.hpp"

namespace kernelfields {
namespace {

// Divides a forward message by its sum; sees to it that nothing positive is about to underflow.
template <class C> KF_INLINE void normalise(C* message, std::size_t stride, C total, C threshold, Row<C>& row) {
    const C inverse = 1 / total;
    Bits<C> low{};
    for (std::size_t k = 0; k < stride; k += kWidth<C>) {
        const Vec<C> value = load(message + k) * inverse;
        low |= (value > 0) & (value < threshold);
        store(message + k, value);
    }
    row.lost |= any<C>(low) | !(total > 0);
}

template <class C> KF_INLINE void forward_start(Rows<C>& rows, C threshold, LongProduct* scale) {
    for (std::size_t r = 0; r < rows.count; ++r) {
        Row<C>& row = rows.row[r];
        Vec<C> total{};
        for (std::size_t k = 0; k < rows.stride; k += kWidth<C>) {
            const Vec<C> value = load(row.factor + k);
            store(row.alpha + k, value);
            total += value;
        }
        const C c = sum<C>(total);
        normalise(row.alpha, rows.stride, c, threshold, row);
        scale[r].times(static_cast<double>(c));
    }
}

template <class C, int R>
KF_INLINE void forward_step(Rows<C>& rows, const C* A, std::size_t t, C threshold, LongProduct* scale) {
    const std::size_t stride = rows.stride;
    const C* from[R];
    Vec<C> total[R] = {};
    for (int r = 0; r < R; ++r) from[r] = rows.row[r].alpha + (t - 1) * stride;
    multiply<C, R>(A, rows.labels, stride, from, [&](int r, std::size_t v, Vec<C> value) {
        const std::size_t k = t * stride + v * kWidth<C>;
        value *= load(rows.row[r].factor + k);
        store(rows.row[r].alpha + k, value);
        total[r] += value;
    });
    for (int r = 0; r < R; ++r) {
        const C c = sum<C>(total[r]);
        normalise(rows.row[r].alpha + t * stride, stride, c, threshold, rows.row[r]);
        scale[r].times(static_cast<double>(c));
    }
}

// Runs the forward messages of all rows; drops those that lost precision; writes log-partitions.
template <class C>
KF_INLINE void forward(Rows<C>& rows, const SharedEdges<C>& edges, double* log_partition, Outcome* outcome) {
    const C threshold = static_cast<C>(__builtin_exp(-kRange<C>) / (2 * static_cast<double>(rows.labels)));
    LongProduct scale[kRows];
    if (rows.count == 0) return;
    forward_start(rows, threshold, scale);
    for (std::size_t t = 1; t < rows.row[0].length; ++t)
        with_rows(rows.longer_than(t),
                  [&](auto R) { forward_step<C, R.value>(rows, edges.forward, t, threshold, scale); });
    for (std::size_t r = 0; r < rows.count; ++r) {
        const Row<C>& row = rows.row[r];
        if (row.lost) continue;
        const double between = static_cast<double>(row.length - 1) * edges.largest;
        log_partition[row.sequence] = scale[r].log() + row.largest + (row.length > 1 ? between : 0);
        outcome[row.sequence] = Outcome::done;
    }
    rows.drop_lost();
}

// Labels that no path reaches take no part in the backward pass: their messages could outgrow those
// of the labels that count until nothing of these is left.
template <class C> KF_INLINE Vec<C> where_reached(Vec<C> alpha, Vec<C> value) {
    return alpha > 0 ? value : Vec<C>{};
}

// Where the backward pass of one row is.
template <class C> struct Backward {
    C *beta, *into, *share;  // beta_t; b_{t+1} beta_{t+1}; alpha_t * weight / n_t
    C weight;
};

template <class S, class C> KF_INLINE void store_marginals(S* to, Vec<C> value, std::size_t left) {
    if constexpr (sizeof(S) == sizeof(C)) {
        store_first<S>(to, value, left);
    } else {
        for (std::size_t i = 0; i < kWidth<C> && i < left; ++i) to[i] = static_cast<S>(value[i]);
    }
}

template <class S, class C>
KF_INLINE void backward_start(const Rows<C>& rows, Backward<C>* state, const ChainBatch<S>& batch, S* out) {
    for (std::size_t r = 0; r < rows.count; ++r) {
        const Row<C>& row = rows.row[r];
        const std::size_t last = row.length - 1, at = static_cast<std::size_t>(batch.first[row.sequence]) + last;
        for (std::size_t k = 0; k < rows.stride; k += kWidth<C>) {
            const Vec<C> alpha = load(row.alpha + last * rows.stride + k);
            store_marginals<S, C>(out + at * rows.labels + k, alpha * state[r].weight, rows.labels - k);
            store(state[r].into + k, where_reached<C>(alpha, load(row.factor + last * rows.stride + k)));
        }
    }
}

// One step back for the first R rows, each at its own position length - 1 - back.
template <class S, class C, int R>
KF_INLINE void backward_step(const Rows<C>& rows, Backward<C>* state, const ChainBatch<S>& batch, const C* A,
                             std::size_t back, C* edge_sum, S* out) {
    const std::size_t stride = rows.stride, L = rows.labels;
    const C *into[R], *share[R], *alpha[R];
    Vec<C> meet[R] = {}, total[R] = {};
    for (int r = 0; r < R; ++r) {
        into[r] = state[r].into;
        share[r] = state[r].share;
        alpha[r] = rows.row[r].alpha + (rows.row[r].length - 1 - back) * stride;
    }
    multiply<C, R>(A, L, stride, into, [&](int r, std::size_t v, Vec<C> value) {
        const Vec<C> here = load(alpha[r] + v * kWidth<C>);
        value = where_reached<C>(here, value);
        store(state[r].beta + v * kWidth<C>, value);
        meet[r] += value * here;
        total[r] += value;
    });
    C scale[R];
    for (int r = 0; r < R; ++r) {
        scale[r] = state[r].weight / sum<C>(meet[r]);
        for (std::size_t k = 0; k < stride; k += kWidth<C>) store(state[r].share + k, load(alpha[r] + k) * scale[r]);
    }
    add_outer<C, R>(edge_sum, L, stride, share, into);
    for (int r = 0; r < R; ++r) {
        const Row<C>& row = rows.row[r];
        const std::size_t t = row.length - 1 - back;
        const C inverse = 1 / sum<C>(total[r]);
        S* to = out + (static_cast<std::size_t>(batch.first[row.sequence]) + t) * L;
        for (std::size_t k = 0; k < stride; k += kWidth<C>) {
            const Vec<C> beta = load(state[r].beta + k);
            store_marginals<S, C>(to + k, beta * load(share[r] + k), L - k);
            store(state[r].into + k, beta * inverse * load(row.factor + t * stride + k));
        }
    }
}

// edge_sum += E * A, elementwise, and E back to zero.
template <class C> KF_INLINE void flush(C* E, const C* A, std::size_t L, std::size_t stride, double* edge_sum) {
    for (std::size_t i = 0; i < L; ++i)
        for (std::size_t j = 0; j < L; ++j) {
            edge_sum[i * L + j] += static_cast<double>(E[i * stride + j]) * static_cast<double>(A[i * stride + j]);
            E[i * stride + j] = 0;
        }
}

template <class S, class C>
KF_INLINE void backward(const Rows<C>& rows, const SharedEdges<C>& edges, const ChainBatch<S>& batch,
                        const MarginalsOut<S>& out, double* edge_sum, Arena arena) {
    if (rows.count == 0) return;
    // Single precision cannot add up many steps: its sums move to double every so often.
    constexpr std::size_t kFlushEvery = sizeof(C) == sizeof(double) ? std::size_t(-1) : 128;
    Backward<C> state[kRows];
    C* E = take<C>(arena, rows.labels * rows.stride);
    std::memset(E, 0, rows.labels * rows.stride * sizeof(C));
    for (std::size_t r = 0; r < rows.count; ++r) {
        const double weight = out.weight ? out.weight[rows.row[r].sequence] : 1.0;
        state[r] = {take<C>(arena, rows.stride), take<C>(arena, rows.stride), take<C>(arena, rows.stride),
                    static_cast<C>(weight)};
    }
    backward_start(rows, state, batch, out.node);
    for (std::size_t back = 1; back < rows.row[0].length; ++back) {
        with_rows(rows.longer_than(back), [&](auto R) {
            backward_step<S, C, R.value>(rows, state, batch, edges.backward, back, E, out.node);
        });
        if (back % kFlushEvery == 0) flush(E, edges.forward, rows.labels, rows.stride, edge_sum);
    }
    flush(E, edges.forward, rows.labels, rows.stride, edge_sum);
}

template <class S, class C>
void scaled_marginals(const ChainBatch<S>& batch, const void* shared, Group group, const MarginalsOut<S>& out,
                      double* edge_sum, Arena arena, Outcome* outcome) {
    const auto& edges = *static_cast<const SharedEdges<C>*>(shared);
    Rows<C> rows = prepare_rows<S, C>(batch, edges.range, group, arena, outcome);
    forward(rows, edges, out.log_partition, outcome);
    if (out.node) backward(rows, edges, batch, out, edge_sum, arena);
}

}  // namespace
}  // namespace kernelfields
