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
        total += rule.learn(chain);
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
        const bool empty = chain.length() == 0;  // has its share of the penalty like any other
        const double log_partition = empty ? 0 : chain.mismatch();
        const double loss = empty ? 0 : chain.weight() * (log_partition - chain.score(chain.right()));
        if (!(std::abs(loss) < std::numeric_limits<double>::infinity())) return kNaN;
        const double step = eta / (1 + eta * node_decay * time++);
        if (step == 0) return loss;
        chain.weights.node.scale /= 1 + step * node_decay;
        chain.weights.edges.scale /= 1 + step * edge_decay;
        if (empty) return 0;
        chain.add_mismatch(-step / (1 + step * node_decay), -step / (1 + step * edge_decay), static_cast<S>(least));
        return loss;
    }
};

// Rules that look at the best labelling only, and change nothing if it is the right one. A rule says
// whether it needs `change`, parts(right) - parts(best), with every coordinate once; update(chain,
// margin, wrong) makes the change and returns the loss. margin = score(best) - score(right), wrong =
// at how many positions the two differ.
template <class Update> struct OnMistake {
    Update update;

    template <class S> double learn(OnlineChain<S>& chain) {
        if (chain.length() == 0) return 0;
        if (!chain.find_best()) return kNaN;
        std::size_t wrong = 0;
        for (std::size_t t = 0; t < chain.length(); ++t) wrong += chain.best()[t] != chain.right()[t];
        if (wrong == 0) return 0;
        chain.missed += static_cast<double>(wrong) / static_cast<double>(chain.length());
        const double margin = chain.score(chain.best()) - chain.score(chain.right());
        if (!(margin < std::numeric_limits<double>::infinity())) return kNaN;
        chain.collect(Update::kMerged);
        return chain.weight() * update(chain, margin, static_cast<double>(wrong));
    }
};

// w <- w + parts(right) - parts(best). The loss is the margin.
struct Perceptron {
    static constexpr bool kMerged = false;

    template <class S> double operator()(OnlineChain<S>& chain, double margin, double) const {
        chain.add_change(chain.weight());
        return margin;
    }
};

// w <- w + tau (parts(right) - parts(best)), the smallest change that brings the loss, margin plus a
// cost, to zero (PA); with tau at most c (PA-I); or with a price of tau^2 / (2c) (PA-II).
struct PassiveAggressive {
    static constexpr bool kMerged = true;

    int variant;
    double c;
    bool error_sensitive;  // the cost is the root of the number of wrong labels, not one

    template <class S> double operator()(OnlineChain<S>& chain, double margin, double wrong) const {
        const double loss = margin + (error_sensitive ? std::sqrt(wrong) : 1);
        double square = 0;
        for (const auto& [key, value] : chain.change()) square += value * value;
        if (square > 0) chain.add_change(chain.weight() * step(loss, square));
        return loss;
    }
    double step(double loss, double square) const {
        if (variant == 2) return loss / (square + 0.5 / c);
        return variant == 1 ? std::min(c, loss / square) : loss / square;
    }
};

// A mean and a variance for every weight: uncertain ones change most,
//   w_k <- w_k + alpha var_k d_k,  1/var_k <- 1/var_k + d_k^2 / gamma,
// alpha = loss / (sum_k var_k d_k^2 + gamma), loss = margin + wrong, d = parts(right) - parts(best).
struct Arow {
    static constexpr bool kMerged = true;

    double gamma;

    template <class S> double operator()(OnlineChain<S>& chain, double margin, double wrong) const {
        std::vector<S>& variance = chain.weights.variance();
        const double loss = margin + wrong;
        double total = gamma;
        for (const auto& [key, value] : chain.change()) total += static_cast<double>(variance[key]) * value * value;
        const double alpha = chain.weight() * loss / total;
        for (const auto& [key, value] : chain.change()) {
            const double before = static_cast<double>(variance[key]);
            chain.weights.add(key, alpha * before * value);
            variance[key] = static_cast<S>(1 / (1 / before + value * value / gamma));
        }
        return loss;
    }
};

}  // namespace kernelfields
