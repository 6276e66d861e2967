// The k best labellings of a chain: for every label of every position the k best ways to reach it,
// merged from the lists of its predecessors with a heap. O(T L (L + k log L)).
#pragma once

#include "chain.hpp"

namespace kernelfields {

struct Way {
    double score;
    std::int32_t label;  // the predecessor's label ...
    std::int32_t rank;   // ... and which of its ways
};

// Lower scores sink; ties go to the lower label, then to the better rank.
inline bool worse(const Way& a, const Way& b) {
    if (a.score != b.score) return a.score < b.score;
    return a.label != b.label ? a.label > b.label : a.rank > b.rank;
}

// Takes the k best of sorted lists whose first ways are in the heap; score(i, n) is that of way n of list i.
inline void take_best(std::size_t k, FunctionRef<double(std::size_t, std::size_t)> score, std::vector<Way>& heap,
                      Way* out) {
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    std::make_heap(heap.begin(), heap.end(), worse);
    for (std::size_t n = 0; n < k; ++n) {
        out[n] = {kNone, -1, -1};
        if (heap.empty()) continue;
        std::pop_heap(heap.begin(), heap.end(), worse);
        out[n] = heap.back();
        heap.pop_back();
        const auto rank = static_cast<std::size_t>(out[n].rank) + 1;
        const double next = rank < k ? score(static_cast<std::size_t>(out[n].label), rank) : kNone;
        if (!(next > kNone)) continue;
        heap.push_back({next, out[n].label, static_cast<std::int32_t>(rank)});
        std::push_heap(heap.begin(), heap.end(), worse);
    }
}

// Takes the k best of the sorted lists, list i being ways(i, 0), ways(i, 1), ... while above -inf.
template <class Score> void merge_best(std::size_t lists, std::size_t k, Score score, std::vector<Way>& heap,
                                       Way* out) {
    heap.clear();
    for (std::size_t i = 0; i < lists; ++i)
        if (const double s = score(i, 0); s > -std::numeric_limits<double>::infinity())
            heap.push_back({s, static_cast<std::int32_t>(i), 0});
    take_best(k, score, heap, out);
}

template <class S> class KBest {
public:
    KBest(const ChainBatch<S>& batch, std::size_t s, std::size_t k)
        : L_(batch.labels), k_(k), length_(batch.length(s)), ways_(length_ * L_ * k), last_(k) {
        const S* node = batch.node + static_cast<std::size_t>(batch.first[s]) * L_;
        const S* edge = batch.edge + (batch.shared ? 0 : static_cast<std::size_t>(batch.edge_first[s]) * L_ * L_);
        std::vector<Way> heap;
        for (std::size_t j = 0; j < L_; ++j)
            for (std::size_t n = 0; n < k_; ++n)
                at(0, j)[n] = {n ? -std::numeric_limits<double>::infinity() : static_cast<double>(node[j]), -1, -1};
        for (std::size_t t = 1; t < length_; ++t)
            for (std::size_t j = 0; j < L_; ++j) {
                const S* pairs = edge + (batch.shared ? 0 : (t - 1) * L_ * L_);
                merge_best(
                    L_, k_,
                    [&](std::size_t i, std::size_t n) {
                        return at(t - 1, i)[n].score + static_cast<double>(pairs[i * L_ + j]) +
                               static_cast<double>(node[t * L_ + j]);
                    },
                    heap, at(t, j));
            }
        merge_best(
            L_, k_, [&](std::size_t j, std::size_t n) { return at(length_ - 1, j)[n].score; }, heap, last_.data());
    }
    // Writes the n-th best labelling and returns its score; -inf, and labels of -1, if there is none.
    double labelling(std::size_t n, std::int32_t* labels) {
        std::int32_t label = last_[n].label, rank = last_[n].rank;
        for (std::size_t t = length_; t-- > 0;) {
            labels[t] = label;
            if (label < 0) continue;
            const Way& way = at(t, static_cast<std::size_t>(label))[rank];
            label = way.label;
            rank = way.rank;
        }
        return last_[n].score;
    }

private:
    Way* at(std::size_t t, std::size_t j) { return ways_.data() + (t * L_ + j) * k_; }
    std::size_t L_, k_, length_;
    std::vector<Way> ways_;
    std::vector<Way> last_;
};

// labels: k x positions; value: sequences x k. Scores must be finite or -inf.
template <class S>
void chain_kbest(const ChainBatch<S>& batch, std::size_t k, std::int32_t* labels, double* value) {
    const double work = static_cast<double>(batch.positions * batch.labels * (2 * batch.labels + 20 * k));
    for_each_block(batch.sequences, threads_for(work), [&](std::size_t s, std::size_t) {
        if (batch.length(s) == 0) {
            for (std::size_t n = 0; n < k; ++n) value[s * k + n] = n ? -std::numeric_limits<double>::infinity() : 0;
            return;
        }
        KBest<S> best(batch, s, k);
        for (std::size_t n = 0; n < k; ++n)
            value[s * k + n] =
                best.labelling(n, labels + n * batch.positions + static_cast<std::size_t>(batch.first[s]));
    });
}

}  // namespace kernelfields
