// The shape of a ragged batch of rooted forests, checked, and an order in which to visit it.
#pragma once

#include <algorithm>
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
    std::vector<std::size_t> edge_before;  // positions + 1: edges of lower vertices, thus the number of v's own edge
    std::vector<std::size_t> downward;     // positions: the vertices of each instance, by depth; siblings in a row
    std::vector<std::size_t> children;     // positions: how many
    std::vector<std::size_t> level;        // where the depths of an instance begin in `downward`, instance by instance
    std::vector<std::size_t> level_first;  // sequences + 1: where those of each instance begin in `level`

    std::size_t length(std::size_t s) const { return static_cast<std::size_t>(first[s + 1] - first[s]); }
    std::size_t levels(std::size_t s) const { return level_first[s + 1] - level_first[s]; }
    // Where the vertices of depth d of instance s end in `downward`.
    std::size_t level_end(std::size_t s, std::size_t d) const {
        return d + 1 < levels(s) ? level[level_first[s] + d + 1] : static_cast<std::size_t>(first[s + 1]);
    }
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

// Names the lowest vertex on a cycle. Every way up ends at a root, on a way taken before, or on itself: a cycle.
inline std::invalid_argument on_a_cycle(const Forest& forest, std::size_t s) {
    const std::int64_t begin = forest.first[s], end = forest.first[s + 1];
    std::vector<std::int64_t> way(forest.length(s), -1);
    std::int64_t lowest = end;
    for (std::int64_t start = begin; start < end; ++start) {
        std::int64_t v = start;
        for (; v >= 0 && way[static_cast<std::size_t>(v - begin)] < 0; v = forest.parent[v])
            way[static_cast<std::size_t>(v - begin)] = start;
        if (v < 0 || way[static_cast<std::size_t>(v - begin)] != start) continue;
        std::int64_t around = v;
        do {
            lowest = std::min(lowest, around);
            around = forest.parent[around];
        } while (around != v);
    }
    return bad_parent(s, static_cast<std::size_t>(lowest), "is its own ancestor.");
}

// Roots first, then the children of every vertex placed. What is never placed lies on a cycle, or below one.
// `place` (positions) says where the next child of a vertex goes in `sibling`, the children in a row.
inline void order_downward(Forest& forest, std::size_t s, std::vector<std::size_t>& place,
                           std::vector<std::size_t>& sibling) {
    const auto begin = static_cast<std::size_t>(forest.first[s]), end = static_cast<std::size_t>(forest.first[s + 1]);
    std::size_t placed = begin;
    for (std::size_t v = begin; v < end; ++v) {
        if (forest.parent[v] >= 0) ++forest.children[static_cast<std::size_t>(forest.parent[v])];
        else forest.downward[placed++] = v;
    }
    for (std::size_t v = begin, used = begin; v < end; used += forest.children[v++]) place[v] = used;
    for (std::size_t v = begin; v < end; ++v)
        if (forest.parent[v] >= 0) sibling[place[static_cast<std::size_t>(forest.parent[v])]++] = v;
    for (std::size_t k = begin, level = begin; k < placed; ++k) {
        if (k == level) {
            forest.level.push_back(k);
            level = placed;
        }
        const std::size_t v = forest.downward[k];
        for (std::size_t c = place[v] - forest.children[v]; c < place[v]; ++c) forest.downward[placed++] = sibling[c];
    }
    if (placed < end) throw on_a_cycle(forest, s);
}

// Throws std::invalid_argument, which names instance and vertex, when the parents form no forest.
inline Forest make_forest(std::size_t sequences, const std::int64_t* first, const std::int64_t* parent) {
    const auto positions = static_cast<std::size_t>(first[sequences]);
    std::vector<std::size_t> place(positions), sibling(positions);
    Forest forest{sequences,
                  positions,
                  first,
                  parent,
                  std::vector<std::size_t>(positions + 1),
                  std::vector<std::size_t>(positions),
                  std::vector<std::size_t>(positions),
                  {},
                  std::vector<std::size_t>(sequences + 1)};
    for (std::size_t s = 0; s < sequences; ++s) {
        check_parents(forest, s);
        order_downward(forest, s, place, sibling);
        forest.level_first[s + 1] = forest.level.size();
    }
    for (std::size_t v = 0; v < positions; ++v) forest.edge_before[v + 1] = forest.edge_before[v] + (parent[v] >= 0);
    return forest;
}

}  // namespace kernelfields
