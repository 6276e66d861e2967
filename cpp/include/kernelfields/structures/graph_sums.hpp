// Sums over the labellings of one graph. Messages are scaled to a largest entry of one, with one logarithm each; this
// holds as long as no product of a clique's factors and messages can underflow, whatever the labels. With logarithms
// instead, in graph_log.hpp, anything holds.
//
//   m_v(s) = sum_{y_v} f(y_v, s) prod_c m_c(s)         up, over the labels of one vertex after the other
//   b_v = f prod_c m_c beta_v, beta_c = b_c / m_c      down: beliefs of cliques, and what is above them
#pragma once

#include "../core/function_ref.hpp"
#include "graph_factors.hpp"

namespace kernelfields {

constexpr double kMostSpread = 650;  // logarithm of what products may range over

enum class GraphOutcome : std::uint8_t { done, infeasible, not_finite, too_wide };

// exp(scores - largest) of all factors of a node. Adds the largest to `total` and the range to `spread`.
inline GraphOutcome fill_factors(const GraphView& view, const PlanNode& at, double& total, double& spread) {
    const GraphKernels& kernels = graph_kernels();
    for (std::uint32_t f = at.factors; f < at.factors + at.factor_count; ++f) {
        const FactorTable& factor = view.plan().factor[f];
        const std::size_t size = factor.table.size;
        double* numbers = view.room.factors.data() + factor.table.at;
        add_scores(view, at, factor, numbers);
        if (!usable(numbers, size)) return GraphOutcome::not_finite;
        const double top = shift_to_zero(numbers, size);
        if (top == kNothing) return GraphOutcome::infeasible;
        double lowest = 0;
        for (std::size_t k = 0; k < size; ++k)
            if (numbers[k] > kNothing && numbers[k] < lowest) lowest = numbers[k];
        kernels.exp(numbers, size);
        total += top;
        spread -= lowest;
    }
    return GraphOutcome::done;
}

// Factors and messages from below of a node, on a walk over its clique.
inline void add_tables(TableWalk& walk, const GraphPlan& plan, const PlanNode& at, double* factors, double* messages) {
    for (std::uint32_t f = at.factors; f < at.factors + at.factor_count; ++f)
        walk.add(plan.factor[f].table, factors + plan.factor[f].table.at);
    for (std::uint32_t c = at.inputs; c < at.inputs + at.input_count; ++c)
        walk.add(plan.child[c].table, messages + plan.child[c].table.at);
}

inline void add_inputs(GraphRoom& room, const PlanNode& at) {
    room.walk.start(room.plan, at);
    add_tables(room.walk, room.plan, at, room.factors.data(), room.messages.data());
}

// block = product of the tables `from` .. `to` - 1 of the walk.
inline void multiply_block(const TableWalk& walk, std::size_t from, std::size_t to, double* block) {
    const GraphKernels& kernels = graph_kernels();
    kernels.assign(block, walk.pattern(from), walk.here(from));
    for (std::size_t j = from + 1; j < to; ++j) kernels.multiply(block, walk.pattern(j), walk.here(j));
}

inline void take_room(GraphRoom& room) {
    room.messages.hold(room.plan.message_entries);
    room.factors.hold(room.plan.factor_entries);
    room.block.hold(padded(room.plan.largest_block, 8));
    room.scale.resize(room.plan.node.size());
    room.spread.resize(room.plan.node.size());
}

// All messages; `total` becomes the log-partition.
inline GraphOutcome scaled_messages(const GraphView& view, double& total) {
    GraphRoom& room = view.room;
    const GraphKernels& kernels = graph_kernels();
    take_room(room);
    total = 0;
    double *block = room.block.data(), *messages = room.messages.data();
    bool impossible = false;  // but scores that cannot be used come first
    for (std::size_t k = 0; k < room.plan.node.size(); ++k) {
        const PlanNode& at = room.plan.node[k];
        double spread = 0;
        const GraphOutcome outcome = fill_factors(view, at, total, spread);
        if (outcome == GraphOutcome::not_finite) return outcome;
        impossible |= outcome == GraphOutcome::infeasible;
        if (impossible) continue;
        for (std::uint32_t c = at.inputs; c < at.inputs + at.input_count; ++c)
            spread += room.spread[room.plan.child[c].node];
        if (spread > kMostSpread) return GraphOutcome::too_wide;
        double* message = messages + at.message.at;
        std::memset(message, 0, at.message.size * sizeof(double));
        add_inputs(room, at);
        const std::size_t inputs = room.walk.size();
        room.walk.add(at.message, message);
        room.walk.run([&] {
            multiply_block(room.walk, 0, inputs, block);
            kernels.sum(block, room.walk.pattern(inputs), room.walk.here(inputs));
        });
        double largest, smallest;
        kernels.range(message, at.message.size, &largest, &smallest);
        if (!(largest > 0)) {
            impossible = true;
            continue;
        }
        kernels.scale(message, at.message.size, 1 / largest);
        room.scale[k] = largest;
        room.spread[k] = std::log(largest / smallest);
        total += std::log(largest);
    }
    return impossible ? GraphOutcome::infeasible : GraphOutcome::done;
}

// What the beliefs of a clique are summed to on the way down.
struct Outputs {
    std::size_t first;  // in the walk: factors, then messages from below
    std::vector<double*> factor, child;
};

inline void add_outputs(GraphRoom& room, const PlanNode& at, Numbers& below, Outputs& outputs) {
    std::size_t needed = 0;
    for (std::uint32_t f = at.factors; f < at.factors + at.factor_count; ++f)
        needed += padded(room.plan.factor[f].table.size, 8);
    for (std::uint32_t c = at.inputs; c < at.inputs + at.input_count; ++c)
        needed += padded(room.plan.child[c].table.size, 8);
    double* next = below.hold(needed);
    std::memset(next, 0, needed * sizeof(double));
    outputs.first = room.walk.size();
    outputs.factor.clear();
    outputs.child.clear();
    const auto add = [&](const GraphTable& table, std::vector<double*>& list) {
        room.walk.add(table, next);
        list.push_back(next);
        next += padded(table.size, 8);
    };
    for (std::uint32_t f = at.factors; f < at.factors + at.factor_count; ++f)
        add(room.plan.factor[f].table, outputs.factor);
    for (std::uint32_t c = at.inputs; c < at.inputs + at.input_count; ++c) add(room.plan.child[c].table, outputs.child);
}

// H(p) = sum over cliques of the entropy of a vertex given its separator. Looks at the beliefs of cliques, block by
// block, and of their separators: sums of the former, as they were rounded.
struct EntropyLook {
    Numbers& sums;
    double entropy = 0;

    void start(TableWalk& walk, const PlanNode& at) {
        std::memset(sums.hold(at.message.size), 0, at.message.size * sizeof(double));
        walk.add(at.message, sums.data());
    }
    void clique(const double* belief, std::size_t count) { entropy += entropy_of(belief, count); }
    void separator(const PlanNode& at) { entropy -= entropy_of(sums.data(), at.message.size); }
};

// Takes a node, one of its factors and its beliefs.
using BeliefBody = FunctionRef<void(const PlanNode&, const FactorTable&, const double*)>;

// Beliefs of all nodes from the last to the first; messages become what is above them. body(node, factor, belief).
inline void scaled_beliefs(GraphRoom& room, BeliefBody body, EntropyLook* look = nullptr) {
    const GraphKernels& kernels = graph_kernels();
    double *block = room.block.data(), *messages = room.messages.data();
    Outputs outputs;
    for (std::size_t k = room.plan.node.size(); k-- > 0;) {
        const PlanNode& at = room.plan.node[k];
        if (at.parent < 0) messages[at.message.at] = 1 / room.scale[k];
        add_inputs(room, at);
        room.walk.add(at.message, messages + at.message.at);
        add_outputs(room, at, room.below, outputs);
        if (look) look->start(room.walk, at);
        room.walk.run([&] {
            multiply_block(room.walk, 0, outputs.first, block);
            for (std::size_t j = outputs.first; j < room.walk.size(); ++j)
                kernels.sum(block, room.walk.pattern(j), room.walk.here(j));
            if (look) look->clique(block, at.block);
        });
        if (look) look->separator(at);
        for (std::uint32_t f = 0; f < at.factor_count; ++f)
            body(at, room.plan.factor[at.factors + f], outputs.factor[f]);
        for (std::uint32_t c = 0; c < at.input_count; ++c) {
            const ChildMessage& child = room.plan.child[at.inputs + c];
            const double* belief = outputs.child[c];
            const double all = sum_of(belief, child.table.size);  // one, but for rounding, which must not add up
            kernels.divide(messages + child.table.at, belief, child.table.size,
                           all > 0 ? 1 / (all * room.scale[child.node]) : 0);
        }
    }
}

}  // namespace kernelfields
