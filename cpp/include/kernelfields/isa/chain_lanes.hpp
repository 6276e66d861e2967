// Forward-backward for few labels: a sequence, or a stretch of one, in every lane of a vector, edge scores shared.
//
// Vectors over labels are mostly padding where labels are few, and their sums cost more than their products. Here a
// vector holds one number of each of several sequences, which advance together:
//
//   alpha_t(j) = 2^-n_t b_t(j) sum_i alpha_{t-1}(i) A(i, j)
//   beta_t(i) = 2^-n_{t+1} sum_j A(i, j) b_{t+1}(j) beta_{t+1}(j)
//   mu_t(i) = alpha_t(i) beta_t(i) / m,   m = <alpha_t, beta_t>, the same for all t
//
// n_t comes from the exponent of the sum of a message, now and then. Scaling by powers of two rounds nothing and
// divides nothing, and m needs to be looked at only once in a while. Only finite scores of a moderate range are
// handled: groups with others stay pending.
#pragma once

#include "lanes_backward.hpp"
#include "lanes_forward.hpp"

namespace kernelfields {
namespace {

// The logarithm of what the positions that count multiply the sum of forward messages by.
template <class S, int L>
KF_INLINE double log_mass(const LaneGroup<S>& lanes, const LaneMessages<S, L>& messages, std::size_t lane,
                          double first_scores, double edge_largest) {
    const std::size_t first = lanes.first[lane], last = lanes.last[lane];
    const std::size_t right = last < lanes.length[lane] ? last : last - 1;
    const double before = first > 0 ? messages.log_sum(first, lane) : 0;
    const double between = right > first ? static_cast<double>(right - first) * edge_largest : 0;
    return messages.log_sum(right, lane) - before + first_scores + between;
}

template <class S, int L>
KF_INLINE bool lane_marginals_of(const ChainBatch<S>& batch, const SharedEdges<S>& edges, const LaneWork& work,
                                 const MarginalsOut<S>& out, double* edge_sum, Arena arena) {
    const LaneGroup<S> lanes(batch, work.stretch, work.count, out.weight);
    S A[L][L], B[L][L];
    KF_UNROLL
    for (int i = 0; i < L; ++i) KF_UNROLL
    for (int j = 0; j < L; ++j)
        A[i][j] = B[j][i] = edges.forward[static_cast<std::size_t>(i) * padded(L, kWidth<S>) + j];
    asm volatile("" : "+m"(A), "+m"(B));  // read from memory into all lanes at once: from registers in two steps
    const LaneMessages<S, L> messages(arena, lanes.longest);
    LaneScan<S> scan;
    if (!lanes_forward<S, L>(lanes, A, edges.range, messages, scan)) return false;
    if (out.node) lanes_backward<S, L>(lanes, B, messages, out.node, edge_sum, work.seams);
    for (std::size_t r = 0; r < lanes.count; ++r)
        work.log_mass[r] = log_mass<S, L>(lanes, messages, r, scan.first[r], edges.largest);
    return true;
}

template <class S>
bool lane_marginals(const ChainBatch<S>& batch, const SharedEdges<S>& edges, const LaneWork& work,
                    const MarginalsOut<S>& out, double* edge_sum, Arena arena) {
    if (edges.forbids || !(edges.range <= 2 * kRange<S>)) return false;
    bool held = false;
    with_few_labels(batch.labels, [&](auto count) {
        held = lane_marginals_of<S, count.value>(batch, edges, work, out, edge_sum, arena);
    });
    return held;
}

}  // namespace
}  // namespace kernelfields
