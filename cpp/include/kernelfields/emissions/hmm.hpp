// The expectation step of hidden Markov models: emission scores, forward-backward and sufficient
// statistics, some sequences at a time, so that nothing of the size positions x states leaves the cache.
//
//   log p(x) = log sum_y start(y_1) p(x_1|y_1) prod_t a(y_t-1, y_t) p(x_t|y_t)
//
// Every block of sequences has sums of its own, added up in order at the end; blocks depend on the data
// alone, and so does the result.
#pragma once

#include "../structures/chain_marginals.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace kernelfields {

struct HmmBatch {
    std::size_t sequences, labels;
    const std::int64_t* first;   // sequences + 1
    const std::int32_t* label;   // observed state of every position, -1 for none; or null
    const double *start, *edge;  // logarithms
};

struct HmmSums {
    double* log_probability;  // one per sequence
    double *start, *edge;     // expected counts, or null
    double* emission;         // as the emissions say
};

// Symbols 0..V-1, -1 where missing. Statistics: expected counts, symbols x labels.
struct CategoricalEmission {
    std::size_t symbols, labels;
    const std::int32_t* symbol;
    const double* table;  // logarithms, symbols x labels

    struct Scratch {
        explicit Scratch(const CategoricalEmission&) {}
    };

    std::size_t size() const { return symbols * labels; }

    void score(std::size_t from, std::size_t to, double* node, Scratch&) const {
        for (std::size_t t = from; t < to; ++t, node += labels) {
            if (symbol[t] < 0) std::fill(node, node + labels, 0.0);
            else std::copy_n(table + static_cast<std::size_t>(symbol[t]) * labels, labels, node);
        }
    }
    void add(std::size_t from, std::size_t to, const double* marginal, double* sums, Scratch&) const {
        for (std::size_t t = from; t < to; ++t, marginal += labels) {
            if (symbol[t] < 0) continue;
            double* row = sums + static_cast<std::size_t>(symbol[t]) * labels;
            for (std::size_t k = 0; k < labels; ++k) row[k] += marginal[k];
        }
    }
};

// Statistics: as GaussianStates says, state by state.
struct GaussianEmission {
    GaussianStates states;
    std::size_t positions;
    const double* x;              // columns x positions
    const std::uint8_t* missing;  // per position, or null

    struct Scratch {
        explicit Scratch(const GaussianEmission& emission)
            : memory((2 * emission.states.columns + emission.states.labels) * kEmissionTile +
                     kAlignment / sizeof(double)) {
            const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
            copy = memory.data() + (kAlignment - address % kAlignment) % kAlignment / sizeof(double);
            rooms.centred = copy + emission.states.columns * kEmissionTile;
            rooms.rows = rooms.centred + emission.states.columns * kEmissionTile;
        }
        std::vector<double> memory;
        double* copy;
        EmissionScratch rooms;
    };

    std::size_t size() const { return states.labels * states.size(); }

    // Observations from `from` on; a tile that is not full is copied, because whole vectors are read.
    EmissionTile tile(std::size_t from, std::size_t to, Scratch& scratch) const {
        const std::size_t count = std::min(kEmissionTile, to - from);
        if (count == kEmissionTile) return {x + from, positions, count};
        for (std::size_t d = 0; d < states.columns; ++d) {
            double* row = scratch.copy + d * kEmissionTile;
            std::copy_n(x + d * positions + from, count, row);
            std::fill(row + count, row + padded(count, kEmissionSlack), 0.0);
        }
        return {scratch.copy, kEmissionTile, count};
    }
    // Zeros where an observation is missing.
    void forget_missing(std::size_t from, std::size_t to, double* values) const {
        if (!missing) return;
        const std::size_t L = states.labels;
        for (std::size_t t = from; t < to; ++t)
            if (missing[t]) std::fill_n(values + (t - from) * L, L, 0.0);
    }
    void score(std::size_t from, std::size_t to, double* node, Scratch& scratch) const {
        for (std::size_t at = from; at < to; at += kEmissionTile)
            emission_kernels().gaussian_scores(states, tile(at, to, scratch), scratch.rooms,
                                               node + (at - from) * states.labels);
        forget_missing(from, to, node);
    }
    void add(std::size_t from, std::size_t to, double* marginal, double* sums, Scratch& scratch) const {
        forget_missing(from, to, marginal);
        for (std::size_t at = from; at < to; at += kEmissionTile)
            emission_kernels().gaussian_sums(states, tile(at, to, scratch), marginal + (at - from) * states.labels,
                                             scratch.rooms, sums);
    }
};

namespace hmm_detail {

// Sequences in the order in which they are worked on, and the first of each chunk of them.
struct Chunks {
    std::vector<std::size_t> order, first{0};
    std::size_t largest = 0;  // positions

    std::size_t count() const { return first.size() - 1; }
};

// So many positions that they stay in the cache, and as many sequences as there are lanes for them where labels are
// few, unless these are so long that each is cut into pieces. Long sequences are sorted: lanes that advance together
// have about as much to do.
inline Chunks cut(const HmmBatch& batch) {
    constexpr std::size_t kEnough = 4096, kMost = 1 << 16, kLong = 256;
    const bool lanes = batch.labels > 1 && batch.labels <= kFewLabels;
    const auto length = [&](std::size_t s) { return static_cast<std::size_t>(batch.first[s + 1] - batch.first[s]); };
    Chunks chunks;
    chunks.order.resize(batch.sequences);
    std::iota(chunks.order.begin(), chunks.order.end(), std::size_t{0});
    if (lanes && static_cast<std::size_t>(batch.first[batch.sequences]) > kLong * batch.sequences)
        std::stable_sort(chunks.order.begin(), chunks.order.end(),
                         [&](std::size_t a, std::size_t b) { return length(a) > length(b); });
    const std::size_t fewest = lanes ? chain_kernels<double>().lanes : 1;
    std::size_t positions = 0;
    for (std::size_t k = 0; k < batch.sequences; ++k) {
        positions += length(chunks.order[k]);
        chunks.largest = std::max(chunks.largest, positions);
        const bool full = positions >= kMost || (positions >= kEnough && k + 1 - chunks.first.back() >= fewest);
        if (!full && k + 1 < batch.sequences) continue;
        chunks.first.push_back(k + 1);
        positions = 0;
    }
    return chunks;
}

// The sequences of one chunk.
struct Chunk {
    const std::size_t *begin, *end;
    double *node, *marginal;

    // Calls body(first sequence, behind the last, place of the first position here) for runs of neighbours.
    template <class Body> void each_run(const std::int64_t* first, Body body) const {
        std::size_t place = 0;
        for (const std::size_t* s = begin; s != end;) {
            const std::size_t from = *s;
            std::size_t to = from;
            while (s != end && *s == to) ++s, ++to;
            body(from, to, place);
            place += static_cast<std::size_t>(first[to] - first[from]);
        }
    }
};

inline void add_start_and_labels(const HmmBatch& batch, std::size_t s, double* node) {
    const std::size_t L = batch.labels;
    const auto from = static_cast<std::size_t>(batch.first[s]), to = static_cast<std::size_t>(batch.first[s + 1]);
    if (from == to) return;
    for (std::size_t k = 0; k < L; ++k) node[k] += batch.start[k];
    if (!batch.label) return;
    for (std::size_t t = from; t < to; ++t, node += L)
        for (std::size_t k = 0; k < L; ++k)
            if (batch.label[t] >= 0 && static_cast<std::size_t>(batch.label[t]) != k)
                node[k] = -std::numeric_limits<double>::infinity();
}

// `sums`: start, edge, emission, one behind the other; null for log-probabilities alone.
template <class Emission>
void run_chunk(const HmmBatch& batch, const Emission& emission, const Chunk& chunk, typename Emission::Scratch& scratch,
               double* log_probability, double* sums) {
    const std::size_t L = batch.labels, sequences = static_cast<std::size_t>(chunk.end - chunk.begin);
    std::vector<std::int64_t> first{0}, edge_first{0};
    const auto positions = [&](std::size_t s) { return static_cast<std::size_t>(batch.first[s]); };
    chunk.each_run(batch.first, [&](std::size_t from, std::size_t to, std::size_t place) {
        emission.score(positions(from), positions(to), chunk.node + place * L, scratch);
        for (std::size_t s = from; s < to; ++s) {
            add_start_and_labels(batch, s, chunk.node + static_cast<std::size_t>(first.back()) * L);
            const std::int64_t length = batch.first[s + 1] - batch.first[s];
            first.push_back(first.back() + length);
            edge_first.push_back(edge_first.back() + std::max<std::int64_t>(length - 1, 0));
        }
    });
    const ChainBatch<double> chain{
        sequences, static_cast<std::size_t>(first.back()), L, first.data(), edge_first.data(), chunk.node, batch.edge,
        true};
    std::vector<double> value(sequences);
    chain_marginals(chain, {nullptr, value.data(), sums ? chunk.marginal : nullptr, nullptr}, sums ? sums + L : nullptr,
                    Rounded::together);
    for (std::size_t k = 0; k < sequences; ++k) log_probability[chunk.begin[k]] = value[k];
    if (!sums) return;
    for (std::size_t s = 0; s < sequences; ++s)
        if (chain.length(s) > 0)
            for (std::size_t k = 0; k < L; ++k) sums[k] += chunk.marginal[static_cast<std::size_t>(first[s]) * L + k];
    chunk.each_run(batch.first, [&](std::size_t from, std::size_t to, std::size_t place) {
        emission.add(positions(from), positions(to), chunk.marginal + place * L, sums + L + L * L, scratch);
    });
}

}  // namespace hmm_detail

// Sums are added to what is there, unless they are null. Those of a batch in which a sequence is impossible mean
// nothing: the caller looks at the log-probabilities.
template <class Emission>
void hmm_expectations(const HmmBatch& batch, const Emission& emission, const HmmSums& out) {
    using namespace hmm_detail;
    const std::size_t L = batch.labels, size = L + L * L + emission.size();
    const Chunks chunks = cut(batch);
    const auto positions = static_cast<std::size_t>(batch.first[batch.sequences]);
    // As many blocks as keep their sums small beside the data.
    const std::size_t share = std::clamp<std::size_t>(positions * L / size, 4, 32);
    const std::size_t blocks = std::min(share, chunks.count());
    std::vector<std::vector<double>> sums(blocks);
    const int threads = threads_for(static_cast<double>(positions * L) * (2 + 0.5 * static_cast<double>(L)));
    const std::size_t room = chunks.largest * L + kEmissionSlack;
    Workspaces workspaces(2 * room * sizeof(double) + 2 * kPiece, threads);
    for_each_block(blocks, threads, [&](std::size_t b, std::size_t thread) {
        if (out.start) sums[b].assign(size, 0.0);
        Arena arena = workspaces.arena(thread);
        double *node = take<double>(arena, room), *marginal = take<double>(arena, room);
        typename Emission::Scratch scratch(emission);
        for (std::size_t c = b; c < chunks.count(); c += blocks) {
            const std::size_t* order = chunks.order.data();
            const Chunk chunk{order + chunks.first[c], order + chunks.first[c + 1], node, marginal};
            run_chunk(batch, emission, chunk, scratch, out.log_probability, out.start ? sums[b].data() : nullptr);
        }
    });
    if (!out.start) return;
    for (const auto& block : sums) {
        for (std::size_t k = 0; k < L; ++k) out.start[k] += block[k];
        for (std::size_t k = 0; k < L * L; ++k) out.edge[k] += block[L + k];
        for (std::size_t k = 0; k < emission.size(); ++k) out.emission[k] += block[L + L * L + k];
    }
}

}  // namespace kernelfields
