// Batches of sentences with a score for every label of every span, and the trees over them.
//
// The span from word i up to word j (0 <= i < j <= n) of sentence s is number first_span[s] + i (2 n - i - 1) / 2 + j -
// 1: those that begin with the first word, from the shortest on, then those that begin with the second, and so on. A
// tree is binary: n - 1 spans of several words, each split in two, and n of one. Where label 0 is the empty one, trees
// stand for those with any number of children: X over a, b, c is X over a and an empty span over b, c. Such a span is a
// right part, never a left one, and not the whole: then no tree is counted twice.
#pragma once

#include "../core/logarithms.hpp"
#include "../core/parallel.hpp"
#include "../core/reals.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kernelfields {

struct SpanBatch {
    std::size_t sentences;
    const std::int64_t *first_word, *first_span;  // sentences + 1 each
    std::size_t labels;
    Reals span;  // spans x labels
    bool empty;  // whether label 0 is the empty one

    std::size_t words(std::size_t s) const { return static_cast<std::size_t>(first_word[s + 1] - first_word[s]); }
    Reals scores(std::size_t s) const { return span + static_cast<std::size_t>(first_span[s]) * labels; }
    // How many numbers an output has: 2 n - 1 spans for n words.
    static std::size_t nodes(std::size_t n) { return n == 0 ? 0 : 2 * n - 1; }
    // The first label of a span that is a left part, or the whole.
    std::size_t first_label(std::size_t i, std::size_t j) const { return empty && j - i > 1 ? 1 : 0; }
};

inline std::size_t span_at(std::size_t n, std::size_t i, std::size_t j) {
    return i * (2 * n - i - 1) / 2 + j - 1;
}
inline std::size_t spans_of(std::size_t n) {
    return n * (n + 1) / 2;
}

// visit(i, j, number) for all spans of a sentence.
template <class Visit> void for_each_span(std::size_t n, Visit visit) {
    std::size_t number = 0;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j <= n; ++j) visit(i, j, number++);
}

// Where the outputs of all sentences begin.
inline std::vector<std::size_t> output_places(const SpanBatch& batch) {
    std::vector<std::size_t> places(batch.sentences + 1, 0);
    for (std::size_t s = 0; s < batch.sentences; ++s) places[s + 1] = places[s] + batch.nodes(batch.words(s));
    return places;
}

inline bool usable_spans(const SpanBatch& batch, std::size_t s) {
    return batch.scores(s).with(
        [&](const auto* scores) { return usable(scores, spans_of(batch.words(s)) * batch.labels); });
}

// Score of an output of a sentence, span * labels + label for each; -inf where one is not allowed.
inline double spans_score(const SpanBatch& batch, std::size_t s, const std::int32_t* output) {
    double total = 0;
    for (std::size_t k = 0; k < batch.nodes(batch.words(s)); ++k)
        total += batch.scores(s)[static_cast<std::size_t>(output[k])];
    return total;
}

// body(s, thread) for every sentence; `start(threads)` learns first how many there are. A sentence takes about
// `cubic` n^3 and `linear` n^2 labels nanoseconds.
inline void for_each_parse(const SpanBatch& batch, double cubic, double linear, FunctionRef<void(std::size_t)> start,
                           FunctionRef<void(std::size_t, std::size_t)> body) {
    double total = 0;
    for (std::size_t s = 0; s < batch.sentences; ++s) {
        const auto n = static_cast<double>(batch.words(s));
        total += cubic * n * n * n + linear * n * n * static_cast<double>(batch.labels);
    }
    const int threads = threads_for(total);
    start(static_cast<std::size_t>(threads));
    for_each_block(batch.sentences, threads, body);
}

}  // namespace kernelfields
