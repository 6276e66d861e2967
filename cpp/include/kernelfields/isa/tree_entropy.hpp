// Entropy of forests by scaled recursions in double, without cancellation:
//
//   H = sum over roots of H(y_v) + sum over edges of E[ H(y_v | y_parent) ],
//   p(j | i) = A(i, j) u_v(j) / (s_v m_v(i)),   log p(j | i) = log A(i, j) + log u_v(j) - log (s_v m_v(i))
#pragma once

#include "chain_entropy.hpp"
#include "tree_edges.hpp"

namespace kernelfields {
namespace {

template <class S> struct TreeEntropy {
    const TreeRows<S>& rows;
    double *logs, *next;  // log u_v; mu_v: a row each

    KF_INLINE double root(std::size_t k) const {
        double total = 0;
        for (std::size_t j = 0; j < rows.L; ++j)
            if (const double p = rows.u[k * rows.stride + j]; p > 0) total -= p * __builtin_log(p);
        return total;
    }
    // Turns u_v into mu_v; A and log_A (labels x stride) are of the edge into the vertex.
    KF_INLINE double below(std::size_t k, const double* A, const double* log_A) const {
        const std::size_t L = rows.L, stride = rows.stride;
        const double *above = rows.u + rows.group.parent[k] * stride, *m = rows.m + k * stride;
        const double s = rows.scale[rows.group.place[k]];
        double* u = rows.u + k * stride;
        Vec<double> entropy{}, total{};
        std::memset(next, 0, stride * sizeof(double));
        for (std::size_t j = 0; j < stride; ++j) logs[j] = u[j] > 0 ? __builtin_log(u[j]) : 0;
        for (std::size_t i = 0; i < L; ++i) {
            if (!(above[i] > 0 && m[i] > 0)) continue;
            const double mass = s * m[i], log_mass = __builtin_log(mass);
            for (std::size_t j = 0; j < stride; j += kWidth<double>) {
                const Vec<double> p = load(A + i * stride + j) * load(u + j) / mass;
                const Vec<double> log_p = load(log_A + i * stride + j) + load(logs + j) - log_mass;
                entropy += above[i] * surprise(p, log_p);
                store(next + j, load(next + j) + above[i] * p);
            }
        }
        for (std::size_t j = 0; j < stride; j += kWidth<double>) total += load(next + j);
        const double all = sum<double>(total), inverse = all > 0 ? 1 / all : 0;
        for (std::size_t j = 0; j < stride; j += kWidth<double>) store(u + j, load(next + j) * inverse);
        return sum<double>(entropy);
    }
};

// Edge scores less `largest`, rows padded.
template <class S>
KF_INLINE void log_factors(const S* edge, const S* end, std::size_t L, std::size_t stride, double largest,
                           double* out) {
    for (std::size_t i = 0; i < L; ++i)
        for (std::size_t j = 0; j < stride; j += kWidth<double>)
            store(out + i * stride + j, load_scores<S, double>(edge + i * L, j, L, end) - largest);
}

// table(slot) has A and log A of the edge into it ready, and returns A.
template <class S, class Table>
KF_INLINE void add_entropies(const TreeRows<S>& rows, double* entropy, Arena arena, const double* log_A, Table table) {
    const TreeEntropy<S> each{rows, take<double>(arena, rows.stride), take<double>(arena, rows.stride)};
    for (std::size_t k = 0; k < rows.group.count; ++k)
        if (!rows.lost[k]) entropy[rows.group.instance[k]] = 0;
    for (std::size_t k = 0; k < rows.group.slots; ++k) {
        const std::size_t owner = rows.group.owner[k];
        if (rows.lost[owner]) continue;
        entropy[rows.group.instance[owner]] += k < rows.group.level[1] ? each.root(k) : each.below(k, table(k), log_A);
    }
}

template <class S>
void tree_entropies(const TreeBatch<S>& batch, const void* shared, const TreeGroup& group, const MarginalsOut<S>& out,
                    double*, Arena arena, Outcome* outcome) {
    TreeRows<S> rows(batch, group, arena);
    const std::size_t L = batch.labels;
    double* log_A = take<double>(arena, L * rows.stride);
    if (batch.shared) {
        const auto& edges = *static_cast<const SharedEdges<double>*>(shared);
        upward_shared(rows, edges, out.log_partition, outcome);
        log_factors(batch.edge, batch.edge + L * L, L, rows.stride, edges.largest, log_A);
        add_entropies(rows, out.log_partition, arena, log_A, [&](std::size_t) { return edges.forward; });
        return;
    }
    const OwnEdges<S> edges = upward_own(rows, out.log_partition, arena, outcome);
    add_entropies(rows, out.log_partition, arena, log_A, [&](std::size_t k) {
        edges.exponentiate_edge(k);
        log_factors(edges.scores(k), edges.end(), L, rows.stride, edges.largest[k], log_A);
        return edges.factor;
    });
}

}  // namespace
}  // namespace kernelfields
