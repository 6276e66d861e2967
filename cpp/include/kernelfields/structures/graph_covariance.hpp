// Derivatives of all marginals of graphs along a direction d in score space. Every table of sums carries a second one,
// the derivative of its logarithm along d: of a product that is the sum of those of its factors, of a sum their mean.
#pragma once

#include "graph.hpp"

namespace kernelfields {

class GraphSlopes {
public:
    GraphSlopes(const GraphView& view, const GraphScores& direction, SlopeRoom& slope)
        : view_(view), along_{view.graphs, view.s, direction, view.room}, room_(view.room), slope_(slope) {}

    // The way up; `total` becomes the derivative of the log-partition.
    GraphOutcome up(double& total) {
        GraphOutcome outcome = scaled_messages(view_, total);
        logs_ = outcome == GraphOutcome::too_wide;
        if (logs_) outcome = log_messages<log_message>(view_, total);
        if (outcome != GraphOutcome::done) return outcome;
        const GraphPlan& plan = room_.plan;
        slope_.messages.hold(plan.message_entries);
        slope_.factors.hold(plan.factor_entries);
        slope_.block.hold(padded(plan.largest_block, 8));
        total = 0;
        for (std::size_t k = 0; k < plan.node.size(); ++k) {
            const PlanNode& at = plan.node[k];
            for (std::uint32_t f = at.factors; f < at.factors + at.factor_count; ++f)
                add_scores(along_, at, plan.factor[f], slope_.factors.data() + plan.factor[f].table.at);
            pass_up(k);
            if (at.parent < 0) total += slope_.messages.data()[at.message.at];
        }
        return outcome;
    }

    // The way down: body(node, factor, derivative of its beliefs).
    void down(BeliefBody body) {
        const GraphKernels& kernels = graph_kernels();
        double *messages = room_.messages.data(), *slopes = slope_.messages.data();
        Outputs outputs, derivatives;
        for (std::size_t k = room_.plan.node.size(); k-- > 0;) {
            const PlanNode& at = room_.plan.node[k];
            if (at.parent < 0) {
                messages[at.message.at] = logs_ ? -messages[at.message.at] : 1 / room_.scale[k];
                slopes[at.message.at] = -slopes[at.message.at];
            }
            const std::size_t inputs = add_both(at, messages + at.message.at, slopes + at.message.at);
            add_outputs(room_, at, room_.below, outputs);
            add_outputs(room_, at, slope_.below, derivatives);
            room_.walk.run([&] {
                fill_blocks(at, inputs);
                for (std::size_t j = outputs.first; j < derivatives.first; ++j)
                    kernels.sum(room_.block.data(), room_.walk.pattern(j), room_.walk.here(j));
                for (std::size_t j = derivatives.first; j < room_.walk.size(); ++j)
                    kernels.sum(slope_.block.data(), room_.walk.pattern(j), room_.walk.here(j));
            });
            for (std::uint32_t f = 0; f < at.factor_count; ++f)
                body(at, room_.plan.factor[at.factors + f], derivatives.factor[f]);
            for (std::uint32_t c = 0; c < at.input_count; ++c)
                pass_down(room_.plan.child[at.inputs + c], outputs.child[c], derivatives.child[c]);
        }
    }

private:
    // Inputs, what is above them if there is anything, then the slopes of all these; returns how many of each.
    std::size_t add_both(const PlanNode& at, double* above, double* slope) {
        TableWalk& walk = room_.walk;
        add_inputs(room_, at);
        if (above) walk.add(at.message, above);
        const std::size_t inputs = walk.size();
        add_tables(walk, room_.plan, at, slope_.factors.data(), slope_.messages.data());
        if (above) walk.add(at.message, slope);
        return inputs;
    }
    // Masses of the entries of a block, and their derivatives.
    void fill_blocks(const PlanNode& at, std::size_t inputs) {
        const GraphKernels& kernels = graph_kernels();
        double *block = room_.block.data(), *slope = slope_.block.data();
        if (logs_) {
            add_block(room_.walk, 0, inputs, block);
            kernels.exp(block, at.block);
        } else {
            multiply_block(room_.walk, 0, inputs, block);
        }
        add_block(room_.walk, inputs, 2 * inputs, slope);
        kernels.multiply(slope, Pattern{static_cast<std::uint32_t>(at.block), 0, true, {}, {}}, block);
    }
    // The mean slope over the labels of a vertex, given its separator.
    void pass_up(std::size_t k) {
        const PlanNode& at = room_.plan.node[k];
        const double* message = room_.messages.data() + at.message.at;
        double* mean = slope_.messages.data() + at.message.at;
        double* shift = room_.below.hold(2 * padded(at.message.size, 8));
        double* none = shift + padded(at.message.size, 8);
        std::memset(mean, 0, at.message.size * sizeof(double));
        std::memset(none, 0, at.message.size * sizeof(double));
        for (std::size_t j = 0; j < at.message.size; ++j) shift[j] = message[j] > kNothing ? -message[j] : 0;
        const std::size_t inputs = add_both(at, logs_ ? shift : nullptr, none);
        room_.walk.add(at.message, mean);
        room_.walk.run([&] {
            fill_blocks(at, inputs);
            graph_kernels().sum(slope_.block.data(), room_.walk.pattern(2 * inputs), room_.walk.here(2 * inputs));
        });
        if (logs_) return;  // the shift made them conditional already
        for (std::size_t j = 0; j < at.message.size; ++j)
            mean[j] = message[j] > 0 ? mean[j] / (message[j] * room_.scale[k]) : 0;
    }
    // Messages from below become what is above, beliefs divided by messages; so do their slopes.
    void pass_down(const ChildMessage& child, const double* belief, const double* derivative) {
        double* above = room_.messages.data() + child.table.at;
        double* slope = slope_.messages.data() + child.table.at;
        for (std::size_t j = 0; j < child.table.size; ++j) {
            slope[j] = belief[j] > 0 ? derivative[j] / belief[j] - slope[j] : 0;
            if (logs_) above[j] = belief[j] > 0 ? std::log(belief[j]) - above[j] : kNothing;
            else above[j] = above[j] > 0 ? belief[j] / (above[j] * room_.scale[child.node]) : 0;
        }
    }

    GraphView view_, along_;
    GraphRoom& room_;
    SlopeRoom& slope_;
    bool logs_ = false;
};

// Derivatives of log-partitions and of marginals along a direction.
inline void graph_covariance(const GraphBatch& batch, const GraphScores& direction, const GraphOut& out) {
    SharedSums sums(out.parts, batch.shapes);
    for_each_graph(batch, sums.blocks(), 3.0, [&](const GraphView& view, std::size_t block) {
        GraphSlopes slopes(view, direction, view.room.slope);
        double total = 0;
        const GraphOutcome outcome = slopes.up(total);
        out.value[view.s] = value_of(outcome, total);
        if (outcome != GraphOutcome::done) return;
        const double weight = out.weight ? out.weight[view.s] : 1;
        const std::vector<double*> shared = sums.of(block);
        slopes.down([&](const PlanNode& at, const FactorTable& factor, const double* belief) {
            add_marginals(view, at, factor, belief, weight, out.parts, shared);
        });
    });
    sums.write();
}

}  // namespace kernelfields
