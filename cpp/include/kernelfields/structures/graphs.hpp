// The shape of a ragged batch of labelled graphs, checked: vertices, cliques of several types, labels of each vertex.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace kernelfields {

// Cliques of one type, instance after instance; each joins `arity` different vertices of one instance.
struct GraphCliques {
    std::size_t arity;
    std::vector<std::int64_t> members;  // cliques x arity
    std::vector<std::size_t> before;    // instances + 1: cliques of earlier instances

    std::size_t count() const { return arity ? members.size() / arity : 0; }
    const std::int64_t* of(std::size_t c) const { return members.data() + c * arity; }
};

// Type 0 are the vertices themselves; their members are not listed.
struct Graphs {
    std::size_t instances, vertices, labels;
    std::vector<std::int64_t> first;     // instances + 1
    std::vector<GraphCliques> types;     // from type 1 on
    std::vector<std::uint32_t> choices;  // vertices: how many labels each can have
    std::vector<std::int32_t> label;     // vertices x labels: which, in front of each row; empty where all have all

    std::size_t start(std::size_t s) const { return static_cast<std::size_t>(first[s]); }
    std::size_t length(std::size_t s) const { return static_cast<std::size_t>(first[s + 1] - first[s]); }
    // The labels of a vertex, or null where it can have all of them.
    const std::int32_t* labels_of(std::size_t v) const { return label.empty() ? nullptr : label.data() + v * labels; }
};

// body(type, clique, members) for every clique of an instance that joins vertices; members count through the batch.
template <class Body> void for_each_clique(const Graphs& graphs, std::size_t s, Body body) {
    for (std::size_t t = 0; t < graphs.types.size(); ++t) {
        const GraphCliques& type = graphs.types[t];
        for (std::size_t c = type.before[s]; c < type.before[s + 1]; ++c) body(t + 1, c, type.of(c));
    }
}

// Throws std::invalid_argument unless every clique joins different vertices of one instance, in its turn.
inline GraphCliques make_cliques(const std::vector<std::int64_t>& first, std::size_t arity,
                                 std::vector<std::int64_t> members) {
    GraphCliques type{arity, std::move(members), std::vector<std::size_t>(first.size(), 0)};
    std::size_t s = 0;
    for (std::size_t c = 0; c < type.count(); ++c) {
        const std::int64_t* of = type.of(c);
        while (s + 1 < first.size() && of[0] >= first[s + 1]) type.before[++s] = c;
        for (std::size_t k = 0; k < arity; ++k) {
            if (s + 1 >= first.size() || of[k] < first[s] || of[k] >= first[s + 1])
                throw std::invalid_argument("Clique " + std::to_string(c) + " joins vertex " + std::to_string(of[k]) +
                                            ", which is outside its instance.");
            if (std::find(of, of + k, of[k]) != of + k)
                throw std::invalid_argument("Clique " + std::to_string(c) + " joins vertex " + std::to_string(of[k]) +
                                            " to itself.");
        }
    }
    while (s + 1 < first.size()) type.before[++s] = type.count();
    return type;
}

// `allowed` (vertices x labels) or null.
inline Graphs make_graphs(std::vector<std::int64_t> first, std::vector<GraphCliques> types, std::size_t labels,
                          const bool* allowed) {
    const auto vertices = static_cast<std::size_t>(first.back());
    Graphs graphs{first.size() - 1, vertices, labels, std::move(first), std::move(types), {}, {}};
    graphs.choices.assign(vertices, static_cast<std::uint32_t>(labels));
    if (!allowed) return graphs;
    graphs.label.assign(vertices * labels, 0);
    for (std::size_t v = 0; v < vertices; ++v) {
        std::uint32_t count = 0;
        for (std::size_t y = 0; y < labels; ++y)
            if (allowed[v * labels + y]) graphs.label[v * labels + count++] = static_cast<std::int32_t>(y);
        if (count == 0) throw std::invalid_argument("Vertex " + std::to_string(v) + " can have no label.");
        graphs.choices[v] = count;
    }
    return graphs;
}

}  // namespace kernelfields
