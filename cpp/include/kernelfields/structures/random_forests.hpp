// How often maximal forests of factors, drawn at random, have each factor.
#pragma once

#include "../core/draw.hpp"
#include "message_graph.hpp"

#include <numeric>
#include <utility>
#include <vector>

namespace kernelfields {

// Sets of vertices that are connected so far.
class JoinedVertices {
public:
    JoinedVertices(std::size_t first, std::size_t count) : first_(first), above_(count) {
        std::iota(above_.begin(), above_.end(), std::size_t{0});
    }
    std::size_t root(std::size_t vertex) {
        std::size_t k = vertex - first_;
        while (above_[k] != k) k = above_[k] = above_[above_[k]];
        return k;
    }
    void join(std::size_t a, std::size_t b) { above_[a] = b; }

private:
    std::size_t first_;
    std::vector<std::size_t> above_;
};

// Shares of the forests of one instance: at least `count` forests, and as many as it takes until each factor is in one.
// A factor joins its vertices in a star; a forest has no cycle of these.
inline void forest_shares(const MessageGraph& graph, std::size_t s, std::size_t count, double* share) {
    const auto from = static_cast<std::size_t>(graph.factor_first[s]),
               to = static_cast<std::size_t>(graph.factor_first[s + 1]);
    const auto first = static_cast<std::size_t>(graph.first[s]), last = static_cast<std::size_t>(graph.first[s + 1]);
    std::vector<std::size_t> order(to - from), times(to - from, 0), roots;
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::size_t uncovered = order.size(), drawn = 0;
    for (; drawn < count || uncovered > 0; ++drawn) {
        for (std::size_t k = order.size(); k > 1; --k) {
            const auto other = static_cast<std::size_t>(uniform_at(s, drawn, k) * static_cast<double>(k));
            std::swap(order[k - 1], order[std::min(other, k - 1)]);
        }
        if (uncovered > 0 && drawn > 0)
            std::stable_partition(order.begin(), order.end(), [&](std::size_t k) { return times[k] == 0; });
        JoinedVertices joined(first, last - first);
        for (const std::size_t k : order) {
            roots.clear();
            bool free = true;
            for (std::size_t slot = graph.slot_first[from + k]; slot < graph.slot_first[from + k + 1] && free; ++slot) {
                const std::size_t root = joined.root(graph.slot_vertex[slot]);
                free = std::find(roots.begin(), roots.end(), root) == roots.end();
                roots.push_back(root);
            }
            if (!free) continue;
            for (const std::size_t root : roots) joined.join(root, roots[0]);
            uncovered -= times[k]++ == 0;
        }
    }
    for (std::size_t k = 0; k < times.size(); ++k)
        share[from + k] = static_cast<double>(times[k]) / static_cast<double>(drawn);
}

}  // namespace kernelfields
