// Sequential reweighted message passing: TRW-S [kolmogorov2006] on pairs, SRMP [kolmogorov2015] beyond.
//
// Scores are shifted between vertices and factors without changing that of any labelling,
//
//   node_v(x) + sum_f m_fv(x)      and      table_f(x) - sum_{v in f} m_fv(x_v),
//
// and the sum of all their maxima bounds the best score from above. Vertices are visited in their order, then
// backwards. A visit collects from every factor its max-marginal, which lowers the bound or leaves it, and
// then gives equal shares of the sum to the factors whose other members are still to come, which leaves it.
//
// A slot holds what the vertex has given to its factor, n = share - m; that of the last member of a sweep,
// which gives nothing, holds m itself until the next sweep starts there. Forbidden labels are -inf in both.
#pragma once

#include "../core/parallel.hpp"
#include "factor_graph.hpp"

#include <cmath>

namespace kernelfields {

class ReweightedMessages {
public:
    explicit ReweightedMessages(const FactorGraph& graph)
        : graph_(graph),
          labels_(graph.labels()),
          held_(graph.slot(graph.factors()) * labels_, 0.0),
          total_(labels_),
          row_(labels_) {}

    // One sweep; the bound after it. The labelling is rounded on the way: every vertex takes its best label
    // given those before it, what comes after it being represented by messages.
    double sweep(bool forward, std::int32_t* labels) {
        double bound = 0;
        const std::size_t V = graph_.vertices();
        seen_.assign(V, 0);
        for (std::size_t i = 0; i < V; ++i) {
            const std::size_t v = forward ? i : V - 1 - i;
            bound += visit(v, forward, labels);
            if (bound == kForbidden) return bound;
        }
        return bound;
    }

private:
    double* held(std::size_t slot) { return held_.data() + slot * labels_; }

    double visit(std::size_t v, bool forward, std::int32_t* labels) {
        const std::size_t L = labels_;
        double bound = 0;
        std::size_t in = 0, out = 0;
        std::copy_n(graph_.node(v), L, total_.data());
        std::copy_n(graph_.node(v), L, row_.data());
        for (const FactorGraph::Slot* at = graph_.begin(v); at != graph_.end(v); ++at) {
            double* m = held(graph_.slot(at->factor) + at->place);
            const bool starts = forward ? at->lowest : at->highest, ends = forward ? at->highest : at->lowest;
            in += !starts, out += !ends;
            if (!starts) {
                add_rounded(*at, labels);
                collect(*at, m);
                const double shift = *std::max_element(m, m + L);
                if (shift == kForbidden) return kForbidden;
                for (std::size_t x = 0; x < L; ++x) m[x] -= shift;
                if (ends) bound += shift;  // what is left in the factor, whose members have all been visited
            } else {
                for (std::size_t x = 0; x < L; ++x) row_[x] += m[x];
            }
            for (std::size_t x = 0; x < L; ++x) total_[x] += m[x];
        }
        const double highest = *std::max_element(total_.begin(), total_.end());
        if (highest == kForbidden) return kForbidden;
        choose(v, labels);
        for (double& value : total_) value -= highest;
        if (out) give(v, forward, 1.0 / static_cast<double>(std::max(in, out)));
        return bound + highest;
    }

    void give(std::size_t v, bool forward, double share) {
        for (const FactorGraph::Slot* at = graph_.begin(v); at != graph_.end(v); ++at) {
            if (forward ? at->highest : at->lowest) continue;
            double* m = held(graph_.slot(at->factor) + at->place);
            for (std::size_t x = 0; x < labels_; ++x)
                m[x] = total_[x] == kForbidden ? kForbidden : share * total_[x] - m[x];
        }
    }

    void choose(std::size_t v, std::int32_t* labels) {
        auto best = std::max_element(row_.begin(), row_.end()) - row_.begin();
        if (row_[static_cast<std::size_t>(best)] == kForbidden)  // nothing goes with the labels before it
            best = std::max_element(total_.begin(), total_.end()) - total_.begin();
        labels[v] = static_cast<std::int32_t>(best);
        seen_[v] = 1;
    }

    // max over the labels of the other members of table + what they have given.
    void collect(const FactorGraph::Slot& at, double* m) {
        const std::size_t L = labels_, first = graph_.slot(at.factor);
        std::fill_n(m, L, kForbidden);
        if (graph_.arity(at.factor) > 2) return max_marginal(at, nullptr, m);
        const double* given = held(first + 1 - at.place);
        const double* table = graph_.towards(at.factor, at.place);
        for (std::size_t y = 0; y < L; ++y, table += L) {
            const double from = given[y];
            if (from == kForbidden) continue;
            for (std::size_t x = 0; x < L; ++x) m[x] = table[x] + from > m[x] ? table[x] + from : m[x];
        }
    }

    // The same, members that have a label in this sweep held fixed, added to row_.
    void add_rounded(const FactorGraph::Slot& at, const std::int32_t* labels) {
        if (graph_.arity(at.factor) == 2) return graph_.add_row(at.factor, at.place, labels, row_.data());
        std::vector<double>& best = scratch_;
        best.assign(labels_, kForbidden);
        max_marginal(at, labels, best.data());
        for (std::size_t x = 0; x < labels_; ++x) row_[x] += best[x];
    }

    void max_marginal(const FactorGraph::Slot& at, const std::int32_t* fixed, double* out) {
        state_.assign(graph_.arity(at.factor), 0);
        descend(at, fixed, out, 0, graph_.table(at.factor), 0.0);
    }

    void descend(const FactorGraph::Slot& at, const std::int32_t* fixed, double* out, std::size_t q,
                 const double* table, double sum) {
        const std::size_t a = graph_.arity(at.factor), L = labels_;
        if (q == a) {
            double& best = out[state_[at.place]];
            best = std::max(best, *table + sum);
            return;
        }
        std::size_t step = 1;
        for (std::size_t k = q + 1; k < a; ++k) step *= L;
        const std::size_t slot = graph_.slot(at.factor) + q, v = graph_.vertex(slot);
        const bool known = fixed && q != at.place && seen_[v];
        for (std::size_t x = 0; x < L; ++x) {
            if (known && static_cast<std::size_t>(fixed[v]) != x) continue;
            const double more = q == at.place || known ? 0.0 : held(slot)[x];
            if (more == kForbidden) continue;
            state_[q] = x;
            descend(at, fixed, out, q + 1, table + x * step, sum + more);
        }
    }

    const FactorGraph& graph_;
    std::size_t labels_;
    std::vector<double> held_, total_, row_, scratch_;
    std::vector<char> seen_;
    std::vector<std::size_t> state_;
};

struct ReweightedLimits {
    std::size_t iterations;
    double tolerance;  // of the bound, relative, over ten iterations
    double rounding;   // of the gap, relative: below it the labelling is the best one
};

struct ReweightedOut {
    std::int32_t* labels;
    double *value, *bound;
    std::int32_t *iterations, *converged;
};

// One instance: sweeps until the bound meets the best labelling, or hardly moves.
inline void search_reweighted(const FactorGraph& graph, const ReweightedLimits& limits, std::size_t s,
                              const ReweightedOut& out) {
    constexpr std::size_t kWindow = 10;
    ReweightedMessages messages(graph);
    std::int32_t* best = out.labels + graph.first_vertex();
    std::vector<std::int32_t> tried(graph.vertices(), 0);
    std::vector<double> row, bounds;
    std::fill_n(best, graph.vertices(), 0);
    double value = graph.vertices() ? kForbidden : 0.0, bound = std::numeric_limits<double>::infinity();
    bool converged = false;
    const auto close = [&](double a, double b, double relative) {
        return a - b <= relative * std::max(1.0, std::abs(a));
    };
    std::size_t iteration = 0;
    while (iteration < limits.iterations && !converged) {
        for (const bool forward : {true, false}) {
            bound = std::min(bound, messages.sweep(forward, tried.data()));
            if (bound == kForbidden) break;
            if (iteration % 4 == 0 || iteration + 1 == limits.iterations) graph.improve(tried.data(), row);
            if (const double found = graph.score(tried.data()); found > value) {
                value = found;
                std::copy(tried.begin(), tried.end(), best);
            }
        }
        ++iteration;
        if (bound == kForbidden) break;
        bounds.push_back(bound);
        converged = close(bound, value, limits.rounding) ||
                    (iteration > kWindow && close(bounds[iteration - 1 - kWindow], bound, limits.tolerance));
    }
    if (bound == kForbidden) value = kForbidden;
    else if (value > kForbidden) {
        graph.improve(best, row);
        value = graph.score(best);
    }
    out.value[s] = value, out.bound[s] = bound;
    out.iterations[s] = static_cast<std::int32_t>(iteration);
    out.converged[s] = converged || bound == kForbidden;
}

// body(graph, s) for every instance, on all cores.
template <class Body> void for_each_factor_graph(const FactorGraphs& all, double work, Body body) {
    for_each_block(all.instances, threads_for(work), [&](std::size_t s, std::size_t) {
        const FactorGraph graph(all, s);
        body(graph, s);
    });
}

}  // namespace kernelfields
