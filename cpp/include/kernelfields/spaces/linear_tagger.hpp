// One sequence at a time with a fitted linear chain, as services tag: what is prepared once is kept, nothing
// is allocated but for a sequence longer than all before it, and no other thread is woken.
#pragma once

#include "../features/attributes.hpp"
#include "../structures/chain_marginals.hpp"
#include "sparse.hpp"

#include <span>

namespace kernelfields {

// Weights of (attribute, label) pairs, attribute a having first[a] <= p < first[a + 1], of labels and of label
// pairs; -inf forbids.
struct TaggerWeights {
    std::size_t labels;
    const std::int32_t* first;
    const std::int32_t* label;
    const double* weight;
    const double* ends;         // 3 x labels: at every position, at the first, at the last
    const double* transitions;  // labels x labels
};

class LinearTagger {
public:
    explicit LinearTagger(const TaggerWeights& weights)
        : weights_(weights), width_(chain_kernels<double>().narrow_width), max_edges_(weights.labels, width_) {
        finite_edges_ = shared_edges_finite(batch());
        chain_kernels<double>().prepare_max_edges(weights.transitions, weights.labels, max_edges_.table(0));
    }

    std::size_t length() const { return length_; }
    std::size_t labels() const { return weights_.labels; }

    // Makes this the sequence that all else is about. The rows are put in order of attributes, those that come
    // twice added up, as batches of sequences are: sums are then the same to the last bit.
    void set(AttributeRows& rows) {
        rows.sum_duplicates();
        length_ = rows.indptr.size() - 1;
        first_[1] = static_cast<std::int64_t>(length_);
        edge_first_[1] = length_ ? first_[1] - 1 : 0;
        known_marginals_ = false;
        node_.assign(length_ * labels(), 0.0);
        const SparseRows<double> x{length_, 0, rows.indptr.data(), rows.indices.data(), rows.values.data()};
        add_pair_products(x, 0, length_, weights_.first, weights_.label, weights_.weight, labels(), node_.data());
        const double* const ends = weights_.ends;
        add_label_scores<double, double>(node_.data(), first_, 1, labels(),
                                         {ends, ends + labels(), ends + 2 * labels()});
    }

    // The best labels, and what they add up to in value(): NaN if scores are not finite, -inf if none is allowed.
    std::span<const std::int32_t> best() {
        best_.resize(length_);
        value_ = 0;
        if (length_ == 0) return best_;
        const std::size_t stride = padded(labels(), width_);
        arena_.resize((length_ + 2) * stride + 4 * kPiece / sizeof(double));
        auto* const start = reinterpret_cast<std::byte*>(arena_.data());
        const Arena arena{start + (kPiece - reinterpret_cast<std::uintptr_t>(start) % kPiece) % kPiece,
                          start + arena_.size() * sizeof(double)};
        const std::size_t only = 0;
        Outcome outcome = length_ > 1 && !finite_edges_ ? Outcome::not_finite : Outcome::pending;
        if (outcome == Outcome::pending)
            chain_kernels<double>().argmax_shared(batch(), max_edges_.table(0), {&only, 1}, best_.data(), &value_,
                                                  arena, &outcome);
        if (outcome != Outcome::done) value_ = kNaN;
        return best_;
    }

    double value() const { return value_; }

    double score(const std::int32_t* given) const { return chain_score(batch(), 0, given); }

    double log_partition() {
        if (!known_marginals_) find_marginals();
        return log_partition_;
    }

    // p(label at t), NaN where log_partition() is not finite; the first question about a sequence answers all.
    double marginal(std::size_t t, std::size_t label) {
        if (!known_marginals_) find_marginals();
        return std::isfinite(log_partition_) ? marginals_[t * labels() + label] : kNaN;
    }

private:
    ChainBatch<double> batch() const {
        return {1, length_, labels(), first_, edge_first_, node_.data(), weights_.transitions, true};
    }

    void find_marginals() {
        marginals_.resize(length_ * labels());
        pairs_.assign(labels() * labels(), 0.0);
        chain_marginals(batch(), MarginalsOut<double>{nullptr, &log_partition_, marginals_.data(), nullptr},
                        pairs_.data());
        known_marginals_ = true;
    }

    TaggerWeights weights_;
    std::size_t width_, length_ = 0;
    std::int64_t first_[2] = {0, 0}, edge_first_[2] = {0, 0};
    EdgeTable<double> max_edges_;
    std::vector<double> node_, arena_, marginals_, pairs_;
    std::vector<std::int32_t> best_;
    double value_ = 0, log_partition_ = 0;
    bool finite_edges_, known_marginals_ = false;
};

}  // namespace kernelfields
