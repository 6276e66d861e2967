// The detours of one instance, with the sum of their shares at every edge.
#pragma once

#include "detours.hpp"

#include <utility>

namespace kernelfields {

// `Instance` says how many words a vertex of a detour takes, and which edges a detour touches.
template <class Instance> class DetourSet {
public:
    std::vector<Detour> list;

    const std::int32_t* words(const Detour& detour) const { return pool_.data() + detour.place; }

    // The number of a detour, made if it is not there; new ones have a negative square, to be filled in.
    std::size_t find(const Instance& instance, std::uint32_t from, std::uint32_t length, const std::int32_t* words) {
        const std::int32_t* end = words + Instance::kWords * length;
        for (std::size_t k = 0; k < list.size(); ++k)
            if (list[k].from == from && list[k].length == length && std::equal(words, end, this->words(list[k])))
                return k;
        if (load_.empty()) load_.assign(instance.edges(), 0.0);
        list.push_back({from, length, static_cast<std::uint32_t>(pool_.size()), 0, false, 0, 0, -1});
        pool_.insert(pool_.end(), words, end);
        return list.size() - 1;
    }

    // The sum of shares at an edge, and the largest at those that a detour touches.
    double load(std::size_t edge) const { return load_[edge]; }
    double load(const Instance& instance, const Detour& detour) const {
        double most = 0;
        instance.each_edge(detour, words(detour), [&](std::size_t edge) { most = std::max(most, load_[edge]); });
        return most;
    }

    void change(const Instance& instance, Detour& detour, double by) {
        const double before = detour.share;
        detour.share = before + by < kNegligible ? 0 : before + by;
        const double change = detour.share - before;
        instance.each_edge(detour, words(detour), [&](std::size_t edge) { load_[edge] += change; });
    }

    // Lets detours go that have had no share for long.
    void forget(std::uint32_t patience) {
        for (Detour& detour : list) detour.idle = detour.share > 0 ? 0 : detour.idle + 1;
        const auto old = [&](const Detour& detour) { return detour.idle > patience; };
        if (std::none_of(list.begin(), list.end(), old)) return;
        list.erase(std::remove_if(list.begin(), list.end(), old), list.end());
        std::vector<std::int32_t> kept;
        for (Detour& detour : list) {
            const auto place = static_cast<std::uint32_t>(kept.size());
            kept.insert(kept.end(), words(detour), words(detour) + Instance::kWords * detour.length);
            detour.place = place;
        }
        pool_ = std::move(kept);
    }

    void clear() {
        list.clear();
        pool_.clear();
        load_.clear();
    }

private:
    static constexpr double kNegligible = 1e-13;

    std::vector<std::int32_t> pool_;
    std::vector<double> load_;  // edges
};

}  // namespace kernelfields
