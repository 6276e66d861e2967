// What the sparse products (sparse.hpp) ask of the code compiled per instruction set (isa/).
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelfields {

// Rows of features: row t has the columns index[first[t]] ... and their values (all one if null).
template <class S> struct SparseRows {
    std::size_t rows, columns;
    const std::int64_t* first;
    const std::int32_t* index;
    const S* value;
};

// Weights of (feature, label) pairs: feature f has the pairs first[f] <= p < first[f + 1], with labels
// label[p]. Those of the features below `frequent` are also in a table, one row each, zero elsewhere;
// those from `single` on have one pair each.
template <class S> struct PairedWeights {
    std::size_t frequent, single, stride, labels;
    const std::int64_t* first;
    const std::int32_t* label;
    const S* table;
    const S* weight;  // one for each pair
};

// Room for sums of the same form; those of the frequent features' pairs are in the table only.
template <class S> struct PairedSums {
    std::size_t frequent, single, stride, labels;
    const std::int64_t* first;
    const std::int32_t* label;
    S* table;
    S* rare;  // one for each pair, indexed as the pairs are
};

// Rows of weights that change in place. For averages a second table changes with the first.
template <class S> struct ChangingRows {
    S* first;
    S* second;                  // or null
    const std::uint32_t* bits;  // which labels of a row have a weight, `words` per row; all if null
    std::size_t words, stride;
};

template <class S> struct SparseKernels {
    std::size_t width;  // numbers per vector

    // out[t - from] += sum_k value_k * table[index_k], for the rows from <= t < to. Rows of `out` have
    // `labels` numbers, rows of `table` at least as many, `stride` apart.
    void (*add_products)(const SparseRows<S>&, std::size_t from, std::size_t to, const S* table, const S* table_end,
                         std::size_t stride, std::size_t labels, S* out);

    // out[t - from] = kept * out[t - from] + share * scale[t] * sum_k value_k * table[index_k], for from <= t < to.
    void (*mix_products)(const SparseRows<S>&, std::size_t from, std::size_t to, const S* table, const S* table_end,
                         std::size_t labels, S kept, S share, const S* scale, S* out);

    // table[index_k] += value_k * in[t] for the columns below `limit`, the transpose of the above.
    void (*add_transposed)(const SparseRows<S>&, std::size_t from, std::size_t to, std::size_t limit, const S* in,
                           const S* in_end, std::size_t labels, std::size_t stride, S* table);

    // As these two for rows whose frequent features come first (linear_rows.hpp).
    void (*linear_scores)(const SparseRows<S>&, std::size_t from, std::size_t to, const PairedWeights<S>&,
                          const S* base, S* out, const S* out_end);
    void (*linear_transposed)(const SparseRows<S>&, std::size_t from, std::size_t to, const PairedSums<S>&, const S* in,
                              const S* in_end);

    // first[index_k] += factor * value_k * in[t - from] where there is a weight, second[index_k] += ratio
    // times the same, for from <= t < to; rows of `in` without an entry above `least` are passed over.
    void (*change)(const SparseRows<S>&, std::size_t from, std::size_t to, const S* in, const S* in_end,
                   std::size_t labels, S factor, S ratio, S least, const ChangingRows<S>&);

    // sum_k left_k right_k, in double.
    double (*dot_product)(const S* left, const S* right, std::size_t count);

    // sum_k += weight * values_k.
    void (*add_multiple)(S* sum, const S* values, S weight, std::size_t count);
};

}  // namespace kernelfields
