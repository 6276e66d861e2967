// Detours: ways to leave the right labelling of a chain and to come back to it.
//
// Where a labelling differs from the right one it does so in runs of positions, and two runs with a right label between
// them have no vertex and no edge in common: parts(other) - parts(right) is a sum over the runs, and so is any cost
// that adds up over vertices and edges. Of a distribution over labellings, as far as expected parts go, it is enough to
// know with which share it takes each run. Shares are those of a distribution just if at every edge, with one before
// the first vertex and one behind the last, those of the runs that touch it add up to at most one: runs are intervals
// of edges, the matrix of intervals and edges is totally unimodular, and the vertices of the polytope are sets of
// disjoint intervals, which are labellings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelfields {

struct Detour {
    std::uint32_t from, length;  // positions of its sequence
    std::uint32_t place;         // of its labels, all of them wrong
    std::uint32_t idle;          // passes since it had a share
    bool asleep;                 // without a share and not worth one, when last looked at
    double share;                // times the weight of the sequence
    double cost;                 // what it costs, and what fixed scores add
    double square;               // of its features, over the penalties

    // Edge t is the one before position t: a detour touches those from `from` to `end`, both included.
    std::uint32_t end() const { return from + length; }
};

// Those of one sequence.
class DetourSet {
public:
    std::vector<Detour> list;

    const std::int32_t* labels(const Detour& detour) const { return pool_.data() + detour.place; }

    // The number of a detour, made if it is not there; new ones have a negative square, to be filled in.
    std::size_t find(std::uint32_t from, std::uint32_t length, const std::int32_t* labels, std::size_t positions) {
        for (std::size_t k = 0; k < list.size(); ++k)
            if (list[k].from == from && list[k].length == length &&
                std::equal(labels, labels + length, pool_.data() + list[k].place))
                return k;
        if (load_.empty()) load_.assign(positions + 1, 0.0);
        list.push_back({from, length, static_cast<std::uint32_t>(pool_.size()), 0, false, 0, 0, -1});
        pool_.insert(pool_.end(), labels, labels + length);
        return list.size() - 1;
    }

    // The sum of shares at an edge, and the largest at those that a detour touches.
    double load(std::uint32_t edge) const { return load_[edge]; }
    double load(const Detour& detour) const {
        return *std::max_element(load_.begin() + detour.from, load_.begin() + detour.end() + 1);
    }

    void change(Detour& detour, double by) {
        const double before = detour.share;
        detour.share = before + by < kNegligible ? 0 : before + by;
        for (std::uint32_t edge = detour.from; edge <= detour.end(); ++edge) load_[edge] += detour.share - before;
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
            kept.insert(kept.end(), labels(detour), labels(detour) + detour.length);
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
    std::vector<double> load_;  // positions + 1 edges
};

// A sum of detours: what it adds to vertices (position, label) and to label pairs.
struct DetourSum {
    struct Vertex {
        std::size_t position;
        std::int32_t label;
        double factor;
    };
    struct Pair {
        std::size_t pair;
        double factor;
    };
    std::vector<Vertex> vertices;
    std::vector<Pair> pairs;

    void clear() {
        vertices.clear();
        pairs.clear();
    }
};

// Sum of the squares of factors, those of equal keys added up first.
template <class Keyed> double merged_square(std::vector<Keyed>& keyed) {
    std::sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) { return a.first < b.first; });
    double total = 0;
    for (std::size_t k = 0; k < keyed.size();) {
        const auto key = keyed[k].first;
        double sum = 0;
        while (k < keyed.size() && keyed[k].first == key) sum += keyed[k++].second;
        total += sum * sum;
    }
    return total;
}

}  // namespace kernelfields
