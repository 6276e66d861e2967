// Which detours trade shares where there is no room for more.
//
// Of the packings of detours one has the largest gain. Of those that some distribution behind the shares can contain,
// which touch every edge that is full, one has the least. Share goes from the latter to the former, apart for each
// stretch of edges in which the two overlap.
#pragma once

#include "detour_packing.hpp"

namespace kernelfields {

template <class Instance, class Packing> class DetourTrades {
public:
    using Set = DetourSet<Instance>;
    struct Stretch {
        const std::size_t *first, *last;  // numbers of detours
        const std::size_t* begin() const { return first; }
        const std::size_t* end() const { return last; }
    };

    void plan(const Instance& instance, const Set& set, double full, const std::vector<double>& gains) {
        const std::vector<Detour>& list = set.list;
        aim_.assign(list.size(), 0);
        packing_.best(instance, set, [&](std::size_t k) { return gains[k]; }, [](std::size_t) { return true; });
        for (const std::size_t k : packing_.chosen()) ++aim_[k];
        const auto shared = [&](std::size_t k) { return list[k].share > 0 ? -gains[k] : -kInfinite; };
        packing_.best(instance, set, shared, [&](std::size_t e) { return set.load(e) < full; });
        for (const std::size_t k : packing_.chosen()) --aim_[k];
        moved_.clear();
        for (std::size_t k = 0; k < list.size(); ++k)
            if (aim_[k] != 0) moved_.push_back(k);
        cut(instance, set);
    }
    std::size_t count() const { return ends_.size(); }
    Stretch stretch(std::size_t k) const {
        return {moved_.data() + (k == 0 ? 0 : ends_[k - 1]), moved_.data() + ends_[k]};
    }
    // 1 if a detour takes, -1 if it gives.
    int aim(std::size_t detour) const { return aim_[detour]; }

    // How much share those that give have, and how much those that take have room for where nobody gives.
    double room(const Instance& instance, const Set& set, Stretch stretch, double capacity) {
        double least = capacity;
        change_.resize(instance.edges(), 0);
        const auto each_edge = [&](auto body) {
            for (const std::size_t k : stretch)
                instance.each_edge(set.list[k], set.words(set.list[k]), [&](std::size_t e) { body(k, e); });
        };
        for (const std::size_t k : stretch)
            if (aim_[k] < 0) least = std::min(least, set.list[k].share);
        each_edge([&](std::size_t k, std::size_t e) { change_[e] += aim_[k]; });
        each_edge([&](std::size_t, std::size_t e) {
            if (change_[e] > 0) least = std::min(least, capacity - set.load(e));
        });
        each_edge([&](std::size_t, std::size_t e) { change_[e] = 0; });
        return least;
    }

private:
    static constexpr double kInfinite = std::numeric_limits<double>::infinity();
    static constexpr std::size_t kNone = ~std::size_t{0};

    // Sorts those that move by stretches, and each by the edges that detours begin at.
    void cut(const Instance& instance, const Set& set) {
        const auto earlier = [&](std::size_t a, std::size_t b) { return set.list[a].from < set.list[b].from; };
        std::sort(moved_.begin(), moved_.end(), earlier);
        first_.resize(moved_.size());
        std::iota(first_.begin(), first_.end(), std::size_t{0});
        at_edge_.assign(instance.edges(), kNone);
        for (std::size_t m = 0; m < moved_.size(); ++m) {
            const Detour& detour = set.list[moved_[m]];
            instance.each_edge(detour, set.words(detour), [&](std::size_t e) {
                if (at_edge_[e] == kNone) at_edge_[e] = m;
                else join(at_edge_[e], m);
            });
        }
        sort_by_stretch();
    }
    // The first of a stretch stands for it.
    std::size_t leader(std::size_t m) const {
        while (first_[m] != m) m = first_[m];
        return m;
    }
    void join(std::size_t a, std::size_t b) {
        a = leader(a), b = leader(b);
        first_[std::max(a, b)] = std::min(a, b);
    }
    void sort_by_stretch() {
        keyed_.clear();
        for (std::size_t m = 0; m < moved_.size(); ++m) keyed_.emplace_back(leader(m), moved_[m]);
        std::stable_sort(keyed_.begin(), keyed_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        ends_.clear();
        for (std::size_t m = 0; m < moved_.size(); ++m) {
            moved_[m] = keyed_[m].second;
            if (m + 1 == moved_.size() || keyed_[m].first != keyed_[m + 1].first) ends_.push_back(m + 1);
        }
    }

    Packing packing_;
    std::vector<int> aim_, change_;
    std::vector<std::size_t> moved_, ends_, first_, at_edge_;
    std::vector<std::pair<std::size_t, std::size_t>> keyed_;
};

}  // namespace kernelfields
