// How a ragged batch is cut for the recursions: groups of sequences that advance together, and
// blocks of groups that are summed apart. Both depend on the batch alone, never on the number of
// threads, and so do all results. A batch is anything with `sequences`, `length(s)`, `labels` and
// `shared` (edge scores), such as ChainBatch.
#pragma once

#include "../core/memory.hpp"
#include "../core/parallel.hpp"
#include "chain_kernels.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
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

// Sequences of equal length stay in their order. Short ones, which are many, are counted into place: comparing them
// takes as long as forward-backward over a few labels.
template <class Batch> void sort_longest_first(const Batch& batch, std::vector<std::size_t>& order) {
    std::size_t longest = 0;
    for (std::size_t s : order) longest = std::max<std::size_t>(longest, batch.length(s));
    if (longest > order.size() + 256) {
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return batch.length(a) > batch.length(b); });
        return;
    }
    std::vector<std::size_t> place(longest + 1), sorted(order.size());
    for (std::size_t s : order) ++place[longest - batch.length(s) + 1];  // none is empty
    std::partial_sum(place.begin(), place.end(), place.begin());
    for (std::size_t s : order) sorted[place[longest - batch.length(s)]++] = s;
    order.swap(sorted);
}

// Sequences for which keep(s) holds. Empty ones need no recursion and are left out.
template <class Batch, class Keep>
Plan make_plan(const Batch& batch, Keep keep, std::size_t group_size = kRows) {
    Plan plan;
    for (std::size_t s = 0; s < batch.sequences; ++s)
        if (batch.length(s) > 0 && keep(s)) plan.order.push_back(s);
    sort_longest_first(batch, plan.order);
    plan.group_size = batch.shared ? group_size : 1;
    const std::size_t groups = (plan.order.size() + plan.group_size - 1) / plan.group_size;
    plan.positions = 0;
    for (std::size_t s : plan.order) plan.positions += batch.length(s);

    // Each block has a sum of its own over label pairs: fewer of them when that is large.
    const std::size_t square = batch.labels * batch.labels;
    const std::size_t most = std::clamp<std::size_t>((std::size_t{1} << 22) / square, 4, 32);
    const std::size_t share = plan.positions / most + 1;
    std::size_t filled = 0;
    for (std::size_t g = 0; g < groups; ++g) {
        if (plan.block.empty() || filled >= share) {
            plan.block.push_back(g);
            filled = 0;
        }
        const Group group = plan.group(g);
        for (std::size_t k = 0; k < group.count; ++k) filled += batch.length(group.sequence[k]);
    }
    plan.block.push_back(groups);
    return plan;
}

// What any group of the plan needs: three messages per position, a few label-by-label matrices, a few rows for
// each sequence.
template <class Batch> std::size_t bytes_needed(const Batch& batch, const Plan& plan) {
    const std::size_t stride = padded(batch.labels, kAlignment / sizeof(float)) * sizeof(double);
    std::size_t most = 0;
    for (std::size_t g = 0; g < plan.block.back(); ++g) {
        const Group group = plan.group(g);
        std::size_t rows = 0;
        for (std::size_t k = 0; k < group.count; ++k) rows += batch.length(group.sequence[k]);
        most = std::max(most, rows);
    }
    return (3 * most + 5 * batch.labels + 16 * kRows) * stride + most * sizeof(double) + 64 * kAlignment;
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
template <class Body> void for_each_group(const Plan& plan, std::size_t bytes, double nanoseconds, Body body) {
    const int threads = threads_for(nanoseconds);
    Workspaces workspaces(bytes, threads);
    for_each_block(plan.blocks(), threads, [&](std::size_t block, std::size_t thread) {
        for (std::size_t g = plan.block[block]; g < plan.block[block + 1]; ++g)
            body(plan.group(g), workspaces.arena(thread), block);
    });
}

template <class Batch, class Body>
void for_each_group(const Batch& batch, const Plan& plan, double nanoseconds, Body body) {
    for_each_group(plan, bytes_needed(batch, plan), nanoseconds, body);
}

// The same for every single sequence.
template <class Batch, class Body>
void for_each_sequence(const Batch& batch, const Plan& plan, double nanoseconds, Body body) {
    for_each_group(batch, plan, nanoseconds, [&](Group group, Arena arena, std::size_t) {
        for (std::size_t k = 0; k < group.count; ++k) body(group.sequence[k], arena);
    });
}

}  // namespace kernelfields
