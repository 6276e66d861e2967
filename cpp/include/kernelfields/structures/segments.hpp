// Segments: chains in which every run of one label also scores by its length. Scores of one sequence are laid out for
// the code per instruction set, in both directions; sums over all segmentations follow.
#pragma once

#include "../core/dispatch.hpp"
#include "../core/logarithms.hpp"
#include "../core/parallel.hpp"
#include "chain.hpp"
#include "segment_runs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace kernelfields {

template <class S> struct SegmentBatch {
    ChainBatch<S> chain;
    std::size_t longest;                     // runs of so many positions and more score alike
    const double* duration;                  // longest x labels, row d - 1 for runs of d positions
    const SegmentCandidates<S>* candidates;  // runs with scores of their own, or null
};

template <class S>
void copy_rows(const double* from, std::size_t rows, std::size_t labels, std::size_t stride, S* to) {
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t j = 0; j < labels; ++j) to[r * labels + j] = static_cast<S>(from[r * stride + j]);
}
inline void add_rows(const double* from, std::size_t rows, std::size_t labels, std::size_t stride, double* to) {
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t j = 0; j < labels; ++j) to[r * labels + j] += from[r * stride + j];
}

// What all sequences of a batch share: scores of lengths and, if they are shared, of label pairs, in rows of `stride`.
struct SharedSegmentScores {
    std::size_t labels, stride, longest;
    std::vector<double> duration, weight, most;
    std::vector<double> pairs, factor, turned, turned_factor;  // from label to label, and from the last to the first
    double top = 0;
    bool usable_durations, usable_pairs = true;  // neither NaN nor +inf

    template <class S> explicit SharedSegmentScores(const SegmentBatch<S>& batch)
        : labels(batch.chain.labels),
          stride(padded(labels, segment_kernels().width)),
          longest(batch.longest),
          duration(longest * stride, kNothing),
          weight(longest * stride),
          most(stride, 0.0) {
        usable_durations = usable(batch.duration, longest * labels);
        for (std::size_t d = 0; d < longest; ++d)
            std::copy_n(batch.duration + d * labels, labels, duration.data() + d * stride);
        for (std::size_t j = 0; j < labels; ++j) {
            double high = kNothing;
            for (std::size_t d = 0; d < longest; ++d) high = std::max(high, duration[d * stride + j]);
            most[j] = high > kNothing ? high : 0.0;
        }
        for (std::size_t k = 0; k < weight.size(); ++k) weight[k] = duration[k] - most[k % stride];
        segment_kernels().exp(weight.data(), weight.size());
        if (!batch.chain.shared) return;
        usable_pairs = usable(batch.chain.edge, labels * labels);
        for (std::vector<double>* table : {&pairs, &factor, &turned, &turned_factor}) table->assign(labels * stride, 0);
        top = lay_out(batch.chain.edge, pairs.data(), turned.data());
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            factor[k] = pairs[k] - top;
            turned_factor[k] = turned[k] - top;
        }
        segment_kernels().exp(factor.data(), factor.size());
        segment_kernels().exp(turned_factor.data(), factor.size());
    }

    // Writes scores of changes between labels and the same transposed, and returns the largest; staying is no change.
    template <class S> double lay_out(const S* edge, double* table, double* transposed) const {
        double high = kNothing;
        std::fill(table, table + labels * stride, kNothing);
        std::fill(transposed, transposed + labels * stride, kNothing);
        for (std::size_t i = 0; i < labels; ++i)
            for (std::size_t j = 0; j < labels; ++j) {
                if (i == j) continue;
                const auto score = static_cast<double>(edge[i * labels + j]);
                table[i * stride + j] = transposed[j * stride + i] = score;
                high = std::max(high, score);
            }
        return high > kNothing ? high : 0.0;
    }
};

// One sequence in rows of `stride`, read from its first position on or from its last.
template <class S> class SegmentRows {
public:
    SegmentRows(const SegmentBatch<S>& batch, const SharedSegmentScores& shared, std::size_t s, bool ahead)
        : chain_(batch.chain),
          common_(shared),
          length_(chain_.length(s)),
          L_(shared.labels),
          stride_(shared.stride),
          ahead_(ahead),
          node_(chain_.node + static_cast<std::size_t>(chain_.first[s]) * L_),
          edge_(chain_.edge + (chain_.shared ? 0 : static_cast<std::size_t>(chain_.edge_first[s]) * L_ * L_)) {
        lay_out_positions();
        if (!chain_.shared) lay_out_pairs();
        if (batch.candidates) listed_.emplace(*batch.candidates, s, length_, L_, stride_, shared.longest, ahead);
    }

    SegmentScores scores() const {
        const SharedSegmentScores& c = common_;
        const bool shared = chain_.shared;
        return {.length = length_,
                .labels = L_,
                .stride = stride_,
                .longest = c.longest,
                .prefix = prefix_.data(),
                .stay = stay_.data(),
                .open = open_.empty() ? nullptr : open_.data(),
                .on = on_.empty() ? nullptr : on_.data(),
                .pairs = !shared  ? pairs_.data()
                         : ahead_ ? c.pairs.data()
                                  : c.turned.data(),
                .pairs_step = shared ? 0 : L_ * stride_,
                .factor = !shared  ? nullptr
                          : ahead_ ? c.factor.data()
                                   : c.turned_factor.data(),
                .top = shared ? &c.top : top_.data(),
                .duration = c.duration.data(),
                .weight = c.weight.data(),
                .most = c.most.data(),
                .runs = listed_ ? listed_->runs() : nullptr};
    }
    const std::optional<SegmentRunTable<S>>& listed() const { return listed_; }

private:
    double node(std::size_t t, std::size_t j) const {
        return static_cast<double>(node_[(ahead_ ? t : length_ - 1 - t) * L_ + j]);
    }
    // The edge that leads to position t, in the order of reading.
    const S* edge(std::size_t t) const {
        return edge_ + (chain_.shared ? 0 : (ahead_ ? t - 1 : length_ - 1 - t) * L_ * L_);
    }
    double stay(std::size_t t, std::size_t j) const { return t > 0 ? static_cast<double>(edge(t)[j * (L_ + 1)]) : 0.0; }
    static double finite(double x) { return x == kNothing ? 0.0 : x; }

    void lay_out_positions() {
        prefix_.assign((length_ + 1) * stride_, 0.0);
        stay_.assign(length_ * stride_, 0.0);
        bool forbids = false;
        for (std::size_t t = 0; t < length_; ++t)
            for (std::size_t j = 0; j < L_; ++j) {
                const std::size_t k = t * stride_ + j;
                const double here = node(t, j), same = stay(t, j);
                forbids = forbids || here == kNothing || same == kNothing;
                stay_[k] = finite(same);
                prefix_[k + stride_] = prefix_[k] + finite(here) + finite(same);
            }
        if (forbids) mark();
    }
    void mark() {
        open_.assign(length_ * stride_, 1.0);
        on_ = open_;
        for (std::size_t t = 0; t < length_; ++t)
            for (std::size_t j = 0; j < L_; ++j) {
                const bool open = node(t, j) != kNothing;
                open_[t * stride_ + j] = open ? 1.0 : 0.0;
                on_[t * stride_ + j] = open && stay(t, j) != kNothing ? 1.0 : 0.0;
            }
    }
    void lay_out_pairs() {
        const std::size_t boundaries = length_ > 0 ? length_ - 1 : 0, table = L_ * stride_;
        pairs_.resize(boundaries * table);
        top_.resize(boundaries);
        std::vector<double> other(table);
        for (std::size_t t = 0; t < boundaries; ++t) {
            double* mine = pairs_.data() + t * table;
            top_[t] = common_.lay_out(edge(t + 1), ahead_ ? mine : other.data(), ahead_ ? other.data() : mine);
        }
    }

    const ChainBatch<S>& chain_;
    const SharedSegmentScores& common_;
    std::size_t length_, L_, stride_;
    bool ahead_;
    const S *node_, *edge_;
    std::vector<double> prefix_, stay_, open_, on_, pairs_, top_;
    std::optional<SegmentRunTable<S>> listed_;
};

// Whether no score of a sequence is NaN or +inf.
template <class S> bool usable_sequence(const SegmentBatch<S>& batch, const SharedSegmentScores& shared,
                                        std::size_t s) {
    const ChainBatch<S>& chain = batch.chain;
    const std::size_t L = chain.labels, length = chain.length(s);
    if (!shared.usable_durations || !usable(chain.node + static_cast<std::size_t>(chain.first[s]) * L, length * L))
        return false;
    if (const SegmentCandidates<S>* given = batch.candidates) {
        const auto from = static_cast<std::size_t>(given->first[s]), to = static_cast<std::size_t>(given->first[s + 1]);
        if (!usable(given->score + from * L, (to - from) * L)) return false;
    }
    if (length < 2) return true;
    if (chain.shared) return shared.usable_pairs;
    return usable(chain.edge + static_cast<std::size_t>(chain.edge_first[s]) * L * L, (length - 1) * L * L);
}

// Sums over all segmentations of one sequence.
class SegmentSweeps {
public:
    template <class S>
    SegmentSweeps(const SegmentBatch<S>& batch, const SharedSegmentScores& shared, std::size_t s, bool both) {
        const SegmentRows<S> ahead(batch, shared, s, true);
        const SegmentScores scores = ahead.scores();
        rows_ = (scores.length + 1) * scores.stride;
        work.resize(segment_work(scores));
        memory_.resize((both ? 4 : 2) * rows_);
        log_partition = segment_kernels().sweep(scores, before(), work.data());
        if (!both || !std::isfinite(log_partition)) return;
        const SegmentRows<S> back(batch, shared, s, false);
        const SegmentScores turned = back.scores();
        work.resize(std::max(work.size(), segment_work(turned)));  // more may begin at one place than end at one
        segment_kernels().sweep(turned, after(), work.data());
    }
    SegmentSums before() { return {memory_.data(), memory_.data() + rows_}; }
    SegmentSums after() { return {memory_.data() + 2 * rows_, memory_.data() + 3 * rows_}; }

    double log_partition;
    std::vector<double> work;

private:
    std::size_t rows_;
    std::vector<double> memory_;
};

// About how long a sweep over a batch takes, in nanoseconds.
template <class S> double segment_work_of(const SegmentBatch<S>& batch) {
    const auto positions = static_cast<double>(batch.chain.positions), L = static_cast<double>(batch.chain.labels);
    return positions * L * (5 + 0.3 * L + 0.3 * static_cast<double>(batch.longest));
}

template <class S> struct SegmentOut {
    const double* weight;   // per sequence, or null
    double* log_partition;  // sequences
    S* node;                // positions x labels
    S* edge;                // edges x labels x labels, or null when edges are shared
    double* edge_sum;       // labels x labels, when they are
    double* duration;       // longest x labels
    S* segment;             // candidates x labels, or null when there are none
};

template <class S> void segment_log_partition(const SegmentBatch<S>& batch, double* value) {
    const SharedSegmentScores shared(batch);
    for_each_block(batch.chain.sequences, threads_for(segment_work_of(batch)), [&](std::size_t s, std::size_t) {
        value[s] = usable_sequence(batch, shared, s) ? SegmentSweeps(batch, shared, s, false).log_partition : kNaN;
    });
}

template <class S> void segment_marginals(const SegmentBatch<S>& batch, const SegmentOut<S>& out) {
    const SharedSegmentScores shared(batch);
    const ChainBatch<S>& chain = batch.chain;
    const std::size_t L = chain.labels, stride = shared.stride, table = L * stride, lengths = batch.longest * stride;
    // Sequences of one block add up into one place, in their order: the same on any number of threads.
    const std::size_t blocks = std::min<std::size_t>(chain.sequences, 64);
    const std::size_t sums = (chain.shared ? table : 0) + lengths;
    std::vector<double> totals(blocks * sums);
    for_each_block(blocks, threads_for(4 * segment_work_of(batch)), [&](std::size_t block, std::size_t) {
        double* total = totals.data() + block * sums;
        std::vector<double> node, pairs, extra;
        const std::size_t from = chain.sequences * block / blocks, to = chain.sequences * (block + 1) / blocks;
        for (std::size_t s = from; s < to; ++s) {
            const std::size_t length = chain.length(s), edges = length > 0 ? length - 1 : 0;
            out.log_partition[s] = kNaN;
            if (!usable_sequence(batch, shared, s)) continue;
            SegmentSweeps sweeps(batch, shared, s, true);
            out.log_partition[s] = sweeps.log_partition;
            if (!std::isfinite(sweeps.log_partition) || length == 0) continue;
            const SegmentRows<S> rows(batch, shared, s, true);
            const SegmentScores scores = rows.scores();
            const SegmentSums before = sweeps.before(), after = sweeps.after();
            node.resize(length * stride);
            if (!chain.shared) pairs.assign(edges * table, 0.0);
            if (rows.listed()) extra.assign(rows.listed()->size(), 0.0);
            segment_kernels().marginals({.scores = scores,
                                         .before = before,
                                         .after = after,
                                         .log_partition = sweeps.log_partition,
                                         .weight = out.weight ? out.weight[s] : 1.0,
                                         .node = node.data(),
                                         .pairs = chain.shared ? total + lengths : pairs.data(),
                                         .durations = total,
                                         .extra = extra.data()},
                                        sweeps.work.data());
            copy_rows(node.data(), length, L, stride, out.node + static_cast<std::size_t>(chain.first[s]) * L);
            if (!chain.shared)
                copy_rows(pairs.data(), edges * L, L, stride,
                          out.edge + static_cast<std::size_t>(chain.edge_first[s]) * L * L);
            if (rows.listed()) rows.listed()->unmerge(extra.data(), out.segment);
        }
    });
    for (std::size_t block = 0; block < blocks; ++block) {
        const double* total = totals.data() + block * sums;
        add_rows(total, batch.longest, L, stride, out.duration);
        if (chain.shared) add_rows(total + lengths, L, L, stride, out.edge_sum);
    }
}

}  // namespace kernelfields
