// The best score for every number of errors, on ragged batches of forests. A label j at vertex v counts
// as errors(v, j) >= 0 errors; those of a labelling add up. From the leaves to the roots,
//
//   f_v(k, j) = node_v(j) where k = errors(v, j), -inf elsewhere, then for every child c
//   f_v(k, j) <- max_b [ f_v(k - b, j) + max_l ( edge_c(j, l) + f_c(b, l) ) ],
//
// k up to the most errors that the subtree can have. O(T K L^2 + T^2 L) for T vertices with up to K
// errors in all; a path is a tree whose merges are short.
#pragma once

#include "../core/parallel.hpp"
#include "tree_messages.hpp"

namespace kernelfields {

// Rows of `labels` numbers, one row for every number of errors from 0 on.
struct ErrorTable {
    std::size_t labels = 0;
    std::vector<double> numbers;

    ErrorTable() = default;
    ErrorTable(std::size_t rows, std::size_t columns) : labels(columns), numbers(rows * columns, kNothing) {}
    std::size_t rows() const { return labels ? numbers.size() / labels : 0; }
    double* row(std::size_t k) { return numbers.data() + k * labels; }
    const double* row(std::size_t k) const { return numbers.data() + k * labels; }
};

// f(k, .) = max_b [ left(k - b, .) + right(b, .) ], k below `most`.
inline ErrorTable merged(const ErrorTable& left, const ErrorTable& right, std::size_t most) {
    const std::size_t L = left.labels;
    ErrorTable result(std::min(most, left.rows() + right.rows() - 1), L);
    for (std::size_t a = 0; a < left.rows(); ++a)
        for (std::size_t b = 0; b < right.rows() && a + b < result.rows(); ++b) {
            const double *x = left.row(a), *y = right.row(b);
            double* out = result.row(a + b);
            for (std::size_t j = 0; j < L; ++j) out[j] = x[j] + y[j] > out[j] ? x[j] + y[j] : out[j];
        }
    return result;
}

// One instance. Tables of subtrees are kept only where labels will be asked for.
template <class S> class TreeErrors {
public:
    TreeErrors(const ForestBatch<S>& batch, std::size_t s, const std::int32_t* errors, std::size_t most, bool keep)
        : tree_(batch, s, nullptr),
          errors_(errors),
          most_(most),
          table_(tree_.length),
          before_(tree_.length),
          transposed_(tree_.labels * tree_.labels) {
        total_ = ErrorTable(1, 1);
        total_.row(0)[0] = 0;
        tree_.upwards([&](std::size_t v) {
            if (at(table_, v).labels == 0) at(table_, v) = own(v);
            ErrorTable& whole = tree_.is_root(v) ? total_ : at(table_, tree_.parent(v));
            if (whole.labels == 0) whole = own(tree_.parent(v));
            ErrorTable next = merged(whole, message(v), most_);
            if (keep) at(before_, v) = std::move(whole);
            else at(table_, v) = ErrorTable();
            whole = std::move(next);
        });
    }
    double best(std::size_t k) const { return k < total_.rows() ? total_.row(k)[0] : kNothing; }

    // Labels of the best labelling with k errors, found from the roots to the leaves.
    void labels(std::size_t k, std::int32_t* out) {
        std::vector<std::size_t> left(tree_.length);  // errors still to be found among a vertex and its children
        tree_.downwards([&](std::size_t v) {
            const bool root = tree_.is_root(v);
            const std::size_t above = root ? 0 : static_cast<std::size_t>(out[tree_.parent(v)]);
            std::size_t& rest = root ? k : left[tree_.parent(v) - tree_.first];
            double best = kNothing;
            std::size_t found = 0;
            const ErrorTable &mine = at(table_, v), &others = at(before_, v);
            for (std::size_t b = 0; b < mine.rows() && b <= rest; ++b) {
                if (rest - b >= others.rows()) continue;
                for (std::size_t j = 0; j < tree_.labels; ++j) {
                    const double score = others.row(rest - b)[above] + scored(v, above, mine.row(b)[j], j);
                    if (score > best) best = score, found = b, out[v] = static_cast<std::int32_t>(j);
                }
            }
            left[v - tree_.first] = found;
            rest -= found;
        });
    }

private:
    ErrorTable& at(std::vector<ErrorTable>& tables, std::size_t v) const { return tables[v - tree_.first]; }
    double scored(std::size_t v, std::size_t above, double below, std::size_t j) const {
        return tree_.is_root(v) ? below : below + static_cast<double>(tree_.pairs(v)[above * tree_.labels + j]);
    }
    ErrorTable own(std::size_t v) const {
        const std::int32_t* errors = errors_ + v * tree_.labels;
        const auto largest = static_cast<std::size_t>(*std::max_element(errors, errors + tree_.labels));
        ErrorTable result(std::min(most_, largest + 1), tree_.labels);
        for (std::size_t j = 0; j < tree_.labels; ++j)
            if (const auto k = static_cast<std::size_t>(errors[j]); k < result.rows())
                result.row(k)[j] = static_cast<double>(tree_.node(v)[j]);
        return result;
    }
    // What v and all below it give to each label of the parent; for a root, to the instance.
    ErrorTable message(std::size_t v) {
        const std::size_t L = tree_.labels;
        const ErrorTable& mine = at(table_, v);
        ErrorTable result(mine.rows(), tree_.is_root(v) ? 1 : L);
        if (!tree_.is_root(v))
            for (std::size_t i = 0; i < L; ++i)
                for (std::size_t j = 0; j < L; ++j)
                    transposed_[j * L + i] = static_cast<double>(tree_.pairs(v)[i * L + j]);
        for (std::size_t k = 0; k < mine.rows(); ++k)
            for (std::size_t j = 0; j < L; ++j) {
                const double below = mine.row(k)[j];
                double* out = result.row(k);
                if (below == kNothing) continue;
                if (tree_.is_root(v)) out[0] = std::max(out[0], below);
                else
                    for (std::size_t i = 0; i < L; ++i) {
                        const double score = transposed_[j * L + i] + below;
                        out[i] = score > out[i] ? score : out[i];
                    }
            }
        return result;
    }

    TreeView<S> tree_;
    const std::int32_t* errors_;
    std::size_t most_;
    std::vector<ErrorTable> table_, before_;
    std::vector<double> transposed_;
    ErrorTable total_;
};

// body(s, usable) for every instance, on all cores; `levels` counts numbers of errors.
template <class S, class Body> void for_each_erring(const ForestBatch<S>& batch, std::size_t levels, Body body) {
    const std::size_t square = batch.labels * batch.labels;
    const bool usable_edges = !batch.shared || usable(batch.edge, square);
    const double work = 0.5 * static_cast<double>(batch.positions * square * levels);
    for_each_block(batch.sequences, threads_for(work), [&](std::size_t s, std::size_t) {
        const TreeView<S> tree(batch, s, nullptr);
        body(s, tree.length == 0 || ((usable_edges || tree.edges() == 0) && tree.usable_scores()));
    });
}

// value: sequences x levels; -inf where no labelling has that many errors, NaN where scores are of no use.
template <class S>
void tree_best_by_errors(const ForestBatch<S>& batch, const std::int32_t* errors, std::size_t levels, double* value) {
    for_each_erring(batch, levels, [&](std::size_t s, bool usable) {
        double* mine = value + s * levels;
        std::fill(mine, mine + levels, std::numeric_limits<double>::quiet_NaN());
        if (!usable) return;
        const TreeErrors<S> found(batch, s, errors, levels, false);
        for (std::size_t k = 0; k < levels; ++k) mine[k] = found.best(k);
    });
}

// The best labelling of instance s with exactly count[s] errors; labels of -1 and -inf if there is none.
template <class S>
void tree_argmax_at_errors(const ForestBatch<S>& batch, const std::int32_t* errors, const std::int64_t* count,
                           std::int32_t* labels, double* value) {
    std::int64_t most = 0;
    for (std::size_t s = 0; s < batch.sequences; ++s) most = std::max(most, count[s]);
    for_each_erring(batch, static_cast<std::size_t>(most) + 1, [&](std::size_t s, bool usable) {
        const auto first = static_cast<std::size_t>(batch.first[s]);
        std::fill_n(labels + first, batch.length(s), -1);
        value[s] = usable ? kNothing : std::numeric_limits<double>::quiet_NaN();
        if (!usable || count[s] < 0) return;
        const auto k = static_cast<std::size_t>(count[s]);
        TreeErrors<S> found(batch, s, errors, k + 1, true);
        value[s] = found.best(k);
        if (value[s] > kNothing) found.labels(k, labels);
    });
}

}  // namespace kernelfields
