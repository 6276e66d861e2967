// Random labels that depend on the seed and the place alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kernelfields {

// A uniform number in [0, 1) for a place, by mixing (splitmix64): the same on any number of threads.
inline double uniform_at(std::uint64_t seed, std::uint64_t draw, std::uint64_t position) {
    std::uint64_t z = seed + 0x9e3779b97f4a7c15ULL * (draw + 1);
    for (const std::uint64_t salt : {std::uint64_t{0}, position + 1}) {
        z += 0x9e3779b97f4a7c15ULL * salt;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        z ^= z >> 31;
    }
    return static_cast<double>(z >> 11) * 0x1.0p-53;
}

// The label at which the cumulative masses exceed a uniform share of them all.
inline std::int32_t label_at(double uniform, const std::vector<double>& cumulative) {
    const double total = cumulative.back();
    auto place = std::upper_bound(cumulative.begin(), cumulative.end(), uniform * total);
    // Should the product round up to the total: the last label that has any mass.
    if (place == cumulative.end()) place = std::lower_bound(cumulative.begin(), cumulative.end(), total);
    return static_cast<std::int32_t>(place - cumulative.begin());
}

// Draws from p(i) ~ mass(i).
template <class Mass>
std::int32_t draw_by_mass(std::size_t L, double uniform, std::vector<double>& cumulative, Mass mass) {
    double total = 0;
    for (std::size_t i = 0; i < L; ++i) cumulative[i] = total += mass(i);
    return label_at(uniform, cumulative);
}

// Draws from p(i) ~ exp(log_mass(i)).
template <class LogMass>
std::int32_t draw_label(std::size_t L, double uniform, std::vector<double>& cumulative, LogMass log_mass) {
    double top = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < L; ++i) top = std::max(top, log_mass(i));
    return draw_by_mass(L, uniform, cumulative, [&](std::size_t i) { return std::exp(log_mass(i) - top); });
}

}  // namespace kernelfields
