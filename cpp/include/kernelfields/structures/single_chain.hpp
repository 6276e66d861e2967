// Marginals of one chain at a time, each with edge scores of its own, in memory that is taken once.
#pragma once

#include "chain.hpp"

#include <algorithm>

namespace kernelfields {

template <class S> class SingleChain {
public:
    explicit SingleChain(std::size_t labels)
        : labels_(labels),
          narrow_table_(labels, chain_kernels<S>().narrow_width),
          wide_table_(labels, chain_kernels<S>().double_width) {}
    SingleChain(SingleChain&&) = default;
    SingleChain(const SingleChain&) = delete;  // tables know where their own memory is

    // Marginals of `length` positions to `out` (length x labels) and their sums over edges to `pairs` (labels x
    // labels); returns the log-partition: NaN where a score is not finite, -inf where nothing is allowed.
    double marginals(const S* node, std::size_t length, const S* edge, S* out, double* pairs) {
        const ChainKernels<S>& kernels = chain_kernels<S>();
        const std::int64_t first[] = {0, static_cast<std::int64_t>(length)};
        const std::int64_t edge_first[] = {0, static_cast<std::int64_t>(length) - 1};
        const ChainBatch<S> batch{1, length, labels_, first, edge_first, node, edge, true};
        if (length > 1 && !shared_edges_finite(batch)) return kNaN;
        double log_partition = kNaN;
        Outcome outcome = Outcome::pending;
        const std::size_t sequence = 0;
        const MarginalsOut<S> to{nullptr, &log_partition, out, nullptr};
        const auto run = [&](std::size_t k, const void* edges) {
            if (outcome != Outcome::pending) return;
            std::fill(pairs, pairs + labels_ * labels_, 0.0);
            kernels.marginals_shared[k](batch, edges, {&sequence, 1}, to, pairs, arena(length), &outcome);
        };
        if (kernels.prepare_edges_narrow) {
            const SharedEdges<S> narrow = shared_edges(batch, narrow_table_, kernels.prepare_edges_narrow);
            run(0, &narrow);
        }
        if (outcome == Outcome::pending) {
            const SharedEdges<double> wide = shared_edges(batch, wide_table_, kernels.prepare_edges_double);
            run(1, &wide);
        }
        run(2, nullptr);
        if (length < 2) std::fill(pairs, pairs + labels_ * labels_, 0.0);
        return log_partition;
    }

private:
    // What bytes_needed (chain_plan.hpp) says of a group of one.
    Arena arena(std::size_t length) {
        const std::size_t stride = padded(labels_, kAlignment / sizeof(float)) * sizeof(double);
        const std::size_t bytes =
            (3 * length + 5 * labels_ + 16 * kRows) * stride + length * sizeof(double) + 64 * kAlignment;
        if (bytes > bytes_) memory_ = Workspaces(bytes_ = bytes, 1);
        return memory_.arena(0);
    }

    std::size_t labels_, bytes_ = 0;
    EdgeTable<S> narrow_table_;
    EdgeTable<double> wide_table_;
    Workspaces memory_{0, 1};
};

}  // namespace kernelfields
