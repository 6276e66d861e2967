// Exact inference for ragged batches of second-order chains: marginals, entropy, argmax. O(T L^3).
//
// Scores that are NaN or +inf give NaN, a sequence without any allowed labelling gives -inf, in its value.
#pragma once

#include "chain.hpp"
#include "chain2_conditionals.hpp"
#include "chain2_groups.hpp"

namespace kernelfields {

// Adds `weight` times numbers over the states after y_t to the node row of y_t, and to the edge to it:
// out.edge where edges have scores of their own, `sums` (behind the triples) where they share them.
template <class S, class Out>
void write_states(const Chain2View<S>& chain, std::size_t t, const double* states, double weight, const Out& out,
                  std::size_t edge_first, double* sums, double* work) {
    const std::size_t L = chain.labels;
    std::fill(work, work + L, 0.0);
    for (std::size_t c = 0; c < chain.states(t); ++c) work[c % L] += states[c];
    for (std::size_t k = 0; k < L; ++k) out.node[(chain.first + t) * L + k] = static_cast<S>(weight * work[k]);
    if (t == 0) return;
    double* shared = sums + chain.batch.cube();
    S* own = out.edge ? out.edge + (edge_first + t - 1) * chain.square : nullptr;
    for (std::size_t c = 0; c < chain.square; ++c)
        if (own) own[c] = static_cast<S>(weight * states[c]);
        else shared[c] += weight * states[c];
}

// Log-partitions, and marginals where `out` has room for them. `sum` takes those of triples, then those of
// shared edges. `scaled` is off in tests only.
template <class S>
void chain2_marginals(const Chain2Batch<S>& batch, const MarginalsOut<S>& out, double* sum, bool scaled = true) {
    const std::size_t L = batch.chain.labels;
    std::vector<Outcome> outcome(batch.chain.sequences, Outcome::pending);
    if (scaled && batch.chain.shared) chain2_scaled(batch, out, sum, outcome);
    const auto pending = [&](std::size_t s) { return outcome[s] != Outcome::done; };
    if (std::all_of(outcome.begin(), outcome.end(), [](Outcome one) { return one == Outcome::done; })) return;
    const TripleFactors factors(batch);
    for_each_chain2(
        batch, 2, out.log_partition, sum,
        [&](std::size_t s, const Chain2View<S>& chain, std::vector<double>& memory, double* sums) {
            memory.resize(Conditionals<S>::size(chain) + 2 * chain.square + 2 * L);
            const Conditionals<S> conditionals(chain, factors, memory.data());
            double* work = memory.data() + Conditionals<S>::size(chain);
            out.log_partition[s] = conditionals.prepare(work);
            if (!out.node || !std::isfinite(out.log_partition[s])) return;
            const double weight = out.weight ? out.weight[s] : 1.0;
            const auto edge_first = static_cast<std::size_t>(batch.chain.edge_first[s]);
            send_forwards(
                conditionals, work + L,
                [&](std::size_t t, std::size_t c, double m, const double* p) {
                    if (t > 1)
                        for (std::size_t k = 0; k < L; ++k) sums[c * L + k] += weight * m * p[k];
                },
                [&](std::size_t t, const double* m) {
                    write_states(chain, t, m, weight, out, edge_first, sums, work);
                });
        },
        pending);
}

// H = H(y_0) + sum_t E[ H(y_t | context) ].
template <class S> void chain2_entropy(const Chain2Batch<S>& batch, double* entropy) {
    const std::size_t L = batch.chain.labels;
    const TripleFactors factors(batch);
    for_each_chain2(batch, 8, entropy, nullptr,
                    [&](std::size_t s, const Chain2View<S>& chain, std::vector<double>& memory, double*) {
                        memory.resize(Conditionals<S>::size(chain) + 2 * chain.square + L);
                        const Conditionals<S> conditionals(chain, factors, memory.data());
                        double* work = memory.data() + Conditionals<S>::size(chain);
                        const double log_partition = conditionals.prepare(work);
                        entropy[s] = std::isfinite(log_partition) ? 0 : log_partition;
                        if (!std::isfinite(log_partition)) return;
                        send_forwards(
                            conditionals, work,
                            [&](std::size_t, std::size_t, double m, const double* p) {
                                entropy[s] += m * entropy_of(p, L);
                            },
                            [](std::size_t, const double*) {});
                    });
}

// Score of given labels of one sequence; -inf where one is not allowed.
template <class S> double chain2_score(const Chain2Batch<S>& batch, std::size_t s, const std::int32_t* labels) {
    const std::size_t L = batch.chain.labels;
    double score = chain_score(batch.chain, s, labels);
    for (std::size_t t = 2; t < batch.chain.length(s); ++t) {
        const auto i = static_cast<std::size_t>(labels[t - 2]), j = static_cast<std::size_t>(labels[t - 1]);
        score += static_cast<double>(batch.triple[(i * L + j) * L + static_cast<std::size_t>(labels[t])]);
    }
    return score;
}

// Max messages, then from the first label on the best one in its context; ties to the lowest.
template <class S> void chain2_argmax(const Chain2Batch<S>& batch, std::int32_t* labels, double* value) {
    const std::size_t L = batch.chain.labels;
    for_each_chain2(batch, 1, value, nullptr,
                    [&](std::size_t s, const Chain2View<S>& chain, std::vector<double>& memory, double*) {
                        memory.resize(chain.size() + L);
                        double *u = memory.data(), *work = u + chain.size();
                        value[s] = send_backwards(
                            chain, u,
                            [&](std::size_t t, std::size_t c) {
                                chain.given(u, t, c, work);
                                return largest_of(work, L);
                            },
                            [](std::size_t) {});
                        if (!std::isfinite(value[s])) return;
                        std::size_t context = 0;
                        for (std::size_t t = 0; t < chain.length; ++t) {
                            chain.given(u, t, context, work);
                            const std::size_t best = first_largest(work, L);
                            labels[chain.first + t] = static_cast<std::int32_t>(best);
                            context = chain.after(context) + best;
                        }
                        value[s] = chain2_score(batch, s, labels + chain.first);
                    });
}

}  // namespace kernelfields
