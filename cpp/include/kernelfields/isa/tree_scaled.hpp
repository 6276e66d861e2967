// Marginals of forests by scaled recursions, edge scores shared. After the way up (tree_up.hpp) a forest is a Markov
// chain from the roots to the leaves:
//
//   rho_v(i) = mu_parent(i) / (s_v m_v(i))          mu_v(i, j) = rho_v(i) A(i, j) u_v(j)
//   mu_v(j)  = sum_i mu_v(i, j)                     its sum is one but for rounding, which must not add up
#pragma once

#include "chain_scaled.hpp"
#include "tree_up.hpp"

namespace kernelfields {
namespace {

// rho_v, in place of m_v.
template <class S, int V>
KF_INLINE void share_out(const TreeRows<S>& rows, std::size_t k) {
    const std::size_t vectors = V ? V : rows.stride / kWidth<D>;
    const D* above = rows.u + rows.group.parent[k] * rows.stride;
    D* m = rows.m + k * rows.stride;
    const D s = rows.scale[rows.group.place[k]];
    for (std::size_t v = 0; v < vectors; ++v) {
        const Vec<D> mass = load(m + v * kWidth<D>) * s;
        store(m + v * kWidth<D>, mass > 0 ? load(above + v * kWidth<D>) / mass : Vec<D>{});
    }
}

template <class S> struct TreeDown {
    const TreeRows<S>& rows;
    const SharedEdges<D>& edges;
    const MarginalsOut<S>& out;
    D* sums;      // of rho_v(i) u_v(j) over edges, labels x stride
    D* weighted;  // weight times u_v, kRows x stride

    KF_INLINE double weight(std::size_t slot) const {
        return out.weight ? out.weight[rows.group.instance[rows.group.owner[slot]]] : 1.0;
    }
    KF_INLINE void root(std::size_t k) const {
        const D weight_here = static_cast<D>(weight(k));
        S* to = out.node + rows.group.vertex[k] * rows.L;
        for (std::size_t j = 0; j < rows.stride; j += kWidth<D>)
            store_marginals<S, D>(to + j, load(rows.u + k * rows.stride + j) * weight_here, rows.L - j);
    }
    // mu_v of R vertices from slot `at` on, in place of u_v.
    template <int R, int V> KF_INLINE void step(std::size_t at) const {
        const std::size_t stride = rows.stride, vectors = V ? V : stride / kWidth<D>;
        const D *rho[R], *right[R];
        D *u[R], weights[R], *room[R];
        Vec<D> total[R] = {};
        for (int r = 0; r < R; ++r) {
            share_out<S, V>(rows, at + r);
            rho[r] = rows.m + (at + r) * stride;
            right[r] = u[r] = rows.u + (at + r) * stride;
            room[r] = weighted + (R + r) * stride;
            weights[r] = static_cast<D>(weight(at + r));
            if (!out.weight) continue;
            for (std::size_t k = 0; k < stride; k += kWidth<D>)
                store(weighted + r * stride + k, load(u[r] + k) * weights[r]);
            right[r] = weighted + r * stride;
        }
        Held<D, R, V> held(room);
        multiply<D, R, V, Split::as_alone>(edges.forward, rows.L, stride, rho, [&](int r, std::size_t v, Vec<D> value) {
            value *= load(u[r] + v * kWidth<D>);
            held.set(r, v, value);
            total[r] += value;
        });
        add_outer<D, R, V>(sums, rows.L, stride, rho, right);
        for (int r = 0; r < R; ++r) {
            const D all = sum<D>(total[r]), inverse = all > 0 ? 1 / all : 0;
            S* to = out.node + rows.group.vertex[at + r] * rows.L;
            for (std::size_t v = 0; v < vectors; ++v) {
                const Vec<D> mu = held.get(r, v) * inverse;
                store(u[r] + v * kWidth<D>, mu);
                store_marginals<S, D>(to + v * kWidth<D>, mu * weights[r], rows.L - v * kWidth<D>);
            }
        }
    }
};

template <class S>
KF_INLINE void downward(const TreeRows<S>& rows, const SharedEdges<D>& edges, const MarginalsOut<S>& out,
                        double* edge_sum, Arena arena) {
    const std::size_t size = rows.L * rows.stride;
    TreeDown<S> down{rows, edges, out, take<D>(arena, size), take<D>(arena, 2 * kRows * rows.stride)};
    std::memset(down.sums, 0, size * sizeof(D));
    for (std::size_t k = 0; k < rows.group.level[1]; ++k) down.root(k);
    for (std::size_t d = 1; d < rows.group.levels; ++d)
        with_vectors(rows.stride / kWidth<D>, [&](auto V) {
            for_each_tile(rows.group.level[d], rows.group.level[d + 1],
                          [&](auto R, std::size_t at) { down.template step<R.value, V.value>(at); });
        });
    flush(down.sums, edges.forward, rows.L, rows.stride, edge_sum);
}

template <class S>
void tree_scaled(const TreeBatch<S>& batch, const void* shared, const TreeGroup& group, const MarginalsOut<S>& out,
                 double* edge_sum, Arena arena, Outcome* outcome) {
    const auto& edges = *static_cast<const SharedEdges<D>*>(shared);
    TreeRows<S> rows(batch, group, arena);
    upward_shared(rows, edges, out.log_partition, outcome);
    if (out.node) downward(rows, edges, out, edge_sum, arena);
}

}  // namespace
}  // namespace kernelfields
