// Inner products of sparse rows, dense result, on all cores.
//
// The right-hand rows are indexed once, by feature. Features that many of them have are kept in tiles,
// as bits if all values are one and as numbers otherwise, and are summed place by place for 512 rows at
// a time (isa/gram_counts.hpp); the others as lists of rows, whose places in the result are increased
// one by one. A list costs as much as its length, a tile as much as there are rows, however few have
// the feature: that decides which is which.
#pragma once

#include "../core/dispatch.hpp"
#include "../core/parallel.hpp"
#include "../spaces/sparse_kernels.hpp"
#include "gram.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

namespace kernelfields {

template <class S> class SparseIndex {
public:
    explicit SparseIndex(const SparseRows<S>& y)
        : rows_(y.rows), binary_(!y.value), place_(y.columns, -1), first_(y.columns + 1) {
        std::vector<std::int64_t> count(y.columns);
        const std::size_t entries = static_cast<std::size_t>(y.first[y.rows]);
        for (std::size_t k = 0; k < entries; ++k) ++count[static_cast<std::size_t>(y.index[k])];
        choose_frequent(count);
        fill_tiles(y);
        fill_lists(y, count);
    }

    std::size_t rows() const { return rows_; }
    std::size_t features() const { return place_.size(); }
    bool binary() const { return binary_; }

    // out[i] = products of row `from` + i of x with the rows `start` to `stop`, for i < rows.
    void products(const SparseRows<S>& x, std::size_t from, std::size_t rows, std::size_t start, std::size_t stop,
                  S* out, std::size_t stride) const {
        constexpr std::size_t kRows = 8;
        const double work = 2.0 * static_cast<double>(rows) * static_cast<double>(stop - start);
        for_each_block((rows + kRows - 1) / kRows, threads_for(work), [&](std::size_t block, std::size_t) {
            Row row;
            for (std::size_t i = block * kRows; i < std::min(rows, (block + 1) * kRows); ++i) {
                take(x, from + i, row);
                add_frequent(row, start, stop, out + i * stride);
                add_rare(row, start, stop, out + i * stride);
            }
        });
    }

private:
    // One row of x: places of its frequent features with their values, and its rare features.
    struct Row {
        std::vector<std::int32_t> places, rare;
        std::vector<S> values, rare_values;
    };

    void choose_frequent(const std::vector<std::int64_t>& count) {
        const auto share = static_cast<std::int64_t>(binary_ ? 128 : 32);
        const std::size_t most = binary_ ? 4096 : 1024;
        std::vector<std::size_t> found;
        for (std::size_t f = 0; f < count.size(); ++f)
            if (count[f] * share >= static_cast<std::int64_t>(rows_)) found.push_back(f);
        std::stable_sort(found.begin(), found.end(), [&](std::size_t a, std::size_t b) { return count[a] > count[b]; });
        if (found.size() > most) found.resize(most);
        for (std::size_t k = 0; k < found.size(); ++k) place_[found[k]] = static_cast<std::int32_t>(k);
        frequent_ = found.size();
    }

    void fill_tiles(const SparseRows<S>& y) {
        const std::size_t tiles = (rows_ + kTile - 1) / kTile, columns = frequent_ + 1;
        if (binary_) bits_.assign(tiles * columns * (kTile / 64), 0);
        else numbers_.assign(tiles * columns * kTile, S(0));
        for_each_block(tiles, threads_for(static_cast<double>(y.first[y.rows])), [&](std::size_t t, std::size_t) {
            for (std::size_t i = t * kTile; i < std::min(rows_, (t + 1) * kTile); ++i)
                for (std::int64_t k = y.first[i]; k < y.first[i + 1]; ++k) {
                    const std::int32_t place = place_[static_cast<std::size_t>(y.index[k])];
                    if (place < 0) continue;
                    const std::size_t at = (t * columns + static_cast<std::size_t>(place)) * kTile + (i - t * kTile);
                    if (binary_) bits_[at / 64] |= std::uint64_t{1} << at % 64;
                    else numbers_[at] = y.value[k];
                }
        });
    }

    void fill_lists(const SparseRows<S>& y, const std::vector<std::int64_t>& count) {
        for (std::size_t f = 0; f < count.size(); ++f) first_[f + 1] = first_[f] + (place_[f] < 0 ? count[f] : 0);
        list_.resize(static_cast<std::size_t>(first_.back()));
        if (!binary_) list_values_.resize(list_.size());
        std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
        for (std::size_t i = 0; i < rows_; ++i)
            for (std::int64_t k = y.first[i]; k < y.first[i + 1]; ++k) {
                const auto f = static_cast<std::size_t>(y.index[k]);
                if (place_[f] >= 0) continue;
                const auto at = static_cast<std::size_t>(next[f]++);
                list_[at] = static_cast<std::int32_t>(i);
                if (!binary_) list_values_[at] = y.value[k];
            }
    }

    void take(const SparseRows<S>& x, std::size_t i, Row& row) const {
        row.places.clear();
        row.values.clear();
        row.rare.clear();
        row.rare_values.clear();
        for (std::int64_t k = x.first[i]; k < x.first[i + 1]; ++k) {
            const std::int32_t place = place_[static_cast<std::size_t>(x.index[k])];
            (place < 0 ? row.rare : row.places).push_back(place < 0 ? x.index[k] : place);
            if (!binary_) (place < 0 ? row.rare_values : row.values).push_back(x.value[k]);
        }
    }

    // Overwrites `out`, tile by tile; at the ends a tile may have more rows than are wanted.
    void add_frequent(Row& row, std::size_t start, std::size_t stop, S* out) const {
        for (std::size_t t = start / kTile; t * kTile < stop; ++t) {
            const std::size_t from = std::max(start, t * kTile), to = std::min(stop, (t + 1) * kTile);
            if (to - from == kTile) {
                sum_tile(row, t, out + from - start);
                continue;
            }
            S whole[kTile];
            sum_tile(row, t, whole);
            std::copy(whole + from - t * kTile, whole + to - t * kTile, out + from - start);
        }
    }

    void sum_tile(Row& row, std::size_t t, S* out) const {
        const std::size_t columns = frequent_ + 1, count = row.places.size();
        if (!binary_)
            return gram_kernels<S>().sum_numbers({columns, numbers_.data()}, t, row.places.data(), row.values.data(),
                                                 count, out);
        constexpr std::size_t kMost = kCountable / 8 * 8;
        std::int32_t some[kMost];
        S more[kTile];
        for (std::size_t k = 0; k == 0 || k < count; k += kMost) {
            const std::size_t n = std::min(kMost, count - k);
            std::copy_n(row.places.data() + k, n, some);
            gram_kernels<S>().count_bits({columns, bits_.data()}, t, some, n, k == 0 ? out : more);
            for (std::size_t j = 0; k > 0 && j < kTile; ++j) out[j] += more[j];
        }
    }

    void add_rare(const Row& row, std::size_t start, std::size_t stop, S* out) const {
        for (std::size_t r = 0; r < row.rare.size(); ++r) {
            const auto f = static_cast<std::size_t>(row.rare[r]);
            const std::int32_t *begin = list_.data() + first_[f], *end = list_.data() + first_[f + 1];
            const std::int32_t* k = start ? std::lower_bound(begin, end, static_cast<std::int32_t>(start)) : begin;
            for (; k < end && static_cast<std::size_t>(*k) < stop; ++k)
                out[static_cast<std::size_t>(*k) - start] +=
                    binary_ ? S(1) : row.rare_values[r] * list_values_[static_cast<std::size_t>(k - list_.data())];
        }
    }

    std::size_t rows_, frequent_ = 0;
    bool binary_;
    std::vector<std::int32_t> place_;  // of a feature among the frequent ones, or -1
    std::vector<std::uint64_t> bits_;
    std::vector<S> numbers_;
    std::vector<std::int64_t> first_;  // where the list of each feature starts
    std::vector<std::int32_t> list_;
    std::vector<S> list_values_;
};

}  // namespace kernelfields
