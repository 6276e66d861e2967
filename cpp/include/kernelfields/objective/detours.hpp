// Detours: ways to leave the right labelling of a chain or a forest and to come back to it.
//
// Where a labelling differs from the right one it does so in connected sets of vertices: runs of positions of a chain
// (detour_runs.hpp), patches of a tree (detour_patches.hpp). Two of them have no vertex and no edge in common, so that
// parts(other) - parts(right) is a sum over them, and so is any cost that adds up over vertices and edges. Of a
// distribution over labellings, as far as expected parts go, it is enough to know with which share it takes each.
//
// Two detours can be taken together unless some edge touches both. A set of vertices with half of every edge that
// touches it is a subtree; subtrees of a tree that meet in pairs have a point in common, and the graph of which of them
// meet is chordal [gavril1974], hence perfect. So shares are those of a distribution just if at every edge, with one
// above each root, those of the detours that touch it add up to at most one. On chains, subtrees are intervals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelfields {

struct Detour {
    std::uint32_t from;    // its first vertex: a position of a chain, a slot of a tree (detour_patches.hpp)
    std::uint32_t length;  // how many vertices
    std::uint32_t place;   // of its words: its labels, all of them wrong, and what else tells its vertices
    std::uint32_t idle;    // passes since it had a share
    bool asleep;           // without a share and not worth one, when last looked at
    double share;          // times the weight of the instance
    double cost;           // what it costs, and what fixed scores add
    double square;         // of its features, over the penalties
};

// Labels at the two ends of an edge.
struct LabelPair {
    std::int32_t left, right;
};

// A sum of detours: what it adds to vertices (position, label) and to label pairs.
struct DetourSum {
    struct Vertex {
        std::size_t position;
        std::int32_t label;
        double factor;
    };
    struct Pair {
        std::size_t pair;
        double factor;
    };
    std::vector<Vertex> vertices;
    std::vector<Pair> pairs;

    void clear() {
        vertices.clear();
        pairs.clear();
    }
};

// Sum of the squares of factors, those of equal keys added up first.
template <class Keyed> double merged_square(std::vector<Keyed>& keyed) {
    std::sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) { return a.first < b.first; });
    double total = 0;
    for (std::size_t k = 0; k < keyed.size();) {
        const auto key = keyed[k].first;
        double sum = 0;
        while (k < keyed.size() && keyed[k].first == key) sum += keyed[k++].second;
        total += sum * sum;
    }
    return total;
}

}  // namespace kernelfields
