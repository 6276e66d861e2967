// What segments ask of the code compiled per instruction set: sums over all segmentations of one sequence.
#pragma once

#include "../core/arena.hpp"

#include <cstddef>
#include <cstdint>

namespace kernelfields {

// Runs with scores of their own, listed by the position that they end with in the order of reading, short ones first.
struct SegmentRuns {
    const std::size_t* first;   // those that end with position t are first[t] up to below first[t + 1]
    const std::int32_t* begin;  // where each begins
    const std::int32_t* row;    // its row of extra
    const double* extra;        // what a run of each label scores beside its length; -inf where there can be none
    const double* free;         // one row: the same of all runs that are not listed, 0 or -inf
    bool any_free;              // whether one of these is not -inf
    std::size_t most;           // how many end with one position, at most
};

// The scores of one sequence, read from its first position to its last or from its last to its first: in double,
// rows of `stride` numbers of which the first `labels` count.
//
// A run of label j from s up to below t scores prefix[t][j] - prefix[s][j] - stay[s][j] + duration[t - s][j], where
// runs of `longest` positions and more score alike. Scores of -inf are no part of prefix and stay: marks say where
// they are.
struct SegmentScores {
    std::size_t length, labels, stride, longest;
    const double* prefix;     // length + 1 rows: sums of node scores and of scores of staying
    const double* stay;       // length rows: score of having the label of the position before; zeros in the first
    const double* open;       // length rows, 1 where the label can be, else 0; null if it can everywhere
    const double* on;         // length rows, 1 where a run can also go on to, else 0; null with open
    const double* pairs;      // labels rows from label to label, -inf on the diagonal; one table per boundary ...
    std::size_t pairs_step;   // ... so far apart; 0 where all share one
    const double* factor;     // exp(pairs - top) of a shared table, else null
    const double* top;        // the largest of each table, or of the one that is shared; 0 where none is finite
    const double* duration;   // longest rows, row d - 1 for runs of d positions
    const double* weight;     // exp(duration - most)
    const double* most;       // one row: the largest score of a run's length of each label
    const SegmentRuns* runs;  // runs with scores of their own; null if there are none

    KF_ALWAYS_INLINE const double* duration_of(std::size_t run) const {
        return duration + ((run < longest ? run : longest) - 1) * stride;
    }
};

// visit(s, extra) for all runs from s that end with position t, short ones first: those below K positions, and those
// that are listed. All others are long, and score alike. extra is null where nothing is listed.
template <class Visit> KF_ALWAYS_INLINE void visit_runs(const SegmentScores& x, std::size_t t, Visit visit) {
    const double* const none = nullptr;
    const std::size_t window = t + 1 < x.longest ? t + 1 : x.longest - 1;
    if (!x.runs) {
        for (std::size_t d = 1; d <= window; ++d) visit(t + 1 - d, none);
        return;
    }
    const SegmentRuns& runs = *x.runs;
    std::size_t k = runs.first[t];
    const auto listed = [&](std::size_t s) {
        return k < runs.first[t + 1] && static_cast<std::size_t>(runs.begin[k]) == s;
    };
    const auto extra = [&] { return runs.extra + static_cast<std::size_t>(runs.row[k++]) * x.stride; };
    for (std::size_t d = 1; runs.any_free && d <= window; ++d)
        visit(t + 1 - d, listed(t + 1 - d) ? extra() : runs.free);
    while (k < runs.first[t + 1]) {
        const auto s = static_cast<std::size_t>(runs.begin[k]);
        visit(s, extra());
    }
}

// Logarithms of sums, length + 1 rows each.
struct SegmentSums {
    double* in;   // in[s][j]: of all segmentations of what is before s, the score of a change to j at s included
    double* out;  // out[t][j]: of all segmentations of what is before t whose last run has the label j
};

// What marginals are computed from, and where they go.
struct SegmentMarginals {
    const SegmentScores& scores;  // from first to last
    const SegmentSums& before;    // from the first position on
    const SegmentSums& after;     // from the last position on, its rows in that order
    double log_partition, weight;
    double* node;       // length rows of `stride`
    double* pairs;      // labels rows of `stride`, added to; or one table per boundary where these have their own
    double* durations;  // longest rows of `stride`, added to
    double* extra;      // as many rows as runs have; null where none are listed
};

struct SegmentKernels {
    // Returns the log-partition; `work` holds segment_work(...) numbers.
    double (*sweep)(const SegmentScores&, const SegmentSums&, double* work);
    void (*marginals)(const SegmentMarginals&, double* work);
    void (*exp)(double* x, std::size_t count);
    std::size_t width;  // doubles of one vector
};

KF_ALWAYS_INLINE std::size_t segment_work(const SegmentScores& x) {
    const std::size_t rows = x.runs ? x.longest + x.runs->most + 8 : 2 * x.length + 2;
    return (rows + x.labels + 4) * x.stride;
}

}  // namespace kernelfields
