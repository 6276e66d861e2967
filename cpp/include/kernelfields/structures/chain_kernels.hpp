// What the chain driver (chain.hpp) asks of the code compiled per instruction set (isa/).
//
// Plain structs and function pointers only: both sides see the same types, no code crosses.
#pragma once

#include "../core/arena.hpp"

#include <cstddef>
#include <cstdint>

namespace kernelfields {

// A ragged batch of chains over the labels 0..L-1.
//   score(y) = sum_t node[t, y_t] + sum_t edge[t, y_t, y_{t+1}]
// Sequence s owns the positions first[s] <= t < first[s+1] of `node` and, unless the edge scores
// are shared, the edges from edge_first[s] on. -inf forbids a label or a pair.
template <class S> struct ChainBatch {
    std::size_t sequences, positions, labels;
    const std::int64_t* first;       // sequences + 1
    const std::int64_t* edge_first;  // sequences + 1
    const S* node;                   // positions x labels
    const S* edge;                   // labels x labels, or edges x labels x labels
    bool shared;

    KF_ALWAYS_INLINE std::size_t length(std::size_t s) const {
        return static_cast<std::size_t>(first[s + 1] - first[s]);
    }
    KF_ALWAYS_INLINE std::size_t edges() const { return static_cast<std::size_t>(edge_first[sequences]); }
};

// exp(edge - largest) and its transpose, rows padded with zeros to the vector width.
template <class C> struct SharedEdges {
    C *forward, *backward;
    double largest, range;
    bool forbids;  // -inf somewhere
};

// One row for every label, those with few entries first: loops over rows of equal length are predicted.
template <class S> struct AllowedRows {
    const std::uint32_t *row, *first, *label;  // whose row it is; where its entries begin, rows + 1; labels of entries
    const S* value;
};

// The entries of exp(edge - largest) that are not zero: those that lead to each label, and those that lead from each.
template <class S> struct AllowedPairs {
    std::size_t labels, count;
    AllowedRows<S> in, out;
    double largest, range;
};

// Edges as in SharedEdges, times an edge direction, elementwise, for derivatives along it.
struct TiltedEdges {
    SharedEdges<double> plain;
    double *forward, *backward;
};

// Sequences advanced together. More hide the latency of the recursion, until registers run out.
constexpr std::size_t kRows = 4;

// Labels up to which sequences share a vector: it takes this many vectors to hold a message of each. And the most
// that share vectors.
constexpr std::size_t kFewLabels = 10, kMostLanes = 32;

// The sequences of one group, longest first, so that those still running form a prefix.
struct Group {
    const std::size_t* sequence;
    std::size_t count;
};

// A sequence, or a stretch of one, that a lane of a vector works on: `length` positions from `begin` on, of which those
// from `from` to before `to` count. What is before and behind lets messages forget where they began.
struct Stretch {
    std::size_t sequence, begin, length, from, to;
};

// Forward and backward messages, up to a factor, where what counts of a stretch begins and where it ends. The end of
// one stretch is the beginning of the next: there both must agree.
struct Seam {
    double left_alpha[kFewLabels], left_beta[kFewLabels], right_alpha[kFewLabels], right_beta[kFewLabels];
};

// Stretches that advance together.
struct LaneWork {
    const Stretch* stretch;
    std::size_t count;
    double* log_mass;  // of each: what is between its ends of the log-partition; for Viterbi, the best score at its end
    Seam* seams;       // of each, or null
};

template <class S> struct MarginalsOut {
    const double* weight;   // per sequence, or null
    double* log_partition;  // sequences
    S* node;                // positions x labels, or null: log-partitions only
    S* edge;                // edges x labels x labels, or null when edges are shared
};

// A direction in score space, and the derivative of all marginals along it.
template <class S> struct CovarianceOut {
    const S* node_direction;
    const S* edge_direction;
    const double* weight;
    double* log_partition;  // its derivative along the direction
    S* node;
    S* edge;
};

enum class Outcome : std::uint8_t { pending, done, not_finite };

// Tried in this order: scaled in the type of the scores (single precision only), scaled in double,
// logarithms in double, which hold anything.
constexpr std::size_t kRecursions = 3;

// A recursion works on one group, adds the edge marginals of its sequences to edge_sum (labels x
// labels, shared edges only) and marks them done; those whose range of scores it cannot hold stay
// pending, for the next recursion.
template <class S>
using MarginalsRecursion = void (*)(const ChainBatch<S>&, const void* shared_edges, Group, const MarginalsOut<S>&,
                                    double* edge_sum, Arena, Outcome*);
template <class S>
using CovarianceRecursion = void (*)(const ChainBatch<S>&, const void* shared_edges, Group, const CovarianceOut<S>&,
                                     double* edge_sum, Arena, Outcome*);

template <class S> struct ChainKernels {
    std::size_t narrow_width, double_width;  // numbers per vector: in S, and in double

    // For few labels: how many stretches advance together, and the room that they need.
    std::size_t lanes;
    std::size_t (*lane_bytes)(std::size_t labels, std::size_t longest);

    void (*prepare_edges_narrow)(const S*, std::size_t labels, SharedEdges<S>&);
    void (*prepare_edges_double)(const S*, std::size_t labels, SharedEdges<double>&);
    void (*tilt_edges)(const S* direction, std::size_t labels, TiltedEdges&);
    void (*prepare_max_edges)(const S*, std::size_t labels, S* out);

    MarginalsRecursion<S> marginals_shared[kRecursions];
    MarginalsRecursion<S> marginals_per_edge[kRecursions];
    // For few labels, tried before all others. False if a range of scores cannot be held: then nothing counts.
    bool (*marginals_lanes)(const ChainBatch<S>&, const SharedEdges<S>&, const LaneWork&, const MarginalsOut<S>&,
                            double* edge_sum, Arena);
    // The same for as many stretches as a vector has numbers, where few pairs are allowed.
    bool (*marginals_allowed)(const ChainBatch<S>&, const AllowedPairs<S>&, const LaneWork&, const MarginalsOut<S>&,
                              double* edge_sum, Arena);
    std::size_t (*allowed_bytes)(std::size_t labels, std::size_t pairs, std::size_t longest);
    CovarianceRecursion<S> covariance[2];  // scaled in double (shared edges only), logarithms

    // Best labels, and the sums that led to them where `value` (per sequence) is not null; see kScoresFound.
    void (*argmax_shared)(const ChainBatch<S>&, const S* edges, Group, std::int32_t* labels, double* value, Arena,
                          Outcome*);
    void (*argmax_lanes)(const ChainBatch<S>&, const LaneWork&, std::int32_t* labels, Arena, Outcome*);
    void (*argmax_per_edge)(const ChainBatch<S>&, const S* edges, Group, std::int32_t* labels, double* value, Arena,
                            Outcome*);

    // Logarithms of the forward messages (length x padded labels); returns the log-partition.
    double (*log_messages)(const ChainBatch<S>&, std::size_t sequence, Arena, double* messages);
    double (*entropy)(const ChainBatch<S>&, std::size_t sequence, Arena);
};

}  // namespace kernelfields
