// What segments ask of the code compiled per instruction set: sums over all segmentations of one sequence.
#pragma once

#include "../core/arena.hpp"

#include <cstddef>

namespace kernelfields {

// The scores of one sequence, read from its first position to its last or from its last to its first: in double,
// rows of `stride` numbers of which the first `labels` count.
//
// A run of label j from s up to below t scores prefix[t][j] - prefix[s][j] - stay[s][j] + duration[t - s][j], where
// runs of `longest` positions and more score alike. Scores of -inf are no part of prefix and stay: marks say where
// they are.
struct SegmentScores {
    std::size_t length, labels, stride, longest;
    const double* prefix;    // length + 1 rows: sums of node scores and of scores of staying
    const double* stay;      // length rows: score of having the label of the position before; zeros in the first
    const double* open;      // length rows, 1 where the label can be, else 0; null if it can everywhere
    const double* on;        // length rows, 1 where a run can also go on to, else 0; null with open
    const double* pairs;     // labels rows from label to label, -inf on the diagonal; one table per boundary ...
    std::size_t pairs_step;  // ... so far apart; 0 where all share one
    const double* factor;    // exp(pairs - top) of a shared table, else null
    const double* top;       // the largest of each table, or of the one that is shared; 0 where none is finite
    const double* duration;  // longest rows, row d - 1 for runs of d positions
    const double* weight;    // exp(duration - most)
    const double* most;      // one row: the largest score of a run's length of each label
};

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
};

struct SegmentKernels {
    // Returns the log-partition; `work` holds segment_work(...) numbers.
    double (*sweep)(const SegmentScores&, const SegmentSums&, double* work);
    void (*marginals)(const SegmentMarginals&, double* work);
    void (*exp)(double* x, std::size_t count);
    std::size_t width;  // doubles of one vector
};

KF_ALWAYS_INLINE std::size_t segment_work(std::size_t length, std::size_t labels, std::size_t stride) {
    return (length + labels + 4) * stride;
}

}  // namespace kernelfields
