// The expectation step of hidden Markov models: emission scores, forward-backward and sufficient
// statistics, some sequences at a time, so that nothing of the size positions x states leaves the cache.
//
//   log p(x) = log sum_y start(y_1) p(x_1|y_1) prod_t a(y_t-1, y_t) p(x_t|y_t)
//
// Every block of sequences has sums of its own, added up in order at the end; blocks depend on the data
// alone, and so does the result.
#pragma once

#include "../structures/chain_marginals.hpp"

namespace kernelfields {

struct HmmBatch {
    std::size_t sequences, labels;
    const std::int64_t* first;   // sequences + 1
    const std::int32_t* label;   // observed state of every position, -1 for none; or null
    const double *start, *edge;  // logarithms
};

struct HmmSums {
    double* log_probability;  // one per sequence
    double *start, *edge;     // expected counts
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
            tile = memory.data() + (kAlignment - address % kAlignment) % kAlignment / sizeof(double);
            centred = tile + emission.states.columns * kEmissionTile;
            rows = centred + emission.states.columns * kEmissionTile;
        }
        std::vector<double> memory;
        double *tile, *centred, *rows;
    };

    std::size_t size() const { return states.labels * states.size(); }

    void load(std::size_t from, std::size_t count, Scratch& scratch) const {
        for (std::size_t d = 0; d < states.columns; ++d) {
            double* row = scratch.tile + d * kEmissionTile;
            std::copy_n(x + d * positions + from, count, row);
            std::fill(row + count, row + kEmissionTile, 0.0);
        }
    }
    void score(std::size_t from, std::size_t to, double* node, Scratch& scratch) const {
        const std::size_t L = states.labels;
        for (std::size_t at = from; at < to; at += kEmissionTile) {
            const std::size_t count = std::min(kEmissionTile, to - at);
            load(at, count, scratch);
            emission_kernels().gaussian_scores(states, scratch.tile, count, scratch.centred, scratch.rows);
            for (std::size_t t = 0; t < count; ++t, node += L) {
                const bool gone = missing && missing[at + t];
                for (std::size_t k = 0; k < L; ++k) node[k] = gone ? 0.0 : scratch.rows[k * kEmissionTile + t];
            }
        }
    }
    void add(std::size_t from, std::size_t to, const double* marginal, double* sums, Scratch& scratch) const {
        const std::size_t L = states.labels;
        for (std::size_t at = from; at < to; at += kEmissionTile) {
            const std::size_t count = std::min(kEmissionTile, to - at);
            load(at, count, scratch);
            std::fill(scratch.rows, scratch.rows + L * kEmissionTile, 0.0);
            for (std::size_t t = 0; t < count; ++t, marginal += L)
                if (!missing || !missing[at + t])
                    for (std::size_t k = 0; k < L; ++k) scratch.rows[k * kEmissionTile + t] = marginal[k];
            emission_kernels().gaussian_sums(states, scratch.tile, scratch.rows, count, scratch.centred, sums);
        }
    }
};

namespace hmm_detail {

// Positions worked on together: so many that they stay in the cache, and beyond that as many sequences as there are
// lanes for them where labels are few.
constexpr std::int64_t kChunk = 4096, kLargestChunk = 1 << 16, kSequences = 16;

// Consecutive sequences.
inline std::vector<std::size_t> cut(const HmmBatch& batch) {
    std::vector<std::size_t> chunks{0};
    std::int64_t longest = 0;
    for (std::size_t s = 0; s < batch.sequences; ++s) {
        longest = std::max(longest, batch.first[s + 1] - batch.first[s]);
        const std::int64_t enough =
            batch.labels > kFewLabels ? kChunk : std::clamp(kSequences * longest, kChunk, kLargestChunk);
        if (batch.first[s + 1] - batch.first[chunks.back()] < enough && s + 1 < batch.sequences) continue;
        chunks.push_back(s + 1);
        longest = 0;
    }
    return chunks;
}

struct Chunk {
    std::vector<std::int64_t> first, edge_first;
    std::vector<double> node, marginal;
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

// `sums`: start, edge, emission, one behind the other.
template <class Emission>
void run_chunk(const HmmBatch& batch, const Emission& emission, std::size_t from, std::size_t to, Chunk& chunk,
               typename Emission::Scratch& scratch, double* log_probability, double* sums) {
    const std::size_t L = batch.labels;
    const auto begin = static_cast<std::size_t>(batch.first[from]), end = static_cast<std::size_t>(batch.first[to]);
    chunk.first.assign(1, 0);
    chunk.edge_first.assign(1, 0);
    chunk.node.resize((end - begin) * L);
    chunk.marginal.resize((end - begin) * L);
    emission.score(begin, end, chunk.node.data(), scratch);
    for (std::size_t s = from; s < to; ++s) {
        add_start_and_labels(batch, s, chunk.node.data() + static_cast<std::size_t>(chunk.first.back()) * L);
        const std::int64_t length = batch.first[s + 1] - batch.first[s];
        chunk.first.push_back(chunk.first.back() + length);
        chunk.edge_first.push_back(chunk.edge_first.back() + std::max<std::int64_t>(length - 1, 0));
    }
    const ChainBatch<double> chain{to - from,         end - begin, L,   chunk.first.data(), chunk.edge_first.data(),
                                   chunk.node.data(), batch.edge,  true};
    chain_marginals(chain, {nullptr, log_probability + from, chunk.marginal.data(), nullptr}, sums + L,
                    Rounded::together);
    for (std::size_t s = 0; s < to - from; ++s)
        if (chain.length(s) > 0)
            for (std::size_t k = 0; k < L; ++k)
                sums[k] += chunk.marginal[static_cast<std::size_t>(chunk.first[s]) * L + k];
    emission.add(begin, end, chunk.marginal.data(), sums + L + L * L, scratch);
}

}  // namespace hmm_detail

// Sums are added to what is there. Those of a batch in which a sequence is impossible mean nothing: the
// caller looks at the log-probabilities.
template <class Emission>
void hmm_expectations(const HmmBatch& batch, const Emission& emission, const HmmSums& out) {
    using namespace hmm_detail;
    const std::size_t L = batch.labels, size = L + L * L + emission.size();
    const std::vector<std::size_t> chunks = cut(batch);
    const auto positions = static_cast<std::size_t>(batch.first[batch.sequences]);
    // As many blocks as keep their sums small beside the data.
    const std::size_t share = std::clamp<std::size_t>(positions * L / size, 4, 32);
    const std::size_t blocks = std::min(share, chunks.size() - 1);
    std::vector<std::vector<double>> sums(blocks);
    const double work = static_cast<double>(positions * L) * (2 + 0.5 * static_cast<double>(L));
    for_each_block(blocks, threads_for(work), [&](std::size_t b, std::size_t) {
        sums[b].assign(size, 0.0);
        Chunk chunk;
        typename Emission::Scratch scratch(emission);
        for (std::size_t c = b; c + 1 < chunks.size(); c += blocks)
            run_chunk(batch, emission, chunks[c], chunks[c + 1], chunk, scratch, out.log_probability, sums[b].data());
    });
    for (const auto& block : sums) {
        for (std::size_t k = 0; k < L; ++k) out.start[k] += block[k];
        for (std::size_t k = 0; k < L * L; ++k) out.edge[k] += block[L + k];
        for (std::size_t k = 0; k < emission.size(); ++k) out.emission[k] += block[L + L * L + k];
    }
}

}  // namespace kernelfields
