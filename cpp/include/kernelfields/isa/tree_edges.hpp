// Marginals of forests by scaled recursions, every edge with its own scores: vertex after vertex, as no two share a
// matrix. Exponentials of edge scores are computed on both ways; storing them would take as much memory as the scores.
#pragma once

#include "tree_scaled.hpp"

namespace kernelfields {
namespace {

template <class S> struct OwnEdges {
    const TreeRows<S>& rows;
    double* largest;  // of the scores of each edge, by slot
    D* factor;        // A_v of one edge, labels x stride

    KF_INLINE const S* scores(std::size_t k) const {
        return rows.batch.edge + rows.batch.edge_at(rows.group.vertex[k]);
    }
    KF_INLINE const S* end() const { return rows.batch.edge + rows.batch.edges() * rows.L * rows.L; }

    // Ranges of all edges of instance k, whose places begin at `slot`.
    KF_INLINE EdgeRange describe(std::size_t k, const std::uint32_t* slot) const {
        EdgeRange result{0, 0, false, true};
        const std::size_t length = rows.batch.length(rows.group.instance[k]);
        for (std::size_t t = 0; t < length; ++t) {
            if (slot[t] < rows.group.level[1]) continue;  // a root
            const Scan edge = scan<S, D>(scores(slot[t]), rows.L, rows.L, end());
            // Where a whole edge is forbidden there is no labelling; what counts is that exp makes no NaN of it.
            largest[slot[t]] = edge.largest >= -std::numeric_limits<double>::max() ? edge.largest : 0.0;
            result.largest += largest[slot[t]];
            result.range = edge.range > result.range ? edge.range : result.range;
            result.forbids = result.forbids || edge.forbids;
            result.finite = result.finite && edge.finite;
        }
        return result;
    }
    KF_INLINE void exponentiate_edge(std::size_t k) const {
        for (std::size_t i = 0; i < rows.L; ++i)
            exponentiate<S, D>(scores(k) + i * rows.L, rows.L, end(), largest[k], factor + i * rows.stride);
    }
    KF_INLINE void up(std::size_t k) const {
        const D* u = rows.u + k * rows.stride;
        D* m = rows.m + k * rows.stride;
        std::memset(m, 0, rows.stride * sizeof(D));
        rows.scale[rows.group.place[k]] = 0;
        if (rows.lost[rows.group.owner[k]]) return;
        exponentiate_edge(k);
        for (std::size_t i = 0; i < rows.L; ++i) {
            Vec<D> total{};
            for (std::size_t j = 0; j < rows.stride; j += kWidth<D>)
                total += load(factor + i * rows.stride + j) * load(u + j);
            m[i] = sum<D>(total);
        }
        rows.scale[rows.group.place[k]] = scale_to_one(m, rows.stride);
    }
    KF_INLINE void down(std::size_t k, double weight, D* next, const MarginalsOut<S>& out) const {
        const std::size_t L = rows.L, stride = rows.stride, vertex = rows.group.vertex[k];
        D* u = rows.u + k * stride;
        const D *rho = rows.m + k * stride, weight_here = static_cast<D>(weight);
        S* to = out.edge + rows.batch.edge_at(vertex);
        Vec<D> total{};
        exponentiate_edge(k);
        share_out<S, 0>(rows, k);
        std::memset(next, 0, stride * sizeof(D));
        for (std::size_t i = 0; i < L; ++i)
            for (std::size_t j = 0; j < stride; j += kWidth<D>) {
                const Vec<D> mu = load(factor + i * stride + j) * load(u + j) * rho[i];
                store(next + j, load(next + j) + mu);
                store_marginals<S, D>(to + i * L + j, mu * weight_here, L - j);
            }
        for (std::size_t j = 0; j < stride; j += kWidth<D>) total += load(next + j);
        const D all = sum<D>(total), inverse = all > 0 ? 1 / all : 0;
        for (std::size_t j = 0; j < stride; j += kWidth<D>) {
            const Vec<D> mu = load(next + j) * inverse;
            store(u + j, mu);
            store_marginals<S, D>(out.node + vertex * L + j, mu * weight_here, L - j);
        }
    }
};

template <class S>
__attribute__((noinline)) OwnEdges<S> upward_own(TreeRows<S>& rows, double* log_partition, Arena& arena,
                                                 Outcome* outcome) {
    const OwnEdges<S> edges{rows, take<double>(arena, rows.group.slots), take<D>(arena, rows.L * rows.stride)};
    const auto describe = [&](std::size_t k) {
        const std::uint32_t* slot = rows.group.slot;
        for (std::size_t j = 0; j < k; ++j) slot += rows.batch.length(rows.group.instance[j]);
        return edges.describe(k, slot);
    };
    upward(rows, log_partition, outcome, describe, [&](Watch watch) {
        return climb(rows, watch, [&](std::size_t first, std::size_t last) {
            for (std::size_t k = first; k < last; ++k) edges.up(k);
        });
    });
    return edges;
}

template <class S>
KF_INLINE void tree_own_edges(const TreeBatch<S>& batch, const TreeGroup& group, const MarginalsOut<S>& out,
                              Arena arena, Outcome* outcome) {
    TreeRows<S> rows(batch, group, arena);
    const OwnEdges<S> edges = upward_own(rows, out.log_partition, arena, outcome);
    if (!out.node) return;
    const TreeDown<S> roots{rows, {}, out, nullptr, nullptr};
    D* next = take<D>(arena, rows.stride);
    for (std::size_t k = 0; k < group.slots; ++k) {
        if (rows.lost[group.owner[k]]) continue;
        if (k < group.level[1]) roots.root(k);
        else edges.down(k, roots.weight(k), next, out);
    }
}

}  // namespace
}  // namespace kernelfields
