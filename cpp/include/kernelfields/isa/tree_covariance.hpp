// Covariance products of forests by scaled recursions in double, edge scores shared: the derivative of all marginals
// along a direction (dn, D) in score space, exactly.
//
//   du_v(j)   = dn_v(j) + sum over children c of dm_c(j)
//   dm_v(i)   = sum_j p(j | i) (D(i, j) + du_v(j))
//   sigma_v   = (dmu_parent - mu_parent dm_v) / (s_v m_v)
//   dmu(i, j) = u_v(j) [ A(i, j) (sigma_v(i) + rho_v(i) du_v(j)) + A(i, j) D(i, j) rho_v(i) ]
//
// A constant added to du_v changes nothing but the derivative of log Z; it is chosen such that the mean of du_v under
// u_v is zero, so that sums over large subtrees do not drown the differences.
#pragma once

#include "chain_covariance.hpp"
#include "tree_scaled.hpp"

namespace kernelfields {
namespace {

template <class S> struct TreeTilt {
    const TreeRows<S>& rows;
    const TiltedEdges& edges;
    const CovarianceOut<S>& out;
    D *du, *dm;                                                 // slots x stride; du_v becomes dmu_v, dm_v sigma_v
    D *plain, *tilted, *u_tilted, *weighted, *weighted_tilted;  // a row each
    D *plain_sum, *tilted_sum;                                  // labels x stride

    KF_INLINE Vec<D> direction(std::size_t vertex, std::size_t j) const {
        const std::size_t L = rows.L;
        return load_scores<S, D>(out.node_direction + vertex * L, j, L, out.node_direction + rows.batch.positions * L,
                                 D(0));
    }
    // du_v of a vertex whose children are done; returns what was subtracted from it.
    KF_INLINE D collect_tilt(std::size_t k) const {
        const std::size_t stride = rows.stride;
        const D* u = rows.u + k * stride;
        D* d = du + k * stride;
        Vec<D> total{}, mean{};
        for (std::size_t j = 0; j < stride; j += kWidth<D>) {
            Vec<D> value = direction(rows.group.vertex[k], j);
            for (std::size_t c = rows.group.child[k]; c < rows.group.child[k + 1]; ++c)
                value += load(dm + c * stride + j);
            store(d + j, value);
            total += load(u + j);
            mean += load(u + j) * value;
        }
        const D all = sum<D>(total), centre = all > 0 ? sum<D>(mean) / all : 0;
        for (std::size_t j = 0; j < stride; j += kWidth<D>) store(d + j, load(d + j) - centre);
        return centre;
    }
    KF_INLINE void send_tilt(std::size_t k) const {
        const D* u = rows.u + k * rows.stride;
        for (std::size_t j = 0; j < rows.stride; j += kWidth<D>)
            store(u_tilted + j, load(u + j) * load(du + k * rows.stride + j));
        tilted_multiply(edges.plain.backward, edges.backward, rows.L, rows.stride, u, u_tilted, plain, tilted);
        for (std::size_t j = 0; j < rows.stride; j += kWidth<D>)
            store(dm + k * rows.stride + j, ratio(load(tilted + j), load(plain + j)));
    }
    KF_INLINE void write(std::size_t k, D weight) const {
        S* to = out.node + rows.group.vertex[k] * rows.L;
        for (std::size_t j = 0; j < rows.stride; j += kWidth<D>)
            store_marginals<S, D>(to + j, load(du + k * rows.stride + j) * weight, rows.L - j);
    }
    KF_INLINE void root(std::size_t k) const {
        D* d = du + k * rows.stride;
        for (std::size_t j = 0; j < rows.stride; j += kWidth<D>)
            store(d + j, load(rows.u + k * rows.stride + j) * load(d + j));
    }
    // mu_v and dmu_v in place of u_v and du_v.
    KF_INLINE void below(std::size_t k, D weight) const {
        const std::size_t stride = rows.stride, above = rows.group.parent[k] * stride;
        D *u = rows.u + k * stride, *d = du + k * stride, *rho = rows.m + k * stride, *sigma = dm + k * stride;
        const D s = rows.scale[rows.group.place[k]];
        for (std::size_t j = 0; j < stride; j += kWidth<D>) {
            const Vec<D> mu = load(rows.u + above + j), mass = load(rho + j) * s;
            store(rho + j, ratio(mu, mass));
            store(sigma + j, ratio(load(du + above + j) - mu * load(sigma + j), mass));
            const Vec<D> right = load(u + j) * weight;
            store(weighted + j, right);
            store(weighted_tilted + j, right * load(d + j));
        }
        const D* const left[2] = {sigma, rho};
        const D* const right[2] = {weighted, weighted_tilted};
        const D *const shares[1] = {rho}, *const into[1] = {weighted};
        add_outer<D, 2>(tilted_sum, rows.L, stride, left, right);
        add_outer<D, 1>(plain_sum, rows.L, stride, shares, into);
        tilted_multiply(edges.plain.forward, edges.forward, rows.L, stride, rho, sigma, plain, tilted);
        Vec<D> total{}, drift{};
        for (std::size_t j = 0; j < stride; j += kWidth<D>) {
            const Vec<D> mu = load(u + j) * load(plain + j);
            const Vec<D> change = load(u + j) * (load(tilted + j) + load(d + j) * load(plain + j));
            store(u + j, mu);
            store(d + j, change);
            total += mu;
            drift += change;
        }
        // Sums are one and zero but for rounding, which must not add up.
        const D all = sum<D>(total), inverse = all > 0 ? 1 / all : 0, excess = sum<D>(drift);
        for (std::size_t j = 0; j < stride; j += kWidth<D>) {
            const Vec<D> mu = load(u + j) * inverse;
            store(u + j, mu);
            store(d + j, load(d + j) - mu * excess);
        }
    }
};

template <class S>
void tree_scaled_covariance(const TreeBatch<S>& batch, const void* shared, const TreeGroup& group,
                            const CovarianceOut<S>& out, double* edge_sum, Arena arena, Outcome* outcome) {
    const auto& edges = *static_cast<const TiltedEdges*>(shared);
    TreeRows<S> rows(batch, group, arena);
    const std::size_t stride = rows.stride, L = rows.L;
    upward_shared(rows, edges.plain, out.log_partition, outcome);
    TreeTilt<S> tilt{rows, edges, out, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
    D** const by_slot[] = {&tilt.du, &tilt.dm};
    D** const single[] = {&tilt.plain, &tilt.tilted, &tilt.u_tilted, &tilt.weighted, &tilt.weighted_tilted};
    D** const sums[] = {&tilt.plain_sum, &tilt.tilted_sum};
    for (D** piece : by_slot) *piece = take<D>(arena, group.slots * stride);
    for (D** piece : single) *piece = take<D>(arena, stride);
    for (D** piece : sums) {
        *piece = take<D>(arena, L * stride);
        std::memset(*piece, 0, L * stride * sizeof(D));
    }
    for (std::size_t k = 0; k < group.count; ++k)
        if (!rows.lost[k]) out.log_partition[group.instance[k]] = 0;
    for (std::size_t k = group.slots; k-- > 0;) {
        const std::size_t owner = group.owner[k];
        const D centre = tilt.collect_tilt(k);
        if (!rows.lost[owner]) out.log_partition[group.instance[owner]] += centre;
        if (k >= group.level[1]) tilt.send_tilt(k);
    }
    for (std::size_t k = 0; k < group.slots; ++k) {
        const D weight = out.weight ? out.weight[group.instance[group.owner[k]]] : 1.0;
        if (k < group.level[1]) tilt.root(k);
        else tilt.below(k, weight);
        tilt.write(k, weight);
    }
    for (std::size_t i = 0; i < L; ++i)
        for (std::size_t j = 0; j < L; ++j) {
            const std::size_t at = i * stride + j;
            edge_sum[i * L + j] +=
                tilt.tilted_sum[at] * edges.plain.forward[at] + tilt.plain_sum[at] * edges.forward[at];
        }
}

}  // namespace
}  // namespace kernelfields
