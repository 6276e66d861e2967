// Linear scores from sparse features, and their transpose, on all cores.
//
// Weights exist for some (feature, label) pairs only, one number each; feature f has the pairs
// pair_first[f] <= p < pair_first[f + 1] with labels pair_label[p]. For the products they are spread
// over a table with one row per feature, padded to whole vectors: whole rows are added, not numbers.
//
// Features are ordered by frequency. The transposed product goes over the rows of x for the frequent
// ones, whose sums stay in the cache, a table for each block of rows; and over the columns of x for
// the rare ones, whose sums are then finished one after the other. No two threads write to one place.
#pragma once

#include "../core/arena.hpp"
#include "../core/dispatch.hpp"
#include "../core/memory.hpp"
#include "../core/parallel.hpp"
#include "sparse_kernels.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

namespace kernelfields {

struct WeightPairs {
    const std::int64_t* first;  // features + 1
    const std::int32_t* label;
};

// Zeroed table of rows.
template <class S> class WeightTable {
public:
    WeightTable(std::size_t rows, std::size_t stride)
        : stride_(stride), data_(static_cast<S*>(allocate(std::max<std::size_t>(rows, 1) * stride * sizeof(S)))) {}
    S* row(std::size_t r) const { return data_.get() + r * stride_; }
    void clear(std::size_t from, std::size_t to) const { std::memset(row(from), 0, (to - from) * stride_ * sizeof(S)); }

private:
    struct Release {
        void operator()(S* p) const { release(p); }
    };
    std::size_t stride_;
    std::unique_ptr<S, Release> data_;
};

// Calls body(from, to) for consecutive ranges of about `size` items.
template <class Body> void for_each_range(std::size_t count, std::size_t size, double nanoseconds, Body body) {
    for_each_block((count + size - 1) / size, threads_for(nanoseconds),
                   [&](std::size_t block, std::size_t) { body(block * size, std::min(count, (block + 1) * size)); });
}

// out += x W, W given by its pairs.
template <class S>
void sparse_scores(const SparseRows<S>& x, const WeightPairs& pairs, const double* weights, std::size_t labels,
                   S* out) {
    const SparseKernels<S>& kernels = sparse_kernels<S>();
    const std::size_t stride = padded(labels, kernels.width);
    const WeightTable<S> table(x.columns, stride);
    for_each_range(x.columns, 16384, static_cast<double>(x.columns * stride), [&](std::size_t from, std::size_t to) {
        table.clear(from, to);
        for (std::size_t f = from; f < to; ++f)
            for (std::int64_t p = pairs.first[f]; p < pairs.first[f + 1]; ++p)
                table.row(f)[pairs.label[p]] = static_cast<S>(weights[p]);
    });
    const double work = static_cast<double>(x.first[x.rows]) * static_cast<double>(stride) * 0.2;
    for_each_range(x.rows, 2048, work, [&](std::size_t from, std::size_t to) {
        kernels.add_products(x, from, to, table.row(0), table.row(x.columns), stride, labels, out + from * labels);
    });
}

// out += x W for weights of pairs, number by number: no table to fill, for the few rows of a prediction. `pairs`
// is how many there are: they are checked where they are met, since to look at all of a model would take longer.
// Without it they must have been checked before.
template <class S>
void add_pair_products(const SparseRows<S>& x, std::size_t from, std::size_t to, const std::int32_t* pair_first,
                       const std::int32_t* pair_label, const S* weights, std::size_t labels, S* out,
                       std::size_t pairs = std::numeric_limits<std::int32_t>::max()) {
    for (std::size_t t = from; t < to; ++t)
        for (std::int64_t k = x.first[t]; k < x.first[t + 1]; ++k) {
            const S scale = x.value ? x.value[k] : S(1);
            const std::int32_t begin = pair_first[x.index[k]], end = pair_first[x.index[k] + 1];
            if (begin < 0 || static_cast<std::int64_t>(pairs) < end)
                throw std::invalid_argument("pair_first leads outside the pairs.");
            for (std::int32_t p = begin; p < end; ++p) {
                const auto label = static_cast<std::uint32_t>(pair_label[p]);
                if (label >= labels) throw std::invalid_argument("pair_label holds a label that does not exist.");
                out[t * labels + label] += scale * weights[p];
            }
        }
}

template <class S>
void sparse_pair_times(const SparseRows<S>& x, const std::int32_t* pair_first, const std::int32_t* pair_label,
                       const S* weights, std::size_t pairs, std::size_t labels, S* out) {
    const double work = static_cast<double>(x.first[x.rows]) * static_cast<double>(labels) * 0.3;
    for_each_range(x.rows, 1024, work, [&](std::size_t from, std::size_t to) {
        add_pair_products(x, from, to, pair_first, pair_label, weights, labels, out, pairs);
    });
}

// out += x W for a plain table of weights, one row of `labels` numbers per feature.
template <class S> void sparse_times(const SparseRows<S>& x, const S* table, std::size_t labels, S* out) {
    const double work = static_cast<double>(x.first[x.rows]) * static_cast<double>(labels) * 0.2;
    for_each_range(x.rows, 2048, work, [&](std::size_t from, std::size_t to) {
        sparse_kernels<S>().add_products(x, from, to, table, table + x.columns * labels, labels, labels,
                                         out + from * labels);
    });
}

// gradient (one number per pair) = x' g, for x with its rare columns, from `frequent` on, also given
// by columns: column f has the rows columns.index[columns.first[f - frequent]] ...
template <class S>
void sparse_adjoint(const SparseRows<S>& x, const SparseRows<S>& columns, std::size_t frequent,
                    const WeightPairs& pairs, const S* g, std::size_t labels, double* gradient) {
    const SparseKernels<S>& kernels = sparse_kernels<S>();
    const std::size_t stride = padded(labels, kernels.width);
    const double work = static_cast<double>(x.first[x.rows]) * static_cast<double>(stride) * 0.3;

    // Frequent columns: a table for each of a fixed number of blocks of rows, added up in order.
    constexpr std::size_t kBlocks = 16;
    const std::size_t size = (x.rows + kBlocks - 1) / kBlocks;
    const WeightTable<S> sums(kBlocks * frequent, stride);
    for_each_block(kBlocks, threads_for(work), [&](std::size_t b, std::size_t) {
        sums.clear(b * frequent, (b + 1) * frequent);
        const std::size_t from = std::min(b * size, x.rows), to = std::min((b + 1) * size, x.rows);
        kernels.add_transposed(x, from, to, frequent, g, g + x.rows * labels, labels, stride, sums.row(b * frequent));
    });
    for_each_range(frequent, 1024, static_cast<double>(kBlocks * frequent * stride) * 0.3,
                   [&](std::size_t from, std::size_t to) {
                       for (std::size_t f = from; f < to; ++f)
                           for (std::int64_t p = pairs.first[f]; p < pairs.first[f + 1]; ++p) {
                               double total = 0;
                               for (std::size_t b = 0; b < kBlocks; ++b)
                                   total += static_cast<double>(sums.row(b * frequent + f)[pairs.label[p]]);
                               gradient[p] = total;
                           }
                   });

    // Rare columns: products with the transpose, then the pairs picked from each row.
    for_each_range(columns.rows, 2048, work, [&](std::size_t from, std::size_t to) {
        const WeightTable<S> sum(to - from, labels);
        sum.clear(0, to - from);
        kernels.add_products(columns, from, to, g, g + x.rows * labels, labels, labels, sum.row(0));
        for (std::size_t r = from; r < to; ++r)
            for (std::int64_t p = pairs.first[frequent + r]; p < pairs.first[frequent + r + 1]; ++p)
                gradient[p] = static_cast<double>(sum.row(r - from)[pairs.label[p]]);
    });
}

}  // namespace kernelfields
