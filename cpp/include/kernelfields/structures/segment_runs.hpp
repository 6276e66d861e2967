// Candidate segments: runs with scores of their own. They are given by place and label; one sequence's are merged into
// rows, one for each place, and listed by their ends in either order of reading.
#pragma once

#include "../core/logarithms.hpp"
#include "segment_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kernelfields {

// Candidates of all sequences, by their ends; of equal ends, the shortest first. Labels other than its own score as if
// a candidate were not there.
template <class S> struct SegmentCandidates {
    const std::int64_t* first;                // sequences + 1
    const std::int32_t *begin, *end, *label;  // within the sequence; label -1 for all
    const std::uint8_t* bound;                // labels: whether every run must be a candidate
    const S* score;                           // candidates x labels
};

template <class S> class SegmentRunTable {
public:
    SegmentRunTable(const SegmentCandidates<S>& given, std::size_t s, std::size_t length, std::size_t labels,
                    std::size_t stride, std::size_t longest, bool ahead)
        : given_(given),
          from_(static_cast<std::size_t>(given.first[s])),
          to_(static_cast<std::size_t>(given.first[s + 1])),
          L_(labels),
          stride_(stride),
          longest_(longest),
          free_(stride, kNothing) {
        for (std::size_t j = 0; j < L_; ++j)
            if (!given.bound[j]) free_[j] = 0.0;
        merge();
        list(length, ahead);
        const bool any = std::any_of(free_.begin(), free_.end(), [](double x) { return x == 0.0; });
        runs_ = {first_.data(), begin_.data(), row_.data(), extra_.data(), free_.data(), any, most_};
    }
    SegmentRunTable(const SegmentRunTable&) = delete;
    SegmentRunTable& operator=(const SegmentRunTable&) = delete;

    const SegmentRuns* runs() const { return &runs_; }
    std::size_t size() const { return extra_.size(); }

    // Writes numbers of runs, in the form of `extra`, as those of candidates.
    void unmerge(const double* rows, S* to) const {
        for (std::size_t c = from_; c < to_; ++c)
            for (std::size_t j = 0; j < L_; ++j)
                to[c * L_ + j] = concerns(c, j) ? static_cast<S>(rows[group_[c - from_] * stride_ + j]) : S(0);
    }

    // What the run of label j from `begin` up to below `end`, not read backwards, scores beside its length.
    double extra(std::size_t begin, std::size_t end, std::size_t j) const {
        if (long_free(end - begin, j)) return 0.0;
        for (std::size_t k = first_[end - 1]; k < first_[end]; ++k)
            if (static_cast<std::size_t>(begin_[k]) == begin)
                return extra_[static_cast<std::size_t>(row_[k]) * stride_ + j];
        return free_[j];
    }

private:
    bool concerns(std::size_t c, std::size_t j) const {
        return given_.label[c] < 0 || static_cast<std::size_t>(given_.label[c]) == j;
    }
    bool long_free(std::size_t run, std::size_t j) const { return run >= longest_ && !given_.bound[j]; }

    void merge() {
        for (std::size_t c = from_; c < to_; ++c) {
            const auto run = static_cast<std::size_t>(given_.end[c] - given_.begin[c]);
            if (c == from_ || given_.begin[c] != given_.begin[c - 1] || given_.end[c] != given_.end[c - 1]) {
                places_.push_back(c);
                extra_.insert(extra_.end(), free_.begin(), free_.end());
                for (std::size_t j = 0; j < L_; ++j)  // these are among all long runs already
                    if (long_free(run, j)) extra_[extra_.size() - stride_ + j] = kNothing;
            }
            group_.push_back(places_.size() - 1);
            double* row = extra_.data() + extra_.size() - stride_;
            for (std::size_t j = 0; j < L_; ++j)
                if (concerns(c, j)) row[j] = static_cast<double>(given_.score[c * L_ + j]);
        }
    }

    void list(std::size_t length, bool ahead) {
        const auto last = [&](std::size_t row) {
            const std::size_t c = places_[row];
            return ahead ? static_cast<std::size_t>(given_.end[c]) - 1
                         : length - 1 - static_cast<std::size_t>(given_.begin[c]);
        };
        first_.assign(length + 1, 0);
        for (std::size_t row = 0; row < places_.size(); ++row) ++first_[last(row) + 1];
        for (std::size_t t = 0; t < length; ++t) {
            most_ = std::max(most_, first_[t + 1]);
            first_[t + 1] += first_[t];
        }
        begin_.resize(places_.size());
        row_.resize(places_.size());
        std::vector<std::size_t> next(first_);
        for (std::size_t row = 0; row < places_.size(); ++row) {  // short ones stay first, also backwards
            const std::size_t k = next[last(row)]++, c = places_[row];
            begin_[k] = ahead ? given_.begin[c] : static_cast<std::int32_t>(length) - given_.end[c];
            row_[k] = static_cast<std::int32_t>(row);
        }
    }

    const SegmentCandidates<S>& given_;
    std::size_t from_, to_, L_, stride_, longest_, most_ = 0;
    std::vector<double> free_, extra_;
    std::vector<std::size_t> places_, group_, first_;  // a candidate of each row; the row of each candidate
    std::vector<std::int32_t> begin_, row_;
    SegmentRuns runs_{};
};

}  // namespace kernelfields
