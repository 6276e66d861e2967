// Scores of lanes as factors, relative to the first label, and what has to be known of them.
//
// The first label has the factor 1 at every position, which saves an exponential, and the search for the largest score.
// Factors of others may be large then: messages are scaled as often as that asks for.
#pragma once

#include "lane_messages.hpp"

namespace kernelfields {
namespace {

// What is known of the node scores of a group so far.
template <class S> struct LaneScan {
    Vec<S> lowest[kSets] = {}, highest[kSets] = {};  // of x_j - x_0
    Vec<S> total[kSets] = {};                        // of the same: not finite if some score is not
    Vec<S> firsts[kSets] = {};
    double first[kLanes<S>] = {};  // sums of x_0 over positions that count

    KF_INLINE void flush() {
        for (std::size_t r = 0; r < kLanes<S>; ++r)
            first[r] += static_cast<double>(firsts[r / kWidth<S>][r % kWidth<S>]);
        for (auto& sums : firsts) sums = Vec<S>{};
    }
    // An upper bound of the range at any position.
    KF_INLINE double range() const {
        Vec<S> low = lowest[0], high = highest[0];
        for (std::size_t g = 1; g < kSets; ++g) low = minimum<S>(low, lowest[g]), high = maximum<S>(high, highest[g]);
        return static_cast<double>(largest<S>(high)) + static_cast<double>(largest<S>(-low));
    }
    KF_INLINE bool finite() const {
        Bits<S> bad{};
        for (const auto& one : total) bad |= ~(one - one == 0);
        return !any<S>(bad);
    }
};

// Scores of some positions of one set, in place, to exp(x_j - x_0); those of the first label are left as they are.
template <class S>
KF_ONCE void lane_factors(const LaneGroup<S>& lanes, std::size_t g, std::size_t t, std::size_t steps, Vec<S>* x,
                          LaneScan<S>& scan) {
    constexpr std::size_t W = kWidth<S>;
    const std::size_t L = lanes.labels;
    const bool plain = lanes.plain(t, steps);
    Vec<S> lowest = scan.lowest[g], highest = scan.highest[g], total = scan.total[g], firsts = scan.firsts[g];
    for (std::size_t k = 0; k < steps; ++k, x += L) {
        const Vec<S> first = x[0];
        if (plain) firsts += first;
        else {
            const Vec<S> at = broadcast(static_cast<S>(t + k));
            firsts += (load(lanes.firsts + g * W) <= at) & (load(lanes.lasts + g * W) > at) ? first : Vec<S>{};
        }
        for (std::size_t j = 1; j < L; ++j) {
            const Vec<S> beyond = x[j] - first;
            total += beyond;
            lowest = minimum<S>(beyond, lowest);
            highest = maximum<S>(beyond, highest);
            x[j] = exp<S>(beyond);
        }
    }
    scan.lowest[g] = lowest, scan.highest[g] = highest, scan.total[g] = total, scan.firsts[g] = firsts;
}

// How often to scale. With the range of scores of labels and pairs, a step changes the sum of a message by at most
// L exp(range) or exp(-range), and its entries differ by as much.
template <class S> KF_INLINE unsigned char scale_every(double range) {
    constexpr double kRoom = sizeof(S) == sizeof(double) ? 700 : 87, kLogLabels = 2.303;
    unsigned char every = 1;
    while (2U * every <= kWidth<S> && (2 * every + 1) * (range + kLogLabels) <= kRoom) every *= 2;
    return every;
}

}  // namespace
}  // namespace kernelfields
