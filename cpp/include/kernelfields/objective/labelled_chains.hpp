// Labelled sequences, with how much each counts and scores that are not learnt.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelfields {

template <class S> struct LabelledChains {
    std::size_t sequences, labels;
    const std::int64_t* first;    // sequences + 1
    const std::int32_t* right;    // the label of every position
    const double* weight;         // of every sequence, or null
    const S *fixed, *edge_fixed;  // positions x labels, labels x labels

    std::size_t positions() const { return static_cast<std::size_t>(first[sequences]); }
    std::size_t from(std::size_t s) const { return static_cast<std::size_t>(first[s]); }
    std::size_t length(std::size_t s) const { return static_cast<std::size_t>(first[s + 1] - first[s]); }
    double times(std::size_t s) const { return weight ? weight[s] : 1.0; }
    bool counts(std::size_t s) const { return length(s) > 0 && times(s) > 0; }

    // node(t * labels + y_t) and pair(y_t * labels + y_{t+1}) for the right labels of a sequence.
    template <class Node, class Pair> void each_right(std::size_t s, Node node, Pair pair) const {
        const std::int32_t* y = right + first[s];
        for (std::size_t t = 0; t < length(s); ++t) {
            node(t * labels + static_cast<std::size_t>(y[t]));
            if (t > 0) pair(static_cast<std::size_t>(y[t - 1]) * labels + static_cast<std::size_t>(y[t]));
        }
    }
    double fixed_of_right(std::size_t s) const {
        double total = 0;
        const S* node = fixed + from(s) * labels;
        each_right(
            s, [&](std::size_t k) { total += static_cast<double>(node[k]); },
            [&](std::size_t k) { total += static_cast<double>(edge_fixed[k]); });
        return total;
    }
};

}  // namespace kernelfields
