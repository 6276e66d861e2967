// The vertices of a group of forests, made ready for the scaled recursions.
//
// As for chains (chain_rows.hpp), all works with exp(score - largest score):
//
//   f_v(j) = exp(node_v(j) - largest)                       A_v(i, j) = exp(edge_v(i, j) - largest)
//   u_v(j) = f_v(j) * product over children c of m_c(j)     m_v(i) = sum_j A_v(i, j) u_v(j) / s_v
//
// with s_v such that the largest m_v(i) is one. log Z = sum of log s_v + (largest scores taken out), where s_v of a
// root is the sum of its u_v. Products of the messages of many children drift apart: u_v is scaled after every few,
// and where something may underflow, that is watched for.
#pragma once

#include "../structures/tree_kernels.hpp"
#include "chain_rows.hpp"

namespace kernelfields {
namespace {

using D = double;  // whatever the type of the scores

constexpr std::size_t kChildren = 4;  // messages multiplied between two scalings

struct TreeSlots {
    const TreeGroup& group;
    std::size_t L, stride;
    D *u, *m;             // slots x stride, zeros in the padding
    D* scale;             // s_v by place, so that those of an instance are in a row
    double* largest;      // per instance: the sum of the largest scores taken out
    LongProduct* others;  // per instance: scalings among many children
    bool* lost;           // per instance
    bool watch = false;   // whether anything may underflow

    KF_INLINE TreeSlots(std::size_t labels, const TreeGroup& some, Arena& arena)
        : group(some),
          L(labels),
          stride(padded(labels, kWidth<D>)),
          u(take<D>(arena, some.slots * stride)),
          m(take<D>(arena, some.slots * stride)),
          scale(take<D>(arena, some.slots)),
          largest(take<double>(arena, some.count)),
          others(take<LongProduct>(arena, some.count)),
          lost(take<bool>(arena, some.count)) {}
};

// Together with the scores.
template <class S> struct TreeRows : TreeSlots {
    const TreeBatch<S>& batch;

    KF_INLINE TreeRows(const TreeBatch<S>& all, const TreeGroup& some, Arena& arena)
        : TreeSlots(all.labels, some, arena), batch(all) {}
};

struct ScanTotals {
    double largest, lowest;  // sum of the largest scores; the lowest score below its vertex's largest
    bool plain;              // no score is NaN or infinite
};

// Factors of one instance.
template <class S, int V>
KF_INLINE ScanTotals prepare_factors(const TreeRows<S>& rows, const S* scores, const std::uint32_t* slot,
                                     std::size_t length) {
    const std::size_t L = rows.L, vectors = V ? V : rows.stride / kWidth<D>;
    const S* end = rows.batch.node + rows.batch.positions * L;
    Bits<D> lane, inside;  // of the last vector: which lanes are labels
    for (std::size_t k = 0; k < kWidth<D>; ++k) lane[k] = static_cast<int>(k);
    inside = lane < (Bits<D>{} + static_cast<int>(L - (vectors - 1) * kWidth<D>));
    Vec<D> lowest{}, total{};
    double largest_scores = 0;
    for (std::size_t t = 0; t < length; ++t, scores += L) {
        D* const here[1] = {rows.u + slot[t] * rows.stride};
        Held<D, 1, V> x(here);
        Vec<D> high = broadcast(-kInfinity<D>);
        for (std::size_t v = 0; v < vectors; ++v) {
            const Vec<D> score = load_scores<S, D>(scores, v * kWidth<D>, L, end, static_cast<D>(scores[0]));
            total += score;
            high = maximum<D>(score, high);
            x.set(0, v, score);
        }
        const D top = largest<D>(high);
        largest_scores += static_cast<double>(top);
        for (std::size_t v = 0; v < vectors; ++v) {
            const Vec<D> shifted = x.get(0, v) - top;
            lowest = minimum<D>(shifted, lowest);
            const Vec<D> factor = exp<D>(shifted);
            store(here[0] + v * kWidth<D>, v + 1 < vectors ? factor : (inside ? factor : Vec<D>{}));
        }
    }
    const D all = sum<D>(total);
    return {largest_scores, -static_cast<double>(largest<D>(-lowest)), all - all == 0};
}

template <class S>
__attribute__((noinline)) ScanTotals prepare_factors(const TreeRows<S>& rows, const S* scores,
                                                     const std::uint32_t* slot, std::size_t length) {
    ScanTotals totals{};
    with_vectors(rows.stride / kWidth<D>,
                 [&](auto V) { totals = prepare_factors<S, V.value>(rows, scores, slot, length); });
    return totals;
}

struct EdgeRange {
    double range, largest;  // the largest range of any edge; the sum of the largest scores taken out
    bool forbids, finite;
};

// Whether the scaled recursion can hold the scores of an instance: the slow, exact answer.
template <class S> inline bool tree_holds(const TreeBatch<S>& batch, double edge_range, std::size_t s,
                                          Outcome& outcome) {
    const std::size_t L = batch.labels;
    const S* scores = batch.node + static_cast<std::size_t>(batch.first[s]) * L;
    bool narrow = edge_range <= kRange<D>;
    for (std::size_t t = 0; t < batch.length(s); ++t, scores += L) {
        const Scan node = scan<S, D>(scores, 1, L, batch.node + batch.positions * L);
        if (!node.finite) outcome = Outcome::not_finite;
        narrow = narrow && node.finite && node.range + edge_range <= kRange<D>;
    }
    return narrow;
}

// Fills in the factors; instances whose scores cannot be held are lost, with harmless zeros instead.
// edges(k) describes the edge scores of instance k.
template <class S, class Edges> KF_INLINE void prepare_tree(TreeRows<S>& rows, Outcome* outcome, Edges edges) {
    const TreeGroup& group = rows.group;
    const std::uint32_t* slot = group.slot;
    for (std::size_t k = 0; k < group.count; ++k) {
        const std::size_t s = group.instance[k], length = rows.batch.length(s);
        const EdgeRange edge = edges(k);
        const S* scores = rows.batch.node + static_cast<std::size_t>(rows.batch.first[s]) * rows.L;
        const ScanTotals node = prepare_factors(rows, scores, slot, length);
        rows.largest[k] = node.largest + edge.largest;
        rows.others[k] = LongProduct{};
        const double drift = static_cast<double>(group.most_children[k] + 1) * edge.range;
        bool held = edge.finite;
        if (!edge.finite) outcome[s] = Outcome::not_finite;
        if (!(node.plain && node.lowest + kRange<D> >= drift) || edge.forbids) {
            rows.watch = true;
            held = held && tree_holds<S>(rows.batch, edge.range, s, outcome[s]);
        }
        rows.lost[k] = !held;
        if (!held)
            for (std::size_t t = 0; t < length; ++t)
                std::memset(rows.u + slot[t] * rows.stride, 0, rows.stride * sizeof(D));
        slot += length;
    }
}

// What follows from the sums s_v: log-partitions, and which instances are done.
template <class S>
KF_INLINE void finish_tree(TreeRows<S>& rows, double* log_partition, Outcome* outcome) {
    const D* scale = rows.scale;
    for (std::size_t k = 0; k < rows.group.count; ++k) {
        const std::size_t s = rows.group.instance[k], length = rows.batch.length(s);
        LongProduct part[4];  // none waits for the one before
        bool positive = true;
        for (std::size_t t = 0; t < length; ++t) {
            positive = positive && scale[t] > 0;
            part[t % 4].times(static_cast<double>(scale[t]));
        }
        scale += length;
        rows.lost[k] = rows.lost[k] || !positive;
        if (rows.lost[k]) continue;
        double total = rows.largest[k] + rows.others[k].log();
        for (const LongProduct& each : part) total += each.log();
        log_partition[s] = total;
        outcome[s] = Outcome::done;
    }
}

}  // namespace
}  // namespace kernelfields
