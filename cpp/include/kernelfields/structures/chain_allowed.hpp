// Chains where rules leave few label pairs: the others are skipped.
#pragma once

#include "chain_lanes.hpp"

#include <vector>

namespace kernelfields {

// Rows by how many entries they have, those with few first.
inline std::vector<std::uint32_t> sorted_rows(const std::vector<std::size_t>& count) {
    std::vector<std::uint32_t> row(count.size());
    std::iota(row.begin(), row.end(), 0U);
    std::stable_sort(row.begin(), row.end(), [&](std::uint32_t a, std::uint32_t b) { return count[a] < count[b]; });
    return row;
}

// Entries of a table that are not zero, row by row, those with few entries first.
template <class S> class AllowedTable {
public:
    template <class Entry> AllowedTable(std::size_t labels, Entry entry) : first_{0} {
        std::vector<std::size_t> count(labels);
        for (std::size_t a = 0; a < labels; ++a)
            for (std::size_t b = 0; b < labels; ++b) count[a] += entry(a, b) > 0;
        row_ = sorted_rows(count);
        for (const std::uint32_t a : row_) {
            for (std::size_t b = 0; b < labels; ++b)
                if (const S here = entry(a, b); here > 0) {
                    label_.push_back(static_cast<std::uint32_t>(b));
                    value_.push_back(here);
                }
            first_.push_back(static_cast<std::uint32_t>(label_.size()));
        }
    }
    std::size_t count() const { return label_.size(); }
    AllowedRows<S> rows() const { return {row_.data(), first_.data(), label_.data(), value_.data()}; }

private:
    std::vector<std::uint32_t> row_, first_, label_;
    std::vector<S> value_;
};

// Few enough for pairs to be looked at one by one. Vectors over few labels are mostly padding: there every forbidden
// pair counts.
template <class S> bool few_are_allowed(const ChainBatch<S>& batch) {
    const std::size_t square = batch.labels * batch.labels;
    if (!batch.shared || batch.labels < 2) return false;
    const auto allowed = static_cast<std::size_t>(
        std::count_if(batch.edge, batch.edge + square, [](S x) { return x > -std::numeric_limits<S>::infinity(); }));
    return allowed > 0 && (batch.labels <= kFewLabels ? allowed < square : 4 * allowed < square);
}

// Messages of as many sequences as a vector has numbers are kept: too much, if these are long and have many labels.
constexpr std::size_t kMostAllowedBytes = std::size_t{1} << 26;

template <class S>
void marginals_of_allowed(const ChainBatch<S>& batch, const SharedEdges<S>& edges, const MarginalsOut<S>& out,
                          double* edge_sum, std::vector<Outcome>& outcome) {
    const ChainKernels<S>& kernels = chain_kernels<S>();
    const std::size_t L = batch.labels, stride = padded(L, kernels.narrow_width);
    const AllowedTable<S> out_of(L, [&](std::size_t i, std::size_t j) { return edges.forward[i * stride + j]; });
    const AllowedTable<S> into(L, [&](std::size_t j, std::size_t i) { return edges.forward[i * stride + j]; });
    const AllowedPairs<S> pairs{L, into.count(), into.rows(), out_of.rows(), edges.largest, edges.range};
    const Plan plan =
        make_plan(batch, [&](std::size_t s) { return outcome[s] == Outcome::pending; }, kernels.narrow_width);
    if (plan.order.empty()) return;
    const std::size_t bytes = kernels.allowed_bytes(L, pairs.count, batch.length(plan.order[0]));
    if (bytes > kMostAllowedBytes) return;
    const double work =
        static_cast<double>(plan.positions) * (2 * static_cast<double>(L) + 0.25 * static_cast<double>(pairs.count));
    run_in_lanes(batch, plan, bytes, work, out.log_partition, edge_sum, outcome,
                 [&](const LaneWork& group, double* sums, Arena arena) {
                     return kernels.marginals_allowed(batch, pairs, group, out, sums, arena);
                 });
}

}  // namespace kernelfields
