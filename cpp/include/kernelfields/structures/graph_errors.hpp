// The best score of a graph for every number of errors: label y at vertex v counts as errors(v, y) >= 0 of them. Every
// message of best scores becomes a list, one entry for each number of errors below it; lists of what is independent
// are merged,
//
//   (f + g)(k) = max_b [ f(k - b) + g(b) ].
#pragma once

#include "graph.hpp"

namespace kernelfields {

using ErrorList = std::vector<double>;

// f(k) = max_b [ f(k - b) + right(b) ], k below `most`.
inline void merge_errors(ErrorList& f, const double* right, std::size_t count, std::size_t most) {
    ErrorList result(std::min(most, f.size() + count - 1), kNothing);
    for (std::size_t a = 0; a < f.size(); ++a)
        for (std::size_t b = 0; b < count && a + b < result.size(); ++b)
            result[a + b] = std::max(result[a + b], f[a] + right[b]);
    f = std::move(result);
}

// One instance.
class GraphErrors {
public:
    GraphErrors(const GraphView& view, const std::int32_t* errors, std::size_t most)
        : view_(view), room_(view.room), errors_(errors), most_(most) {
        count_.resize(room_.plan.node.size());
        begin_.resize(room_.plan.node.size() + 1);
        for (std::size_t k = 0; k < count_.size(); ++k) {
            const PlanNode& at = room_.plan.node[k];
            std::size_t worst = 0;
            for (std::uint32_t y = 0; y < room_.plan.choices(at.vertex); ++y)
                worst = std::max<std::size_t>(worst, errors_of(at.vertex, y));
            for (std::uint32_t c = 0; c < at.input_count; ++c)
                worst += count_[room_.plan.child[at.inputs + c].node] - 1;
            count_[k] = std::min(most_, worst + 1);
            begin_[k + 1] = begin_[k] + at.message.size * count_[k];
        }
    }
    // Numbers that all lists take.
    std::size_t numbers() const { return begin_.back(); }

    // Lists of all nodes, then that of the whole instance: 0 .. most - 1 errors.
    bool run(ErrorList& whole) {
        take_room(room_);
        lists_.assign(numbers(), kNothing);
        room_.label.assign(room_.plan.node.size(), 0);
        roots_.assign(1, ErrorList(1, 0.0));
        for (std::size_t k = 0; k < room_.plan.node.size(); ++k) {
            const PlanNode& at = room_.plan.node[k];
            if (!fill_scores(view_, at)) return false;
            fill_lists(at, k);
            if (at.parent >= 0) continue;
            roots_.push_back(roots_.back());
            merge_errors(roots_.back(), list(k, 0), count_[k], most_);
        }
        whole = roots_.back();
        return true;
    }

    // Labels of the best labelling with exactly `errors` of them, which there must be, into room.label.
    void choose(std::size_t errors) {
        std::vector<std::size_t> left(room_.plan.node.size(), 0);
        std::size_t root = roots_.size() - 1;
        for (std::size_t k = room_.plan.node.size(); k-- > 0;) {
            const PlanNode& at = room_.plan.node[k];
            if (at.parent < 0) {
                left[k] = share(roots_[root - 1], list(k, 0), count_[k], errors, roots_[root][errors]);
                errors -= left[k];
                --root;
            }
            choose_label(at, left[k], left);
        }
    }

private:
    std::size_t errors_of(std::uint32_t v, std::uint32_t y) const {
        const std::size_t at = view_.graphs.start(view_.s) + v;
        const std::int32_t* labels = view_.graphs.labels_of(at);
        return static_cast<std::size_t>(
            errors_[at * view_.graphs.labels + (labels ? static_cast<std::uint32_t>(labels[y]) : y)]);
    }
    double* list(std::size_t k, std::size_t entry) { return lists_.data() + begin_[k] + entry * count_[k]; }

    // The list of an entry of a clique's table, at the labels of the room; before each message from below if asked.
    ErrorList list_here(const PlanNode& at, std::vector<ErrorList>* before) {
        const auto own = errors_of(at.vertex, static_cast<std::uint32_t>(room_.label[at.vertex]));
        ErrorList result(std::min(most_, own + 1), kNothing);
        double score = 0;
        for (std::uint32_t f = at.factors; f < at.factors + at.factor_count; ++f)
            score += room_.factors.data()[entry_at(room_.plan, at, room_.plan.factor[f].table, room_.label.data())];
        if (own < most_) result[own] = score;
        for (std::uint32_t c = at.inputs; c < at.inputs + at.input_count; ++c) {
            if (before) before->push_back(result);
            merge_errors(result, child_list(at, c), count_[room_.plan.child[c].node], most_);
        }
        return result;
    }
    const double* child_list(const PlanNode& at, std::uint32_t c) {
        const ChildMessage& child = room_.plan.child[c];
        return list(child.node, entry_at(room_.plan, at, child.table, room_.label.data()) - child.table.at);
    }

    void fill_lists(const PlanNode& at, std::size_t k) {
        const std::uint32_t* vertex = &room_.plan.number[at.dims];
        for (std::uint32_t d = 0; d < at.dim_count; ++d) room_.label[vertex[d]] = 0;
        for (;;) {
            const ErrorList here = list_here(at, nullptr);
            double* to = list(k, entry_at(room_.plan, at, at.message, room_.label.data()) - at.message.at);
            for (std::size_t e = 0; e < std::min(here.size(), count_[k]); ++e) to[e] = std::max(to[e], here[e]);
            std::uint32_t d = at.dim_count;
            for (; d > 0; --d) {
                if (++room_.label[vertex[d - 1]] < static_cast<std::int32_t>(room_.plan.choices(vertex[d - 1]))) break;
                room_.label[vertex[d - 1]] = 0;
            }
            if (d == 0) return;
        }
    }

    // How many of k errors go to the right in the best merge, whose value is known: the same sum, found again.
    static std::size_t share(const ErrorList& left, const double* right, std::size_t count, std::size_t k,
                             double value) {
        for (std::size_t b = 0; b < count && b <= k; ++b)
            if (k - b < left.size() && left[k - b] + right[b] == value) return b;
        throw std::logic_error("A merge of errors was not found again.");
    }
    void choose_label(const PlanNode& at, std::size_t errors, std::vector<std::size_t>& left) {
        std::int32_t best = 0;
        double most = kNothing;
        for (std::int32_t y = 0; y < static_cast<std::int32_t>(room_.plan.choices(at.vertex)); ++y) {
            room_.label[at.vertex] = y;
            const ErrorList here = list_here(at, nullptr);
            if (errors < here.size() && here[errors] > most) most = here[errors], best = y;
        }
        room_.label[at.vertex] = best;
        std::vector<ErrorList> before;
        double value = list_here(at, &before)[errors];
        for (std::uint32_t c = at.input_count; c-- > 0;) {
            const std::size_t node = room_.plan.child[at.inputs + c].node;
            left[node] = share(before[c], child_list(at, at.inputs + c), count_[node], errors, value);
            errors -= left[node];
            value = before[c][errors];
        }
    }

    GraphView view_;
    GraphRoom& room_;
    const std::int32_t* errors_;
    std::size_t most_;
    std::vector<std::size_t> count_, begin_;
    std::vector<double> lists_;
    std::vector<ErrorList> roots_;
};

// How many numbers the lists of each instance take; `most` levels of errors per instance.
inline void graph_error_numbers(const GraphBatch& batch, const std::int32_t* errors, const std::int64_t* most,
                                double* numbers) {
    for_each_graph(batch, instance_blocks(batch.shapes, 64), 0.1, [&](const GraphView& view, std::size_t) {
        const auto levels = static_cast<std::size_t>(most[view.s]);
        numbers[view.s] = static_cast<double>(GraphErrors(view, errors, levels).numbers());
    });
}

// (instances, levels): NaN in rows whose scores cannot be used.
inline void graph_best_by_errors(const GraphBatch& batch, const std::int32_t* errors, std::size_t levels,
                                 double* value) {
    for_each_graph(batch, instance_blocks(batch.shapes, 64), 100, [&](const GraphView& view, std::size_t) {
        double* row = value + view.s * levels;
        ErrorList whole;
        const bool finite = GraphErrors(view, errors, levels).run(whole);
        std::fill(row, row + levels, finite ? kNothing : std::numeric_limits<double>::quiet_NaN());
        if (finite) std::copy(whole.begin(), whole.end(), row);
    });
}

// -1 and -inf where an instance has no labelling with so many errors.
inline void graph_argmax_at_errors(const GraphBatch& batch, const std::int32_t* errors, const std::int64_t* counts,
                                   std::int32_t* labels, double* value) {
    for_each_graph(batch, instance_blocks(batch.shapes, 64), 100, [&](const GraphView& view, std::size_t) {
        const std::size_t start = view.graphs.start(view.s);
        std::fill(labels + start, labels + start + view.graphs.length(view.s), -1);
        value[view.s] = kNothing;
        if (counts[view.s] < 0) return;
        const auto wanted = static_cast<std::size_t>(counts[view.s]);
        GraphErrors lists(view, errors, wanted + 1);
        ErrorList whole;
        if (!lists.run(whole)) value[view.s] = std::numeric_limits<double>::quiet_NaN();
        else if (wanted < whole.size() && whole[wanted] > kNothing) {
            lists.choose(wanted);
            value[view.s] = whole[wanted];
            write_labels(view.graphs, view.s, view.room.label.data(), labels);
        }
    });
}

}  // namespace kernelfields
