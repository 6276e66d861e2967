// Factor graphs from arrays, every index checked.
#pragma once

#include "arrays.hpp"
#include "kernelfields/structures/message_graph.hpp"

#include <string>

namespace kernelfields::bindings {

using Indices = In<std::int64_t>;

inline void require_index(const Indices& array, const char* name, std::size_t bound) {
    for (std::size_t k = 0; k < length_of(array, name); ++k)
        if (array.data()[k] < 0 || static_cast<std::size_t>(array.data()[k]) >= bound)
            throw std::invalid_argument(std::string(name) + " holds " + std::to_string(array.data()[k]) + " at entry " +
                                        std::to_string(k) + ", but there are " + std::to_string(bound) + ".");
}

// How many numbers a table over so many vertices has; throws where it has more than there are.
inline std::size_t table_size(std::size_t labels, std::size_t arity, std::size_t most) {
    std::size_t size = 1;
    for (std::size_t k = 0; k < arity; ++k) {
        if (size > most / labels) throw std::invalid_argument("tables end before the table of a factor does.");
        size *= labels;
    }
    return size;
}

// The vertices of instances and factors, without tables.
inline MessageGraph message_shape(std::size_t vertices, const Indices& offsets, const Indices& factor_offsets,
                                  const Indices& slot_first, const Indices& members) {
    MessageGraph graph;
    graph.vertices = vertices;
    graph.slots = length_of(members, "members");
    if (graph.slots > 0xffffffffULL || graph.vertices > 0xffffffffULL)
        throw std::invalid_argument("There are more than 2^32 vertices or ends of factors.");
    require_offsets(offsets, "offsets", vertices);
    require_offsets(slot_first, "slot_first", graph.slots);
    graph.instances = offsets.shape(0) - 1;
    graph.factors = slot_first.shape(0) - 1;
    require_offsets(factor_offsets, "factor_offsets", graph.factors);
    require_shape(factor_offsets, "factor_offsets", {graph.instances + 1});
    require_index(members, "members", vertices);
    graph.first.assign(offsets.data(), offsets.data() + graph.instances + 1);
    graph.factor_first.assign(factor_offsets.data(), factor_offsets.data() + graph.instances + 1);
    graph.slot_first.assign(slot_first.data(), slot_first.data() + graph.factors + 1);
    graph.slot_vertex.assign(members.data(), members.data() + graph.slots);
    for (std::size_t s = 0; s < graph.instances; ++s)
        for (auto f = graph.factor_first[s]; f < graph.factor_first[s + 1]; ++f)
            for (std::size_t slot = graph.slot_first[f]; slot < graph.slot_first[f + 1]; ++slot)
                if (graph.slot_vertex[slot] < graph.first[s] || graph.slot_vertex[slot] >= graph.first[s + 1])
                    throw std::invalid_argument("factor " + std::to_string(f) + " joins vertices of another instance.");
    graph.index();
    return graph;
}

inline MessageGraph message_graph(const In<double>& node, const In<double>& tables, const Indices& offsets,
                                  const Indices& factor_offsets, const Indices& slot_first, const Indices& members,
                                  const Indices& factor_table, const Indices& table_first) {
    if (node.ndim() != 2 || node.shape(1) == 0)
        throw std::invalid_argument("node has shape " + shape_of(node) + ", expected (vertices, labels).");
    MessageGraph graph = message_shape(node.shape(0), offsets, factor_offsets, slot_first, members);
    graph.labels = node.shape(1);
    require_shape(factor_table, "factor_table", {graph.factors});
    require_offsets(table_first, "table_first", length_of(tables, "tables"));
    require_index(factor_table, "factor_table", table_first.shape(0) - 1);
    graph.table.assign(factor_table.data(), factor_table.data() + graph.factors);
    graph.table_first.assign(table_first.data(), table_first.data() + table_first.shape(0));
    for (std::size_t f = 0; f < graph.factors; ++f) {
        const std::size_t t = graph.table[f], size = graph.table_first[t + 1] - graph.table_first[t];
        if (graph.arity(f) < 2 || table_size(graph.labels, graph.arity(f), size) != size)
            throw std::invalid_argument("factor " + std::to_string(f) + " has no table of its size.");
    }
    return graph;
}

}  // namespace kernelfields::bindings
