// Counts of labelled sequences: first states, pairs of neighbouring states, symbols in states.
#pragma once

#include "../core/parallel.hpp"
#include "hmm_triples.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kernelfields {

struct LabelledSequences {
    std::size_t sequences, positions, labels, symbols;
    const std::int64_t* first;
    const std::int32_t* label;   // -1 where not observed
    const std::int32_t* symbol;  // -1 where missing; null to count states only
};

namespace hmm_counts_detail {

// Tables of one thread. Row and column 0 mean "not observed", the last row of `pairs` "begins here": no
// branch is needed. Neighbouring positions count in different copies, lest one wait for the other's store.
// A small model counts pairs and symbol together.
struct Counts {
    static constexpr std::size_t kCopies = 4;
    std::size_t row, column;
    std::optional<Triples> triples;
    std::vector<std::uint32_t> pairs, emissions;

    explicit Counts(const LabelledSequences& data) : row(data.labels + 1), column(data.symbols + 1) {
        if (Triples::suit(data.labels, data.symbols)) triples.emplace(data.labels, data.symbols);
        pairs.resize((triples ? 1 : kCopies) * (row + 1) * row);
        emissions.resize((triples ? 1 : copies(data)) * row * column);
    }

    // Moves triples to pairs and emissions.
    void settle() {
        if (!triples) return;
        const std::vector<std::uint32_t>& total = triples->total();
        for (std::size_t k = 0; k < total.size(); ++k) {
            pairs[k / column] += total[k];
            emissions[k / column % row * column + k % column] += total[k];
        }
    }

    // One table only where several would not stay in the cache.
    static std::size_t copies(const LabelledSequences& data) {
        return (data.labels + 1) * (data.symbols + 1) <= (std::size_t{1} << 14) ? kCopies : 1;
    }
};

inline void require_range(const std::int32_t* values, std::size_t from, std::size_t to, std::size_t bound,
                          const char* name) {
    const auto most = static_cast<std::int32_t>(std::min<std::size_t>(bound, std::numeric_limits<std::int32_t>::max()));
    std::int32_t wrong = 0;  // compared, not the least and the largest found: half the instructions
    for (std::size_t t = from; t < to; ++t) wrong |= (values[t] < -1) | (values[t] >= most);
    if (wrong)
        throw std::invalid_argument(std::string(name) + " must be from -1 to " + std::to_string(bound) +
                                    " (not included).");
}

// Positions `from` up to `to` of one sequence that begins at `first`.
template <bool Symbols>
void count(const LabelledSequences& data, std::size_t first, std::size_t from, std::size_t to, Counts& counts) {
    const std::size_t row = counts.row, column = counts.column;
    const std::size_t pair_step = (row + 1) * row;
    const std::size_t step = Counts::copies(data) > 1 ? row * column : 0;
    const std::int32_t *label = data.label, *symbol = data.symbol;
    std::uint32_t *pairs = counts.pairs.data(), *emissions = counts.emissions.data();
    std::size_t before = from == first ? row : static_cast<std::size_t>(label[from - 1] + 1);
    for (std::size_t t = from; t < to; ++t) {
        const auto here = static_cast<std::size_t>(label[t] + 1);
        const std::size_t copy = t % Counts::kCopies;
        ++pairs[copy * pair_step + before * row + here];
        if constexpr (Symbols) ++emissions[copy * step + here * column + static_cast<std::size_t>(symbol[t] + 1)];
        before = here;
    }
}

// Positions `from` up to `to`, of one or several sequences.
inline void count_piece(const LabelledSequences& data, std::size_t from, std::size_t to, Counts& counts) {
    const auto* next = std::upper_bound(data.first, data.first + data.sequences + 1, static_cast<std::int64_t>(from));
    auto s = static_cast<std::size_t>(next - data.first - 1);
    if (counts.triples) {
        const bool begins = data.first[s] == static_cast<std::int64_t>(from);
        counts.triples->count({from, to, data.first + (begins ? s : s + 1), data.label, data.symbol});
        return;
    }
    for (std::size_t at = from; at < to; ++s) {
        const auto first = static_cast<std::size_t>(data.first[s]);
        const std::size_t end = std::min(to, static_cast<std::size_t>(data.first[s + 1]));
        if (end <= at) continue;
        if (data.symbol) count<true>(data, first, at, end, counts);
        else count<false>(data, first, at, end, counts);
        at = end;
    }
}

}  // namespace hmm_counts_detail

// Adds counts to start (labels), pairs (labels x labels) and emissions (labels x symbols, or null).
inline void hmm_counts(const LabelledSequences& data, double* start, double* pairs, double* emissions) {
    using namespace hmm_counts_detail;
    constexpr std::size_t kPiece = Triples::kMost;  // checked, then counted, while in the cache
    const std::size_t pieces = (data.positions + kPiece - 1) / kPiece;
    const int threads = threads_for(static_cast<double>(data.positions));
    std::vector<Counts> counts;
    for (int k = 0; k < threads; ++k) counts.emplace_back(data);
    for_each_block(pieces, threads, [&](std::size_t piece, std::size_t thread) {
        const std::size_t from = piece * kPiece, to = std::min(from + kPiece, data.positions);
        require_range(data.label, from ? from - 1 : 0, to, data.labels, "labels");
        if (data.symbol) require_range(data.symbol, from, to, data.symbols, "symbols");
        count_piece(data, from, to, counts[thread]);
    });
    const std::size_t L = data.labels, row = L + 1, column = data.symbols + 1;
    for (Counts& mine : counts) {
        mine.settle();
        for (std::size_t k = 0; k < mine.pairs.size(); ++k) {
            const std::size_t cell = k % ((row + 1) * row), before = cell / row, here = cell % row;
            if (here == 0 || before == 0) continue;
            (before == row ? start[here - 1] : pairs[(before - 1) * L + here - 1]) += mine.pairs[k];
        }
        if (!emissions) continue;
        for (std::size_t k = 0; k < mine.emissions.size(); ++k) {
            const std::size_t cell = k % (row * column), here = cell / column, symbol = cell % column;
            if (here > 0 && symbol > 0) emissions[(here - 1) * data.symbols + symbol - 1] += mine.emissions[k];
        }
    }
}

}  // namespace kernelfields
