// Messages of ragged batches of second-order chains, from the last label to the first.
//
// The state after y_t is the pair c = (y_{t-1}, y_t), numbered y_{t-1} L + y_t, and y_0 itself after y_0;
// the state after y_{t-1} is the context of y_t. With u_t over the states after y_t,
//
//   u_t(c) = node_t(y_t) + edge_{t-1}(y_{t-1}, y_t) + (+)_k [ triple(c, k) + u_{t+1}(y_t, k) ]
//
// where (+) is log sum exp, or max; no triple ends with y_1, no edge with y_0. Each u_t is shifted to a
// largest entry of zero, so that rounding does not grow with length.
#pragma once

#include "../core/logarithms.hpp"
#include "chain2_kernels.hpp"
#include "chain_plan.hpp"

namespace kernelfields {

// One sequence, not empty.
template <class S> struct Chain2View {
    const Chain2Batch<S>& batch;
    std::size_t first, length, labels, square;
    const S *node, *edge;

    Chain2View(const Chain2Batch<S>& all, std::size_t s)
        : batch(all),
          first(static_cast<std::size_t>(all.chain.first[s])),
          length(all.chain.length(s)),
          labels(all.chain.labels),
          square(labels * labels),
          node(all.chain.node + first * labels),
          edge(all.chain.edge + (all.chain.shared ? 0 : static_cast<std::size_t>(all.chain.edge_first[s]) * square)) {}

    // Values of the state after y_t, and of the context of y_t.
    std::size_t states(std::size_t t) const { return t ? square : labels; }
    std::size_t contexts(std::size_t t) const { return t ? states(t - 1) : 1; }
    // Where rows over the states after y_t begin, and their size for all t.
    std::size_t at(std::size_t t) const { return t ? labels + (t - 1) * square : 0; }
    std::size_t size() const { return at(length); }
    // The label that a state ends with.
    std::size_t last(std::size_t state) const { return state % labels; }
    // The state after y_t = 0 in a context; that after y_t = k comes k places later.
    std::size_t after(std::size_t context) const { return last(context) * labels; }

    // What y_t and the edge to it add to the score, in a state after y_t.
    double own(std::size_t t, std::size_t state) const {
        const auto vertex = static_cast<double>(node[t * labels + last(state)]);
        return t ? vertex + static_cast<double>(edge[(batch.chain.shared ? 0 : (t - 1) * square) + state]) : vertex;
    }
    // What the triple that ends with y_t = 0, 1, ... adds.
    double triple(std::size_t t, std::size_t context, std::size_t k) const {
        return t > 1 ? static_cast<double>(batch.triple[context * labels + k]) : 0;
    }
    // out(k) = triple(context, k) + u_t(y_{t-1}, k)
    void given(const double* u, std::size_t t, std::size_t context, double* out) const {
        const double* next = u + at(t) + after(context);
        if (t > 1)
            for (std::size_t k = 0; k < labels; ++k) out[k] = triple(t, context, k) + next[k];
        else std::copy_n(next, labels, out);
    }
    // Whether all scores that the sequence looks at can be used.
    bool usable_scores() const {
        const std::size_t pairs = length < 2 ? 0 : batch.chain.shared ? square : (length - 1) * square;
        return usable(node, length * labels) && usable(edge, pairs) &&
               usable(batch.triple, length < 3 ? 0 : batch.cube());
    }
};

// Fills u; combine(t, context) is (+) over y_t, finish(t) sees that u_t is ready. Returns (+) over all
// labellings.
template <class S, class Combine, class Finish>
double send_backwards(const Chain2View<S>& chain, double* u, Combine combine, Finish finish) {
    double total = 0;
    for (std::size_t t = chain.length; t-- > 0;) {
        double* here = u + chain.at(t);
        for (std::size_t c = 0; c < chain.states(t); ++c) {
            here[c] = chain.own(t, c);
            if (t + 1 < chain.length && here[c] > kNothing) here[c] += combine(t + 1, c);
        }
        total += shift_to_zero(here, chain.states(t));
        if (total == kNothing) return total;
        finish(t);
    }
    return total + combine(0, 0);
}

// body(s, chain, memory, sums) for every sequence that keep(s) holds for and whose scores can be used; value[s]
// becomes NaN for those that cannot, and 0 for empty ones. `memory` belongs to the thread. What bodies add to `sums`
// (triples, then shared edges; null if sum is) is added to `sum`, block by block. `cost` is nanoseconds per triple.
template <class S, class Body, class Keep>
void for_each_chain2(const Chain2Batch<S>& batch, double cost, double* value, double* sum, Body body, Keep keep) {
    const ChainBatch<S>& chain = batch.chain;
    const std::size_t width = sum ? batch.cube() + chain.labels * chain.labels : 0;
    const Plan plan = make_plan(chain, keep);
    const int threads = threads_for(cost * static_cast<double>(plan.positions * batch.cube()));
    std::vector<double> sums(plan.blocks() * width);
    std::vector<std::vector<double>> memory(static_cast<std::size_t>(threads));
    for (std::size_t s = 0; s < chain.sequences; ++s)
        if (chain.length(s) == 0 || keep(s)) value[s] = 0;
    for_each_block(plan.blocks(), threads, [&](std::size_t block, std::size_t thread) {
        for (std::size_t g = plan.block[block]; g < plan.block[block + 1]; ++g)
            for (std::size_t k = 0; k < plan.group(g).count; ++k) {
                const std::size_t s = plan.group(g).sequence[k];
                const Chain2View<S> view(batch, s);
                if (view.usable_scores()) body(s, view, memory[thread], sum ? sums.data() + block * width : nullptr);
                else value[s] = std::numeric_limits<double>::quiet_NaN();
            }
    });
    for (std::size_t k = 0; k < sums.size(); ++k) sum[k % width] += sums[k];
}

template <class S, class Body>
void for_each_chain2(const Chain2Batch<S>& batch, double cost, double* value, double* sum, Body body) {
    for_each_chain2(batch, cost, value, sum, body, [](std::size_t) { return true; });
}

}  // namespace kernelfields
