// Forward-backward in logarithms: slower by the exponentials of every label pair, holds any range
// of scores. Also the entropy, which needs no cancellation in this form.
//
//   a_1 = node_1                  a_t(j) = node_t(j) + log sum_i exp(a_{t-1}(i) + edge(i, j))
//   b_T = 0                       b_t(i) = log sum_j exp(edge(i, j) + node_{t+1}(j) + b_{t+1}(j))
//
// Each message is shifted to a largest entry of zero, so that rounding does not grow with length.
#pragma once

#include "chain_rows.hpp"

namespace kernelfields {
namespace {

// One sequence, seen in double with padded rows.
template <class S> struct LogChain {
    const S *node, *node_end, *edge, *edge_end;
    std::size_t length, labels, stride, edge_step;  // edge_step: 0 when shared
    double* pairs;                                  // edge scores of one step, labels x stride

    KF_INLINE LogChain(const ChainBatch<S>& batch, std::size_t s, double* workspace)
        : node(batch.node + static_cast<std::size_t>(batch.first[s]) * batch.labels),
          node_end(batch.node + batch.positions * batch.labels),
          edge(batch.edge),
          edge_end(batch.edge),
          length(batch.length(s)),
          labels(batch.labels),
          stride(padded(batch.labels, kWidth<double>)),
          edge_step(0),
          pairs(workspace) {
        const std::size_t square = labels * labels;
        if (!batch.shared) {
            edge += static_cast<std::size_t>(batch.edge_first[s]) * square;
            edge_step = square;
        }
        edge_end = batch.edge + (batch.shared ? 1 : batch.edges()) * square;
        if (batch.shared) copy_pairs(0);
    }
    // Neither NaN nor +inf in the sequence's own scores.
    KF_INLINE bool finite() const {
        return scan<S, double>(node, length, labels, node_end).finite &&
               (!edge_step || scan<S, double>(edge, (length - 1) * labels, labels, edge_end).finite);
    }
    KF_INLINE void copy_pairs(std::size_t t) {
        for (std::size_t i = 0; i < labels; ++i)
            for (std::size_t k = 0; k < labels; k += kWidth<double>)
                store(pairs + i * stride + k,
                      load_scores<S, double>(edge + t * edge_step + i * labels, k, labels, edge_end));
    }
    // Edge scores between positions t and t + 1.
    KF_INLINE const double* pairs_after(std::size_t t) {
        if (edge_step) copy_pairs(t);
        return pairs;
    }
    KF_INLINE Vec<double> scores(std::size_t t, std::size_t k) const {
        return load_scores<S, double>(node + t * labels, k, labels, node_end);
    }
};

// Shifts a message so that its largest entry is zero; returns the shift. A message without any
// finite entry, or with a NaN, is left as it is.
KF_INLINE double shift_to_zero(double* message, std::size_t stride) {
    Vec<double> high = broadcast(-kInfinity<double>);
    for (std::size_t k = 0; k < stride; k += kWidth<double>) high = maximum<double>(load(message + k), high);
    const double top = largest<double>(high);
    if (!(top > -kInfinity<double> && top < kInfinity<double>)) return top;
    for (std::size_t k = 0; k < stride; k += kWidth<double>) store(message + k, load(message + k) - top);
    return top;
}

// out(j) = log sum_i exp(in(i) + pairs(i, j)), a vector of labels j at a time.
template <class Finish>
KF_INLINE void log_multiply(const double* pairs, std::size_t L, std::size_t stride, const double* in, Finish finish) {
    for (std::size_t k = 0; k < stride; k += kWidth<double>) {
        Vec<double> high = broadcast(-kInfinity<double>), total{};
        for (std::size_t i = 0; i < L; ++i) high = maximum<double>(in[i] + load(pairs + i * stride + k), high);
        const Vec<double> base = high == -kInfinity<double> ? Vec<double>{} : high;
        for (std::size_t i = 0; i < L; ++i) total += exp<double>(in[i] + load(pairs + i * stride + k) - base);
        for (std::size_t c = 0; c < kWidth<double>; ++c) total[c] = __builtin_log(total[c]);
        finish(k, total + base);
    }
}

// Messages are rows of `messages`; returns the log-partition.
template <class S> KF_INLINE double log_forward(LogChain<S>& chain, double* messages) {
    const std::size_t stride = chain.stride;
    double total = 0;
    for (std::size_t k = 0; k < stride; k += kWidth<double>) store(messages + k, chain.scores(0, k));
    total += shift_to_zero(messages, stride);
    for (std::size_t t = 1; t < chain.length; ++t) {
        double* message = messages + t * stride;
        log_multiply(chain.pairs_after(t - 1), chain.labels, stride, message - stride,
                     [&](std::size_t k, Vec<double> value) { store(message + k, value + chain.scores(t, k)); });
        total += shift_to_zero(message, stride);
    }
    Vec<double> last{};
    for (std::size_t k = 0; k < stride; k += kWidth<double>)
        last += exp<double>(load(messages + (chain.length - 1) * stride + k));
    return total + __builtin_log(sum<double>(last));
}

// message <- exp(message); returns the sum.
KF_INLINE double sum_of_exp(double* message, std::size_t stride) {
    Vec<double> total{};
    for (std::size_t k = 0; k < stride; k += kWidth<double>) {
        const Vec<double> value = exp<double>(load(message + k));
        store(message + k, value);
        total += value;
    }
    return sum<double>(total);
}

// Node marginals at t from a_t + b_t; work holds them on return.
template <class S>
KF_INLINE void log_node_marginals(const LogChain<S>& chain, std::size_t t, const double* a, const double* b,
                                  double weight, double* work, S* out) {
    for (std::size_t k = 0; k < chain.stride; k += kWidth<double>) store(work + k, load(a + k) + load(b + k));
    shift_to_zero(work, chain.stride);
    const double scale = weight / sum_of_exp(work, chain.stride);
    for (std::size_t j = 0; j < chain.labels; ++j) out[t * chain.labels + j] = static_cast<S>(work[j] * scale);
}

// Edge marginals between t and t + 1, shifted by their largest entry before exponentials are taken:
// add(i, j, value) takes each.
template <class Add>
KF_INLINE void log_edge_marginals(std::size_t L, std::size_t stride, const double* pairs, const double* a,
                                  const double* into, double weight, double* work, Add add) {
    Vec<double> high = broadcast(-kInfinity<double>), total{};
    for (std::size_t i = 0; i < L; ++i)
        for (std::size_t k = 0; k < stride; k += kWidth<double>)
            high = maximum<double>(a[i] + load(pairs + i * stride + k) + load(into + k), high);
    const double top = largest<double>(high);
    for (std::size_t i = 0; i < L; ++i)
        for (std::size_t k = 0; k < stride; k += kWidth<double>) {
            const Vec<double> value = exp<double>(a[i] + load(pairs + i * stride + k) + load(into + k) - top);
            store(work + i * stride + k, value);
            total += value;
        }
    const double scale = weight / sum<double>(total);
    for (std::size_t i = 0; i < L; ++i)
        for (std::size_t j = 0; j < L; ++j) add(i, j, work[i * stride + j] * scale);
}

// b_t(i) = log sum_j exp(pairs(i, j) + into(j)), into = node_{t+1} + b_{t+1}; row by row.
KF_INLINE void log_back(const double* pairs, std::size_t L, std::size_t stride, const double* into, double* beta) {
    for (std::size_t i = 0; i < L; ++i) {
        Vec<double> high = broadcast(-kInfinity<double>), total{};
        for (std::size_t k = 0; k < stride; k += kWidth<double>)
            high = maximum<double>(load(pairs + i * stride + k) + load(into + k), high);
        const double top = largest<double>(high);
        const double base = top == -kInfinity<double> ? 0 : top;
        for (std::size_t k = 0; k < stride; k += kWidth<double>)
            total += exp<double>(load(pairs + i * stride + k) + load(into + k) - base);
        beta[i] = base + __builtin_log(sum<double>(total));
    }
    shift_to_zero(beta, stride);
}

template <class S> struct LogWorkspace {
    double *messages, *pairs, *beta, *into, *work;

    KF_INLINE LogWorkspace(Arena& arena, std::size_t length, std::size_t labels) {
        const std::size_t stride = padded(labels, kWidth<double>);
        messages = take<double>(arena, length * stride);
        pairs = take<double>(arena, labels * stride);
        beta = take<double>(arena, stride);
        into = take<double>(arena, stride);
        work = take<double>(arena, labels * stride);
        for (std::size_t k = 0; k < stride; ++k) beta[k] = k < labels ? 0 : -kInfinity<double>;
    }
};

template <class S>
KF_INLINE Outcome log_sequence(const ChainBatch<S>& batch, std::size_t s, const MarginalsOut<S>& out, double* edge_sum,
                               Arena arena) {
    const std::size_t L = batch.labels, square = L * L, at = static_cast<std::size_t>(batch.first[s]);
    LogWorkspace<S> w(arena, batch.length(s), L);
    LogChain<S> chain(batch, s, w.pairs);
    if (!chain.finite()) return Outcome::not_finite;
    const double log_partition = log_forward(chain, w.messages);
    out.log_partition[s] = log_partition;
    if (!out.node || !(log_partition > -kInfinity<double>)) return Outcome::done;
    const double weight = out.weight ? out.weight[s] : 1.0;
    S* edge_out = out.edge ? out.edge + static_cast<std::size_t>(batch.edge_first[s]) * square : nullptr;
    S* node_out = out.node + at * L;
    for (std::size_t t = chain.length; t-- > 0;) {
        const double* a = w.messages + t * chain.stride;
        if (t + 1 < chain.length) {
            for (std::size_t k = 0; k < chain.stride; k += kWidth<double>)
                store(w.into + k, load(w.beta + k) + chain.scores(t + 1, k));
            const double* pairs = chain.pairs_after(t);
            log_edge_marginals(L, chain.stride, pairs, a, w.into, weight, w.work,
                               [&](std::size_t i, std::size_t j, double value) {
                                   if (edge_out) edge_out[t * square + i * L + j] = static_cast<S>(value);
                                   else edge_sum[i * L + j] += value;
                               });
            log_back(pairs, L, chain.stride, w.into, w.beta);
        }
        log_node_marginals(chain, t, a, w.beta, weight, w.work, node_out);
    }
    return Outcome::done;
}

template <class S>
void log_marginals(const ChainBatch<S>& batch, const void*, Group group, const MarginalsOut<S>& out, double* edge_sum,
                   Arena arena, Outcome* outcome) {
    for (std::size_t g = 0; g < group.count; ++g) {
        const std::size_t s = group.sequence[g];
        outcome[s] = log_sequence(batch, s, out, edge_sum, arena);
    }
}

template <class S> double log_messages(const ChainBatch<S>& batch, std::size_t s, Arena arena, double* messages) {
    LogChain<S> chain(batch, s, take<double>(arena, batch.labels * padded(batch.labels, kWidth<double>)));
    // Looked for beforehand: exp makes a number of a NaN whose low bits are set, as those of R's NA are.
    return chain.finite() ? log_forward(chain, messages) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace
}  // namespace kernelfields
