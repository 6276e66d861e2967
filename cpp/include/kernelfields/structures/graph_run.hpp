// Runs over the instances of a batch of graphs, on all cores, those of one shape in a row.
#pragma once

#include "graph_log.hpp"
#include "graph_shapes.hpp"

#include <memory>

namespace kernelfields {

struct GraphBatch {
    const Graphs& graphs;
    const GraphShapes& shapes;
    GraphScores scores;
};

// Where blocks of instances begin in `sorted`, and their number: about equal work, and never dependent on the number of
// threads, so that sums are not either.
inline std::vector<std::size_t> instance_blocks(const GraphShapes& shapes, std::size_t most) {
    const auto cost = [&](std::size_t k) { return shapes.elimination[shapes.shape[shapes.sorted[k]]].entries + 100; };
    double total = 0, filled = 0;
    for (std::size_t k = 0; k < shapes.sorted.size(); ++k) total += cost(k);
    std::vector<std::size_t> result;
    for (std::size_t k = 0; k < shapes.sorted.size(); ++k) {
        if (result.empty() || filled >= total / static_cast<double>(most)) {
            result.push_back(k);
            filled = 0;
        }
        filled += cost(k);
    }
    result.push_back(shapes.sorted.size());
    return result;
}

// body(view, block) for every instance; `cost` is nanoseconds per entry of a table.
inline void for_each_graph(const GraphBatch& batch, const std::vector<std::size_t>& block, double cost,
                           FunctionRef<void(const GraphView&, std::size_t)> body) {
    const GraphShapes& shapes = batch.shapes;
    double entries = 0;
    for (const std::uint32_t shape : shapes.shape) entries += shapes.elimination[shape].entries + 100;
    const int threads = threads_for(cost * entries);
    std::vector<std::unique_ptr<GraphRoom>> rooms(static_cast<std::size_t>(threads));
    for_each_block(block.size() - 1, threads, [&](std::size_t b, std::size_t thread) {
        if (!rooms[thread]) rooms[thread] = std::make_unique<GraphRoom>();
        GraphRoom& room = *rooms[thread];
        for (std::size_t k = block[b]; k < block[b + 1]; ++k) {
            const std::size_t s = shapes.sorted[k], shape = shapes.shape[s];
            if (room.planned != shape) {
                room.planned = static_cast<std::size_t>(-1);
                room.plan.build(batch.graphs, shapes.instance[shape], shapes.elimination[shape]);
                room.planned = shape;
            }
            body(GraphView{batch.graphs, s, batch.scores, room}, b);
        }
    });
}

inline double value_of(GraphOutcome outcome, double total) {
    if (outcome == GraphOutcome::infeasible) return kNothing;
    return outcome == GraphOutcome::done ? total : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace kernelfields
