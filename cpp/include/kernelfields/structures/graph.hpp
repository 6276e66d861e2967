// Exact inference for ragged batches of labelled graphs by junction trees: log-partitions, marginals, argmax.
//
// Scores that are NaN or +inf give NaN, an instance without any allowed labelling gives -inf, in its value.
#pragma once

#include "graph_run.hpp"

namespace kernelfields {

// What marginals are written to; `weight` per instance or null.
struct GraphOut {
    const double* weight;
    double* value;
    GraphParts parts;  // no arrays: values only
};

// Sums over the cliques of types that share scores, one for every block of instances; added up at the end.
class SharedSums {
public:
    SharedSums(const GraphParts& parts, const GraphShapes& shapes) : parts_(parts) {
        for (std::size_t t = 0; t < parts.array.size(); ++t)
            if (parts.shared[t]) size_ += parts.size[t];
        const std::size_t most = std::clamp<std::size_t>((std::size_t{1} << 22) / (size_ + 1), 4, 64);
        block_ = instance_blocks(shapes, most);
        sums_.assign((block_.size() - 1) * size_, 0.0);
    }
    const std::vector<std::size_t>& blocks() const { return block_; }
    // Where the sums of each type begin, for one block.
    std::vector<double*> of(std::size_t block) {
        std::vector<double*> result(parts_.array.size(), nullptr);
        double* next = sums_.data() + block * size_;
        for (std::size_t t = 0; t < result.size(); ++t)
            if (parts_.shared[t]) result[t] = next, next += parts_.size[t];
        return result;
    }
    void write() {
        for (std::size_t b = 1; b + 1 < block_.size(); ++b)
            for (std::size_t k = 0; k < size_; ++k) sums_[k] += sums_[b * size_ + k];
        const double* next = sums_.data();
        for (std::size_t t = 0; t < parts_.array.size(); ++t) {
            if (!parts_.shared[t]) continue;
            parts_.of(t, [&](auto* to) {
                using S = std::remove_pointer_t<decltype(to)>;
                for (std::size_t k = 0; k < parts_.size[t]; ++k)
                    to[k] = block_.size() > 1 ? static_cast<S>(next[k]) : S{0};
            });
            if (block_.size() > 1) next += parts_.size[t];
        }
    }

private:
    const GraphParts& parts_;
    std::size_t size_ = 0;
    std::vector<std::size_t> block_;
    std::vector<double> sums_;
};

// Log-partitions, and marginals where there are arrays for them. `only` (1 or 2) forces scaled sums or logarithms, for
// tests; what the former cannot hold stays NaN.
inline void graph_marginals(const GraphBatch& batch, const GraphOut& out, int only = -1) {
    SharedSums sums(out.parts, batch.shapes);
    for_each_graph(batch, sums.blocks(), 1.0, [&](const GraphView& view, std::size_t block) {
        double total = 0;
        GraphOutcome outcome = only == 2 ? GraphOutcome::too_wide : scaled_messages(view, total);
        const bool logs = outcome == GraphOutcome::too_wide && only != 1;
        if (logs) outcome = log_messages<log_message>(view, total);
        out.value[view.s] = value_of(outcome, total);
        if (outcome != GraphOutcome::done || out.parts.array.empty()) return;
        const double weight = out.weight ? out.weight[view.s] : 1;
        const std::vector<double*> shared = sums.of(block);
        const auto body = [&](const PlanNode& at, const FactorTable& factor, const double* belief) {
            add_marginals(view, at, factor, belief, weight, out.parts, shared);
        };
        if (logs) log_beliefs(view.room, body);
        else scaled_beliefs(view.room, body);
    });
    sums.write();
}

inline void graph_entropy(const GraphBatch& batch, double* value) {
    for_each_graph(batch, instance_blocks(batch.shapes, 64), 8.0, [&](const GraphView& view, std::size_t) {
        double total = 0;
        EntropyLook look{view.room.slope.below};
        const auto nothing = [](const PlanNode&, const FactorTable&, const double*) {};
        GraphOutcome outcome = scaled_messages(view, total);
        if (outcome == GraphOutcome::done) scaled_beliefs(view.room, nothing, &look);
        if (outcome == GraphOutcome::too_wide) {
            outcome = log_messages<log_message>(view, total);
            if (outcome == GraphOutcome::done) log_beliefs(view.room, nothing, &look);
        }
        value[view.s] = value_of(outcome, look.entropy);
    });
}

// The score of an entry of a clique's table: of the factors and messages from below, at labels already chosen.
inline double entry_score(GraphRoom& room, const PlanNode& at, const std::int32_t* label) {
    double score = 0;
    for (std::uint32_t f = at.factors; f < at.factors + at.factor_count; ++f)
        score += room.factors.data()[entry_at(room.plan, at, room.plan.factor[f].table, label)];
    for (std::uint32_t c = at.inputs; c < at.inputs + at.input_count; ++c)
        score += room.messages.data()[entry_at(room.plan, at, room.plan.child[c].table, label)];
    return score;
}

// Writes labels, counted among those that each vertex can have, as labels of the batch.
inline void write_labels(const Graphs& graphs, std::size_t s, const std::int32_t* chosen, std::int32_t* labels) {
    for (std::size_t k = 0; k < graphs.length(s); ++k) {
        const std::int32_t* of = graphs.labels_of(graphs.start(s) + k);
        labels[graphs.start(s) + k] = of ? of[chosen[k]] : chosen[k];
    }
}

// From the last vertex to the first, the lowest label among the best given those chosen before.
inline void graph_argmax(const GraphBatch& batch, std::int32_t* labels, double* value) {
    for_each_graph(batch, instance_blocks(batch.shapes, 64), 0.5, [&](const GraphView& view, std::size_t) {
        GraphRoom& room = view.room;
        double total = 0;
        const GraphOutcome outcome = log_messages<largest_message>(view, total);
        value[view.s] = value_of(outcome, total);
        if (outcome != GraphOutcome::done) return;
        room.label.assign(room.plan.node.size(), 0);
        for (std::size_t k = room.plan.node.size(); k-- > 0;) {
            const PlanNode& at = room.plan.node[k];
            std::int32_t& label = room.label[at.vertex];
            std::int32_t best = 0;
            double most = kNothing;
            for (label = 0; label < static_cast<std::int32_t>(room.plan.choices(at.vertex)); ++label) {
                const double score = entry_score(room, at, room.label.data());
                if (score > most) most = score, best = label;
            }
            label = best;
        }
        write_labels(view.graphs, view.s, room.label.data(), labels);
    });
}

}  // namespace kernelfields
