// Sparse binary rows of cliques, block by block on all cores.
#pragma once

#include "clique_rows.hpp"
#include "extraction.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kernelfields {

// What one thread needs.
template <class V> struct CliqueSpace {
    CliqueBlock<V> block;
    std::vector<std::int64_t> keys;
    std::vector<std::vector<std::int32_t>> found;  // template by template
    std::vector<std::size_t> next;                 // of each template, the first place that has not been written
};

// Writes the rows of a block, clique by clique the columns of all templates.
template <class V>
void write_rows(CliqueSpace<V>& space, const TemplateSet& set, std::size_t count, RowPiece& piece) {
    std::size_t most = 0;
    for (const auto& found : space.found) most += found.size();
    std::unique_ptr<std::int32_t[]> columns(new std::int32_t[most]);
    space.next.assign(set.templates.size(), 0);
    piece.ends.resize(count);
    std::size_t row = piece.first_token;
    const auto end_rows = [&](std::size_t until) {
        for (; row < until; ++row) piece.ends[row - piece.first_token] = static_cast<std::int64_t>(piece.size);
    };
    for (std::size_t c = 0; c < space.block.rows.size(); ++c) {
        end_rows(space.block.rows[c]);
        for (std::size_t j = 0; j < set.templates.size(); ++j) {
            const auto source = space.block.source(set.templates[j]);
            std::size_t& t = space.next[j];
            for (; t < source.size() && source.clique(t) == c; ++t)
                if (space.found[j][t] >= 0) columns[piece.size++] = space.found[j][t];
        }
    }
    end_rows(piece.first_token + count);
    piece.indices.reset(new std::int32_t[piece.size]);
    std::copy(columns.get(), columns.get() + piece.size, piece.indices.get());
}

// find(template, source, space, out) writes the column of each place of the source, or none.
template <class V, class Encode, class Find>
Rows extract_cliques(const Cliques& cliques, const TemplateSet& set, const Encode& encoder, Find find) {
    const std::vector<std::size_t> cuts = cliques.cut();
    const std::size_t templates = set.templates.size();
    const int threads = threads_for(20.0 * static_cast<double>(cliques.size() * templates));
    std::vector<CliqueSpace<V>> spaces(static_cast<std::size_t>(threads));
    Rows rows;
    rows.pieces.resize(cuts.size() - 1);
    for_each_block(cuts.size() - 1, threads, [&](std::size_t b, std::size_t thread) {
        CliqueSpace<V>& space = spaces[thread];
        RowPiece& piece = rows.pieces[b];
        space.block.fill(cliques, set, encoder, cuts[b], cuts[b + 1]);
        piece.first_token = cliques.start(cuts[b]);
        space.found.resize(templates);
        for (std::size_t j = 0; j < templates; ++j) {
            const auto source = space.block.source(set.templates[j]);
            space.found[j].resize(source.size());
            find(j, source, space, space.found[j].data());
        }
        write_rows(space, set, cliques.start(cuts[b + 1]) - piece.first_token, piece);
    });
    return rows;
}

}  // namespace kernelfields
