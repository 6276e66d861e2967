// Factors of second-order chains, the same for all sequences.
#pragma once

#include "../structures/chain2_kernels.hpp"
#include "chain_rows.hpp"

namespace kernelfields {
namespace {

template <class S> void prepare_triples(const Chain2Batch<S>& batch, Chain2Tables& out) {
    const std::size_t L = batch.chain.labels, stride = padded(L, kWidth<double>);
    SharedEdges<double> edges{out.edge, out.backward, 0, 0, false};  // the transpose is thrown away
    prepare_edges<S, double>(batch.chain.edge, L, edges);
    const S* end = batch.triple + batch.cube();
    const Scan triples = scan<S, double>(batch.triple, L * L, L, end);
    out.largest_edge = edges.largest;
    out.largest_triple = triples.largest >= -std::numeric_limits<double>::max() ? triples.largest : 0.0;
    out.range = triples.finite ? triples.range + edges.range : std::numeric_limits<double>::quiet_NaN();
    out.forbids = triples.forbids || edges.forbids;
    for (std::size_t c = 0; c < L * L; ++c)
        exponentiate<S, double>(batch.triple + c * L, L, end, out.largest_triple, out.forward + c * stride);
    for (std::size_t i = 0; i < L; ++i)
        for (std::size_t k = 0; k < L; ++k)
            for (std::size_t j = 0; j < stride; ++j)
                out.backward[(i * L + k) * stride + j] = j < L ? out.forward[(i * L + j) * stride + k] : 0.0;
}

}  // namespace
}  // namespace kernelfields
