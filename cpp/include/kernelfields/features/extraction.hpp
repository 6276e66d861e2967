// Sparse binary rows of a batch, block by block on all cores.
#pragma once

#include "../core/parallel.hpp"
#include "feature_keys.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace kernelfields {

// The rows of some sentences.
struct RowPiece {
    std::size_t first_token = 0, size = 0;
    std::vector<std::int64_t> ends;
    std::unique_ptr<std::int32_t[]> indices;
};

struct Rows {
    std::vector<RowPiece> pieces;

    std::size_t size() const {
        std::size_t total = 0;
        for (const RowPiece& piece : pieces) total += piece.size;
        return total;
    }

    // Row t is indices[indptr[t]] to indices[indptr[t + 1]].
    void write(std::int64_t* indptr, std::int32_t* indices) const {
        std::vector<std::size_t> before{0};
        for (const RowPiece& piece : pieces) before.push_back(before.back() + piece.size);
        indptr[0] = 0;
        for_each_block(pieces.size(), threads_for(static_cast<double>(before.back())), [&](std::size_t b, std::size_t) {
            const RowPiece& piece = pieces[b];
            if (piece.size) std::memcpy(indices + before[b], piece.indices.get(), piece.size * sizeof(std::int32_t));
            for (std::size_t t = 0; t < piece.ends.size(); ++t)
                indptr[piece.first_token + t + 1] = piece.ends[t] + static_cast<std::int64_t>(before[b]);
        });
    }
};

// Blocks of whole sentences, of about so many tokens that their values stay in cache.
inline std::vector<std::size_t> cut_blocks(const Tokens& tokens) {
    constexpr std::size_t size = 2048;
    std::vector<std::size_t> cuts{0};
    for (std::size_t s = 0; s < tokens.sentences(); ++s)
        if (tokens.start(s + 1) - tokens.start(cuts.back()) >= size) cuts.push_back(s + 1);
    if (cuts.back() != tokens.sentences()) cuts.push_back(tokens.sentences());
    return cuts;
}

// What one thread needs.
template <class V> struct Space {
    Block<V> block;
    std::vector<std::int64_t> keys;
    std::vector<std::int32_t> found;  // template by template
};

// find(template, space, out) writes the column of each token of the block, or none.
template <class V, class Encode, class Find>
Rows extract(const Tokens& tokens, std::size_t templates, const Encode& encoder, Find find) {
    const std::vector<std::size_t> cuts = cut_blocks(tokens);
    const int threads = threads_for(10.0 * static_cast<double>(tokens.size() * templates));
    std::vector<Space<V>> spaces(static_cast<std::size_t>(threads));
    Rows rows;
    rows.pieces.resize(cuts.size() - 1);
    for_each_block(cuts.size() - 1, threads, [&](std::size_t b, std::size_t thread) {
        Space<V>& space = spaces[thread];
        RowPiece& piece = rows.pieces[b];
        encoder.fill(space.block, tokens, cuts[b], cuts[b + 1]);
        piece.first_token = tokens.start(cuts[b]);
        const std::size_t count = tokens.start(cuts[b + 1]) - piece.first_token;
        space.found.resize(count * templates);
        for (std::size_t j = 0; j < templates; ++j) find(j, space, space.found.data() + j * count);
        const auto present = std::count_if(space.found.begin(), space.found.end(), [](auto f) { return f >= 0; });
        // One more, because what is absent is written too, and then written over.
        piece.indices.reset(new std::int32_t[static_cast<std::size_t>(present) + 1]);
        piece.ends.resize(count);
        for (std::size_t t = 0; t < count; ++t) {
            for (std::size_t j = 0; j < templates; ++j) {
                const std::int32_t column = space.found[j * count + t];
                piece.indices[piece.size] = column;
                piece.size += column >= 0;
            }
            piece.ends[t] = static_cast<std::int64_t>(piece.size);
        }
    });
    return rows;
}

}  // namespace kernelfields
