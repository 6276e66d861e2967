// Second-order chains as Markov chains from the first label to the last:
//
//   p(y_t = k | c) ~ exp(triple(c, k) + u_t(y_{t-1}, k))
//
// Nothing is divided by a message, so nothing cancels. Exponentials are taken once per state and once per
// triple of the model, products of them summed over k: L^3 multiplications for a position, L^2
// exponentials. Where such a sum is so small that what underflowed could matter, logarithms answer.
#pragma once

#include "chain2_messages.hpp"

namespace kernelfields {

// exp(triple(c, k) - largest(c)), the same for all sequences.
class TripleFactors {
public:
    template <class S> explicit TripleFactors(const Chain2Batch<S>& batch) : factor(batch.cube()) {
        const std::size_t L = batch.chain.labels;
        for (std::size_t c = 0; c < L * L; ++c) {
            double* row = factor.data() + c * L;
            std::copy_n(batch.triple + c * L, L, row);
            largest.push_back(shift_to_zero(row, L));
            for (std::size_t k = 0; k < L; ++k) row[k] = std::exp(row[k]);
        }
    }
    std::vector<double> factor, largest;
};

template <class S> class Conditionals {
public:
    const Chain2View<S>& chain;
    double* u;

    // `memory` holds size(chain) numbers.
    Conditionals(const Chain2View<S>& view, const TripleFactors& factors, double* memory)
        : chain(view), u(memory), triples_(factors), mass_(memory + view.size()), top_(memory + 2 * view.size()) {}

    static std::size_t size(const Chain2View<S>& view) { return 2 * view.size() + view.length * view.labels; }

    // Fills u and returns the log-partition. `work` holds one row of labels.
    double prepare(double* work) const {
        return send_backwards(
            chain, u, [&](std::size_t t, std::size_t c) { return log_mass(t, c, work); },
            [&](std::size_t t) { exponentiate(t); });
    }

    // p <- p(y_t = . | c); false when c allows nothing.
    bool condition(std::size_t t, std::size_t c, double* p) const {
        const double total = masses(t, c, p);
        if (total < kSmall) {
            chain.given(u, t, c, p);
            return softmax(p, chain.labels);
        }
        const double scale = 1 / total;
        for (std::size_t k = 0; k < chain.labels; ++k) p[k] *= scale;
        return true;
    }

private:
    // What has underflowed is below 1e-300.
    static constexpr double kSmall = 1e-200;

    // exp(u_t - its largest over y_t) for every y_{t-1}.
    void exponentiate(std::size_t t) const {
        const std::size_t L = chain.labels;
        for (std::size_t j = 0; j * L < chain.states(t); ++j) {
            double* row = mass_ + chain.at(t) + j * L;
            std::copy_n(u + chain.at(t) + j * L, L, row);
            top_[t * L + j] = shift_to_zero(row, L);
            for (std::size_t k = 0; k < L; ++k) row[k] = std::exp(row[k]);
        }
    }
    // p(k) <- masses of y_t = k up to a factor; returns their sum.
    double masses(std::size_t t, std::size_t c, double* p) const {
        const std::size_t L = chain.labels;
        const double *row = mass_ + chain.at(t) + chain.after(c), *factor = triples_.factor.data() + c * L;
        if (t > 1)
            for (std::size_t k = 0; k < L; ++k) p[k] = factor[k] * row[k];
        else std::copy_n(row, L, p);
        return sum_of(p, L);
    }
    double log_mass(std::size_t t, std::size_t c, double* work) const {
        const std::size_t L = chain.labels;
        const double total = masses(t, c, work);
        if (total < kSmall) {
            chain.given(u, t, c, work);
            return log_sum_exp(work, L);
        }
        return (t > 1 ? triples_.largest[c] : 0) + top_[t * L + chain.last(c)] + std::log(total);
    }

    const TripleFactors& triples_;
    double *mass_, *top_;
};

// Masses of contexts from the first to the last, 1 at the start: visit(t, c, m, p) sees p = p(y_t = . | c)
// wherever m = p(c) > 0, settled(t, m) the masses of all states after y_t. `work` holds 2 L^2 + L numbers.
template <class S, class Visit, class Settled>
void send_forwards(const Conditionals<S>& conditionals, double* work, Visit visit, Settled settled) {
    const Chain2View<S>& chain = conditionals.chain;
    double *now = work, *next = now + chain.square, *p = next + chain.square;
    now[0] = 1;
    for (std::size_t t = 0; t < chain.length; ++t) {
        std::fill(next, next + chain.states(t), 0.0);
        for (std::size_t c = 0; c < chain.contexts(t); ++c) {
            if (now[c] == 0 || !conditionals.condition(t, c, p)) continue;
            visit(t, c, now[c], p);
            double* row = next + chain.after(c);
            for (std::size_t k = 0; k < chain.labels; ++k) row[k] += now[c] * p[k];
        }
        const double total = sum_of(next, chain.states(t));  // 1 but for rounding, which must not add up
        for (std::size_t c = 0; c < chain.states(t); ++c) next[c] /= total;
        settled(t, next);
        std::swap(now, next);
    }
}

}  // namespace kernelfields
