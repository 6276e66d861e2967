// The k best labellings of a second-order chain: for every state after every position the k best ways to
// reach it, merged from the lists of its predecessors with a heap. O(T L^2 (L + k log L)).
#pragma once

#include "chain2_messages.hpp"
#include "chain_kbest.hpp"

namespace kernelfields {

template <class S> class KBest2 {
public:
    KBest2(const Chain2View<S>& chain, std::size_t k) : chain_(chain), k_(k), ways_(chain.size() * k), last_(k) {
        std::vector<Way> heap;
        for (std::size_t t = 0; t < chain.length; ++t)
            for (std::size_t c = 0; c < chain.states(t); ++c)
                merge_best(
                    predecessors(t), k,
                    [&](std::size_t i, std::size_t n) {
                        if (t == 0) return n ? kNothing : chain.own(0, c);
                        const std::size_t before = predecessor(t, c, i);
                        return ways(t - 1, before)[n].score + chain.triple(t, before, c % chain.labels) +
                               chain.own(t, c);
                    },
                    heap, ways(t, c));
        const std::size_t end = chain.length - 1;
        merge_best(
            chain.states(end), k, [&](std::size_t c, std::size_t n) { return ways(end, c)[n].score; }, heap,
            last_.data());
    }
    // Writes the n-th best labelling and returns its score; -inf, and labels of -1, if there is none.
    double labelling(std::size_t n, std::int32_t* labels) {
        std::fill(labels, labels + chain_.length, -1);
        if (last_[n].label < 0) return kNothing;
        auto state = static_cast<std::size_t>(last_[n].label);
        auto rank = static_cast<std::size_t>(last_[n].rank);
        for (std::size_t t = chain_.length; t-- > 0;) {
            labels[t] = static_cast<std::int32_t>(state % chain_.labels);
            const Way& way = ways(t, state)[rank];
            state = t ? predecessor(t, state, static_cast<std::size_t>(way.label)) : 0;
            rank = static_cast<std::size_t>(way.rank);
        }
        return last_[n].score;
    }

private:
    // The i-th state after y_{t-1} from which y_t leads to a state.
    std::size_t predecessor(std::size_t t, std::size_t state, std::size_t i) const {
        return t > 1 ? i * chain_.labels + state / chain_.labels : state / chain_.labels;
    }
    std::size_t predecessors(std::size_t t) const { return t > 1 ? chain_.labels : 1; }
    Way* ways(std::size_t t, std::size_t state) { return ways_.data() + (chain_.at(t) + state) * k_; }
    const Chain2View<S>& chain_;
    std::size_t k_;
    std::vector<Way> ways_;
    std::vector<Way> last_;
};

// labels: k x positions; value: sequences x k. Scores must be finite or -inf.
template <class S>
void chain2_kbest(const Chain2Batch<S>& batch, std::size_t k, std::int32_t* labels, double* value) {
    const ChainBatch<S>& chain = batch.chain;
    const std::size_t L = chain.labels;
    const double work = static_cast<double>(chain.positions * L * L * (2 * L + 20 * k));
    for_each_block(chain.sequences, threads_for(work), [&](std::size_t s, std::size_t) {
        if (chain.length(s) == 0) {
            for (std::size_t n = 0; n < k; ++n) value[s * k + n] = n ? kNothing : 0;
            return;
        }
        const Chain2View<S> view(batch, s);
        KBest2<S> best(view, k);
        for (std::size_t n = 0; n < k; ++n)
            value[s * k + n] = best.labelling(n, labels + n * chain.positions + view.first);
    });
}

}  // namespace kernelfields
