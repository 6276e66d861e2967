// The covariance product of chain_covariance.hpp in logarithms: any range of scores, shared edge
// scores or edges of their own.
#pragma once

#include "chain_log.hpp"

namespace kernelfields {
namespace {

template <class S> struct LogCovariance {
    LogChain<S>& chain;
    const S *node_direction, *edge_direction;
    std::size_t edge_step;
    double *messages, *da, *beta, *db, *into, *into_direction, *work;

    KF_INLINE double pair_direction(std::size_t t, std::size_t i, std::size_t j) const {
        return static_cast<double>(edge_direction[t * edge_step + i * chain.labels + j]);
    }
    KF_INLINE double direction(std::size_t t, std::size_t j) const {
        return static_cast<double>(node_direction[t * chain.labels + j]);
    }

    KF_INLINE void forward() const {
        const std::size_t L = chain.labels, stride = chain.stride;
        for (std::size_t j = 0; j < L; ++j) da[j] = direction(0, j);
        for (std::size_t t = 1; t < chain.length; ++t) {
            const double *a = messages + (t - 1) * stride, *pairs = chain.pairs_after(t - 1);
            const double* before = da + (t - 1) * stride;
            log_multiply(pairs, L, stride, a, [&](std::size_t k, Vec<double> log_total) {
                const Vec<double> base = log_total == -kInfinity<double> ? Vec<double>{} : log_total;
                for (std::size_t i = 0; i < L; ++i)
                    store(work + i * stride + k, exp<double>(a[i] + load(pairs + i * stride + k) - base));
            });
            for (std::size_t j = 0; j < L; ++j) {
                double mean = 0;
                for (std::size_t i = 0; i < L; ++i)
                    mean += work[i * stride + j] * (before[i] + pair_direction(t - 1, i, j));
                da[t * stride + j] = direction(t, j) + mean;
            }
        }
    }

    // db_t from into = node_{t+1} + b_{t+1} and into_direction = dn_{t+1} + db_{t+1}; also b_t.
    KF_INLINE void back(std::size_t t, const double* pairs) const {
        const std::size_t L = chain.labels, stride = chain.stride;
        for (std::size_t i = 0; i < L; ++i) {
            double top = -kInfinity<double>, total = 0, mean = 0;
            for (std::size_t j = 0; j < L; ++j) {
                const double x = pairs[i * stride + j] + into[j];
                top = x > top ? x : top;
            }
            for (std::size_t j = 0; j < L && top > -kInfinity<double>; ++j) {
                const double p = __builtin_exp(pairs[i * stride + j] + into[j] - top);
                total += p;
                mean += p * (pair_direction(t, i, j) + into_direction[j]);
            }
            beta[i] = total > 0 ? top + __builtin_log(total) : -kInfinity<double>;
            db[i] = total > 0 ? mean / total : 0;
        }
        shift_to_zero(beta, stride);
    }

    // Writes the node derivatives at t; returns m.
    KF_INLINE double node_derivatives(std::size_t t, double weight, S* out) const {
        const std::size_t L = chain.labels, stride = chain.stride;
        for (std::size_t k = 0; k < stride; k += kWidth<double>)
            store(work + k, load(messages + t * stride + k) + load(beta + k));
        shift_to_zero(work, stride);
        const double total = sum_of_exp(work, stride);
        double m = 0;
        for (std::size_t j = 0; j < L; ++j) m += work[j] / total * (da[t * stride + j] + db[j]);
        for (std::size_t j = 0; j < L; ++j)
            out[t * L + j] = static_cast<S>(weight * work[j] / total * (da[t * stride + j] + db[j] - m));
        return m;
    }
};

template <class S>
KF_INLINE Outcome log_covariance_sequence(const ChainBatch<S>& batch, std::size_t s, const CovarianceOut<S>& out,
                                          double* edge_sum, Arena arena) {
    const std::size_t L = batch.labels, square = L * L, length = batch.length(s);
    const std::size_t first = static_cast<std::size_t>(batch.first[s]);
    const std::size_t edge_first = batch.shared ? 0 : static_cast<std::size_t>(batch.edge_first[s]);
    LogWorkspace<S> w(arena, length, L);
    LogChain<S> chain(batch, s, w.pairs);
    const std::size_t stride = chain.stride;
    LogCovariance<S> c{chain,
                       out.node_direction + first * L,
                       out.edge_direction + edge_first * square,
                       batch.shared ? 0 : square,
                       w.messages,
                       take<double>(arena, length * stride),
                       w.beta,
                       take<double>(arena, stride),
                       w.into,
                       take<double>(arena, stride),
                       w.work};
    if (!chain.finite()) return Outcome::not_finite;
    out.log_partition[s] = log_forward(chain, w.messages);
    if (!(out.log_partition[s] > -kInfinity<double>)) return Outcome::done;
    const double weight = out.weight ? out.weight[s] : 1.0;
    S* edge_out = out.edge ? out.edge + edge_first * square : nullptr;
    c.forward();
    for (std::size_t j = 0; j < stride; ++j) c.db[j] = 0;
    double m = 0;
    for (std::size_t t = length; t-- > 0;) {
        if (t + 1 < length) {
            const double* pairs = chain.pairs_after(t);
            for (std::size_t k = 0; k < stride; k += kWidth<double>)
                store(c.into + k, load(c.beta + k) + chain.scores(t + 1, k));
            for (std::size_t j = 0; j < L; ++j) c.into_direction[j] = c.direction(t + 1, j) + c.db[j];
            log_edge_marginals(L, stride, pairs, c.messages + t * stride, c.into, weight, c.work,
                               [&](std::size_t i, std::size_t j, double mass) {
                                   const double value = mass * (c.da[t * stride + i] + c.pair_direction(t, i, j) +
                                                                c.into_direction[j] - m);
                                   if (edge_out) edge_out[t * square + i * L + j] = static_cast<S>(value);
                                   else edge_sum[i * L + j] += value;
                               });
            c.back(t, pairs);
        }
        m = c.node_derivatives(t, weight, out.node + first * L);
    }
    out.log_partition[s] = m;
    return Outcome::done;
}

template <class S>
void log_covariance(const ChainBatch<S>& batch, const void*, Group group, const CovarianceOut<S>& out, double* edge_sum,
                    Arena arena, Outcome* outcome) {
    for (std::size_t g = 0; g < group.count; ++g) {
        const std::size_t s = group.sequence[g];
        outcome[s] = log_covariance_sequence(batch, s, out, edge_sum, arena);
    }
}

}  // namespace
}  // namespace kernelfields
