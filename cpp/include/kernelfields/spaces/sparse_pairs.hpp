// Features in the order of their frequency, and the pairs of feature and label that occur.
#pragma once

#include "../core/parallel.hpp"
#include "sparse_kernels.hpp"

#include <bit>
#include <vector>

namespace kernelfields {

// Columns renumbered by `rank`; in each row those below `frequent` first, then those below `single`, else
// in the order they had.
template <class S>
void rank_rows(const SparseRows<S>& x, const std::int32_t* rank, std::size_t frequent, std::size_t single,
               std::int32_t* index, S* value) {
    constexpr std::size_t kBlock = 4096;
    const auto work = static_cast<double>(x.first[x.rows]);
    for_each_block((x.rows + kBlock - 1) / kBlock, threads_for(work), [&](std::size_t block, std::size_t) {
        for (std::size_t t = block * kBlock; t < std::min(x.rows, (block + 1) * kBlock); ++t) {
            std::int64_t at = x.first[t];
            for (const int kind : {0, 1, 2})
                for (std::int64_t k = x.first[t]; k < x.first[t + 1]; ++k) {
                    const auto column = static_cast<std::size_t>(rank[x.index[k]]);
                    if ((column >= frequent) + (column >= single) != kind) continue;
                    index[at] = static_cast<std::int32_t>(column);
                    if (value) value[at] = x.value[k];
                    ++at;
                }
        }
    });
}

// The labels that occur with each column, as bits.
class SeenPairs {
public:
    SeenPairs(std::size_t columns, std::size_t labels) : words_((labels + 63) / 64), bits_(columns * words_) {}

    template <class S>
    void mark(const SparseRows<S>& x, const std::int32_t* label) {
        for (std::size_t t = 0; t < x.rows; ++t) {
            const auto y = static_cast<std::size_t>(label[t]);
            for (std::int64_t k = x.first[t]; k < x.first[t + 1]; ++k)
                bits_[static_cast<std::size_t>(x.index[k]) * words_ + y / 64] |= std::uint64_t{1} << (y % 64);
        }
    }
    std::size_t count() const {
        std::size_t total = 0;
        for (std::uint64_t word : bits_) total += static_cast<std::size_t>(std::popcount(word));
        return total;
    }
    // first: columns + 1 numbers; label: count() of them, rising for each column.
    void list(std::int64_t* first, std::int32_t* label) const {
        std::int64_t at = 0;
        for (std::size_t column = 0; column * words_ < bits_.size(); ++column) {
            first[column] = at;
            for (std::size_t w = 0; w < words_; ++w)
                for (std::uint64_t word = bits_[column * words_ + w]; word; word &= word - 1)
                    label[at++] = static_cast<std::int32_t>(64 * w) + std::countr_zero(word);
        }
        first[bits_.size() / words_] = at;
    }

private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

}  // namespace kernelfields
