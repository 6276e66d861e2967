// The derivative of all marginals of a second-order chain along a direction d in score space, exactly:
//
//   du_t(c) = dnode_t(y_t) + dedge_{t-1}(c) + dm_{t+1}(c)                         (backwards)
//   dm_t(c) = sum_k p(k | c) (dtriple(c, k) + du_t(y_{t-1}, k))
//   d[m(c) p(k | c)] = p(k | c) (dm(c) + m(c) (dtriple(c, k) + du_t(y_{t-1}, k) - dm_t(c)))   (forwards)
//
// A constant added to du_t cancels in all that matters; it is chosen such that du_t is zero where u_t is
// largest, so that sums over long sequences do not drown the differences.
#pragma once

#include "chain2.hpp"

namespace kernelfields {

template <class S> struct Chain2Covariance {
    const Conditionals<S>& conditionals;
    const Chain2View<S>& direction;  // own and triple are those of the direction
    double *du, *p, *along;          // states of all t; a row of labels each

    // p <- p(y_t = . | c), along <- dtriple(c, .) + du_t; returns their product, 0 when c allows nothing.
    double condition(std::size_t t, std::size_t c) const {
        if (!conditionals.condition(t, c, p)) std::fill(p, p + direction.labels, 0.0);
        direction.given(du, t, c, along);
        return dot(p, along, direction.labels);
    }

    // Fills du; returns the derivative of the log-partition.
    double backwards() const {
        double total = 0;
        for (std::size_t t = direction.length; t-- > 0;) {
            double* here = du + direction.at(t);
            const std::size_t states = direction.states(t);
            for (std::size_t c = 0; c < states; ++c)
                here[c] = direction.own(t, c) + (t + 1 < direction.length ? condition(t + 1, c) : 0);
            const double centre = here[first_largest(conditionals.u + direction.at(t), states)];
            for (std::size_t c = 0; c < states; ++c) here[c] -= centre;
            total += centre;
        }
        return total + condition(0, 0);
    }

    // visit(t, c, x): derivatives of p(c, y_t = .); settled(t, x): those of all states after y_t.
    // `work` holds 4 L^2 numbers.
    template <class Visit, class Settled> void forwards(double* work, Visit visit, Settled settled) const {
        const std::size_t L = direction.labels, square = direction.square;
        double *m = work, *dm = m + square, *next = dm + square, *change = next + square;
        m[0] = 1;
        dm[0] = 0;
        for (std::size_t t = 0; t < direction.length; ++t) {
            const std::size_t states = direction.states(t);
            std::fill(next, next + states, 0.0);
            std::fill(change, change + states, 0.0);
            for (std::size_t c = 0; c < direction.contexts(t); ++c) {
                if (m[c] == 0) continue;
                const double mean = condition(t, c);
                const std::size_t row = direction.after(c);
                for (std::size_t k = 0; k < L; ++k) {
                    along[k] = p[k] * (dm[c] + m[c] * (along[k] - mean));
                    next[row + k] += m[c] * p[k];
                    change[row + k] += along[k];
                }
                visit(t, c, along);
            }
            // 1 and 0 but for rounding, which must not add up
            const double total = sum_of(next, states), drift = sum_of(change, states);
            for (std::size_t c = 0; c < states; ++c) {
                next[c] /= total;
                change[c] -= drift * next[c];
            }
            settled(t, change);
            std::swap(m, next);
            std::swap(dm, change);
        }
    }
};

// `triple_direction` completes the direction in `out`; `sum` takes the derivatives of the marginals of
// triples, then those of shared edges.
template <class S>
void chain2_covariance(const Chain2Batch<S>& batch, const CovarianceOut<S>& out, const S* triple_direction,
                       double* sum) {
    const std::size_t L = batch.chain.labels;
    const TripleFactors factors(batch);
    Chain2Batch<S> along{batch.chain, triple_direction};
    along.chain.node = out.node_direction;
    along.chain.edge = out.edge_direction;
    for_each_chain2(batch, 5, out.log_partition, sum,
                    [&](std::size_t s, const Chain2View<S>& chain, std::vector<double>& memory, double* sums) {
                        const std::size_t messages = Conditionals<S>::size(chain);
                        memory.resize(messages + chain.size() + 4 * chain.square + 3 * L);
                        const Conditionals<S> conditionals(chain, factors, memory.data());
                        double *du = memory.data() + messages, *work = du + chain.size();
                        double& value = out.log_partition[s];
                        value = conditionals.prepare(work);
                        if (!std::isfinite(value)) return;
                        const Chain2View<S> direction(along, s);
                        const Chain2Covariance<S> sweep{conditionals, direction, du, work, work + L};
                        const double weight = out.weight ? out.weight[s] : 1.0;
                        const auto edge_first = static_cast<std::size_t>(batch.chain.edge_first[s]);
                        value = sweep.backwards();
                        sweep.forwards(
                            work + 3 * L,
                            [&](std::size_t t, std::size_t c, const double* x) {
                                if (t > 1)
                                    for (std::size_t k = 0; k < L; ++k) sums[c * L + k] += weight * x[k];
                            },
                            [&](std::size_t t, const double* x) {
                                write_states(chain, t, x, weight, out, edge_first, sums, work + 2 * L);
                            });
                    });
}

}  // namespace kernelfields
