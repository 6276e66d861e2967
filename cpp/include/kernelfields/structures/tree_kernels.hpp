// What the tree driver (tree.hpp) asks of the code compiled per instruction set (isa/), in the same way as
// chain_kernels.hpp: plain structs and function pointers only.
#pragma once

#include "chain_kernels.hpp"

namespace kernelfields {

// Scores of a batch of forests over the labels 0..L-1; the rows of `edge` are labels of the parent.
//   score(y) = sum_v node[v, y_v] + sum_{v not a root} edge[e(v), y_parent(v), y_v]
// -inf forbids a label or a pair.
template <class S> struct TreeBatch {
    std::size_t sequences, positions, labels;
    const std::int64_t* first;       // sequences + 1
    const std::int64_t* parent;      // positions, -1 at roots
    const std::size_t* edge_before;  // positions + 1: the number of v's own edge
    const S* node;                   // positions x labels
    const S* edge;                   // labels x labels, or edges x labels x labels
    bool shared;

    KF_ALWAYS_INLINE std::size_t length(std::size_t s) const {
        return static_cast<std::size_t>(first[s + 1] - first[s]);
    }
    KF_ALWAYS_INLINE std::size_t edges() const { return edge_before[positions]; }
    // Where the scores, or marginals, of the edge into v begin.
    KF_ALWAYS_INLINE std::size_t edge_at(std::size_t v) const { return shared ? 0 : edge_before[v] * labels * labels; }
};

// Some instances whose vertices are visited together, depth by depth. Vertices have *slots*: first those of depth
// zero of all instances, then of depth one, ..., children of a vertex one after the other. Vertices of one depth are
// independent of each other, so several can be worked on at once.
struct TreeGroup {
    const std::size_t* instance;
    std::size_t count, slots, levels;
    const std::uint32_t* level;        // levels + 1: the first slot of each depth, and the number of slots
    const std::uint32_t* parent;       // slots: that of the parent; nothing at depth zero
    const std::uint32_t* child;        // slots + 1: children of slot k have the slots child[k] .. child[k + 1] - 1
    const std::uint32_t* owner;        // slots: which of the instances
    const std::uint32_t* place;        // slots: the vertex, counted through the instances one after the other
    const std::uint32_t* slot;         // of each place
    const std::size_t* vertex;         // slots: the vertex of the batch
    const std::size_t* most_children;  // count: of any vertex of an instance
};

// Works on one group as the recursions of chains do: adds edge marginals to edge_sum (shared edges only), marks
// instances done; those whose range of scores it cannot hold stay pending, and what it wrote for them is void.
template <class S>
using TreeMarginals = void (*)(const TreeBatch<S>&, const void* shared_edges, const TreeGroup&, const MarginalsOut<S>&,
                               double* edge_sum, Arena, Outcome*);
template <class S>
using TreeCovariances = void (*)(const TreeBatch<S>&, const void* shared_edges, const TreeGroup&,
                                 const CovarianceOut<S>&, double* edge_sum, Arena, Outcome*);

// Scaled recursions, all but argmax in double.
template <class S> struct TreeKernels {
    TreeMarginals<S> marginals;
    TreeMarginals<S> entropy;       // entropies in place of log-partitions, no marginals
    TreeCovariances<S> covariance;  // shared edges only

    // Messages u_v scaled to a largest entry of about one, slots x padded labels; log-partitions.
    void (*messages)(const TreeBatch<S>&, const void* shared_edges, const TreeGroup&, double* messages,
                     double* log_partition, Arena, Outcome*);

    void (*argmax)(const TreeBatch<S>&, const S* edges, const TreeGroup&, std::int32_t* labels, Arena, Outcome*);
};

}  // namespace kernelfields
