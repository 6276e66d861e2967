// Online learning of linear chains: one sequence after the other is scored with the present weights,
// and a rule (online_rules.hpp) changes them. Here is what all rules need of one sequence.
#pragma once

#include "../structures/chain.hpp"
#include "online_rows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace kernelfields {

template <class S> struct OnlineData {
    SparseRows<S> x;
    std::size_t sequences, labels;
    const std::int64_t* first;  // sequences + 1, rows of x
    const std::int32_t* label;  // the right label of every row
    const double* weight;       // of every sequence, or null
    const S* small_offset;      // 3 x labels, fixed scores: of every, of the first and of the last label
    const S* edge_offset;       // labels x labels
    bool bias, boundaries;

    std::size_t length(std::size_t s) const { return static_cast<std::size_t>(first[s + 1] - first[s]); }
};

template <class S> class OnlineChain {
public:
    OnlineChain(const OnlineData<S>& data, const WeightPairs& pairs, const std::uint8_t* edge_pairs)
        : weights(data.x.columns, data.labels, pairs, edge_pairs),
          data_(data),
          rows_(data.x, weights),
          kernels_(chain_kernels<S>()),
          narrow_table_(data.labels, kernels_.narrow_width),
          double_table_(data.labels, kernels_.double_width),
          edge_(data.labels * data.labels),
          edge_sum_(data.labels * data.labels) {
        std::size_t longest = 0, most = 0;
        for (std::size_t s = 0; s < data.sequences; ++s) {
            longest = std::max(longest, data.length(s));
            most =
                std::max(most, static_cast<std::size_t>(data.x.first[data.first[s + 1]] - data.x.first[data.first[s]]));
        }
        scores_.resize(longest * data.labels);
        marginals_.resize(longest * data.labels);
        best_.resize(longest);
        change_.reserve(2 * most + 4 * longest + 4);
        const ChainBatch<S> all{data.sequences, 0, data.labels, data.first, nullptr, nullptr, nullptr, true};
        const Plan plan = make_plan(all, [](std::size_t) { return true; });
        workspaces_ = std::make_unique<Workspaces>(bytes_needed(all, plan), 1);
    }

    // Scores of sequence s with the present weights.
    void bind(std::size_t s) {
        const std::size_t L = data_.labels;
        from_ = static_cast<std::size_t>(data_.first[s]);
        length_ = data_.length(s);
        weight_ = data_.weight ? data_.weight[s] : 1;
        ends_[1] = static_cast<std::int64_t>(length_);
        std::fill_n(scores_.data(), length_ * L, S(0));
        sparse_kernels<S>().add_products(rows_.wide(), from_, from_ + length_, weights.row(0),
                                         weights.row(weights.rows()), weights.stride(), L, scores_.data());
        rows_.add_products(from_, from_ + length_, weights.packed(), L, scores_.data());
        finish_scores();
        const S scale = static_cast<S>(weights.edges.scale);
        for (std::size_t i = 0; i < L; ++i)
            for (std::size_t j = 0; j < L; ++j)
                edge_[i * L + j] = scale * weights.row(weights.edge(i))[j] + data_.edge_offset[i * L + j];
    }
    std::size_t length() const { return length_; }
    double weight() const { return weight_; }
    double score(const std::int32_t* labels) const { return chain_score(batch(), 0, labels); }
    const std::int32_t* right() const { return data_.label + from_; }
    const std::int32_t* best() const { return best_.data(); }
    const std::vector<std::pair<std::size_t, double>>& change() const { return change_; }

    // Marginals, times the sequence's weight, minus the right parts; returns the log-partition.
    double mismatch() {
        const double log_partition = find_marginals();
        const std::size_t L = data_.labels;
        const S one = static_cast<S>(weight_);
        for (std::size_t t = 0; t < length_; ++t) {
            const auto here = static_cast<std::size_t>(right()[t]);
            marginals_[t * L + here] -= one;
            if (t + 1 < length_) edge_sum_[here * L + static_cast<std::size_t>(right()[t + 1])] -= weight_;
        }
        return log_partition;
    }

    // w += factor * mismatch, one factor for nodes and one for edges. Features of positions whose
    // mismatch is nowhere above `least` stay as they are.
    void add_mismatch(double factor, double edge_factor, S least) {
        const std::size_t L = data_.labels;
        const Scaling& node = weights.node;
        const S unit = static_cast<S>(factor / node.scale), ratio = static_cast<S>(node.ratio());
        sparse_kernels<S>().change(rows_.wide(), from_, from_ + length_, marginals_.data(),
                                   marginals_.data() + marginals_.size(), L, unit, ratio, least, weights.changing());
        rows_.change(from_, from_ + length_, marginals_.data(), L, unit, ratio, weights.packed(),
                     [&](const S* row) { return std::any_of(row, row + L, [&](S x) { return std::abs(x) > least; }); });
        if (data_.boundaries) {
            weights.add_row(weights.start(), marginals_.data(), factor);
            weights.add_row(weights.end(), marginals_.data() + (length_ - 1) * L, factor);
        }
        for (std::size_t i = 0; length_ > 1 && i < L; ++i)
            weights.add_row(weights.edge(i), edge_sum_.data() + i * L, edge_factor);
        if (!data_.bias) return;
        for (std::size_t t = 1; t < length_; ++t)
            for (std::size_t j = 0; j < L; ++j) marginals_[j] += marginals_[t * L + j];
        weights.add_row(weights.bias(), marginals_.data(), factor);
    }

    // The best labelling; false if there is none.
    bool find_best() {
        Outcome outcome = shared_edges_finite(batch()) ? Outcome::pending : Outcome::not_finite;
        if (outcome == Outcome::not_finite) return false;
        kernels_.prepare_max_edges(edge_.data(), data_.labels, narrow_table_.table(0));
        kernels_.argmax_shared(batch(), narrow_table_.table(0), {&kOnly, 1}, best_.data(), nullptr,
                               workspaces_->arena(0), &outcome);
        return outcome == Outcome::done;
    }

    // Collects parts(right) - parts(best) in the coordinates of the weights. Merged: every coordinate
    // once, none that is zero.
    void collect(bool merged) {
        change_.clear();
        for (std::size_t t = 0; t < length_; ++t) {
            collect_vertex(t, static_cast<std::size_t>(right()[t]), static_cast<std::size_t>(best_[t]));
            if (t + 1 < length_ && (right()[t] != best_[t] || right()[t + 1] != best_[t + 1])) {
                collect_edge(right()[t], right()[t + 1], 1);
                collect_edge(best_[t], best_[t + 1], -1);
            }
        }
        if (merged) merge();
    }
    void add_change(double factor) {
        for (const auto& [key, value] : change_) weights.add(key, factor * value);
    }

    OnlineWeights<S> weights;
    double missed = 0;  // over all mistaken sequences, the share of labels that were wrong

private:
    static constexpr std::size_t kOnly = 0;

    ChainBatch<S> batch() const {
        return {1, length_, data_.labels, ends_, edge_ends_, scores_.data(), edge_.data(), true};
    }
    void finish_scores() {
        const std::size_t L = data_.labels;
        const S scale = static_cast<S>(weights.node.scale);
        const S* bias = weights.row(weights.bias());
        const S *fixed = data_.small_offset, *start = weights.row(weights.start()), *end = weights.row(weights.end());
        for (std::size_t t = 0; t < length_; ++t)
            for (std::size_t j = 0; j < L; ++j) scores_[t * L + j] = scale * (scores_[t * L + j] + bias[j]) + fixed[j];
        for (std::size_t j = 0; length_ > 0 && j < L; ++j) {
            scores_[j] += scale * start[j] + fixed[L + j];
            scores_[(length_ - 1) * L + j] += scale * end[j] + fixed[2 * L + j];
        }
    }
    // Tries the recursions in turn, as chain_marginals does.
    double find_marginals() {
        double log_partition = kNaN;
        const MarginalsOut<S> out{&weight_, &log_partition, marginals_.data(), nullptr};
        Outcome outcome = shared_edges_finite(batch()) ? Outcome::pending : Outcome::not_finite;
        std::fill(edge_sum_.begin(), edge_sum_.end(), 0.0);
        for (std::size_t k = 0; k < kRecursions && outcome == Outcome::pending; ++k) {
            if (!kernels_.marginals_shared[k]) continue;
            SharedEdges<S> narrow{};
            SharedEdges<double> wide{};
            if (k == 0) narrow = shared_edges(batch(), narrow_table_, kernels_.prepare_edges_narrow);
            if (k == 1) wide = shared_edges(batch(), double_table_, kernels_.prepare_edges_double);
            const void* edges[kRecursions] = {&narrow, &wide, nullptr};
            kernels_.marginals_shared[k](batch(), edges[k], {&kOnly, 1}, out, edge_sum_.data(), workspaces_->arena(0),
                                         &outcome);
        }
        return log_partition;
    }
    void push(std::size_t key, double value) {
        if (key != OnlineWeights<S>::kNone) change_.emplace_back(key, value);
    }
    // One pair of labels, which counts for the right labelling and against the best.
    void collect_edge(std::int32_t left, std::int32_t right, double value) {
        push(weights.key_of_row(weights.edge(static_cast<std::size_t>(left)), static_cast<std::size_t>(right)), value);
    }
    void collect_vertex(std::size_t t, std::size_t right, std::size_t best) {
        if (right == best) return;
        const SparseRows<S>& x = data_.x;
        for (std::int64_t k = x.first[from_ + t]; k < x.first[from_ + t + 1]; ++k) {
            const auto feature = static_cast<std::size_t>(x.index[k]);
            const double value = x.value ? static_cast<double>(x.value[k]) : 1.0;
            push(weights.key_of_feature(feature, right), value);
            push(weights.key_of_feature(feature, best), -value);
        }
        const auto both = [&](std::size_t row) {
            push(weights.key_of_row(row, right), 1);
            push(weights.key_of_row(row, best), -1);
        };
        if (data_.bias) both(weights.bias());
        if (data_.boundaries && t == 0) both(weights.start());
        if (data_.boundaries && t + 1 == length_) both(weights.end());
    }
    void merge() {
        std::sort(change_.begin(), change_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        std::size_t kept = 0;
        for (std::size_t k = 0; k < change_.size();) {
            auto entry = change_[k++];
            while (k < change_.size() && change_[k].first == entry.first) entry.second += change_[k++].second;
            if (entry.second != 0) change_[kept++] = entry;
        }
        change_.resize(kept);
    }

    OnlineData<S> data_;
    SplitRows<S> rows_;
    const ChainKernels<S>& kernels_;
    EdgeTable<S> narrow_table_;
    EdgeTable<double> double_table_;
    std::unique_ptr<Workspaces> workspaces_;
    std::vector<S> scores_, marginals_, edge_;
    std::vector<double> edge_sum_;
    std::vector<std::int32_t> best_;
    std::vector<std::pair<std::size_t, double>> change_;
    std::size_t from_ = 0, length_ = 0;
    double weight_ = 1;
    std::int64_t ends_[2] = {0, 0}, edge_ends_[2] = {0, 0};
};

}  // namespace kernelfields
