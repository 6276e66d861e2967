// Exact samples from a second-order chain: messages to the first label, then labels drawn from it on.
#pragma once

#include "../core/draw.hpp"
#include "chain2_conditionals.hpp"

namespace kernelfields {

// `count` labellings of the whole batch (count x positions); log_partition tells which can be had.
template <class S>
void chain2_sample(const Chain2Batch<S>& batch, std::size_t count, std::uint64_t seed, std::int32_t* labels,
                   double* log_partition) {
    const std::size_t L = batch.chain.labels;
    const TripleFactors factors(batch);
    const double cost = 1 + 10 * static_cast<double>(count) / static_cast<double>(L * L);
    for_each_chain2(batch, cost, log_partition, nullptr,
                    [&](std::size_t s, const Chain2View<S>& chain, std::vector<double>& memory, double*) {
                        memory.resize(Conditionals<S>::size(chain) + L);
                        const Conditionals<S> conditionals(chain, factors, memory.data());
                        double* work = memory.data() + Conditionals<S>::size(chain);
                        log_partition[s] = conditionals.prepare(work);
                        if (!std::isfinite(log_partition[s])) return;
                        std::vector<double> cumulative(L);
                        for (std::size_t n = 0; n < count; ++n) {
                            std::size_t context = 0;
                            for (std::size_t t = 0; t < chain.length; ++t) {
                                const std::size_t v = chain.first + t;
                                chain.given(conditionals.u, t, context, work);
                                const std::int32_t label = draw_label(L, uniform_at(seed, n, v), cumulative,
                                                                      [&](std::size_t k) { return work[k]; });
                                labels[n * batch.chain.positions + v] = label;
                                context = chain.after(context) + static_cast<std::size_t>(label);
                            }
                        }
                    });
}

}  // namespace kernelfields
