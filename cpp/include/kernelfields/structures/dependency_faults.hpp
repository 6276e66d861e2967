// Whether heads are a tree of the kind that is asked for, and if not, where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelfields {

enum class TreeFault : int { none, no_head, own_head, cycle, second_root, crossing };

struct FaultAt {
    TreeFault fault;
    std::size_t word;  // 1 ... n
};

class TreeFaults {
public:
    // Heads of words 1 ... n, 0 for the root.
    FaultAt first(std::size_t n, const std::int32_t* heads, bool single_root, bool projective) {
        for (std::size_t m = 1; m <= n; ++m) {
            if (heads[m - 1] < 0 || static_cast<std::size_t>(heads[m - 1]) > n) return {TreeFault::no_head, m};
            if (static_cast<std::size_t>(heads[m - 1]) == m) return {TreeFault::own_head, m};
        }
        if (const std::size_t m = in_cycle(n, heads)) return {TreeFault::cycle, m};
        std::size_t roots = 0;
        for (std::size_t m = 1; m <= n && single_root; ++m)
            if (heads[m - 1] == 0 && ++roots > 1) return {TreeFault::second_root, m};
        if (!projective) return {TreeFault::none, 0};
        if (const std::size_t m = crossing(n, heads)) return {TreeFault::crossing, m};
        return {TreeFault::none, 0};
    }

private:
    // The first word that is its own ancestor: walks up from every word, each arc once.
    std::size_t in_cycle(std::size_t n, const std::int32_t* heads) {
        seen_.assign(n + 1, 0);
        seen_[0] = n + 1;
        for (std::size_t m = 1; m <= n; ++m) {
            std::size_t at = m;
            while (seen_[at] == 0) {
                seen_[at] = m;
                at = static_cast<std::size_t>(heads[at - 1]);
            }
            if (at != 0 && seen_[at] == m) return at;
        }
        return 0;
    }
    // The first word whose arc spans a word with a head outside of it. Arcs from the root, left of all words, count.
    static std::size_t crossing(std::size_t n, const std::int32_t* heads) {
        for (std::size_t m = 1; m <= n; ++m) {
            const auto h = static_cast<std::size_t>(heads[m - 1]);
            const std::size_t low = h < m ? h : m, high = h < m ? m : h;
            for (std::size_t k = low + 1; k < high; ++k) {
                const auto above = static_cast<std::size_t>(heads[k - 1]);
                if (above < low || above > high) return m;
            }
        }
        return 0;
    }

    std::vector<std::size_t> seen_;
};

}  // namespace kernelfields
