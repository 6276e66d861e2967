// NumPy arrays as a batch of chains.
#pragma once

#include "pairwise.hpp"

namespace kernelfields::bindings {

// The arrays of a batch, checked, with the place of each sequence's edges.
template <class S> struct ChainArrays {
    std::vector<std::int64_t> edge_first;
    ChainBatch<S> chain;

    ChainArrays(const In<S>& node, const In<S>& edge, const In<std::int64_t>& offsets) {
        if (node.ndim() != 2 || node.shape(1) == 0)
            throw std::invalid_argument("node has shape " + shape_of(node) + ", expected (positions, labels).");
        const std::size_t N = node.shape(0), L = node.shape(1);
        require_offsets(offsets, "offsets", N);
        const std::size_t sequences = offsets.shape(0) - 1;
        edge_first.assign(sequences + 1, 0);
        for (std::size_t s = 0; s < sequences; ++s) {
            const std::int64_t length = offsets.data()[s + 1] - offsets.data()[s];
            edge_first[s + 1] = edge_first[s] + (length > 0 ? length - 1 : 0);
        }
        const bool shared = require_edges(edge, "edge", static_cast<std::size_t>(edge_first[sequences]), L);
        chain = {sequences, N, L, offsets.data(), edge_first.data(), node.data(), edge.data(), shared};
    }
};

}  // namespace kernelfields::bindings
