// Exact inference for ragged batches of chains: marginals, covariance products, argmax, entropy.
//
// Scores that are not finite give NaN, a sequence without any allowed labelling gives -inf, in the
// value of that sequence; the caller decides what to say about it.
#pragma once

#include "../core/dispatch.hpp"
#include "../core/parallel.hpp"
#include "chain_allowed.hpp"
#include "chain_pieces.hpp"

#include <cmath>
#include <limits>

namespace kernelfields {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class C> class EdgeTable {
public:
    EdgeTable(std::size_t labels, std::size_t width)
        : memory_(4 * labels * padded(labels, width) + kAlignment / sizeof(C)), step_(labels * padded(labels, width)) {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
        first_ = memory_.data() + (kAlignment - address % kAlignment) % kAlignment / sizeof(C);
    }
    C* table(std::size_t k) { return first_ + k * step_; }

private:
    std::vector<C> memory_;
    std::size_t step_;
    C* first_;
};

// Shared edge scores that are NaN or +inf spoil every sequence that has an edge.
template <class S> bool shared_edges_finite(const ChainBatch<S>& batch) {
    return !batch.shared || std::all_of(batch.edge, batch.edge + batch.labels * batch.labels,
                                        [](S x) { return x <= std::numeric_limits<S>::max(); });
}

template <class S> std::vector<Outcome> starting_outcomes(const ChainBatch<S>& batch) {
    std::vector<Outcome> outcome(batch.sequences, Outcome::pending);
    const bool finite = shared_edges_finite(batch);
    for (std::size_t s = 0; s < batch.sequences; ++s) {
        if (batch.length(s) == 0) outcome[s] = Outcome::done;
        if (batch.length(s) > 1 && !finite) outcome[s] = Outcome::not_finite;
    }
    return outcome;
}

// Runs one recursion over the sequences still pending. edge_sum (labels x labels, may be null)
// collects the sums of the blocks in their order.
template <class S, class Out>
void run_pending(const ChainBatch<S>& batch,
                 void (*recursion)(const ChainBatch<S>&, const void*, Group, const Out&, double*, Arena, Outcome*),
                 const void* edges, const Out& out, double* edge_sum, std::vector<Outcome>& outcome) {
    const Plan plan = make_plan(batch, [&](std::size_t s) { return outcome[s] == Outcome::pending; });
    if (plan.order.empty()) return;
    const std::size_t square = batch.labels * batch.labels;
    std::vector<double> sums(plan.blocks() * square);
    const double work = 0.3 * static_cast<double>(plan.positions * square);
    for_each_group(batch, plan, work, [&](Group group, Arena arena, std::size_t block) {
        recursion(batch, edges, group, out, sums.data() + block * square, arena, outcome.data());
    });
    if (!edge_sum || batch.edges() == 0) return;  // scores of edges that do not exist may be anything
    for (std::size_t b = 0; b < plan.blocks(); ++b)
        for (std::size_t k = 0; k < square; ++k) edge_sum[k] += sums[b * square + k];
}

template <class S, class C>
SharedEdges<C> shared_edges(const ChainBatch<S>& batch, EdgeTable<C>& table,
                            void (*prepare)(const S*, std::size_t, SharedEdges<C>&)) {
    SharedEdges<C> edges{table.table(0), table.table(1), 0, 0, false};
    prepare(batch.edge, batch.labels, edges);
    return edges;
}

// Whether a sequence is rounded as if it were alone, or may be rounded otherwise beside others: for sums over a batch.
enum class Rounded { alone, together };

// Log-partitions, and marginals where `out` has room for them. `only` (0 to 2) forces one
// recursion, for tests: what it cannot hold stays NaN.
template <class S>
void chain_marginals(const ChainBatch<S>& batch, const MarginalsOut<S>& out, double* edge_sum,
                     Rounded rounded = Rounded::alone, int only = -1) {
    const ChainKernels<S>& kernels = chain_kernels<S>();
    std::vector<Outcome> outcome = starting_outcomes(batch);
    for (std::size_t s = 0; s < batch.sequences; ++s) out.log_partition[s] = batch.length(s) ? kNaN : 0;
    EdgeTable<S> narrow_table(batch.labels, kernels.narrow_width);
    EdgeTable<double> double_table(batch.labels, kernels.double_width);
    SharedEdges<S> narrow{};
    SharedEdges<double> wide{};
    if (batch.shared) {
        if (kernels.prepare_edges_narrow) narrow = shared_edges(batch, narrow_table, kernels.prepare_edges_narrow);
        wide = shared_edges(batch, double_table, kernels.prepare_edges_double);
    }
    const void* edges[kRecursions] = {&narrow, &wide, nullptr};
    const auto& recursions = batch.shared ? kernels.marginals_shared : kernels.marginals_per_edge;
    if (batch.shared && only < 0) {
        const SharedEdges<S>& own = *static_cast<const SharedEdges<S>*>(edges[kernels.prepare_edges_narrow ? 0 : 1]);
        if (suits_lanes(batch)) marginals_in_pieces(batch, own, out, edge_sum, outcome);
        if (rounded == Rounded::together && few_are_allowed(batch))
            marginals_of_allowed(batch, own, out, edge_sum, outcome);
        else if (rounded == Rounded::together && suits_lanes(batch))
            marginals_in_lanes(batch, own, out, edge_sum, outcome);
    }
    for (std::size_t k = 0; k < kRecursions; ++k)
        if (recursions[k] && (only < 0 || static_cast<int>(k) == only))
            run_pending<S, MarginalsOut<S>>(batch, recursions[k], edges[k], out, edge_sum, outcome);
}

template <class S>
void chain_covariance(const ChainBatch<S>& batch, const CovarianceOut<S>& out, double* edge_sum, int only = -1) {
    const ChainKernels<S>& kernels = chain_kernels<S>();
    std::vector<Outcome> outcome = starting_outcomes(batch);
    for (std::size_t s = 0; s < batch.sequences; ++s) out.log_partition[s] = batch.length(s) ? kNaN : 0;
    EdgeTable<double> table(batch.labels, kernels.double_width);
    if (batch.shared && only != 2) {
        TiltedEdges edges{shared_edges(batch, table, kernels.prepare_edges_double), table.table(2), table.table(3)};
        kernels.tilt_edges(out.edge_direction, batch.labels, edges);
        run_pending<S, CovarianceOut<S>>(batch, kernels.covariance[0], &edges, out, edge_sum, outcome);
    }
    if (only != 1) run_pending<S, CovarianceOut<S>>(batch, kernels.covariance[1], nullptr, out, edge_sum, outcome);
}

// Scores of labels: at every position, at the first and at the last one of every sequence.
template <class W> struct LabelScores {
    const W *every, *first, *last;
};

template <class S, class W>
void add_label_scores(S* node, const std::int64_t* first, std::size_t sequences, std::size_t labels,
                      const LabelScores<W>& scores) {
    const auto add = [&](std::int64_t t, const W* from) {
        for (std::size_t y = 0; y < labels; ++y)
            node[static_cast<std::size_t>(t) * labels + y] += static_cast<S>(from[y]);
    };
    for (std::int64_t t = 0; t < first[sequences]; ++t) add(t, scores.every);
    for (std::size_t s = 0; s < sequences; ++s)
        if (first[s] < first[s + 1]) {
            add(first[s], scores.first);
            add(first[s + 1] - 1, scores.last);
        }
}

template <class S> void chain_argmax(const ChainBatch<S>& batch, std::int32_t* labels, double* value) {
    const ChainKernels<S>& kernels = chain_kernels<S>();
    std::vector<Outcome> outcome = starting_outcomes(batch);
    for (std::size_t s = 0; s < batch.sequences; ++s) value[s] = batch.length(s) ? kNaN : 0;
    EdgeTable<S> table(batch.labels, kernels.narrow_width);
    if (batch.shared) kernels.prepare_max_edges(batch.edge, batch.labels, table.table(0));
    if (suits_lanes(batch)) {
        argmax_in_pieces(batch, labels, value, outcome);
        argmax_in_lanes(batch, labels, value, outcome);
    }
    const auto recursion = batch.shared ? kernels.argmax_shared : kernels.argmax_per_edge;
    const Plan plan = make_plan(batch, [&](std::size_t s) { return outcome[s] == Outcome::pending; });
    const double work = 0.15 * static_cast<double>(plan.positions * batch.labels * batch.labels);
    for_each_group(batch, plan, work, [&](Group group, Arena arena, std::size_t) {
        recursion(batch, table.table(0), group, labels, value, arena, outcome.data());
        if (!kScoresFound<S>) score_found(batch, group, labels, value, outcome);
    });
}

template <class S> void chain_entropy(const ChainBatch<S>& batch, double* entropy) {
    const ChainKernels<S>& kernels = chain_kernels<S>();
    const std::vector<Outcome> outcome = starting_outcomes(batch);
    for (std::size_t s = 0; s < batch.sequences; ++s) entropy[s] = batch.length(s) ? kNaN : 0;
    const Plan plan = make_plan(batch, [&](std::size_t s) { return outcome[s] == Outcome::pending; });
    const double work = 6.0 * static_cast<double>(plan.positions * batch.labels * batch.labels);
    for_each_sequence(batch, plan, work,
                      [&](std::size_t s, Arena arena) { entropy[s] = kernels.entropy(batch, s, arena); });
}

}  // namespace kernelfields
