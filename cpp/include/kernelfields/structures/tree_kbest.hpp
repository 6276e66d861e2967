// The k best labellings of forests. For every vertex and label the k best labellings of what is below it, built by
// merging one child after the other:
//
//   ways(c, i)   = the k best of  edge_c(i, j) + ways(c)(j, n)      over labels j and ranks n of the child
//   ways(v, i)  <- the k best of  ways(v, i)(a) + ways(c, i)(b)     over ranks a, b
//
// each with a heap over sorted lists. Ties go to the lower label at the root, then to the better rank.
#pragma once

#include "chain_kbest.hpp"
#include "tree_messages.hpp"

namespace kernelfields {

// The best sums of one number from each of two falling lists of k numbers; -inf ends a list. Way::label is then the
// place in the first list, Way::rank that in the second.
inline void best_sums(const double* left, const double* right, std::size_t k, std::vector<Way>& heap, Way* out) {
    merge_best(k, k, [&](std::size_t a, std::size_t b) { return left[a] + right[b]; }, heap, out);
}

template <class S> class TreeKBest {
public:
    TreeKBest(const ForestBatch<S>& batch, std::size_t s, std::size_t k)
        : tree_(batch, s, nullptr),
          L_(batch.labels),
          k_(k),
          best_(tree_.length * L_ * k, kNothing),
          through_(tree_.length * L_ * k),
          joined_(tree_.length * L_ * k),
          total_(k, kNothing) {
        total_[0] = 0;
        for (std::size_t v = tree_.first; v < tree_.first + tree_.length; ++v)
            for (std::size_t j = 0; j < L_; ++j) at(best_, v, j)[0] = static_cast<double>(tree_.node(v)[j]);
        tree_.upwards([&](std::size_t v) { tree_.is_root(v) ? join_root(v) : join(v); });
    }

    // Writes the n-th best labelling (labels of the whole batch) and returns its score; -inf, and labels of -1, if
    // there is none.
    double labelling(std::size_t n, std::int32_t* labels) {
        std::vector<std::size_t> rank(tree_.length);  // of the list of a vertex and its label, as far as unravelled
        std::size_t rest = n;
        const bool any = total_[n] > kNothing;
        tree_.downwards([&](std::size_t v) {
            labels[v] = -1;
            if (!any) return;
            const bool root = tree_.is_root(v);
            const std::size_t above = root ? 0 : static_cast<std::size_t>(labels[tree_.parent(v)]);
            std::size_t& whole = root ? rest : rank[tree_.parent(v) - tree_.first];
            const Way& both = at(joined_, v, above)[whole];
            const Way& way = at(through_, v, above)[both.rank];
            whole = static_cast<std::size_t>(both.label);
            labels[v] = way.label;
            rank[v - tree_.first] = static_cast<std::size_t>(way.rank);
        });
        return total_[n];
    }

private:
    template <class T> T* at(std::vector<T>& lists, std::size_t v, std::size_t j) const {
        return lists.data() + ((v - tree_.first) * L_ + j) * k_;
    }
    // Joins what v gives, `through`, to the list `whole`.
    void join_list(const Way* through, double* whole, Way* joined) {
        given_.resize(k_);
        for (std::size_t n = 0; n < k_; ++n) given_[n] = through[n].score;
        best_sums(whole, given_.data(), k_, heap_, joined);
        for (std::size_t n = 0; n < k_; ++n) whole[n] = joined[n].score;
    }
    void join(std::size_t v) {
        const std::size_t above = tree_.parent(v);
        for (std::size_t i = 0; i < L_; ++i) {
            const S* pairs = tree_.pairs(v) + i * L_;
            merge_best(
                L_, k_,
                [&](std::size_t j, std::size_t n) { return static_cast<double>(pairs[j]) + at(best_, v, j)[n]; }, heap_,
                at(through_, v, i));
            join_list(at(through_, v, i), at(best_, above, i), at(joined_, v, i));
        }
    }
    void join_root(std::size_t v) {
        merge_best(L_, k_, [&](std::size_t j, std::size_t n) { return at(best_, v, j)[n]; }, heap_, at(through_, v, 0));
        join_list(at(through_, v, 0), total_.data(), at(joined_, v, 0));
    }

    TreeView<S> tree_;
    std::size_t L_, k_;
    std::vector<double> best_;           // of every vertex and label, k falling scores
    std::vector<Way> through_, joined_;  // of every vertex and label of its parent; at roots, label 0 only
    std::vector<double> total_, given_;
    std::vector<Way> heap_;
};

// labels: k x positions; value: sequences x k. Scores must be finite or -inf.
template <class S>
void tree_kbest(const ForestBatch<S>& batch, std::size_t k, std::int32_t* labels, double* value) {
    const double work = static_cast<double>(batch.positions * batch.labels * (2 * batch.labels + 60 * k));
    for_each_block(batch.sequences, threads_for(work), [&](std::size_t s, std::size_t) {
        TreeKBest<S> best(batch, s, k);
        for (std::size_t n = 0; n < k; ++n) value[s * k + n] = best.labelling(n, labels + n * batch.positions);
    });
}

}  // namespace kernelfields
