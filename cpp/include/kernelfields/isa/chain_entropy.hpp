// Entropy of a chain, from forward messages alone and without cancellation:
//
//   H = H(y_T) + sum_t E[ H(y_t | y_{t+1}) ],     p(y_t = i | y_{t+1} = j) ~ exp(a_t(i) + edge(i, j))
#pragma once

#include "chain_log.hpp"

namespace kernelfields {
namespace {

// -p log p with its limit at zero, given log p.
KF_INLINE Vec<double> surprise(Vec<double> p, Vec<double> log_p) {
    return p > 0 ? -p * log_p : Vec<double>{};
}

// Adds the entropy of y_t given y_{t+1}; turns `marginals` of t + 1 into those of t.
KF_INLINE double conditional_entropy(const double* pairs, std::size_t L, std::size_t stride, const double* a,
                                     double* marginals, double* work) {
    Vec<double> entropy{};
    double* shares = work + L * stride;  // L vectors: marginals of t, not yet summed over lanes
    std::memset(shares, 0, L * KF_VECTOR_BYTES);
    log_multiply(pairs, L, stride, a, [&](std::size_t k, Vec<double> log_total) {
        const Vec<double> next = load(marginals + k);
        const Vec<double> base = log_total == -kInfinity<double> ? Vec<double>{} : log_total;
        for (std::size_t i = 0; i < L; ++i) {
            const Vec<double> log_p = a[i] + load(pairs + i * stride + k) - base;
            const Vec<double> p = exp<double>(log_p);
            double* share = shares + i * kWidth<double>;
            entropy += next * surprise(p, log_p);
            store(share, load(share) + next * p);
        }
    });
    for (std::size_t i = 0; i < L; ++i) marginals[i] = sum<double>(load(shares + i * kWidth<double>));
    return sum<double>(entropy);
}

template <class S> double chain_entropy(const ChainBatch<S>& batch, std::size_t s, Arena arena) {
    const std::size_t L = batch.labels, stride = padded(L, kWidth<double>);
    LogWorkspace<S> w(arena, batch.length(s), L);
    double* work = take<double>(arena, L * stride + L * kWidth<double>);
    LogChain<S> chain(batch, s, w.pairs);
    if (!chain.finite()) return std::numeric_limits<double>::quiet_NaN();
    if (!(log_forward(chain, w.messages) > -kInfinity<double>)) return -kInfinity<double>;
    const double* last = w.messages + (chain.length - 1) * stride;
    double* marginals = w.into;
    std::memcpy(marginals, last, stride * sizeof(double));
    const double total = sum_of_exp(marginals, stride);
    Vec<double> entropy{};
    for (std::size_t k = 0; k < stride; k += kWidth<double>) {
        store(marginals + k, load(marginals + k) / total);
        entropy += surprise(load(marginals + k), load(last + k) - __builtin_log(total));
    }
    double result = sum<double>(entropy);
    for (std::size_t t = chain.length - 1; t-- > 0;)
        result += conditional_entropy(chain.pairs_after(t), L, stride, w.messages + t * stride, marginals, work);
    return result;
}

}  // namespace
}  // namespace kernelfields
