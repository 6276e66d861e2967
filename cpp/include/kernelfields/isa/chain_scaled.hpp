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

// Notes when something positive in a forward message is about to underflow, or nothing is left.
template <class C>
KF_INLINE void watch_message(Row<C>& row, const C* message, std::size_t stride, C total, C threshold) {
    if (!(total > 0)) row.low = ~Bits<C>{};
    for (std::size_t k = 0; k < stride; k += kWidth<C>) {
        const Vec<C> value = load(message + k);
        row.low |= (value > 0) & (value < threshold);
    }
}

// Divides forward messages by their sums c, which it multiplies into `scale`.
template <class C, int R, int V>
KF_INLINE void normalise(Rows<C>& rows, const Held<C, R, V>& value, const Vec<C> (&total)[R], C* const (&to)[R],
                         C threshold, LongProduct* scale) {
    const std::size_t vectors = V ? V : rows.stride / kWidth<C>;
    for (int r = 0; r < R; ++r) {
        const C c = sum<C>(total[r]), inverse = 1 / c;
        for (std::size_t v = 0; v < vectors; ++v) store(to[r] + v * kWidth<C>, value.get(r, v) * inverse);
        if (rows.watch) watch_message(rows.row[r], to[r], rows.stride, c, threshold);
        scale[r].times(static_cast<double>(c));
    }
}

template <class C> KF_INLINE void forward_start(Rows<C>& rows, C threshold, LongProduct* scale) {
    for (std::size_t r = 0; r < rows.count; ++r) {
        Row<C>& row = rows.row[r];
        C c = 0;
        for (std::size_t k = 0; k < rows.stride; ++k) c += row.alpha[k] = k < rows.labels ? row.factor[k] : 0;
        for (std::size_t k = 0; k < rows.stride; k += kWidth<C>) store(row.alpha + k, load(row.alpha + k) / c);
        if (rows.watch) watch_message(row, row.alpha, rows.stride, c, threshold);
        scale[r].times(static_cast<double>(c));
    }
}

// Pointers are copied out of the rows before the loops: for all the compiler knows, a store to a
// message might change them.
template <class C, int R, int V>
KF_INLINE void forward_step(Rows<C>& rows, const C* A, std::size_t t, C threshold, LongProduct* scale) {
    const std::size_t stride = rows.stride;
    const C *from[R], *factor[R];
    C* to[R];
    Vec<C> total[R] = {};
    for (int r = 0; r < R; ++r) {
        from[r] = rows.row[r].alpha + (t - 1) * stride;
        to[r] = rows.row[r].alpha + t * stride;
        factor[r] = rows.row[r].factor + t * stride;
    }
    Held<C, R, V> held(to);
    multiply<C, R, V>(A, rows.labels, stride, from, [&](int r, std::size_t v, Vec<C> value) {
        value *= load(factor[r] + v * kWidth<C>);
        held.set(r, v, value);
        total[r] += value;
    });
    normalise(rows, held, total, to, threshold, scale);
}

// Runs the forward messages of all rows; drops those that lost precision; writes log-partitions.
template <class C>
KF_INLINE void forward(Rows<C>& rows, const SharedEdges<C>& edges, double* log_partition, Outcome* outcome) {
    const C threshold = static_cast<C>(__builtin_exp(-kRange<C>) / (2 * static_cast<double>(rows.labels)));
    LongProduct scale[kRows];
    if (rows.count == 0) return;
    forward_start(rows, threshold, scale);
    for (std::size_t t = 1; t < rows.row[0].length; ++t)
        with_rows(rows.longer_than(t), [&](auto R) {
            with_vectors(rows.stride / kWidth<C>,
                         [&](auto V) { forward_step<C, R.value, V.value>(rows, edges.forward, t, threshold, scale); });
        });
    for (std::size_t r = 0; r < rows.count; ++r) {
        const Row<C>& row = rows.row[r];
        if (row.lost()) continue;
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
template <class S, class C, int R, int V>
KF_INLINE void backward_step(const Rows<C>& rows, const Backward<C>* state, const ChainBatch<S>& batch, const C* A,
                             std::size_t back, C* edge_sum, S* out) {
    const std::size_t stride = rows.stride, L = rows.labels, vectors = V ? V : stride / kWidth<C>;
    const C *alpha[R], *factor[R], *in[R], *left[R];
    C *beta[R], *into[R], *share[R], weight[R];
    S* to[R];
    Vec<C> meet[R] = {}, total[R] = {};
    for (int r = 0; r < R; ++r) {
        const Row<C>& row = rows.row[r];
        const std::size_t t = row.length - 1 - back;
        alpha[r] = row.alpha + t * stride;
        factor[r] = row.factor + t * stride;
        to[r] = out + (static_cast<std::size_t>(batch.first[row.sequence]) + t) * L;
        beta[r] = state[r].beta;
        in[r] = into[r] = state[r].into;
        left[r] = share[r] = state[r].share;
        weight[r] = state[r].weight;
    }
    Held<C, R, V> held(beta);
    multiply<C, R, V>(A, L, stride, in, [&](int r, std::size_t v, Vec<C> value) {
        const Vec<C> here = load(alpha[r] + v * kWidth<C>);
        value = where_reached<C>(here, value);
        held.set(r, v, value);
        meet[r] += value * here;
        total[r] += value;
    });
    for (int r = 0; r < R; ++r) {
        const C scale = weight[r] / sum<C>(meet[r]);
        for (std::size_t v = 0; v < vectors; ++v) {
            const std::size_t k = v * kWidth<C>;
            const Vec<C> mine = load(alpha[r] + k) * scale;
            store(share[r] + k, mine);
            store_marginals<S, C>(to[r] + k, held.get(r, v) * mine, L - k);
        }
    }
    add_outer<C, R, V>(edge_sum, L, stride, left, in);
    for (int r = 0; r < R; ++r) {
        const C inverse = 1 / sum<C>(total[r]);
        for (std::size_t v = 0; v < vectors; ++v)
            store(into[r] + v * kWidth<C>, held.get(r, v) * inverse * load(factor[r] + v * kWidth<C>));
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
            with_vectors(rows.stride / kWidth<C>, [&](auto V) {
                backward_step<S, C, R.value, V.value>(rows, state, batch, edges.backward, back, E, out.node);
            });
        });
        if (back % kFlushEvery == 0) flush(E, edges.forward, rows.labels, rows.stride, edge_sum);
    }
    flush(E, edges.forward, rows.labels, rows.stride, edge_sum);
}

template <class S, class C>
void scaled_marginals(const ChainBatch<S>& batch, const void* shared, Group group, const MarginalsOut<S>& out,
                      double* edge_sum, Arena arena, Outcome* outcome) {
    const auto& edges = *static_cast<const SharedEdges<C>*>(shared);
    Rows<C> rows = prepare_rows<S, C>(batch, edges.range, edges.forbids, group, arena, outcome);
    forward(rows, edges, out.log_partition, outcome);
    if (out.node) backward(rows, edges, batch, out, edge_sum, arena);
}

}  // namespace
}  // namespace kernelfields
