#include "kernelfields/structures/chain_plan.hpp"

namespace kernelfields {
namespace {

// Sequences of equal length stay in their order. Short ones, which are many, are counted into place: comparing them
// takes as long as forward-backward over a few labels.
void sort_longest_first(const PlannedBatch& batch, std::vector<std::size_t>& order) {
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

}  // namespace

Plan make_plan(const PlannedBatch& batch, std::vector<std::size_t> sequences, std::size_t group_size) {
    Plan plan;
    plan.order = std::move(sequences);
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

std::size_t bytes_needed(const PlannedBatch& batch, const Plan& plan) {
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

void for_each_group(const Plan& plan, std::size_t bytes, double nanoseconds,
                    FunctionRef<void(Group, Arena, std::size_t)> body) {
    const int threads = threads_for(nanoseconds);
    Workspaces workspaces(bytes, threads);
    for_each_block(plan.blocks(), threads, [&](std::size_t block, std::size_t thread) {
        for (std::size_t g = plan.block[block]; g < plan.block[block + 1]; ++g)
            body(plan.group(g), workspaces.arena(thread), block);
    });
}

}  // namespace kernelfields
