// The shape of a ragged batch of rooted forests, checked, and an order in which to visit it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace kernelfields {

// Instance s owns the vertices first[s] <= v < first[s+1]. parent[v] is one of the same instance, or
// -1 at a root. Every other vertex owns the edge from its parent; edges are numbered in its order.
struct Forest {
    std::size_t sequences, positions;
    const std::int64_t* first;             // sequences + 1
    const std::int64_t* parent;            // positions
    std::vector<std::size_t> upward;       // positions: the vertices of each instance, children before parents
    std::vector<std::size_t> edge_before;  // positions + 1: edges of lower vertices, thus the number of v's own edge
};

inline std::invalid_argument bad_parent(std::size_t s, std::size_t v, const std::string& what) {
    return std::invalid_argument("Vertex " + std::to_string(v) + " of instance " + std::to_string(s) + " " + what);
}

inline void check_parents(const Forest& forest, std::size_t s) {
    for (std::int64_t v = forest.first[s]; v < forest.first[s + 1]; ++v) {
        const std::int64_t p = forest.parent[v];
        const auto at = static_cast<std::size_t>(v);
        if (p == v) throw bad_parent(s, at, "is its own parent.");
        if (p != -1 && (p < forest.first[s] || p >= forest.first[s + 1]))
            throw bad_parent(s, at, "has parent " + std::to_string(p) + ", which is outside the instance.");
    }
}

// Leaves first, then every vertex whose children are all placed. What is never placed lies on a cycle.
inline void order_upward(Forest& forest, std::size_t s, std::vector<std::size_t>& waiting) {
    const auto begin = static_cast<std::size_t>(forest.first[s]), end = static_cast<std::size_t>(forest.first[s + 1]);
    for (std::size_t v = begin; v < end; ++v)
        if (forest.parent[v] >= 0) ++waiting[static_cast<std::size_t>(forest.parent[v])];
    std::size_t placed = begin;
    for (std::size_t v = end; v-- > begin;)
        if (waiting[v] == 0) forest.upward[placed++] = v;
    for (std::size_t k = begin; k < placed; ++k) {
        const std::int64_t p = forest.parent[forest.upward[k]];
        if (p < 0) continue;
        const auto above = static_cast<std::size_t>(p);
        if (--waiting[above] == 0) forest.upward[placed++] = above;
    }
    if (placed == end) return;
    for (std::size_t v = begin; v < end; ++v)
        if (waiting[v] > 0) throw bad_parent(s, v, "is its own ancestor.");
}

// Throws std::invalid_argument, which names instance and vertex, when the parents form no forest.
inline Forest make_forest(std::size_t sequences, const std::int64_t* first, const std::int64_t* parent) {
    const auto positions = static_cast<std::size_t>(first[sequences]);
    Forest forest{sequences,
                  positions,
                  first,
                  parent,
                  std::vector<std::size_t>(positions),
                  std::vector<std::size_t>(positions + 1)};
    std::vector<std::size_t> waiting(positions, 0);  // children not yet placed
    for (std::size_t s = 0; s < sequences; ++s) {
        check_parents(forest, s);
        order_upward(forest, s, waiting);
    }
    for (std::size_t v = 0; v < positions; ++v) forest.edge_before[v + 1] = forest.edge_before[v] + (parent[v] >= 0);
    return forest;
}

}  // namespace kernelfields
