// Batches of sentences with an arc from every head to every word, each with a score for every relation.
#pragma once

#include "../core/logarithms.hpp"
#include "../core/parallel.hpp"
#include "../core/reals.hpp"

#include <cstdint>
#include <vector>

namespace kernelfields {

// The arc from head h (0 is the root) to word m (1 ... n) of sentence s is number first_arc[s] + (m - 1)(n + 1) + h;
// those from a word to itself are there for the sake of this formula, and are never looked at.
struct ArcBatch {
    std::size_t sentences;
    const std::int64_t *first_word, *first_arc;  // sentences + 1 each
    std::size_t labels;
    Reals arc;  // arcs x labels
    bool single_root;

    std::size_t words(std::size_t s) const { return static_cast<std::size_t>(first_word[s + 1] - first_word[s]); }
    std::size_t word(std::size_t s) const { return static_cast<std::size_t>(first_word[s]); }
    Reals scores(std::size_t s) const { return arc + static_cast<std::size_t>(first_arc[s]) * labels; }
};

inline std::size_t arc_at(std::size_t n, std::size_t m, std::size_t h) {
    return (m - 1) * (n + 1) + h;
}

// visit(arc) for all arcs of a sentence but those from a word to itself.
template <class Visit> void for_each_arc(std::size_t n, Visit visit) {
    for (std::size_t m = 1; m <= n; ++m)
        for (std::size_t h = 0; h <= n; ++h)
            if (h != m) visit(arc_at(n, m, h));
}

// One number for every arc of a sentence, in double: theta(arc) = reduce(scores of all relations); arcs from a word to
// itself are forbidden. False where a score is NaN or +inf.
template <class Reduce>
bool read_arcs(const ArcBatch& batch, std::size_t s, std::vector<double>& row, double* theta, Reduce reduce) {
    const std::size_t n = batch.words(s), L = batch.labels;
    const Reals scores = batch.scores(s);
    bool good = true;
    row.resize(L);
    if (L == 1) scores.copy(n * (n + 1), theta);
    for (std::size_t m = 1; m <= n; ++m) theta[arc_at(n, m, m)] = kNothing;
    for_each_arc(n, [&](std::size_t a) {
        if (L == 1) {
            good = good && theta[a] <= std::numeric_limits<double>::max();
            return;
        }
        (scores + a * L).copy(L, row.data());
        good = good && usable(row.data(), L);
        theta[a] = reduce(row.data(), L);
    });
    return good;
}

// The relation of an arc with the highest score, the first of several.
inline std::int32_t best_label(const ArcBatch& batch, std::size_t s, std::size_t arc) {
    return (batch.scores(s) + arc * batch.labels).with([&](const auto* scores) {
        return static_cast<std::int32_t>(std::max_element(scores, scores + batch.labels) - scores);
    });
}

// Score of an output, head * labels + relation for every word; -inf where an arc is not allowed.
inline double arcs_score(const ArcBatch& batch, std::size_t s, const std::int32_t* output) {
    const std::size_t n = batch.words(s);
    double total = 0;
    for (std::size_t m = 1; m <= n; ++m)
        total +=
            batch.scores(s)[arc_at(n, m, 0) * batch.labels + static_cast<std::size_t>(output[batch.word(s) + m - 1])];
    return total;
}

// body(s, thread) for every sentence; nanoseconds are those of the batch. Sentences are cut into blocks whatever the
// number of threads, of which `start(threads)` learns first.
inline void for_each_sentence(const ArcBatch& batch, double nanoseconds, FunctionRef<void(std::size_t)> start,
                              FunctionRef<void(std::size_t, std::size_t)> body) {
    constexpr std::size_t kBlock = 4;
    const int threads = threads_for(nanoseconds);
    start(static_cast<std::size_t>(threads));
    for_each_block((batch.sentences + kBlock - 1) / kBlock, threads, [&](std::size_t b, std::size_t thread) {
        for (std::size_t s = b * kBlock; s < std::min(batch.sentences, (b + 1) * kBlock); ++s) body(s, thread);
    });
}

// Sum over sentences of `nanoseconds` n^3 and 20 n^2 for every relation.
inline double cubic_cost(const ArcBatch& batch, double nanoseconds) {
    double total = 0;
    for (std::size_t s = 0; s < batch.sentences; ++s) {
        const auto n = static_cast<double>(batch.words(s) + 1);
        total += nanoseconds * n * n * n + 20 * n * n * static_cast<double>(batch.labels);
    }
    return total;
}

}  // namespace kernelfields
