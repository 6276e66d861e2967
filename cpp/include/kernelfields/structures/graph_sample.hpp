// Exact draws from the labellings of graphs: messages once, then vertices from the last to the first, each given those
// drawn before.
#pragma once

#include "../core/draw.hpp"
#include "graph.hpp"

namespace kernelfields {

// The product of an entry of a clique's table, as entry_score.
inline double entry_mass(GraphRoom& room, const PlanNode& at, const std::int32_t* label) {
    double mass = 1;
    for (std::uint32_t f = at.factors; f < at.factors + at.factor_count; ++f)
        mass *= room.factors.data()[entry_at(room.plan, at, room.plan.factor[f].table, label)];
    for (std::uint32_t c = at.inputs; c < at.inputs + at.input_count; ++c)
        mass *= room.messages.data()[entry_at(room.plan, at, room.plan.child[c].table, label)];
    return mass;
}

inline void draw_labels(GraphRoom& room, bool logs, std::uint64_t seed, std::uint64_t draw, std::size_t start,
                        std::vector<double>& cumulative) {
    for (std::size_t k = room.plan.node.size(); k-- > 0;) {
        const PlanNode& at = room.plan.node[k];
        std::int32_t& label = room.label[at.vertex];
        const std::size_t choices = room.plan.choices(at.vertex);
        const double uniform = uniform_at(seed, draw, start + at.vertex);
        cumulative.resize(choices);
        const auto entry = [&](auto read) {
            return [&, read](std::size_t y) {
                label = static_cast<std::int32_t>(y);
                return read(room, at, room.label.data());
            };
        };
        label = logs ? draw_label(choices, uniform, cumulative, entry(entry_score))
                     : draw_by_mass(choices, uniform, cumulative, entry(entry_mass));
    }
}

// `count` rows of labels; values are log-partitions.
inline void graph_sample(const GraphBatch& batch, std::size_t count, std::uint64_t seed, std::int32_t* labels,
                         double* value) {
    for_each_graph(batch, instance_blocks(batch.shapes, 64), 0.5, [&](const GraphView& view, std::size_t) {
        double total = 0;
        GraphOutcome outcome = scaled_messages(view, total);
        const bool logs = outcome == GraphOutcome::too_wide;
        if (logs) outcome = log_messages<log_message>(view, total);
        value[view.s] = value_of(outcome, total);
        if (outcome != GraphOutcome::done) return;
        GraphRoom& room = view.room;
        room.label.assign(room.plan.node.size(), 0);
        std::vector<double> cumulative;
        for (std::size_t draw = 0; draw < count; ++draw) {
            draw_labels(room, logs, seed, draw, view.graphs.start(view.s), cumulative);
            write_labels(view.graphs, view.s, room.label.data(), labels + draw * view.graphs.vertices);
        }
    });
}

}  // namespace kernelfields
