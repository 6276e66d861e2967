// Cliques of two anchors, the arcs or spans of one sentence, the pairs of words of two; and of three, siblings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace kernelfields {

// The numbers are those of CliqueKind in features/templates.py.
enum class CliqueKind : int { tokens = 0, arcs = 1, spans = 2, pairs = 3, siblings = 4 };

inline bool known_kind(int code) {
    return code >= 0 && code <= 4;
}

// Of siblings, the first anchor is their head, the second one the outer word, the third one the inner word.
enum class Anchor : int { first = 0, second = 1, between = 2, third = 3 };

// Whether the root of a tree, the place before the first word, can be an anchor.
inline bool has_root(CliqueKind kind) {
    return kind == CliqueKind::arcs || kind == CliqueKind::siblings;
}

// How many rows two sentences of n and m words have, or one of n; those of siblings are listed.
inline std::size_t clique_count(CliqueKind kind, std::size_t n, std::size_t m) {
    switch (kind) {
        case CliqueKind::arcs: return n * (n + 1);
        case CliqueKind::spans: return n * (n + 1) / 2;
        case CliqueKind::pairs: return n * m;
        default: return n;
    }
}

// visit(first, second) row by row, places of words from 0 on. Arcs: all heads of the first word, then those of the
// second, -1 for the root; those from a word to itself are visited, too. Spans: all last words of the first word, and
// so on. Pairs: all words of the second sentence with the first word of the first, and so on.
template <class Visit> void for_each_clique(CliqueKind kind, std::size_t n, std::size_t m, Visit visit) {
    const auto N = static_cast<std::ptrdiff_t>(n), M = static_cast<std::ptrdiff_t>(m);
    if (kind == CliqueKind::arcs)
        for (std::ptrdiff_t word = 0; word < N; ++word)
            for (std::ptrdiff_t head = -1; head < N; ++head) visit(head, word);
    if (kind == CliqueKind::spans)
        for (std::ptrdiff_t i = 0; i < N; ++i)
            for (std::ptrdiff_t j = i; j < N; ++j) visit(i, j);
    if (kind == CliqueKind::pairs)
        for (std::ptrdiff_t i = 0; i < N; ++i)
            for (std::ptrdiff_t j = 0; j < M; ++j) visit(i, j);
}

// Measures have at most so many values.
inline constexpr std::size_t kMeasures = 201;

inline const char* const kDistances[] = {"0", "1", "2", "3", "4", "5", "6..10", "11..20", "21..40", "41.."};

// From the first to the second anchor: exact up to 5, then in ever wider bins; 10 more for those to the left.
inline std::size_t distance_bin(std::ptrdiff_t distance) {
    const auto far = static_cast<std::size_t>(std::abs(distance));
    const std::size_t bin = far <= 5 ? far : far <= 10 ? 6 : far <= 20 ? 7 : far <= 40 ? 8 : 9;
    return distance < 0 ? 10 + bin : bin;
}

// The distance itself, up to 100.
inline std::size_t steps_bin(std::ptrdiff_t distance) {
    return static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(distance, -100, 100) + 100);
}

inline std::size_t direction_bin(std::ptrdiff_t distance) {
    return distance < 0 ? 2 : distance > 0;
}

// By how much of its sentence the second word is farther on than the first, in tenths from -1 to 1.
inline std::size_t relative_bin(std::ptrdiff_t i, std::ptrdiff_t j, std::size_t n, std::size_t m) {
    const double first = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    const double second = (static_cast<double>(j) + 0.5) / static_cast<double>(m);
    return static_cast<std::size_t>(10 * (second - first + 1));
}

inline std::string distance_text(std::size_t bin) {
    return bin < 10 ? kDistances[bin] : std::string("-") + kDistances[bin - 10];
}

inline std::string steps_text(std::size_t bin) {
    return std::to_string(static_cast<int>(bin) - 100);
}

inline std::string direction_text(std::size_t bin) {
    return bin == 0 ? "same" : bin == 1 ? "right" : "left";
}

inline std::string relative_text(std::size_t bin) {
    const std::size_t tenths = bin < 10 ? 10 - bin : bin - 10;
    const std::string number = tenths == 10 ? "1.0" : "0." + std::to_string(tenths);
    return bin < 10 ? "-" + number : number;
}

}  // namespace kernelfields
