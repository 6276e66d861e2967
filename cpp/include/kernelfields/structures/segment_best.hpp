// The best segmentation of every sequence: best scores of what is after every boundary, then runs from the first to
// the last. Of equally good labellings it is the first in the order of the alphabet.
#pragma once

#include "segments.hpp"

namespace kernelfields {

class SegmentBest {
public:
    // Scores read from the last position to the first: what is "before" here comes after.
    explicit SegmentBest(const SegmentScores& scores)
        : x_(scores),
          L_(x_.labels),
          start_(x_.length * L_, kNothing),
          end_(L_, kNothing),
          long_(L_, kNothing),
          early_(L_, 0),
          oldest_(L_, -1),
          from_(x_.length * L_, -1),
          begin_((x_.length + 1) * L_, -1) {
        for (std::size_t t = 0; t < x_.length; ++t) {
            if (x_.on) cut(t);
            begin_runs(t);
            end_runs(t);
        }
        if (x_.length > 0) last_ = first_largest(end_.data(), L_);
    }

    double score() const { return x_.length > 0 ? end_[last_] : 0.0; }

    void labels(std::int32_t* labels) const {
        std::size_t label = last_;
        for (std::size_t t = x_.length; t > 0;) {
            const auto begin = static_cast<std::size_t>(begin_[t * L_ + label]);
            std::fill(labels + x_.length - t, labels + x_.length - begin, static_cast<std::int32_t>(label));
            label = static_cast<std::size_t>(from_[begin * L_ + label]);
            t = begin;
        }
    }

private:
    // Runs that would have to go on to position t end here.
    void cut(std::size_t t) {
        for (std::size_t j = 0; j < L_; ++j) {
            if (x_.on[t * x_.stride + j] != 0) continue;
            early_[j] = t;
            long_[j] = kNothing;
        }
    }
    // The best that is before a run that begins at t, less the prefix sums.
    void begin_runs(std::size_t t) {
        const double* pairs = t > 0 ? x_.pairs + (t - 1) * x_.pairs_step : nullptr;
        for (std::size_t j = 0; j < L_; ++j) {
            double best = t > 0 ? kNothing : 0.0;
            for (std::size_t i = 0; i < L_ && t > 0; ++i)
                if (const double score = end_[i] + pairs[i * x_.stride + j]; score > best) {
                    best = score;
                    from_[t * L_ + j] = static_cast<std::int32_t>(i);
                }
            const std::size_t k = t * x_.stride + j;
            const bool open = !x_.open || x_.open[k] != 0;
            start_[t * L_ + j] = open ? best - x_.prefix[k] - x_.stay[k] : kNothing;
        }
    }
    void end_runs(std::size_t t) {
        std::int32_t* begin = begin_.data() + (t + 1) * L_;
        if (t + 1 >= x_.longest) grow_old(t + 1 - x_.longest);
        const double* score = x_.duration + (x_.longest - 1) * x_.stride;
        for (std::size_t j = 0; j < L_; ++j) {
            end_[j] = long_[j] + score[j];
            begin[j] = oldest_[j];
        }
        visit_runs(x_, t, [&](std::size_t s, const double* extra) {
            const double *start = start_.data() + s * L_, *length = x_.duration_of(t + 1 - s);
            for (std::size_t j = 0; j < L_; ++j) {
                if (s < early_[j]) continue;
                const double run = start[j] + length[j] + (extra ? extra[j] : 0.0);
                if (run < end_[j] || (run == end_[j] && !preferred(s, begin[j], j))) continue;
                end_[j] = run;
                begin[j] = static_cast<std::int32_t>(s);
            }
        });
        for (std::size_t j = 0; j < L_; ++j) end_[j] += x_.prefix[(t + 1) * x_.stride + j];
    }
    void grow_old(std::size_t s) {
        for (std::size_t j = 0; j < L_; ++j) {
            const double start = start_[s * L_ + j] + (x_.runs ? x_.runs->free[j] : 0.0);
            if (s < early_[j] || start < long_[j] || (start == long_[j] && !preferred(s, oldest_[j], j))) continue;
            long_[j] = start;
            oldest_[j] = static_cast<std::int32_t>(s);
        }
    }
    // Whether of two runs of label j that are equally good the one from s is before the other.
    bool preferred(std::size_t s, std::int32_t other, std::size_t j) const {
        if (other < 0) return true;
        const auto its = static_cast<std::size_t>(other);
        return s > its ? sooner(s, its, j) : !sooner(its, s, j);
    }
    // Whether a run of label j that ends sooner, at s, is before one that ends at the other place in the order of the
    // alphabet: the sooner a lower label follows the better, the later a higher one does.
    bool sooner(std::size_t s, std::size_t other, std::size_t j) const {
        const auto rank = [&](std::size_t end) {
            const std::int32_t next = from_[end * L_ + j];
            return next < 0 ? 1 : static_cast<std::size_t>(next) < j ? 0 : 2;
        };
        const int mine = rank(s), its = rank(other);
        return mine < its || (mine == its && mine == 0);
    }

    const SegmentScores& x_;
    std::size_t L_, last_ = 0;
    std::vector<double> start_, end_, long_;           // best scores: of starts, of ends, of starts of long runs
    std::vector<std::size_t> early_;                   // the first start from which a run can come to here
    std::vector<std::int32_t> oldest_, from_, begin_;  // where they come from
};

// The score of given labels; -inf where they are not allowed.
template <class S> double segment_score(const SegmentBatch<S>& batch, std::size_t s, const std::int32_t* labels) {
    const std::size_t length = batch.chain.length(s), L = batch.chain.labels;
    double score = chain_score(batch.chain, s, labels);
    std::optional<SegmentRunTable<S>> listed;
    if (batch.candidates) listed.emplace(*batch.candidates, s, length, L, L, batch.longest, true);
    for (std::size_t t = 0; t < length;) {
        std::size_t end = t + 1;
        while (end < length && labels[end] == labels[t]) ++end;
        const auto label = static_cast<std::size_t>(labels[t]);
        score += batch.duration[(std::min(end - t, batch.longest) - 1) * L + label];
        if (listed) score += listed->extra(t, end, label);
        t = end;
    }
    return score;
}

template <class S> void segment_argmax(const SegmentBatch<S>& batch, std::int32_t* labels, double* value) {
    const SharedSegmentScores shared(batch);
    for_each_block(batch.chain.sequences, threads_for(segment_work_of(batch)), [&](std::size_t s, std::size_t) {
        value[s] = kNaN;
        if (!usable_sequence(batch, shared, s)) return;
        const SegmentRows<S> rows(batch, shared, s, false);
        const SegmentScores scores = rows.scores();
        const SegmentBest best(scores);
        value[s] = best.score();
        if (!(value[s] > kNothing)) return;
        std::int32_t* mine = labels + batch.chain.first[s];
        best.labels(mine);
        value[s] = segment_score(batch, s, mine);  // without the rounding of prefix sums
    });
}

}  // namespace kernelfields
