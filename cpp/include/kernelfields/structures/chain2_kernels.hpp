// What the driver of second-order chains (chain2.hpp) asks of the code compiled per instruction set.
#pragma once

#include "chain_kernels.hpp"

namespace kernelfields {

//   score(y) = score of the chain + sum_t triple[y_{t-1}, y_t, y_{t+1}]
template <class S> struct Chain2Batch {
    ChainBatch<S> chain;
    const S* triple;  // labels x labels x labels

    KF_ALWAYS_INLINE std::size_t cube() const { return chain.labels * chain.labels * chain.labels; }
};

// exp(triple - largest) and exp(edge - largest), rows padded with zeros to the vector width.
struct Chain2Tables {
    double* forward;   // of (i, j, k), rows over k
    double* backward;  // of (i, k, j), rows over j
    double* edge;      // of (j, k), rows over k
    double largest_triple, largest_edge, range;
    bool forbids;  // -inf somewhere
};

template <class S> struct Chain2Kernels {
    std::size_t width;
    void (*prepare)(const Chain2Batch<S>&, Chain2Tables&);
    std::size_t (*bytes)(std::size_t labels, std::size_t longest);
    // Adds marginals of triples and, behind them, of pairs to `sums`. Sequences whose range of scores is too large
    // stay pending.
    void (*marginals)(const Chain2Batch<S>&, const Chain2Tables&, Group, const MarginalsOut<S>&, double* sums, Arena,
                      Outcome*);
};

}  // namespace kernelfields
