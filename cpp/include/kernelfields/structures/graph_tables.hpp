// Walks over the table of a clique, block by block, and what an instance needs room for on the way.
#pragma once

#include "../core/dispatch.hpp"
#include "../core/memory.hpp"
#include "graph_plan.hpp"

#include <cstring>

namespace kernelfields {

// Numbers that grow when more are needed, and are kept for the next instance.
class Numbers {
public:
    Numbers() = default;
    Numbers(const Numbers&) = delete;
    Numbers& operator=(const Numbers&) = delete;
    ~Numbers() { clear(); }
    double* hold(std::size_t count) {
        if (count > room_) {
            clear();
            data_ = static_cast<double*>(allocate(count * sizeof(double)));
            room_ = count;
        }
        return data_;
    }
    double* data() { return data_; }

private:
    void clear() {
        if (data_) release(data_);
        data_ = nullptr;
        room_ = 0;
    }
    double* data_ = nullptr;
    std::size_t room_ = 0;
};

// Some tables that lie along that of a clique, and where their blocks begin as the walk goes on.
class TableWalk {
public:
    void start(const GraphPlan& plan, const PlanNode& at) {
        plan_ = &plan;
        at_ = &at;
        table_.clear();
        here_.clear();
        index_.assign(at.outer, 0);
    }
    void add(const GraphTable& table, double* numbers) {
        table_.push_back(&table);
        here_.push_back(numbers);
    }
    std::size_t size() const { return table_.size(); }
    const Pattern& pattern(std::size_t k) const { return table_[k]->pattern; }
    double* here(std::size_t k) const { return here_[k]; }

    template <class Body> void run(Body body) {
        for (std::size_t b = 0; b < at_->blocks; ++b) {
            body();
            if (b + 1 < at_->blocks) advance();
        }
    }

private:
    void advance() {
        for (std::uint32_t d = at_->outer; d-- > 0;) {
            const std::uint32_t size = plan_->choices(plan_->number[at_->dims + d]);
            const bool over = ++index_[d] == size;
            for (std::size_t k = 0; k < table_.size(); ++k) {
                const std::size_t stride = plan_->number[table_[k]->strides + d];
                if (over) here_[k] -= stride * (size - 1);
                else here_[k] += stride;
            }
            if (!over) return;
            index_[d] = 0;
        }
    }
    const GraphPlan* plan_ = nullptr;
    const PlanNode* at_ = nullptr;
    std::vector<const GraphTable*> table_;
    std::vector<double*> here_;
    std::vector<std::uint32_t> index_;
};

// Room for derivatives along a direction.
struct SlopeRoom {
    Numbers messages, factors, block, below;
};

// What a thread keeps between instances.
struct GraphRoom {
    GraphPlan plan;
    std::size_t planned = static_cast<std::size_t>(-1);  // shape
    Numbers messages, factors, block, below;
    SlopeRoom slope;
    std::vector<double> scale, spread;  // nodes: logarithms of the ranges of messages
    std::vector<std::int32_t> label;
    TableWalk walk;
};

// Where the entry of a table lies for given labels, counted among those that each vertex can have.
inline std::size_t entry_at(const GraphPlan& plan, const PlanNode& at, const GraphTable& table,
                            const std::int32_t* label) {
    std::size_t entry = table.at;
    for (std::uint32_t d = 0; d < at.dim_count; ++d)
        entry += plan.number[table.strides + d] * static_cast<std::size_t>(label[plan.number[at.dims + d]]);
    return entry;
}

}  // namespace kernelfields
