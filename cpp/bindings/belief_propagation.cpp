#include "kernelfields/structures/belief_propagation.hpp"
#include "kernelfields/structures/gibbs.hpp"
#include "kernelfields/structures/mean_field.hpp"
#include "kernelfields/structures/random_forests.hpp"
#include "message_arrays.hpp"

#include <nanobind/stl/tuple.h>

namespace kernelfields::bindings {
namespace {

// Per instance: value, entropy, bound, last change, mass lost, iterations; probabilities of vertices and of factors.
using Beliefs = std::tuple<Out<double>, Out<double>, Out<double>, Out<double>, Out<double>, Out<std::int64_t>,
                           Out<double>, Out<double>>;

template <class Run>
Beliefs beliefs_of(const MessageGraph& graph, bool with_factors, Run run) {
    const std::size_t S = graph.instances;
    std::vector<std::int64_t> at(graph.factors + 1, 0);
    for (std::size_t f = 0; f < graph.factors; ++f)
        at[f + 1] = at[f] + static_cast<std::int64_t>(graph.table_first[graph.table[f] + 1] -
                                                      graph.table_first[graph.table[f]]);
    Beliefs result{make<double>({S}),
                   make<double>({S}),
                   make<double>({S}),
                   make<double>({S}),
                   make<double>({S}),
                   make<std::int64_t>({S}),
                   make<double>({graph.vertices, graph.labels}),
                   make<double>({with_factors ? static_cast<std::size_t>(at.back()) : 0})};
    auto& [value, entropy, bound, change, lost, iterations, node, factor] = result;
    const PropagationOut out{value.data(), entropy.data(),    bound.data(), change.data(),
                             lost.data(),  iterations.data(), node.data(),  with_factors ? factor.data() : nullptr,
                             at.data()};
    {
        nb::gil_scoped_release release;
        run(out);
    }
    return result;
}

Beliefs propagate(In<double> node, In<double> tables, In<double> weight, std::optional<In<double>> total,
                  Indices offsets, Indices factor_offsets, Indices slot_first, Indices members, Indices factor_table,
                  Indices table_first, bool with_factors, int schedule, double damping, std::size_t most,
                  double tolerance) {
    const MessageGraph graph =
        message_graph(node, tables, offsets, factor_offsets, slot_first, members, factor_table, table_first);
    require_shape(weight, "weight", {graph.factors});
    if (total) require_shape(*total, "total", {graph.vertices});
    if (schedule < 0 || schedule > 2) throw std::invalid_argument("schedule must be 0, 1 or 2.");
    const PropagationSettings settings{static_cast<Schedule>(schedule), damping, most, tolerance};
    return beliefs_of(graph, with_factors, [&](const PropagationOut& out) {
        BeliefPropagation({graph, node.data(), tables.data(), weight.data(), total ? total->data() : nullptr}, settings)
            .run(out);
    });
}

Beliefs mean_field(In<double> node, In<double> tables, Indices offsets, Indices factor_offsets, Indices slot_first,
                   Indices members, Indices factor_table, Indices table_first, bool with_factors, std::size_t most,
                   double tolerance) {
    const MessageGraph graph =
        message_graph(node, tables, offsets, factor_offsets, slot_first, members, factor_table, table_first);
    return beliefs_of(graph, with_factors, [&](const PropagationOut& out) {
        MeanField({graph, node.data(), tables.data(), nullptr, nullptr}, most, tolerance).run(out);
    });
}

std::tuple<Out<std::int32_t>, Out<double>> gibbs(In<double> node, In<double> tables, Indices offsets,
                                                 Indices factor_offsets, Indices slot_first, Indices members,
                                                 Indices factor_table, Indices table_first, std::size_t count,
                                                 std::size_t burn_in, std::size_t thin, std::uint64_t seed) {
    const MessageGraph graph =
        message_graph(node, tables, offsets, factor_offsets, slot_first, members, factor_table, table_first);
    auto labels = make<std::int32_t>({count, graph.vertices});
    auto value = make<double>({graph.instances});
    {
        nb::gil_scoped_release release;
        gibbs_sample({graph, node.data(), tables.data(), nullptr, nullptr}, count, burn_in, thin, seed, labels.data(),
                     value.data());
    }
    return {labels, value};
}

// Shares of random forests; zero for the instances that are to be left out.
Out<double> forests(Indices offsets, Indices factor_offsets, Indices slot_first, Indices members, std::size_t count,
                    In<bool> left_out) {
    if (offsets.ndim() != 1 || offsets.shape(0) < 1) throw std::invalid_argument("offsets must be a vector.");
    const std::size_t S = offsets.shape(0) - 1, N = static_cast<std::size_t>(offsets.data()[S]);
    const MessageGraph graph = message_shape(N, offsets, factor_offsets, slot_first, members);
    require_shape(left_out, "left_out", {S});
    auto share = make<double>({graph.factors});
    nb::gil_scoped_release release;
    std::fill(share.data(), share.data() + graph.factors, 0.0);
    const double work = 20.0 * static_cast<double>(count) * static_cast<double>(graph.slots);
    for_each_block(S, threads_for(work), [&](std::size_t s, std::size_t) {
        if (!left_out.data()[s]) forest_shares(graph, s, count, share.data());
    });
    return share;
}

}  // namespace

void add_belief_propagation(nb::module_& m) {
    using namespace nb::literals;
    const auto arg = [](const char* name) { return nb::arg(name).noconvert(); };
    m.def("graph_propagate", &propagate, arg("node"), arg("tables"), arg("weight"), nb::arg("total").none(),
          arg("offsets"), arg("factor_offsets"), arg("slot_first"), arg("members"), arg("factor_table"),
          arg("table_first"), "with_factors"_a, "schedule"_a, "damping"_a, "most"_a, "tolerance"_a);
    m.def("graph_mean_field", &mean_field, arg("node"), arg("tables"), arg("offsets"), arg("factor_offsets"),
          arg("slot_first"), arg("members"), arg("factor_table"), arg("table_first"), "with_factors"_a, "most"_a,
          "tolerance"_a);
    m.def("graph_forests", &forests, arg("offsets"), arg("factor_offsets"), arg("slot_first"), arg("members"),
          "count"_a, arg("left_out"));
    m.def("graph_gibbs", &gibbs, arg("node"), arg("tables"), arg("offsets"), arg("factor_offsets"), arg("slot_first"),
          arg("members"), arg("factor_table"), arg("table_first"), "count"_a, "burn_in"_a, "thin"_a, "seed"_a);
}

}  // namespace kernelfields::bindings
