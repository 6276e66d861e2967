// How a ragged batch is cut for the recursions: groups of sequences that advance together, and
// blocks of groups that are summed apart. Both depend on the batch alone, never on the number of
// threads, and so do all results. A batch is anything with `sequences`, `first`, `length(s)`, `labels` and
// `shared` (edge scores), such as ChainBatch.
#pragma once

#include "../core/memory.hpp"
#include "../core/parallel.hpp"
#include "chain_kernels.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace kernelfields {

struct Plan {
    std::vector<std::size_t> order;  // sequences, longest first
    std::size_t group_size;
    std::vector<std::size_t> block;  // first group of each block, and the number of groups
    std::size_t positions;

    std::size_t blocks() const { return block.size() - 1; }
    Group group(std::size_t g) const {
        const std::size_t from = g * group_size;
        return {order.data() + from, std::min(group_size, order.size() - from)};
    }
};

// What a plan needs to know of a batch.
struct PlannedBatch {
    std::size_t sequences, labels;
    const std::int64_t* first;  // sequences + 1
    bool shared;

    template <class Batch>
    explicit PlannedBatch(const Batch& batch)
        : sequences(batch.sequences), labels(batch.labels), first(batch.first), shared(batch.shared) {}
    std::size_t length(std::size_t s) const { return static_cast<std::size_t>(first[s + 1] - first[s]); }
};

// These sequences, none of them empty.
Plan make_plan(const PlannedBatch& batch, std::vector<std::size_t> sequences, std::size_t group_size);

// Sequences for which keep(s) holds. Empty ones need no recursion and are left out.
template <class Batch, class Keep>
Plan make_plan(const Batch& batch, Keep keep, std::size_t group_size = kRows) {
    std::vector<std::size_t> sequences;
    for (std::size_t s = 0; s < batch.sequences; ++s)
        if (batch.length(s) > 0 && keep(s)) sequences.push_back(s);
    return make_plan(PlannedBatch(batch), std::move(sequences), group_size);
}

// What any group of the plan needs: three messages per position, a few label-by-label matrices, a few rows for
// each sequence.
std::size_t bytes_needed(const PlannedBatch& batch, const Plan& plan);

template <class Batch> std::size_t bytes_needed(const Batch& batch, const Plan& plan) {
    return bytes_needed(PlannedBatch(batch), plan);
}

// Aligned memory for each thread. Taken when first asked for, by the thread that will use it.
class Workspaces {
public:
    Workspaces(std::size_t bytes, int threads) : bytes_(bytes), memory_(static_cast<std::size_t>(threads)) {}
    Arena arena(std::size_t thread) {
        auto& mine = memory_[thread];
        if (!mine) mine.reset(static_cast<std::byte*>(allocate(bytes_)));
        return {mine.get(), mine.get() + bytes_};
    }

private:
    struct Free {
        void operator()(std::byte* p) const { release(p); }
    };
    std::size_t bytes_;
    std::vector<std::unique_ptr<std::byte, Free>> memory_;
};

// body(group, arena, block) for every group of the plan; groups of one block run in order.
void for_each_group(const Plan& plan, std::size_t bytes, double nanoseconds,
                    FunctionRef<void(Group, Arena, std::size_t)> body);

template <class Batch>
void for_each_group(const Batch& batch, const Plan& plan, double nanoseconds,
                    FunctionRef<void(Group, Arena, std::size_t)> body) {
    for_each_group(plan, bytes_needed(batch, plan), nanoseconds, body);
}

// The same for every single sequence.
template <class Batch>
void for_each_sequence(const Batch& batch, const Plan& plan, double nanoseconds,
                       FunctionRef<void(std::size_t, Arena)> body) {
    for_each_group(batch, plan, nanoseconds, [&](Group group, Arena arena, std::size_t) {
        for (std::size_t k = 0; k < group.count; ++k) body(group.sequence[k], arena);
    });
}

}  // namespace kernelfields
