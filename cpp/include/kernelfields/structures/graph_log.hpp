// The sums of graph_sums.hpp in logarithms, which hold any scores, at the cost of an exponential for every entry.
#pragma once

#include "graph_sums.hpp"

namespace kernelfields {

// Scores of all factors of a node, as they are; false where they cannot be used.
inline bool fill_scores(const GraphView& view, const PlanNode& at) {
    for (std::uint32_t f = at.factors; f < at.factors + at.factor_count; ++f) {
        const FactorTable& factor = view.plan().factor[f];
        double* numbers = view.room.factors.data() + factor.table.at;
        add_scores(view, at, factor, numbers);
        if (!usable(numbers, factor.table.size)) return false;
    }
    return true;
}

// block = sum of the tables `from` .. `to` - 1 of the walk.
inline void add_block(const TableWalk& walk, std::size_t from, std::size_t to, double* block) {
    const GraphKernels& kernels = graph_kernels();
    kernels.assign(block, walk.pattern(from), walk.here(from));
    for (std::size_t j = from + 1; j < to; ++j) kernels.add(block, walk.pattern(j), walk.here(j));
}

// Largest entries over the labels of a node's vertex: messages of the best scores.
inline void largest_message(GraphRoom& room, const PlanNode& at, double* message) {
    const GraphKernels& kernels = graph_kernels();
    std::fill(message, message + at.message.size, kNothing);
    add_inputs(room, at);
    const std::size_t inputs = room.walk.size();
    room.walk.add(at.message, message);
    room.walk.run([&] {
        add_block(room.walk, 0, inputs, room.block.data());
        kernels.largest(room.block.data(), room.walk.pattern(inputs), room.walk.here(inputs));
    });
}

// log sum exp over the labels of a node's vertex: against the largest entry, in a second walk.
inline void log_message(GraphRoom& room, const PlanNode& at, double* message) {
    const GraphKernels& kernels = graph_kernels();
    const std::size_t size = at.message.size;
    largest_message(room, at, message);
    double* shift = room.below.hold(2 * padded(size, 8));
    double* sums = shift + padded(size, 8);
    for (std::size_t k = 0; k < size; ++k) shift[k] = message[k] > kNothing ? -message[k] : 0;
    std::memset(sums, 0, size * sizeof(double));
    add_inputs(room, at);
    room.walk.add(at.message, shift);
    const std::size_t inputs = room.walk.size();
    room.walk.add(at.message, sums);
    room.walk.run([&] {
        add_block(room.walk, 0, inputs, room.block.data());
        kernels.exp(room.block.data(), at.block);
        kernels.sum(room.block.data(), room.walk.pattern(inputs), room.walk.here(inputs));
    });
    for (std::size_t k = 0; k < size; ++k) message[k] += std::log(sums[k]);
}

// All messages by `make` (largest_message or log_message); `total` becomes the best score or the log-partition.
template <void (*make)(GraphRoom&, const PlanNode&, double*)>
GraphOutcome log_messages(const GraphView& view, double& total) {
    GraphRoom& room = view.room;
    take_room(room);
    total = 0;
    for (const PlanNode& at : room.plan.node) {
        if (!fill_scores(view, at)) return GraphOutcome::not_finite;
        if (total == kNothing) continue;
        double* message = room.messages.data() + at.message.at;
        make(room, at, message);
        if (at.parent < 0) total += message[0];
    }
    return total == kNothing ? GraphOutcome::infeasible : GraphOutcome::done;
}

// As scaled_beliefs.
inline void log_beliefs(GraphRoom& room, BeliefBody body, EntropyLook* look = nullptr) {
    const GraphKernels& kernels = graph_kernels();
    double *block = room.block.data(), *messages = room.messages.data();
    Outputs outputs;
    for (std::size_t k = room.plan.node.size(); k-- > 0;) {
        const PlanNode& at = room.plan.node[k];
        if (at.parent < 0) messages[at.message.at] = -messages[at.message.at];
        add_inputs(room, at);
        room.walk.add(at.message, messages + at.message.at);
        add_outputs(room, at, room.below, outputs);
        if (look) look->start(room.walk, at);
        room.walk.run([&] {
            add_block(room.walk, 0, outputs.first, block);
            kernels.exp(block, at.block);
            for (std::size_t j = outputs.first; j < room.walk.size(); ++j)
                kernels.sum(block, room.walk.pattern(j), room.walk.here(j));
            if (look) look->clique(block, at.block);
        });
        if (look) look->separator(at);
        for (std::uint32_t f = 0; f < at.factor_count; ++f)
            body(at, room.plan.factor[at.factors + f], outputs.factor[f]);
        for (std::uint32_t c = 0; c < at.input_count; ++c) {
            const ChildMessage& child = room.plan.child[at.inputs + c];
            const double all = sum_of(outputs.child[c], child.table.size);
            double* above = messages + child.table.at;
            for (std::size_t j = 0; j < child.table.size; ++j) {
                const double belief = outputs.child[c][j] / all;
                above[j] = belief > 0 ? std::log(belief) - above[j] : kNothing;
            }
        }
    }
}

}  // namespace kernelfields
