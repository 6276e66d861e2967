// A batch of factor graphs: which vertices each factor joins, and a table of scores for every factor.
//
// A factor has a *slot* for every vertex that it joins; the message from the factor to that vertex lives there. Factors
// of one instance follow each other, those of two vertices before larger ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelfields {

struct MessageGraph {
    std::size_t instances = 0, vertices = 0, labels = 0, factors = 0, slots = 0;
    std::vector<std::int64_t> first;            // instances + 1: vertices of each instance
    std::vector<std::int64_t> factor_first;     // instances + 1: factors of each instance
    std::vector<std::uint32_t> slot_first;      // factors + 1
    std::vector<std::uint32_t> slot_vertex;     // slots
    std::vector<std::uint32_t> slot_factor;     // slots
    std::vector<std::uint32_t> incident_first;  // vertices + 1
    std::vector<std::uint32_t> incident;        // slots, those of each vertex together
    std::vector<std::uint32_t> table;           // factors: which table of scores
    std::vector<std::size_t> table_first;       // tables + 1: where their numbers begin

    std::size_t arity(std::size_t f) const { return slot_first[f + 1] - slot_first[f]; }
    std::size_t tables() const { return table_first.size() - 1; }
    bool is_pair(std::size_t slot) const { return arity(slot_factor[slot]) == 2; }

    // Completes what follows from first, factor_first, slot_first and slot_vertex.
    void index() {
        slot_factor.resize(slots);
        for (std::size_t f = 0; f < factors; ++f)
            std::fill(slot_factor.begin() + slot_first[f], slot_factor.begin() + slot_first[f + 1],
                      static_cast<std::uint32_t>(f));
        incident_first.assign(vertices + 1, 0);
        for (const std::uint32_t v : slot_vertex) ++incident_first[v + 1];
        for (std::size_t v = 0; v < vertices; ++v) incident_first[v + 1] += incident_first[v];
        std::vector<std::uint32_t> next(incident_first.begin(), incident_first.end() - 1);
        incident.resize(slots);
        for (std::size_t slot = 0; slot < slots; ++slot)
            incident[next[slot_vertex[slot]]++] = static_cast<std::uint32_t>(slot);
    }
};

// Scores: a row for every vertex, tables of factors in the order of table_first, and how often each factor counts.
//   log of the mass of y = sum_i node[i, y_i] + sum_f weight_f table_f[y_f]
struct MessageScores {
    const MessageGraph& graph;
    const double* node;    // vertices x labels
    const double* tables;  // divided by the weights of their factors
    const double* weight;  // factors: 1, the share of trees that have the factor, or its counting number
    const double* total;   // vertices: 1, or its counting number plus those of its factors; null for ones

    const double* table(std::size_t f) const { return tables + graph.table_first[graph.table[f]]; }
    std::size_t size(std::size_t f) const {
        return graph.table_first[graph.table[f] + 1] - graph.table_first[graph.table[f]];
    }
};

}  // namespace kernelfields
