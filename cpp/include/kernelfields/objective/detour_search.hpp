// The worst labelling of one instance: the largest of cost plus score, by Viterbi's algorithm.
//
// `look` returns by how much the worst labelling of an instance, left in `best`, is above the right one, by a multiple
// of scores that are learnt; NaN where a score is not finite.
#pragma once

#include "../structures/chain.hpp"
#include "../structures/tree.hpp"
#include "detour_patches.hpp"
#include "detour_runs.hpp"
#include "margin_data.hpp"

#include <memory>
#include <vector>

namespace kernelfields {

template <class S> class ChainSearch {
public:
    explicit ChainSearch(const MarginData<S>& data)
        : scores(data),
          data_(data),
          kernels_(chain_kernels<S>()),
          table_(data.labels, kernels_.narrow_width),
          best_(data.longest()) {
        const ChainBatch<S> all{data.sequences, 0, data.labels, data.first, nullptr, nullptr, nullptr, true};
        const Plan plan = make_plan(all, [](std::size_t) { return true; });
        workspaces_ = std::make_unique<Workspaces>(bytes_needed(all, plan), 1);
    }

    template <class Weights>
    double look(const ChainInstance& chain, const Weights& weights, const DetourLabels& free, double scale) {
        scores.fill(chain, weights, free, scale);
        ends_[1] = static_cast<std::int64_t>(chain.length);
        const ChainBatch<S> batch{1,          chain.length,   data_.labels,   ends_,
                                  edge_ends_, scores.nodes(), scores.edges(), true};
        Outcome outcome = shared_edges_finite(batch) ? Outcome::pending : Outcome::not_finite;
        if (outcome == Outcome::not_finite) return kNaN;
        kernels_.prepare_max_edges(scores.edges(), data_.labels, table_.table(0));
        kernels_.argmax_shared(batch, table_.table(0), {&kOnly, 1}, best_.data(), nullptr, workspaces_->arena(0),
                               &outcome);
        if (outcome != Outcome::done) return kNaN;
        return chain_score(batch, 0, best_.data()) - chain_score(batch, 0, data_.label + chain.from);
    }
    const std::int32_t* best() const { return best_.data(); }

    MarginScores<S> scores;  // at the last look

private:
    static constexpr std::size_t kOnly = 0;

    MarginData<S> data_;
    const ChainKernels<S>& kernels_;
    EdgeTable<S> table_;
    std::unique_ptr<Workspaces> workspaces_;
    std::vector<std::int32_t> best_;
    std::int64_t ends_[2] = {0, 0}, edge_ends_[2] = {0, 0};
};

template <class S> class ForestSearch {
public:
    explicit ForestSearch(const MarginData<S>& data)
        : scores(data),
          data_(data),
          table_(data.labels, chain_kernels<S>().narrow_width),
          workspaces_(std::make_unique<Workspaces>(tree_bytes(data.longest(), 1, data.labels), 1)),
          best_(data.longest()),
          owner_(data.longest()) {}

    template <class Weights>
    double look(const ForestInstance& tree, const Weights& weights, const DetourLabels& free, double scale) {
        scores.fill(tree, weights, free, scale);
        const std::size_t L = data_.labels;
        const bool finite = tree.levels == 1 || usable(scores.edges(), L * L);
        if (!finite) return kNaN;
        chain_kernels<S>().prepare_max_edges(scores.edges(), L, table_.table(0));
        const TreeBatch<S> batch{1, tree.length, L, nullptr, nullptr, nullptr, scores.nodes(), scores.edges(), true};
        const TreeGroup group{&kOnly,        1,       tree.length, tree.levels, tree.level, tree.parent, tree.child,
                              owner_.data(), nullptr, nullptr,     tree.vertex, nullptr};
        Outcome outcome = Outcome::pending;
        tree_kernels<S>().argmax(batch, table_.table(0), group, best_.data(), workspaces_->arena(0), &outcome);
        if (outcome != Outcome::done) return kNaN;
        return score(tree, best_.data()) - score(tree, data_.label + tree.from);
    }
    const std::int32_t* best() const { return best_.data(); }

    MarginScores<S> scores;  // at the last look

private:
    static constexpr std::size_t kOnly = 0;

    double score(const ForestInstance& tree, const std::int32_t* labels) const {
        double total = 0;
        for (std::size_t k = 0; k < tree.length; ++k) {
            const std::int32_t here = labels[tree.vertex[k]];
            total += scores.node(tree.vertex[k], here);
            if (tree.is_root(k)) continue;
            const auto above = static_cast<std::size_t>(labels[tree.vertex[tree.parent[k]]]);
            total += scores.edge(above * data_.labels + static_cast<std::size_t>(here));
        }
        return total;
    }

    MarginData<S> data_;
    EdgeTable<S> table_;
    std::unique_ptr<Workspaces> workspaces_;
    std::vector<std::int32_t> best_;
    std::vector<std::uint32_t> owner_;  // all zero: one instance at a time
};

}  // namespace kernelfields
