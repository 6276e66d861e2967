// Packings: sets of detours of which no two touch the same edge.
#pragma once

#include "detours.hpp"

#include <limits>
#include <numeric>
#include <vector>

namespace kernelfields {

class DetourPacking {
public:
    // Finds the packing with the largest sum of worth(k); edges for which may_skip does not hold have to be touched.
    // From the last edge to the first,
    //
    //   value(e) = max { value(e + 1) if e may be skipped,  worth(k) + value(end of k + 1) for all k that begin at e }
    //
    // The packing is empty where there is none.
    template <class Worth, class MaySkip>
    void best(std::size_t positions, const std::vector<Detour>& list, Worth worth, MaySkip may_skip) {
        order_.resize(list.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::sort(order_.begin(), order_.end(),
                  [&](std::size_t a, std::size_t b) { return list[a].from > list[b].from; });
        value_.assign(positions + 2, 0.0);
        choice_.assign(positions + 1, kNone);
        std::size_t next = 0;
        for (std::size_t e = positions + 1; e-- > 0;) {
            value_[e] = may_skip(e) ? value_[e + 1] : -std::numeric_limits<double>::infinity();
            for (; next < order_.size() && list[order_[next]].from == e; ++next) {
                const double sum = worth(order_[next]) + value_[list[order_[next]].end() + 1];
                if (sum <= value_[e]) continue;
                value_[e] = sum;
                choice_[e] = order_[next];
            }
        }
        chosen_.clear();
        if (!(value_[0] > -std::numeric_limits<double>::infinity())) return;
        for (std::size_t e = 0; e <= positions;) {
            if (choice_[e] == kNone) {
                ++e;
                continue;
            }
            chosen_.push_back(choice_[e]);
            e = list[choice_[e]].end() + 1;
        }
    }
    const std::vector<std::size_t>& chosen() const { return chosen_; }

private:
    static constexpr std::size_t kNone = ~std::size_t{0};

    std::vector<std::size_t> order_, choice_, chosen_;
    std::vector<double> value_;  // positions + 2 edges, the last behind all
};

}  // namespace kernelfields
