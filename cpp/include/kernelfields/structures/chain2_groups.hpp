// Second-order chains by the scaled recursions of an instruction set, some sequences after another.
#pragma once

#include "../core/dispatch.hpp"
#include "chain2_kernels.hpp"
#include "chain_plan.hpp"

namespace kernelfields {

// Tables in memory aligned for vectors.
template <class S> class Chain2TableMemory {
public:
    explicit Chain2TableMemory(const Chain2Batch<S>& batch) {
        const std::size_t L = batch.chain.labels, square = L * padded(L, chain2_kernels<S>().width);
        memory_ = static_cast<double*>(allocate((2 * L + 1) * square * sizeof(double)));
        tables = {memory_, memory_ + L * square, memory_ + 2 * L * square, 0, 0, 0, false};
        chain2_kernels<S>().prepare(batch, tables);
    }
    Chain2TableMemory(const Chain2TableMemory&) = delete;
    ~Chain2TableMemory() { release(memory_); }
    Chain2Tables tables;

private:
    double* memory_;
};

// Marks what it can hold as done; sequences of a group add to one set of sums, which is costly to move.
template <class S>
void chain2_scaled(const Chain2Batch<S>& batch, const MarginalsOut<S>& out, double* sum,
                   std::vector<Outcome>& outcome) {
    constexpr std::size_t kTogether = 16;
    const ChainBatch<S>& chain = batch.chain;
    const Plan plan = make_plan(chain, [](std::size_t) { return true; }, kTogether);
    if (plan.order.empty()) return;
    const std::size_t width = out.node ? batch.cube() + chain.labels * chain.labels : 0;
    const Chain2TableMemory<S> memory(batch);
    std::vector<double> sums(plan.blocks() * width);
    const double work = 0.4 * static_cast<double>(plan.positions * batch.cube());
    for_each_group(plan, chain2_kernels<S>().bytes(chain.labels, chain.length(plan.order[0])), work,
                   [&](Group group, Arena arena, std::size_t block) {
                       chain2_kernels<S>().marginals(batch, memory.tables, group, out, sums.data() + block * width,
                                                     arena, outcome.data());
                   });
    for (std::size_t k = 0; k < sums.size(); ++k) sum[k % width] += sums[k];
}

}  // namespace kernelfields
