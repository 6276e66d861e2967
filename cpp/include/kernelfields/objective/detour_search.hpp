// The worst labelling of one sequence: the largest of cost plus score, by Viterbi's algorithm.
#pragma once

#include "../structures/chain.hpp"
#include "detour_labels.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace kernelfields {

// Sequences with their right labels.
template <class S> struct MarginData {
    std::size_t sequences, labels;
    const std::int64_t* first;  // sequences + 1
    const std::int32_t* label;  // the right ones
    const double* weight;       // of every sequence, or null
    const S* fixed;             // positions x labels: cost plus fixed scores, less those of the right label
    const S* edge_fixed;        // labels x labels: fixed scores

    std::size_t length(std::size_t s) const { return static_cast<std::size_t>(first[s + 1] - first[s]); }
    double capacity(std::size_t s) const { return weight ? weight[s] : 1.0; }
};

template <class S> class DetourSearch {
public:
    explicit DetourSearch(const MarginData<S>& data)
        : data_(data), kernels_(chain_kernels<S>()), table_(data.labels, kernels_.narrow_width) {
        std::size_t longest = 0;
        for (std::size_t s = 0; s < data.sequences; ++s) longest = std::max(longest, data.length(s));
        node_.resize(longest * data.labels);
        edge_.resize(data.labels * data.labels);
        best_.resize(longest);
        const ChainBatch<S> all{data.sequences, 0, data.labels, data.first, nullptr, nullptr, nullptr, true};
        const Plan plan = make_plan(all, [](std::size_t) { return true; });
        workspaces_ = std::make_unique<Workspaces>(bytes_needed(all, plan), 1);
    }

    // Looks at sequence s; returns by how much its worst labelling, left in `best`, is above the right one. NaN where a
    // score is not finite.
    template <class Weights> double look(std::size_t s, const Weights& weights, const DetourLabels& free) {
        from_ = static_cast<std::size_t>(data_.first[s]);
        length_ = data_.length(s);
        ends_[1] = static_cast<std::int64_t>(length_);
        fill(weights, free);
        const ChainBatch<S> batch{1, length_, data_.labels, ends_, edge_ends_, node_.data(), edge_.data(), true};
        Outcome outcome = shared_edges_finite(batch) ? Outcome::pending : Outcome::not_finite;
        if (outcome == Outcome::not_finite) return kNaN;
        kernels_.prepare_max_edges(edge_.data(), data_.labels, table_.table(0));
        kernels_.argmax_shared(batch, table_.table(0), {&kOnly, 1}, best_.data(), workspaces_->arena(0), &outcome);
        if (outcome != Outcome::done) return kNaN;
        return chain_score(batch, 0, best_.data()) - chain_score(batch, 0, data_.label + from_);
    }
    const std::int32_t* best() const { return best_.data(); }
    // Scores at the last look, costs included.
    double node(std::size_t t, std::int32_t label) const {
        return static_cast<double>(node_[t * data_.labels + static_cast<std::size_t>(label)]);
    }
    double edge(std::size_t pair) const { return static_cast<double>(edge_[pair]); }

private:
    static constexpr std::size_t kOnly = 0;

    template <class Weights> void fill(const Weights& weights, const DetourLabels& free) {
        const std::size_t L = data_.labels;
        const S* fixed = data_.fixed + from_ * L;
        for (std::size_t t = 0; t < length_; ++t)
            for (std::size_t l = 0; l < L; ++l) node_[t * L + l] = fixed[t * L + l] + static_cast<S>(free.bias()[l]);
        S* last = node_.data() + (length_ - 1) * L;
        for (std::size_t l = 0; l < L; ++l) node_[l] += static_cast<S>(free.start()[l]);
        for (std::size_t l = 0; l < L; ++l) last[l] += static_cast<S>(free.end()[l]);
        weights.add_scores(from_, from_ + length_, node_.data());
        for (std::size_t k = 0; k < L * L; ++k) edge_[k] = static_cast<S>(free.edges()[k]) + data_.edge_fixed[k];
    }

    MarginData<S> data_;
    const ChainKernels<S>& kernels_;
    EdgeTable<S> table_;
    std::unique_ptr<Workspaces> workspaces_;
    std::vector<S> node_, edge_;
    std::vector<std::int32_t> best_;
    std::size_t from_ = 0, length_ = 0;
    std::int64_t ends_[2] = {0, 0}, edge_ends_[2] = {0, 0};
};

}  // namespace kernelfields
