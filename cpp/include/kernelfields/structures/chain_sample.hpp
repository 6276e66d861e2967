// Exact samples from a chain: forward messages, then labels drawn from the last to the first.
#pragma once

#include "../core/draw.hpp"
#include "chain.hpp"

namespace kernelfields {

// All draws of one sequence, position by position: where a label is all but certain, the next draw has the
// same label behind it as the one before, and the masses need not be summed up again.
template <class S>
void sample_sequence(const ChainBatch<S>& batch, std::size_t s, const double* messages, std::size_t stride,
                     std::uint64_t seed, std::size_t count, std::int32_t* labels) {
    const std::size_t L = batch.labels, first = static_cast<std::size_t>(batch.first[s]);
    const S* edge = batch.edge + (batch.shared ? 0 : static_cast<std::size_t>(batch.edge_first[s]) * L * L);
    std::vector<double> cumulative(L);
    for (std::size_t t = batch.length(s); t-- > 0;) {
        const bool last = t + 1 == batch.length(s);
        const S* pairs = edge + (batch.shared ? 0 : t * L * L);
        std::int32_t summed = -1;  // the label behind, of the masses in `cumulative`
        for (std::size_t n = 0; n < count; ++n) {
            std::int32_t* label = labels + n * batch.positions + first + t;
            const std::int32_t next = last ? 0 : label[1];
            const double uniform = uniform_at(seed, n, first + t);
            const auto log_mass = [&](std::size_t i) {
                const double pair = last ? 0.0 : static_cast<double>(pairs[i * L + static_cast<std::size_t>(next)]);
                return messages[t * stride + i] + pair;
            };
            *label = next == summed ? label_at(uniform, cumulative) : draw_label(L, uniform, cumulative, log_mass);
            summed = next;
        }
    }
}

// `count` labellings of the whole batch (count x positions); log_partition tells which can be had.
template <class S>
void chain_sample(const ChainBatch<S>& batch, std::size_t count, std::uint64_t seed, std::int32_t* labels,
                  double* log_partition) {
    const ChainKernels<S>& kernels = chain_kernels<S>();
    const std::vector<Outcome> outcome = starting_outcomes(batch);
    const std::size_t stride = padded(batch.labels, kernels.double_width);
    for (std::size_t s = 0; s < batch.sequences; ++s) log_partition[s] = batch.length(s) ? kNaN : 0;
    const Plan plan = make_plan(batch, [&](std::size_t s) { return outcome[s] == Outcome::pending; });
    const double work = static_cast<double>(plan.positions * batch.labels * (3 * batch.labels + 10 * count));
    for_each_sequence(batch, plan, work, [&](std::size_t s, Arena arena) {
        double* messages = take<double>(arena, batch.length(s) * stride);
        log_partition[s] = kernels.log_messages(batch, s, arena, messages);
        if (!std::isfinite(log_partition[s])) return;
        sample_sequence(batch, s, messages, stride, seed, count, labels);
    });
}

}  // namespace kernelfields
