// Exact samples from a chain: forward messages, then labels drawn from the last to the first.
#pragma once

#include "../core/draw.hpp"
#include "chain.hpp"

namespace kernelfields {

// exp of the scores of pairs that all edges share; empty where one is too large or too small, other than 0.
template <class S> std::vector<double> pair_masses(const ChainBatch<S>& batch) {
    std::vector<double> masses(batch.shared ? batch.labels * batch.labels : 0);
    for (std::size_t k = 0; k < masses.size(); ++k) {
        masses[k] = std::exp(static_cast<double>(batch.edge[k]));
        const bool forbidden = batch.edge[k] == -std::numeric_limits<S>::infinity();
        if (!forbidden && !(masses[k] > 1e-60 && masses[k] < 1e60)) return {};
    }
    return masses;
}

// Masses of all beginnings of a sequence, those of each position over their sum: what messages are where no
// logarithms are needed. False where a mass is so small that it, or its product with that of a pair, could
// be rounded to zero, or where one is not finite.
template <class S>
bool mass_messages(const ChainBatch<S>& batch, std::size_t s, const std::vector<double>& pairs, double* messages,
                   double& log_partition) {
    const std::size_t L = batch.labels, length = batch.length(s);
    const S* node = batch.node + static_cast<std::size_t>(batch.first[s]) * L;
    double logs = 0;
    for (std::size_t t = 0; t < length; ++t, node += L) {
        double* row = messages + t * L;
        std::fill_n(row, L, t == 0 ? 1.0 : 0.0);
        for (std::size_t i = 0; t > 0 && i < L; ++i)
            for (std::size_t j = 0; j < L; ++j) row[j] += row[i - L] * pairs[i * L + j];
        const double top = static_cast<double>(*std::max_element(node, node + L));
        double sum = 0;
        for (std::size_t j = 0; j < L; ++j) {
            const bool allowed = row[j] > 0 && node[j] != -std::numeric_limits<S>::infinity();
            sum += row[j] *= std::exp(static_cast<double>(node[j]) - top);
            if (allowed && !(row[j] > 1e-180)) return false;
        }
        if (!(sum > 0)) return false;
        for (std::size_t j = 0; j < L; ++j) row[j] /= sum;
        logs += std::log(sum) + top;
    }
    log_partition = logs;
    return std::isfinite(logs);
}

// All draws of one sequence, position by position: where a label is all but certain, the next draw has the
// same label behind it as the one before, and the masses need not be summed up again. `draw` is given a
// position, the label behind it (below zero at the end), a uniform number and room for sums.
template <class S, class Draw>
void sample_sequence(const ChainBatch<S>& batch, std::size_t s, std::uint64_t seed, std::size_t count,
                     std::int32_t* labels, Draw draw) {
    const auto first = static_cast<std::size_t>(batch.first[s]);
    std::vector<double> cumulative(batch.labels);
    for (std::size_t t = batch.length(s); t-- > 0;) {
        const bool last = t + 1 == batch.length(s);
        for (std::size_t n = 0; n < count; ++n) {
            std::int32_t* label = labels + n * batch.positions + first + t;
            const double uniform = uniform_at(seed, n, first + t);
            const bool summed = n > 0 && (last || label[1] == (label - batch.positions)[1]);
            *label = summed ? label_at(uniform, cumulative) : draw(t, last ? -1 : label[1], uniform, cumulative);
        }
    }
}

// Draws by logarithms, which no scores are too large for.
template <class S>
void sample_by_logs(const ChainBatch<S>& batch, std::size_t s, const double* messages, std::size_t stride,
                    std::uint64_t seed, std::size_t count, std::int32_t* labels) {
    const std::size_t L = batch.labels;
    const S* edge = batch.edge + (batch.shared ? 0 : static_cast<std::size_t>(batch.edge_first[s]) * L * L);
    sample_sequence(batch, s, seed, count, labels, [&](std::size_t t, std::int32_t next, double uniform, auto& room) {
        const S* column = edge + (batch.shared ? 0 : t * L * L) + std::max(next, 0);
        return draw_label(L, uniform, room, [&](std::size_t i) {
            return messages[t * stride + i] + (next < 0 ? 0.0 : static_cast<double>(column[i * L]));
        });
    });
}

// `count` labellings of the whole batch (count x positions); log_partition tells which can be had.
template <class S>
void chain_sample(const ChainBatch<S>& batch, std::size_t count, std::uint64_t seed, std::int32_t* labels,
                  double* log_partition) {
    const ChainKernels<S>& kernels = chain_kernels<S>();
    const std::vector<Outcome> outcome = starting_outcomes(batch);
    const std::size_t L = batch.labels, stride = padded(L, kernels.double_width);
    const std::vector<double> pairs = pair_masses(batch);
    for (std::size_t s = 0; s < batch.sequences; ++s) log_partition[s] = batch.length(s) ? kNaN : 0;
    const Plan plan = make_plan(batch, [&](std::size_t s) { return outcome[s] == Outcome::pending; });
    const double work = static_cast<double>(plan.positions * L * (3 * L + 10 * count));
    for_each_sequence(batch, plan, work, [&](std::size_t s, Arena arena) {
        double* messages = take<double>(arena, batch.length(s) * stride);
        if (!pairs.empty() && mass_messages(batch, s, pairs, messages, log_partition[s])) {
            sample_sequence(batch, s, seed, count, labels,
                            [&](std::size_t t, std::int32_t next, double uniform, auto& room) {
                                const double *mass = messages + t * L, *column = pairs.data() + std::max(next, 0);
                                return draw_by_mass(L, uniform, room, [&](std::size_t i) {
                                    return next < 0 ? mass[i] : mass[i] * column[i * L];
                                });
                            });
            return;
        }
        log_partition[s] = kernels.log_messages(batch, s, arena, messages);
        if (std::isfinite(log_partition[s])) sample_by_logs(batch, s, messages, stride, seed, count, labels);
    });
}

}  // namespace kernelfields
