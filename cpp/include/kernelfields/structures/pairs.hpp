// Batches of items with a score for every pair of a row and a column: words of two sentences, say.
#pragma once

#include "../core/logarithms.hpp"
#include "../core/parallel.hpp"

#include <cstdint>
#include <vector>

namespace kernelfields {

// The pair of row i and column j of item s is number first[s] + i * columns(s) + j.
template <class S> struct PairBatch {
    std::size_t items;
    const std::int64_t *first, *shape;  // items + 1; items x 2
    const S* pair;

    std::size_t rows(std::size_t s) const { return static_cast<std::size_t>(shape[2 * s]); }
    std::size_t columns(std::size_t s) const { return static_cast<std::size_t>(shape[2 * s + 1]); }
    std::size_t start(std::size_t s) const { return static_cast<std::size_t>(first[s]); }
    const S* scores(std::size_t s) const { return pair + start(s); }
};

// Neither NaN nor +inf among the scores of an item.
template <class S> bool usable_pairs(const PairBatch<S>& batch, std::size_t s) {
    return usable(batch.scores(s), batch.rows(s) * batch.columns(s));
}

// Score of an output, 1 for every pair that is chosen and 0 for others.
template <class S> double pairs_score(const PairBatch<S>& batch, std::size_t s, const std::int32_t* output) {
    double total = 0;
    for (std::size_t k = 0; k < batch.rows(s) * batch.columns(s); ++k)
        if (output[k]) total += static_cast<double>(batch.scores(s)[k]);
    return total;
}

// body(s, thread) for every item, in blocks; `each` is about how many nanoseconds a pair takes. `start(threads)` first.
template <class S, class Start, class Body>
void for_each_item(const PairBatch<S>& batch, double each, Start start, Body body) {
    constexpr std::size_t kBlock = 32;
    const double pairs = static_cast<double>(batch.first[batch.items]);
    const int threads = threads_for(each * (pairs + 20 * static_cast<double>(batch.items)));
    start(static_cast<std::size_t>(threads));
    const std::size_t size = each > 100 ? 1 : kBlock;
    for_each_block((batch.items + size - 1) / size, threads, [&](std::size_t b, std::size_t thread) {
        for (std::size_t s = b * size; s < std::min(batch.items, (b + 1) * size); ++s) body(s, thread);
    });
}

}  // namespace kernelfields
