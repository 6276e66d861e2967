// How a batch of forests is cut: groups of instances that are visited together (TreeGroup), and blocks of groups
// that are summed apart. Both depend on the shape alone, never on the number of threads, and so do all results.
#pragma once

#include "forest.hpp"
#include "tree_kernels.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kernelfields {

class TreeSchedule {
public:
    // Instances longest first, as many to a group as make its depths wide enough on average.
    TreeSchedule(const Forest& forest, std::vector<std::size_t> instances) : instance_(std::move(instances)) {
        std::stable_sort(instance_.begin(), instance_.end(),
                         [&](std::size_t a, std::size_t b) { return forest.length(a) > forest.length(b); });
        std::size_t positions = 0;
        for (const std::size_t s : instance_) positions += forest.length(s);
        for (auto* array : {&parent_, &owner_, &place_, &slot_}) array->resize(positions);
        vertex_.resize(positions);
        for (std::size_t from = 0; from < instance_.size();) from = add_group(forest, from);
        for (Group& group : groups_) largest_ = std::max(largest_, group.slots);
    }
    std::size_t groups() const { return groups_.size(); }
    std::size_t positions() const { return vertex_.size(); }
    std::size_t largest() const { return largest_; }  // slots of the largest group
    std::size_t instances() const { return instance_.size(); }
    static constexpr std::size_t most_instances() { return kMostInstances; }  // of a group

    TreeGroup group(std::size_t g) const {
        const Group& at = groups_[g];
        return {instance_.data() + at.instance,
                at.count,
                at.slots,
                at.levels,
                level_.data() + at.level,
                parent_.data() + at.slot,
                child_.data() + at.slot + g,
                owner_.data() + at.slot,
                place_.data() + at.slot,
                slot_.data() + at.slot,
                vertex_.data() + at.slot,
                most_children_.data() + at.instance};
    }

    // First group of each block, and the number of groups. Each block has its own sum over label pairs: there are
    // fewer blocks when that is large.
    std::vector<std::size_t> blocks(std::size_t labels) const {
        const std::size_t most = std::clamp<std::size_t>((std::size_t{1} << 22) / (labels * labels), 4, 32);
        const std::size_t share = positions() / most + 1;
        std::vector<std::size_t> result;
        std::size_t filled = share;
        for (std::size_t g = 0; g < groups(); ++g) {
            if (filled >= share) {
                result.push_back(g);
                filled = 0;
            }
            filled += groups_[g].slots;
        }
        result.push_back(groups());
        return result;
    }

private:
    // Vertices of a depth, on average: at least as many as are worked on at once, better some more of them, as long
    // as all messages of the group stay in the cache.
    static constexpr std::size_t kNarrow = kRows, kWide = 4 * kRows, kCached = 512, kMostInstances = 64;

    static bool is_full(std::size_t slots, std::size_t levels) {
        return slots >= (slots < kCached ? kWide : kNarrow) * levels;
    }

    struct Group {
        std::size_t instance, count, slot, slots, level, levels;
    };

    std::size_t add_group(const Forest& forest, std::size_t from) {
        Group group{from, 0, 0, 0, level_.size(), 0};
        if (!groups_.empty()) group.slot = groups_.back().slot + groups_.back().slots;
        std::vector<std::size_t> base;  // where the places of each instance begin
        for (std::size_t k = from; k < instance_.size() && group.count < kMostInstances; ++k) {
            const std::size_t s = instance_[k];
            if (group.count > 0 && is_full(group.slots, std::max(group.levels, forest.levels(s)))) break;
            base.push_back(group.slots);
            group.slots += forest.length(s);
            group.levels = std::max(group.levels, forest.levels(s));
            ++group.count;
            most_children_.push_back(0);
        }
        if (group.slots > std::numeric_limits<std::uint32_t>::max())
            throw std::length_error("A forest has more vertices than can be counted in 32 bits.");
        place(forest, group, base);
        groups_.push_back(group);
        return from + group.count;
    }

    void place(const Forest& forest, const Group& group, const std::vector<std::size_t>& base) {
        std::size_t next = 0, children = 0;
        for (std::size_t d = 0; d < group.levels; ++d) {
            level_.push_back(static_cast<std::uint32_t>(next));
            for (std::size_t k = 0; k < group.count; ++k) {
                const std::size_t s = instance_[group.instance + k];
                if (d >= forest.levels(s)) continue;
                const auto first = static_cast<std::size_t>(forest.first[s]);
                for (std::size_t j = forest.level[forest.level_first[s] + d]; j < forest.level_end(s, d); ++j) {
                    const std::size_t v = forest.downward[j], at = group.slot + next;
                    vertex_[at] = v;
                    owner_[at] = static_cast<std::uint32_t>(k);
                    place_[at] = static_cast<std::uint32_t>(base[k] + v - first);
                    slot_[group.slot + place_[at]] = static_cast<std::uint32_t>(next);
                    if (d > 0)
                        parent_[at] = slot_[group.slot + base[k] + static_cast<std::size_t>(forest.parent[v]) - first];
                    std::size_t& most = most_children_[group.instance + k];
                    most = std::max(most, forest.children[v]);
                    ++next;
                }
            }
        }
        level_.push_back(static_cast<std::uint32_t>(next));
        // Children follow all roots, in the order of their parents.
        children = level_[group.level + std::min<std::size_t>(group.levels, 1)];
        for (std::size_t k = 0; k < group.slots; ++k) {
            child_.push_back(static_cast<std::uint32_t>(children));
            children += forest.children[vertex_[group.slot + k]];
        }
        child_.push_back(static_cast<std::uint32_t>(children));
    }

    std::vector<std::size_t> instance_, most_children_, vertex_;
    std::vector<Group> groups_;
    std::vector<std::uint32_t> level_, parent_, child_, owner_, place_, slot_;
    std::size_t largest_ = 0;
};

inline std::vector<std::size_t> all_instances(const Forest& forest) {
    std::vector<std::size_t> result;
    for (std::size_t s = 0; s < forest.sequences; ++s)
        if (forest.length(s) > 0) result.push_back(s);
    return result;
}

}  // namespace kernelfields
