#include "kernelfields/structures/factor_graph.hpp"

#include "arrays.hpp"
#include "kernelfields/structures/reweighted.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>
#include <vector>

namespace kernelfields::bindings {
namespace {

using Index = In<std::int64_t>;

// Scores of a batch, with the tables of pairs also transposed: these come first.
struct Factors {
    FactorGraphs graphs;
    std::vector<double> swapped;
    std::size_t vertices;

    Factors(const In<double>& node, const Index& offsets, const Index& first_factor, const Index& first_slot,
            const Index& member, const Index& table, const In<double>& tables, std::size_t pair_tables) {
        if (node.ndim() != 2) throw std::invalid_argument("node has shape " + shape_of(node) + ", expected a matrix.");
        const std::size_t L = node.shape(1), F = length_of(table, "table"), size = length_of(tables, "tables");
        vertices = node.shape(0);
        require_offsets(offsets, "offsets", vertices);
        require_shape(first_factor, "first_factor", {offsets.shape(0)});
        require_offsets(first_factor, "first_factor", F);
        require_shape(first_slot, "first_slot", {F + 1});
        require_offsets(first_slot, "first_slot", length_of(member, "member"));
        if (pair_tables > size / std::max<std::size_t>(L * L, 1))
            throw std::invalid_argument("tables has no room for " + std::to_string(pair_tables) + " pairs.");
        graphs = {offsets.shape(0) - 1, L,
                  offsets.data(),       first_factor.data(),
                  first_slot.data(),    member.data(),
                  table.data(),         node.data(),
                  tables.data(),        nullptr};
        require_factors(size, pair_tables);
        swapped.resize(pair_tables * L * L);
        for (std::size_t t = 0; t < pair_tables; ++t)
            for (std::size_t x = 0; x < L; ++x)
                for (std::size_t y = 0; y < L; ++y) swapped[(t * L + y) * L + x] = tables.data()[(t * L + x) * L + y];
        graphs.swapped = swapped.data();
    }
    Factors(const Factors&) = delete;

    double work() const {  // nanoseconds of one sweep, about
        double total = 0;
        const auto F = static_cast<std::size_t>(graphs.first_factor[graphs.instances]);
        for (std::size_t f = 0; f < F; ++f)
            total += std::pow(static_cast<double>(graphs.labels), static_cast<double>(arity(f)));
        return total;
    }

private:
    std::size_t arity(std::size_t f) const {
        return static_cast<std::size_t>(graphs.first_slot[f + 1] - graphs.first_slot[f]);
    }
    // Members belong to the instance of their factor, and tables lie within what was given.
    void require_factors(std::size_t size, std::size_t pair_tables) const {
        for (std::size_t s = 0; s < graphs.instances; ++s)
            for (std::int64_t f = graphs.first_factor[s]; f < graphs.first_factor[s + 1]; ++f) {
                std::size_t entries = 1;
                for (std::int64_t k = graphs.first_slot[f]; k < graphs.first_slot[f + 1]; ++k) {
                    if (graphs.member[k] < graphs.first_vertex[s] || graphs.member[k] >= graphs.first_vertex[s + 1])
                        throw std::invalid_argument("Factor " + std::to_string(f) + " joins vertex " +
                                                    std::to_string(graphs.member[k]) + " of another instance.");
                    if (graphs.labels && entries > size / graphs.labels + 1) break;
                    entries *= graphs.labels;
                }
                const bool pair = arity(static_cast<std::size_t>(f)) == 2;
                const std::size_t room = pair ? pair_tables * graphs.labels * graphs.labels : size;
                if (arity(static_cast<std::size_t>(f)) < 2 || graphs.table[f] < 0 || entries > room ||
                    static_cast<std::size_t>(graphs.table[f]) > room - entries)
                    throw std::invalid_argument("Factor " + std::to_string(f) + " has no table.");
            }
    }
};

using Found = std::tuple<Out<std::int32_t>, Out<double>, Out<double>, Out<std::int32_t>, Out<std::int32_t>>;

Found reweighted(const In<double>& node, const Index& offsets, const Index& first_factor, const Index& first_slot,
                 const Index& member, const Index& table, const In<double>& tables, std::size_t pair_tables,
                 std::size_t max_iter, double tolerance, double rounding) {
    const Factors factors(node, offsets, first_factor, first_slot, member, table, tables, pair_tables);
    const std::size_t S = factors.graphs.instances;
    auto labels = make<std::int32_t>({factors.vertices});
    auto value = make<double>({S}), bound = make<double>({S});
    auto iterations = make<std::int32_t>({S}), converged = make<std::int32_t>({S});
    const ReweightedOut out{labels.data(), value.data(), bound.data(), iterations.data(), converged.data()};
    {
        nb::gil_scoped_release release;
        const ReweightedLimits limits{max_iter, tolerance, rounding};
        for_each_factor_graph(factors.graphs, 20 * factors.work(), [&](const FactorGraph& graph, std::size_t s) {
            search_reweighted(graph, limits, s, out);
        });
    }
    return {labels, value, bound, iterations, converged};
}

Out<std::int32_t> improved(const In<double>& node, const Index& offsets, const Index& first_factor,
                           const Index& first_slot, const Index& member, const Index& table, const In<double>& tables,
                           std::size_t pair_tables, const In<std::int32_t>& start) {
    const Factors factors(node, offsets, first_factor, first_slot, member, table, tables, pair_tables);
    require_labels(start, factors.vertices, factors.graphs.labels);
    auto labels = make<std::int32_t>({factors.vertices});
    std::copy_n(start.data(), factors.vertices, labels.data());
    nb::gil_scoped_release release;
    for_each_factor_graph(factors.graphs, 2 * factors.work(), [&](const FactorGraph& graph, std::size_t) {
        std::vector<double> row;
        graph.improve(labels.data() + graph.first_vertex(), row);
    });
    return labels;
}

}  // namespace

void add_factor_graph(nb::module_& m) {
    using namespace nb::literals;
    const auto node = nb::arg("node").noconvert(), tables = nb::arg("tables").noconvert();
    const auto offsets = nb::arg("offsets").noconvert(), factor = nb::arg("first_factor").noconvert(),
               slot = nb::arg("first_slot").noconvert(), member = nb::arg("member").noconvert(),
               table = nb::arg("table").noconvert();
    m.def("factor_graph_reweighted", &reweighted, node, offsets, factor, slot, member, table, tables, "pair_tables"_a,
          "max_iter"_a, "tolerance"_a, "rounding"_a);
    m.def("factor_graph_improved", &improved, node, offsets, factor, slot, member, table, tables, "pair_tables"_a,
          nb::arg("start").noconvert());
}

}  // namespace kernelfields::bindings
