// The k best segmentations of a sequence, by lists that are merged with a heap:
//
//   starts(t, j) = the k best of  ends(t, i)(n) + pair(i, j)                          over labels i != j and ranks n
//   ends(t, j)   = the k best of  starts(s, j)(n) + score of the run from s up to t   over starts s and ranks n
//
// Runs of K positions and more score alike: one list per label holds the best of their starts, which join it as they
// get old enough.
#pragma once

#include "chain_kbest.hpp"
#include "segment_best.hpp"

namespace kernelfields {

class SegmentKBest {
public:
    SegmentKBest(const SegmentScores& scores, std::size_t k)
        : x_(scores),
          L_(x_.labels),
          k_(k),
          starts_((x_.length + 1) * L_ * k, kNoWay),
          ends_((x_.length + 1) * L_ * k, kNoWay),
          last_(k, kNoWay),
          long_(L_ * k, kNoWay),
          merged_(k),
          early_(L_, 0) {
        for (std::size_t j = 0; j < L_; ++j) at(starts_, 0, j)[0] = {0, -1, -1};
        for (std::size_t t = 0; t < x_.length; ++t)
            for (std::size_t j = 0; j < L_; ++j) {
                if (t > 0) begin_runs(t, j);
                end_runs(t, j);
            }
        if (x_.length == 0) last_[0].score = 0;
        else
            merge_best(
                L_, k_, [&](std::size_t j, std::size_t n) { return at(ends_, x_.length, j)[n].score; }, heap_,
                last_.data());
    }

    // Writes the n-th best labels and returns their score; -inf, and labels of -1, if there are none.
    double labelling(std::size_t n, std::int32_t* labels) {
        std::fill(labels, labels + x_.length, -1);
        if (!(last_[n].score > kNothing)) return kNothing;
        std::int32_t label = last_[n].label, rank = last_[n].rank;
        for (std::size_t t = x_.length; t > 0;) {
            const auto j = static_cast<std::size_t>(label);
            const Way& end = at(ends_, t, j)[rank];
            const auto begin = static_cast<std::size_t>(end.label);
            std::fill(labels + begin, labels + t, label);
            const Way& start = at(starts_, begin, j)[end.rank];
            label = start.label;
            rank = start.rank;
            t = begin;
        }
        return last_[n].score;
    }

private:
    static constexpr Way kNoWay{-std::numeric_limits<double>::infinity(), -1, -1};

    Way* at(std::vector<Way>& lists, std::size_t t, std::size_t j) { return lists.data() + (t * L_ + j) * k_; }
    void begin_runs(std::size_t t, std::size_t j) {
        const double* pairs = x_.pairs + (t - 1) * x_.pairs_step;
        merge_best(
            L_, k_, [&](std::size_t i, std::size_t n) { return at(ends_, t, i)[n].score + pairs[i * x_.stride + j]; },
            heap_, at(starts_, t, j));
    }
    // The n-th best that is before a run that begins at s, less the prefix sums.
    double start(std::size_t s, std::size_t j, std::size_t n) {
        const std::size_t k = s * x_.stride + j;
        return at(starts_, s, j)[n].score - x_.prefix[k] - x_.stay[k];
    }
    void end_runs(std::size_t t, std::size_t j) {
        const std::size_t K = x_.longest;
        Way* old = long_.data() + j * k_;
        if (x_.on && x_.on[t * x_.stride + j] == 0) {
            early_[j] = x_.open[t * x_.stride + j] != 0 ? t : t + 1;
            std::fill(old, old + k_, kNoWay);
        }
        if (t + 1 >= K && t + 1 - K >= early_[j]) grow_old(t + 1 - K, j, old);
        Way* end = at(ends_, t + 1, j);
        const double base = x_.prefix[(t + 1) * x_.stride + j];
        own_.clear();  // list 0: long runs; the others: runs that have scores of their own
        own_.push_back({x_.duration[(K - 1) * x_.stride + j] + base + (x_.runs ? x_.runs->free[j] : 0.0), 0});
        visit_runs(x_, t, [&](std::size_t s, const double* extra) {
            if (s >= early_[j]) own_.push_back({x_.duration_of(t + 1 - s)[j] + base + (extra ? extra[j] : 0.0), s});
        });
        merge_best(
            own_.size(), k_,
            [&](std::size_t r, std::size_t n) {
                return own_[r].score + (r ? start(own_[r].begin, j, n) : old[n].score);
            },
            heap_, end);
        for (std::size_t n = 0; n < k_; ++n) {
            if (!(end[n].score > kNothing)) continue;
            const auto r = static_cast<std::size_t>(end[n].label);
            const Way way = r ? end[n] : old[end[n].rank];
            end[n].label = r ? static_cast<std::int32_t>(own_[r].begin) : way.label;
            end[n].rank = way.rank;
        }
    }
    void grow_old(std::size_t s, std::size_t j, Way* old) {
        merge_best(
            2, k_, [&](std::size_t which, std::size_t n) { return which ? start(s, j, n) : old[n].score; }, heap_,
            merged_.data());
        for (Way& way : merged_) {
            if (!(way.score > kNothing)) continue;
            if (way.label) way.label = static_cast<std::int32_t>(s);
            else way = old[way.rank];
        }
        std::copy(merged_.begin(), merged_.end(), old);
    }

    struct Run {
        double score;
        std::size_t begin;
    };

    const SegmentScores& x_;
    std::size_t L_, k_;
    std::vector<Way> starts_;  // label before and rank among its ends
    std::vector<Way> ends_;    // where the run begins and rank among these starts
    std::vector<Way> last_, long_, merged_;
    std::vector<std::size_t> early_;
    std::vector<Way> heap_;
    std::vector<Run> own_;
};

// labels: k x positions; value: sequences x k. Scores must be finite or -inf.
template <class S>
void segment_kbest(const SegmentBatch<S>& batch, std::size_t k, std::int32_t* labels, double* value) {
    const SharedSegmentScores shared(batch);
    const double work = segment_work_of(batch) * (2 + 20 * static_cast<double>(k));
    for_each_block(batch.chain.sequences, threads_for(work), [&](std::size_t s, std::size_t) {
        const SegmentRows<S> rows(batch, shared, s, true);
        const SegmentScores scores = rows.scores();
        SegmentKBest best(scores, k);
        for (std::size_t n = 0; n < k; ++n) {
            std::int32_t* mine = labels + n * batch.chain.positions + batch.chain.first[s];
            value[s * k + n] = best.labelling(n, mine);
            if (value[s * k + n] > kNothing) value[s * k + n] = segment_score(batch, s, mine);
        }
    });
}

}  // namespace kernelfields
