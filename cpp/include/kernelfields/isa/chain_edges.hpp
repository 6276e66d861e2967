// Forward-backward by scaled recursions, edge scores of their own at every position.
//
// The same recursions as in chain_scaled.hpp, one sequence at a time: no two share a matrix, and
// the exponentials of the edge scores outweigh what advancing several together would gain. They are
// computed anew in the backward pass; storing them would take as much memory as the scores.
#pragma once

#include "chain_scaled.hpp"

namespace kernelfields {
namespace {

template <class S, class C> struct EdgeScores {
    const S *first, *end;
    std::size_t labels, stride;
    C* factor;  // exp(edge - largest) of one step, labels x stride

    KF_INLINE Scan range(std::size_t t) const { return scan<S, C>(first + t * labels * labels, labels, labels, end); }
    KF_INLINE void at(std::size_t t, double largest) {
        for (std::size_t i = 0; i < labels; ++i)
            exponentiate<S, C>(first + (t * labels + i) * labels, labels, end, largest, factor + i * stride);
    }
};

// One step back: beta_t and the edge marginals between t and t + 1.
template <class S, class C>
KF_INLINE void edge_back(const EdgeScores<S, C>& edges, const C* alpha, Backward<C>& state, S* out) {
    const std::size_t L = edges.labels, stride = edges.stride;
    C meet = 0;
    for (std::size_t i = 0; i < L; ++i) {
        Vec<C> total{};
        for (std::size_t k = 0; k < stride; k += kWidth<C>) {
            const Vec<C> value = load(edges.factor + i * stride + k) * load(state.into + k);
            store(edges.factor + i * stride + k, value);
            total += value;
        }
        state.beta[i] = alpha[i] > 0 ? sum<C>(total) : C(0);
        meet += alpha[i] * state.beta[i];
    }
    for (std::size_t i = 0; i < L; ++i) {
        state.share[i] = alpha[i] * (state.weight / meet);
        for (std::size_t k = 0; k < stride; k += kWidth<C>)
            store_marginals<S, C>(out + i * L + k, load(edges.factor + i * stride + k) * state.share[i], L - k);
    }
}

template <class S, class C>
KF_INLINE void edge_sequence(const ChainBatch<S>& batch, Rows<C>& rows, EdgeScores<S, C>& edges,
                             const MarginalsOut<S>& out, Arena arena, Outcome& outcome, const double* largest_edge) {
    Row<C>& row = rows.row[0];
    const std::size_t stride = rows.stride, L = rows.labels;
    const C threshold = static_cast<C>(__builtin_exp(-kRange<C>) / (2 * static_cast<double>(L)));
    LongProduct scale[kRows];
    double shifted = row.largest;
    forward_start(rows, threshold, scale);
    for (std::size_t t = 1; t < row.length; ++t) {
        edges.at(t - 1, largest_edge[t - 1]);
        shifted += largest_edge[t - 1];
        forward_step<C, 1, 0>(rows, edges.factor, t, threshold, scale);
    }
    if (row.lost()) return;
    outcome = Outcome::done;
    out.log_partition[row.sequence] = scale[0].log() + shifted;
    if (!out.node) return;

    const double weight = out.weight ? out.weight[row.sequence] : 1.0;
    Backward<C> state{take<C>(arena, stride), take<C>(arena, stride), take<C>(arena, stride), static_cast<C>(weight)};
    std::memset(state.beta, 0, stride * sizeof(C));
    std::memset(state.share, 0, stride * sizeof(C));
    S* node_out = out.node + static_cast<std::size_t>(batch.first[row.sequence]) * L;
    S* edge_out = out.edge + static_cast<std::size_t>(batch.edge_first[row.sequence]) * L * L;
    backward_start(rows, &state, batch, out.node);
    for (std::size_t t = row.length - 1; t-- > 0;) {
        const C* alpha = row.alpha + t * stride;
        edges.at(t, largest_edge[t]);
        edge_back(edges, alpha, state, edge_out + t * L * L);
        Vec<C> total{};
        for (std::size_t k = 0; k < stride; k += kWidth<C>) total += load(state.beta + k);
        const C inverse = 1 / sum<C>(total);
        for (std::size_t k = 0; k < stride; k += kWidth<C>) {
            const Vec<C> beta = load(state.beta + k);
            store_marginals<S, C>(node_out + t * L + k, beta * load(state.share + k), L - k);
            store(state.into + k, beta * inverse * load(row.factor + t * stride + k));
        }
    }
}

template <class S, class C>
void edge_marginals(const ChainBatch<S>& batch, const void*, Group group, const MarginalsOut<S>& out, double*,
                    Arena arena, Outcome* outcome) {
    const std::size_t L = batch.labels, stride = padded(L, kWidth<C>);
    for (std::size_t g = 0; g < group.count; ++g) {
        Arena local = arena;
        const std::size_t s = group.sequence[g], steps = batch.length(s) - 1;
        EdgeScores<S, C> edges{batch.edge + static_cast<std::size_t>(batch.edge_first[s]) * L * L,
                               batch.edge + batch.edges() * L * L, L, stride, take<C>(local, L * stride)};
        double* largest_edge = take<double>(local, steps);
        double range = 0;
        bool finite = true, forbids = false;
        for (std::size_t t = 0; t < steps; ++t) {
            const Scan step = edges.range(t);
            largest_edge[t] = step.largest;
            range = step.range > range ? step.range : range;
            finite = finite && step.finite;
            forbids = forbids || step.forbids;
        }
        if (!finite) {
            outcome[s] = Outcome::not_finite;
            continue;
        }
        Rows<C> rows = prepare_rows<S, C>(batch, range, forbids, {group.sequence + g, 1}, local, outcome);
        if (rows.count) edge_sequence(batch, rows, edges, out, local, outcome[s], largest_edge);
    }
}

}  // namespace
}  // namespace kernelfields
