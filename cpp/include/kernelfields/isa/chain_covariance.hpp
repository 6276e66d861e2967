// Covariance product: the derivative of all marginals along a direction (dn, D) in score space.
//
// With a, b the logarithms of the forward and backward messages, their derivatives are conditional
// expectations of the direction over the positions before and after t,
//
//   da_t(j) = dn_t(j) + sum_i p(y_{t-1} = i | y_t = j, past)   (da_{t-1}(i) + D(i, j))
//   db_t(i) =           sum_j p(y_{t+1} = j | y_t = i, future) (D(i, j) + dn_{t+1}(j) + db_{t+1}(j))
//
// and with m = d log Z the expectation of the whole direction
//
//   d mu_t(i)    = mu_t(i) (da_t(i) + db_t(i) - m)
//   d mu_t(i, j) = mu_t(i, j) (da_t(i) + D(i, j) + dn_{t+1}(j) + db_{t+1}(j) - m)
//
// Averages of bounded numbers: nothing grows. Scaled, for shared edge scores, in double.
#pragma once

#include "chain_scaled.hpp"

namespace kernelfields {
namespace {

using D = double;

struct TiltRow {
    D* da;                         // length x stride
    D *into, *tilted_into;         // b beta at t + 1, and the same times (dn + db)
    D *plain, *tilted;             // sum_i in(i) A(i, .) and its derivative
    D* alpha_tilted;               // alpha * da at t - 1
    D *share, *share_tilted, *db;  // weight alpha / n_t; the same times (da - m)
    D weight;
};

KF_INLINE Vec<D> ratio(Vec<D> a, Vec<D> b) {
    return b > 0 ? a / b : Vec<D>{};
}

// plain = in A;  tilted = tilted_in A + in (A * D)
KF_INLINE void tilted_multiply(const D* A, const D* AD, std::size_t L, std::size_t stride, const D* in,
                               const D* tilted_in, D* plain, D* tilted) {
    const D* const both[2] = {in, tilted_in};
    multiply<D, 2>(A, L, stride, both,
                   [&](int r, std::size_t v, Vec<D> x) { store((r == 0 ? plain : tilted) + v * kWidth<D>, x); });
    const D* const one[1] = {in};
    multiply<D, 1>(AD, L, stride, one, [&](int, std::size_t v, Vec<D> x) {
        store(tilted + v * kWidth<D>, load(tilted + v * kWidth<D>) + x);
    });
}

template <class S> struct ScaledCovariance {
    const ChainBatch<S>& batch;
    const TiltedEdges& edges;
    const CovarianceOut<S>& out;
    std::size_t L, stride;
    D *plain_sum, *tilted_sum;  // sums over edges of share x into, and of its derivative

    KF_INLINE Vec<D> direction(std::size_t position, std::size_t k) const {
        const Vec<D> v =
            load_scores<S, D>(out.node_direction + position * L, k, L, out.node_direction + batch.positions * L);
        return v == -kInfinity<D> ? Vec<D>{} : v;  // the padding
    }

    KF_INLINE void tilt_forward(const Row<D>& row, TiltRow& tilt) const {
        const std::size_t first = static_cast<std::size_t>(batch.first[row.sequence]);
        for (std::size_t k = 0; k < stride; k += kWidth<D>) store(tilt.da + k, direction(first, k));
        for (std::size_t t = 1; t < row.length; ++t) {
            const D *alpha = row.alpha + (t - 1) * stride, *da = tilt.da + (t - 1) * stride;
            for (std::size_t k = 0; k < stride; k += kWidth<D>)
                store(tilt.alpha_tilted + k, load(alpha + k) * load(da + k));
            tilted_multiply(edges.plain.forward, edges.forward, L, stride, alpha, tilt.alpha_tilted, tilt.plain,
                            tilt.tilted);
            for (std::size_t k = 0; k < stride; k += kWidth<D>)
                store(tilt.da + t * stride + k,
                      direction(first + t, k) + ratio(load(tilt.tilted + k), load(tilt.plain + k)));
        }
    }

    // Node derivatives at t, given beta_t (plain) and db_t; returns m.
    KF_INLINE D node_derivatives(const Row<D>& row, TiltRow& tilt, std::size_t t, const D* beta) const {
        const D *alpha = row.alpha + t * stride, *da = tilt.da + t * stride;
        Vec<D> norm{}, mean{};
        for (std::size_t k = 0; k < stride; k += kWidth<D>) {
            const Vec<D> mass = load(alpha + k) * load(beta + k);
            norm += mass;
            mean += mass * (load(da + k) + load(tilt.db + k));
        }
        const D total = sum<D>(norm), m = sum<D>(mean) / total, scale = tilt.weight / total;
        S* to = out.node + (static_cast<std::size_t>(batch.first[row.sequence]) + t) * L;
        for (std::size_t k = 0; k < stride; k += kWidth<D>) {
            const Vec<D> share = load(alpha + k) * scale, lean = load(da + k) - m;
            store(tilt.share + k, share);
            store(tilt.share_tilted + k, share * lean);
            store_marginals<S, D>(to + k, share * load(beta + k) * (lean + load(tilt.db + k)), L - k);
        }
        return m;
    }

    // b_t beta_t, scaled, and its derivative, for the next step back.
    KF_INLINE void set_into(const Row<D>& row, TiltRow& tilt, std::size_t t, const D* beta) const {
        const std::size_t position = static_cast<std::size_t>(batch.first[row.sequence]) + t;
        Vec<D> total{};
        for (std::size_t k = 0; k < stride; k += kWidth<D>)
            total += where_reached<D>(load(row.alpha + t * stride + k), load(beta + k));
        const D inverse = 1 / sum<D>(total);
        for (std::size_t k = 0; k < stride; k += kWidth<D>) {
            const Vec<D> into = where_reached<D>(load(row.alpha + t * stride + k),
                                                 load(beta + k) * inverse * load(row.factor + t * stride + k));
            store(tilt.into + k, into);
            store(tilt.tilted_into + k, into * (direction(position, k) + load(tilt.db + k)));
        }
    }

    KF_INLINE void tilt_backward(const Row<D>& row, TiltRow& tilt) const {
        for (std::size_t k = 0; k < stride; ++k) {
            tilt.plain[k] = k < L ? 1 : 0;
            tilt.db[k] = 0;
        }
        D m = node_derivatives(row, tilt, row.length - 1, tilt.plain);
        set_into(row, tilt, row.length - 1, tilt.plain);
        for (std::size_t t = row.length - 1; t-- > 0;) {
            tilted_multiply(edges.plain.backward, edges.backward, L, stride, tilt.into, tilt.tilted_into, tilt.plain,
                            tilt.tilted);
            for (std::size_t k = 0; k < stride; k += kWidth<D>)
                store(tilt.db + k, ratio(load(tilt.tilted + k), load(tilt.plain + k)));
            m = node_derivatives(row, tilt, t, tilt.plain);
            const D* const left[2] = {tilt.share_tilted, tilt.share};
            const D* const right[2] = {tilt.into, tilt.tilted_into};
            const D *const share[1] = {tilt.share}, *const into[1] = {tilt.into};
            add_outer<D, 2>(tilted_sum, L, stride, left, right);
            add_outer<D, 1>(plain_sum, L, stride, share, into);
            set_into(row, tilt, t, tilt.plain);
        }
        out.log_partition[row.sequence] = m;
    }
};

template <class S>
void scaled_covariance(const ChainBatch<S>& batch, const void* shared, Group group, const CovarianceOut<S>& out,
                       double* edge_sum, Arena arena, Outcome* outcome) {
    const auto& edges = *static_cast<const TiltedEdges*>(shared);
    const std::size_t L = batch.labels, stride = padded(L, kWidth<D>);
    Rows<D> rows = prepare_rows<S, D>(batch, edges.plain.range, edges.plain.forbids, group, arena, outcome);
    forward(rows, edges.plain, out.log_partition, outcome);
    ScaledCovariance<S> work{batch, edges, out, L, stride, take<D>(arena, L * stride), take<D>(arena, L * stride)};
    std::memset(work.plain_sum, 0, L * stride * sizeof(D));
    std::memset(work.tilted_sum, 0, L * stride * sizeof(D));
    for (std::size_t r = 0; r < rows.count; ++r) {
        Arena local = arena;
        const Row<D>& row = rows.row[r];
        TiltRow tilt{};
        tilt.da = take<D>(local, row.length * stride);
        D** const pieces[] = {&tilt.into,         &tilt.tilted_into, &tilt.plain,        &tilt.tilted,
                              &tilt.alpha_tilted, &tilt.share,       &tilt.share_tilted, &tilt.db};
        for (D** piece : pieces) *piece = take<D>(local, stride);
        tilt.weight = out.weight ? out.weight[row.sequence] : 1.0;
        work.tilt_forward(row, tilt);
        work.tilt_backward(row, tilt);
    }
    for (std::size_t i = 0; i < L; ++i)
        for (std::size_t j = 0; j < L; ++j) {
            const std::size_t at = i * stride + j;
            edge_sum[i * L + j] +=
                work.tilted_sum[at] * edges.plain.forward[at] + work.plain_sum[at] * edges.forward[at];
        }
}

// A * D and its transpose, for edge factors A and an edge direction D.
template <class S> void tilt_edges(const S* direction, std::size_t L, TiltedEdges& edges) {
    const std::size_t stride = padded(L, kWidth<D>);
    for (std::size_t i = 0; i < L; ++i)
        for (std::size_t j = 0; j < stride; ++j) {
            edges.forward[i * stride + j] = j < L ? edges.plain.forward[i * stride + j] * direction[i * L + j] : 0;
            edges.backward[i * stride + j] = j < L ? edges.plain.backward[i * stride + j] * direction[j * L + i] : 0;
        }
}

}  // namespace
}  // namespace kernelfields
