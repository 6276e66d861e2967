// Scores of given labellings of chains.
#pragma once

#include "chain_kernels.hpp"

#include <vector>

namespace kernelfields {

// Score of a labelling; -inf where it is not allowed. Four sums over positions and four over pairs, so that none waits
// for another.
template <class S> double chain_score(const ChainBatch<S>& batch, std::size_t s, const std::int32_t* labels) {
    const std::size_t L = batch.labels, length = batch.length(s);
    const S* node = batch.node + static_cast<std::size_t>(batch.first[s]) * L;
    const S* edge = batch.edge + (batch.shared ? 0 : static_cast<std::size_t>(batch.edge_first[s]) * L * L);
    const std::size_t step = batch.shared ? 0 : L * L;
    const auto label = [&](std::size_t t) { return static_cast<std::size_t>(labels[t]); };
    const auto at_node = [&](std::size_t t) { return static_cast<double>(node[t * L + label(t)]); };
    const auto at_edge = [&](std::size_t t) {
        return static_cast<double>(edge[t * step + label(t) * L + label(t + 1)]);
    };
    double nodes[4] = {}, pairs[4] = {};
    std::size_t t = 0;
    for (; t + 4 < length; t += 4)
        for (std::size_t k = 0; k < 4; ++k) {
            nodes[k] += at_node(t + k);
            pairs[k] += at_edge(t + k);
        }
    for (; t < length; ++t) {
        nodes[0] += at_node(t);
        if (t + 1 < length) pairs[0] += at_edge(t);
    }
    return (nodes[0] + nodes[1]) + (nodes[2] + nodes[3]) + ((pairs[0] + pairs[1]) + (pairs[2] + pairs[3]));
}

// Sums of Viterbi in double precision are the scores of what they found; those in single precision have been shifted.
template <class S> constexpr bool kScoresFound = sizeof(S) == sizeof(double);

// Scores of the sequences of a group whose labels have been found.
template <class S>
void score_found(const ChainBatch<S>& batch, Group group, const std::int32_t* labels, double* value,
                 const std::vector<Outcome>& outcome) {
    for (std::size_t k = 0; k < group.count; ++k) {
        const std::size_t s = group.sequence[k];
        if (outcome[s] == Outcome::done) value[s] = chain_score(batch, s, labels + batch.first[s]);
    }
}

}  // namespace kernelfields
