// Scores of the given cliques into tables of factors, and beliefs of these tables back to marginals.
#pragma once

#include "../core/logarithms.hpp"
#include "graph_tables.hpp"

#include <type_traits>

namespace kernelfields {

// Scores, or what has their shapes: one array per type, with one table for each clique or one for all. All numbers are
// floats or doubles; recursions are compiled once, since their tables hold doubles anyway.
template <class Void> struct GraphArrays {
    std::vector<Void*> array;
    std::vector<std::uint8_t> shared;
    std::vector<std::size_t> size;  // of the table of one clique
    bool single;                    // floats

    template <class S> using Number = std::conditional_t<std::is_const_v<Void>, const S, S>;

    // body(numbers) of one type.
    template <class Body> void of(std::size_t type, Body body) const {
        if (single) body(static_cast<Number<float>*>(array[type]));
        else body(static_cast<Number<double>*>(array[type]));
    }
    // The same of clique `index` of an instance.
    template <class Body>
    void of(const Graphs& graphs, std::size_t s, std::uint32_t type, std::size_t index, Body body) const {
        const std::size_t before = type == 0 ? graphs.start(s) : graphs.types[type - 1].before[s];
        const std::size_t at = shared[type] ? 0 : (before + index) * size[type];
        of(type, [&](auto* numbers) { body(numbers + at); });
    }
};
using GraphScores = GraphArrays<const void>;
using GraphParts = GraphArrays<void>;

// One instance, with the plan of its shape.
struct GraphView {
    const Graphs& graphs;
    std::size_t s;
    const GraphScores& scores;
    GraphRoom& room;

    const GraphPlan& plan() const { return room.plan; }
};

// Where the scores of members with a single label lie.
inline std::size_t fixed_part(const Graphs& graphs, std::size_t s, const GivenClique& clique) {
    if (!clique.fixed || graphs.label.empty()) return 0;
    const GraphCliques& type = graphs.types[clique.type - 1];
    const std::int64_t* of = type.of(type.before[s] + clique.index);
    std::size_t offset = 0, stride = 1;
    for (std::size_t j = type.arity; j-- > 0; stride *= graphs.labels)
        if (clique.fixed >> j & 1)
            offset += stride * static_cast<std::size_t>(graphs.labels_of(static_cast<std::size_t>(of[j]))[0]);
    return offset;
}

// body(k, offset) for every entry k of a table of factors: where the score of the clique lies.
template <class Body>
void for_each_entry(const Graphs& graphs, std::size_t s, const GraphPlan& plan, const PlanNode& at,
                    const FactorTable& factor, const GivenClique& clique, Body body) {
    constexpr std::size_t most = 64;
    std::size_t index[most] = {}, count[most], stride[most];
    const std::int32_t* labels[most];
    const std::size_t dims = factor.dim_count;
    std::size_t offset = fixed_part(graphs, s, clique);
    for (std::size_t f = 0; f < dims; ++f) {
        const std::uint32_t v = plan.number[at.dims + plan.number[factor.dims + f]];
        count[f] = plan.choices(v);
        stride[f] = plan.number[clique.strides + f];
        labels[f] = graphs.labels_of(graphs.start(s) + v);
    }
    const auto part = [&](std::size_t f, std::size_t k) {
        return stride[f] * (labels[f] ? static_cast<std::size_t>(labels[f][k]) : k);
    };
    for (std::size_t f = 0; f + 1 < dims; ++f) offset += part(f, 0);
    for (std::size_t entry = 0; entry < factor.table.size; entry += count[dims - 1]) {
        if (labels[dims - 1])
            for (std::size_t k = 0; k < count[dims - 1]; ++k) body(entry + k, offset + part(dims - 1, k));
        else
            for (std::size_t k = 0; k < count[dims - 1]; ++k) body(entry + k, offset + k * stride[dims - 1]);
        for (std::size_t f = dims - 1; f-- > 0;) {
            offset -= part(f, index[f]);
            const bool over = ++index[f] == count[f];
            if (over) index[f] = 0;
            offset += part(f, index[f]);
            if (!over) break;
        }
    }
}

// Scores of all cliques of a table, added up.
inline void add_scores(const GraphView& view, const PlanNode& at, const FactorTable& factor, double* to) {
    std::memset(to, 0, factor.table.size * sizeof(double));
    for (std::uint32_t g = factor.cliques; g < factor.cliques + factor.clique_count; ++g) {
        const GivenClique& clique = view.plan().given[g];
        view.scores.of(view.graphs, view.s, clique.type, clique.index, [&](const auto* scores) {
            for_each_entry(view.graphs, view.s, view.plan(), at, factor, clique,
                           [&](std::size_t k, std::size_t offset) { to[k] += static_cast<double>(scores[offset]); });
        });
    }
}

// Marginals of each clique of a table, from the beliefs of the table: into its own array, which it fills, or added to
// the sums of its type.
inline void add_marginals(const GraphView& view, const PlanNode& at, const FactorTable& factor, const double* belief,
                          double weight, const GraphParts& out, const std::vector<double*>& sums) {
    for (std::uint32_t g = factor.cliques; g < factor.cliques + factor.clique_count; ++g) {
        const GivenClique& clique = view.plan().given[g];
        const auto each = [&](auto* to) {
            using T = std::remove_pointer_t<decltype(to)>;
            for_each_entry(view.graphs, view.s, view.plan(), at, factor, clique,
                           [&](std::size_t k, std::size_t offset) {
                               to[offset] += static_cast<T>(weight * belief[k]);
                           });
        };
        if (out.shared[clique.type]) {
            each(sums[clique.type]);
            continue;
        }
        out.of(view.graphs, view.s, clique.type, clique.index, [&](auto* to) {
            std::fill(to, to + out.size[clique.type], 0);
            each(to);
        });
    }
}

}  // namespace kernelfields
