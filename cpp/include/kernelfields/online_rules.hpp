// Rules of online learning, and the sweep that applies one of them to one sequence after the other.
//
// A rule is asked learn(chain) for every sequence, whose scores are ready, and returns the loss that
// the sequence had before the weights changed.
#pragma once

#include "online.hpp"

#include <cmath>

namespace kernelfields {

// Sum of the losses; NaN if some sequence has no allowed labelling or a score that is not finite.
template <class S, class Rule>
double online_sweep(OnlineChain<S>& chain, const std::int64_t* order, std::size_t count, Rule rule) {
    double total = 0;
    for (std::size_t k = 0; k < count; ++k) {
        chain.bind(static_cast<std::size_t>(order[k]));
        if (chain.length() > 0) total += rule.learn(chain);
        chain.weights.tick();
        if (!(total < std::numeric_limits<double>::infinity())) return kNaN;
    }
    return total;
}

// Stochastic gradient descent on sum_i loss_i + (lambda / 2) |w|^2, the log loss. At step t
//
//   w <- (w - eta_t dloss) / (1 + eta_t lambda / S),     eta_t = eta / (1 + eta (lambda / S) t),
//
// S the number of sequences: the penalty's share of the step is taken implicitly, so that no step
// size can turn the weights round.
struct Descent {
    double eta, node_decay, edge_decay;  // lambda / S
    double time;
    double least;

    template <class S> double learn(OnlineChain<S>& chain) {
        const double log_partition = chain.mismatch();
        const double loss = chain.weight() * (log_partition - chain.score(chain.right()));
        if (!(std::abs(loss) < std::numeric_limits<double>::infinity())) return kNaN;
        const double step = eta / (1 + eta * node_decay * time++);
        if (step == 0) return loss;
        chain.weights.node.scale /= 1 + step * node_decay;
        chain.weights.edges.scale /= 1 + step * edge_decay;
        chain.add_mismatch(-step / (1 + step * node_decay), -step / (1 + step * edge_decay), static_cast<S>(least));
        return loss;
    }
};

}  // namespace kernelfields
