// Counts of (label before, label, symbol) for models so small that a table of all triples stays in the nearest cache.
//
// The cells of a few hundred positions are computed first, in a loop without branches that compilers turn into
// vectors of 16 bits, and then counted: two instructions for each position. Neighbouring positions count in different
// copies of the table, lest one wait for the other's store; counters of 16 bits make room for both.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelfields {

// Positions `from` up to `to`, and where sequences begin from there on: first[0], first[1], ..., the last at the end of
// all.
struct LabelledStretch {
    std::size_t from, to;
    const std::int64_t* first;
    const std::int32_t* label;   // -1 where not observed
    const std::int32_t* symbol;  // -1 where missing; null if there are none
};

// Row 0 and column 0 mean "not observed", row `rows` "begins here".
class Triples {
public:
    static constexpr std::size_t kCells = std::size_t{1} << 13;
    static constexpr std::size_t kMost = std::size_t{1}
                                         << 15;  // positions in one stretch, so that no counter overflows

    static bool suit(std::size_t labels, std::size_t symbols) {
        return labels < kCells && symbols < kCells && (labels + 2) * (labels + 1) * (symbols + 1) <= kCells;
    }

    Triples(std::size_t labels, std::size_t symbols)
        : row_(static_cast<std::uint16_t>(labels + 1)),
          column_(static_cast<std::uint16_t>(symbols + 1)),
          size_((labels + 2) * (labels + 1) * (symbols + 1)),
          recent_(2 * kCells),
          total_(size_) {}

    // At most kMost positions.
    void count(const LabelledStretch& data) {
        std::uint16_t cell[kBlock];
        const std::int64_t* first = data.first;
        for (std::size_t from = data.from; from < data.to; from += kBlock) {
            const std::size_t size = std::min(kBlock, data.to - from);
            fill(data, from, size, cell);
            for (; *first < static_cast<std::int64_t>(from + size); ++first)
                begin(data, static_cast<std::size_t>(*first), from, cell);
            add(cell, size);
        }
        settle();
    }

    // cell / column is the pair, before * row + here; cell % column the symbol.
    const std::vector<std::uint32_t>& total() const { return total_; }

private:
    static constexpr std::size_t kBlock = 1024;

    void fill(const LabelledStretch& data, std::size_t from, std::size_t size, std::uint16_t* cell) const {
        const std::int32_t* label = data.label + from;
        const std::uint16_t row = row_, column = column_;
        const auto pair = [&](std::size_t t) {
            return (static_cast<std::uint16_t>(label[t - 1]) + 1) * row + static_cast<std::uint16_t>(label[t]) + 1;
        };
        std::size_t t = 0;
        if (from == 0) cell[t++] = 0;  // a beginning
        if (!data.symbol)
            for (; t < size; ++t) cell[t] = static_cast<std::uint16_t>(pair(t));
        else {
            const std::int32_t* symbol = data.symbol + from;
            for (; t < size; ++t)
                cell[t] = static_cast<std::uint16_t>(static_cast<std::uint16_t>(pair(t)) * column +
                                                     static_cast<std::uint16_t>(symbol[t]) + 1);
        }
    }

    void begin(const LabelledStretch& data, std::size_t t, std::size_t from, std::uint16_t* cell) const {
        const int pair = row_ * row_ + data.label[t] + 1;
        cell[t - from] = static_cast<std::uint16_t>(pair * column_ + (data.symbol ? data.symbol[t] + 1 : 0));
    }

    void add(const std::uint16_t* cell, std::size_t size) {
        std::uint16_t *even = recent_.data(), *odd = even + kCells;
        std::size_t t = 0;
        for (; t + 4 <= size; t += 4) {
            ++even[cell[t]];
            ++odd[cell[t + 1]];
            ++even[cell[t + 2]];
            ++odd[cell[t + 3]];
        }
        for (; t < size; ++t) ++even[cell[t]];
    }

    // Before 16 bits are too few.
    void settle() {
        std::uint16_t *even = recent_.data(), *odd = even + kCells;
        for (std::size_t k = 0; k < size_; ++k) total_[k] += static_cast<std::uint32_t>(even[k]) + odd[k];
        std::fill(recent_.begin(), recent_.end(), std::uint16_t{0});
    }

    std::uint16_t row_, column_;
    std::size_t size_;
    std::vector<std::uint16_t> recent_;
    std::vector<std::uint32_t> total_;
};

}  // namespace kernelfields
