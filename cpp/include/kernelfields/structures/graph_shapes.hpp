// Which graphs of a batch have the same shape: these share an order of elimination.
#pragma once

#include "../core/parallel.hpp"
#include "graph_small_order.hpp"

#include <numeric>
#include <unordered_map>

namespace kernelfields {

struct GraphShapes {
    std::vector<std::uint32_t> shape;   // instances
    std::vector<std::size_t> instance;  // one of each shape
    std::vector<Elimination> elimination;
    std::vector<std::size_t> sorted;  // all instances, those of one shape in a row
};

inline std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
    return hash ^ (hash >> 29);
}

inline std::uint64_t shape_hash(const Graphs& graphs, std::size_t s) {
    std::uint64_t hash = mixed(0, graphs.length(s));
    for (std::size_t v = graphs.start(s); v < graphs.start(s + 1); ++v) hash = mixed(hash, graphs.choices[v]);
    for_each_clique(graphs, s, [&](std::size_t t, std::size_t, const std::int64_t* of) {
        for (std::size_t k = 0; k < graphs.types[t - 1].arity; ++k)
            hash = mixed(hash, static_cast<std::uint64_t>(of[k] - graphs.first[s]) + (t << 48));
    });
    return hash;
}

inline bool same_shape(const Graphs& graphs, std::size_t a, std::size_t b) {
    if (graphs.length(a) != graphs.length(b)) return false;
    const auto choices = graphs.choices.begin();
    if (!std::equal(choices + graphs.first[a], choices + graphs.first[a + 1], choices + graphs.first[b])) return false;
    const std::int64_t shift = graphs.first[b] - graphs.first[a];
    return std::all_of(graphs.types.begin(), graphs.types.end(), [&](const GraphCliques& type) {
        const std::size_t count = type.before[a + 1] - type.before[a];
        return count == type.before[b + 1] - type.before[b] &&
               std::equal(type.of(type.before[a]), type.of(type.before[a]) + count * type.arity,
                          type.of(type.before[b]), [&](std::int64_t x, std::int64_t y) { return x + shift == y; });
    });
}

// Orders are found on all cores; tables of more than `most` entries are refused, in `elimination`.
inline GraphShapes find_shapes(const Graphs& graphs, double most) {
    GraphShapes result;
    result.shape.resize(graphs.instances);
    std::unordered_multimap<std::uint64_t, std::uint32_t> known;
    for (std::size_t s = 0; s < graphs.instances; ++s) {
        const std::uint64_t hash = shape_hash(graphs, s);
        const auto [from, to] = known.equal_range(hash);
        const auto found =
            std::find_if(from, to, [&](const auto& at) { return same_shape(graphs, result.instance[at.second], s); });
        if (found != to) {
            result.shape[s] = found->second;
            continue;
        }
        result.shape[s] = static_cast<std::uint32_t>(result.instance.size());
        known.emplace(hash, result.shape[s]);
        result.instance.push_back(s);
    }
    result.elimination.resize(result.instance.size());
    const int threads = threads_for(500.0 * static_cast<double>(graphs.vertices));
    for_each_block(result.instance.size(), threads, [&](std::size_t k, std::size_t) {
        result.elimination[k] = find_elimination(graphs, result.instance[k], most);
    });
    result.sorted.resize(graphs.instances);
    std::iota(result.sorted.begin(), result.sorted.end(), std::size_t{0});
    std::stable_sort(result.sorted.begin(), result.sorted.end(),
                     [&](std::size_t a, std::size_t b) { return result.shape[a] < result.shape[b]; });
    return result;
}

}  // namespace kernelfields
