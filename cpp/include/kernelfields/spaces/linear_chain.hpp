// The log loss of a linear chain over sparse features, and its gradient, in one pass over the data.
//
//   loss = sum_i weight_i (log Z_i - score(y_i)),   scores: node = x W + bias (+ start, + end), edge shared
//
// Sequences are taken a few at a time: their scores and marginals stay in the cache, and nothing of
// the size positions x labels is ever made. Of the gradient every block of sequences has its own sums,
// added up in order at the end; blocks depend on the data alone, and so does the result.
#pragma once

#include "../structures/chain_marginals.hpp"
#include "sparse.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace kernelfields {

template <class S> struct LinearChainData {
    SparseRows<S> x;  // the frequent features of each row first
    std::size_t frequent, single;
    WeightPairs pairs;
    std::size_t sequences, labels;
    const std::int64_t* first;  // sequences + 1
    const std::int64_t* order;  // sequences by falling length
    const std::int32_t* label;  // observed, one per position
    const double* weight;       // per sequence, or null
    // Instead of the gradient, sums of mu (1 - mu) x^2: the diagonal of the Hessian, if labels of different
    // positions were independent; for edges of mu_t mu_t+1 (1 - mu_t mu_t+1). Sums of their own marginals would be
    // many times as much in text, where labels are nearly certain, and all but halt weights that every position
    // shares. `square` has the x^2, null if all are one.
    bool variances;
    const S* square;
};

template <class S> struct LinearChainWeights {
    const S *features, *bias, *start, *end, *edge;
};

// As the weights; `features` as many as there are pairs.
template <class S> struct LinearChainGradient {
    S* features;
    double *bias, *start, *end, *edge;
};

namespace linear_chain_detail {

constexpr std::size_t kChunk = 1024;  // positions worked on together

// The sums of one block of sequences.
template <class S> struct Sums {
    Sums(const LinearChainData<S>& data, std::size_t stride)
        : table(data.frequent, stride),
          rare(1, data.pairs.first[data.x.columns] - data.pairs.first[data.frequent]),
          small(3 * data.labels + data.labels * data.labels) {}
    void clear(std::size_t frequent) {
        table.clear(0, frequent);
        rare.clear(0, 1);
        std::fill(small.begin(), small.end(), 0.0);
        loss = 0;
    }
    WeightTable<S> table, rare;
    std::vector<double> small;  // bias, start, end, edge
    double loss = 0;
};

// Scores, marginals and what else one chunk of sequences needs.
template <class S> struct Chunk {
    std::vector<std::size_t> sequence;
    std::vector<std::int64_t> first, edge_first;
    std::vector<double> weight, log_partition;
    std::vector<std::int32_t> label;
    std::vector<S> node, marginal;

    void fill(const LinearChainData<S>& data, const std::size_t* from, const std::size_t* to) {
        sequence.assign(from, to);
        first.assign(1, 0);
        edge_first.assign(1, 0);
        weight.clear();
        label.clear();
        for (std::size_t s : sequence) {
            const std::int64_t length = data.first[s + 1] - data.first[s];
            first.push_back(first.back() + length);
            edge_first.push_back(edge_first.back() + std::max<std::int64_t>(length - 1, 0));
            weight.push_back(data.weight ? data.weight[s] : 1.0);
            label.insert(label.end(), data.label + data.first[s], data.label + data.first[s + 1]);
        }
        log_partition.resize(sequence.size());
        node.resize(label.size() * data.labels);
        marginal.resize(label.size() * data.labels);
    }
};

template <class S> void add_row(const S* row, S* into, std::size_t labels) {
    for (std::size_t k = 0; k < labels; ++k) into[k] += row[k];
}

template <class S>
void score_chunk(const LinearChainData<S>& data, const LinearChainWeights<S>& weights, const PairedWeights<S>& paired,
                 const S* base, Chunk<S>& chunk) {
    const std::size_t L = data.labels;
    const S* end = chunk.node.data() + chunk.node.size();
    for (std::size_t k = 0; k < chunk.sequence.size(); ++k) {
        const std::size_t s = chunk.sequence[k];
        S* rows = chunk.node.data() + static_cast<std::size_t>(chunk.first[k]) * L;
        const auto from = static_cast<std::size_t>(data.first[s]), to = static_cast<std::size_t>(data.first[s + 1]);
        sparse_kernels<S>().linear_scores(data.x, from, to, paired, base, rows, end);
        add_row(weights.start, rows, L);
        add_row(weights.end, rows + (to - from - 1) * L, L);
    }
}

// Adds about how much label pairs vary between two positions, from the marginals of both, as if these were independent.
template <class S>
void add_pair_variances(const S* here, const S* next, std::size_t labels, double weight, double* edge) {
    if (!(weight > 0)) return;
    for (std::size_t y = 0; y < labels; ++y) {
        const double share = static_cast<double>(here[y]) / (weight * weight);
        for (std::size_t z = 0; z < labels; ++z) {
            const double both = share * static_cast<double>(next[z]);
            edge[y * labels + z] += weight * both * (1 - both);
        }
    }
}

// Marginals minus observed parts, in place, and their sums over labels, ends and edges.
template <class S>
void compare_chunk(const LinearChainData<S>& data, const ChainBatch<S>& batch, Chunk<S>& chunk, Sums<S>& sums) {
    const std::size_t L = data.labels;
    double *bias = sums.small.data(), *start = bias + L, *end = start + L, *edge = end + L;
    for (std::size_t k = 0; k < chunk.sequence.size(); ++k) {
        const auto from = static_cast<std::size_t>(chunk.first[k]), to = static_cast<std::size_t>(chunk.first[k + 1]);
        const std::int32_t* label = chunk.label.data();
        sums.loss += chunk.weight[k] * (chunk.log_partition[k] - chain_score(batch, k, label + from));
        for (std::size_t t = from; data.variances && t + 1 < to; ++t) {
            const S* row = chunk.marginal.data() + t * L;
            add_pair_variances(row, row + L, L, chunk.weight[k], edge);
        }
        for (std::size_t t = from; t < to; ++t) {
            S* row = chunk.marginal.data() + t * L;
            const auto weight = static_cast<S>(chunk.weight[k]);
            if (data.variances)
                for (std::size_t y = 0; y < L; ++y) row[y] -= weight > 0 ? row[y] * row[y] / weight : S(0);
            else row[label[t]] -= weight;
            for (std::size_t y = 0; y < L; ++y) bias[y] += static_cast<double>(row[y]);
            if (t + 1 < to && !data.variances)
                edge[static_cast<std::size_t>(label[t]) * L + static_cast<std::size_t>(label[t + 1])] -=
                    chunk.weight[k];
        }
        const S *head = chunk.marginal.data() + from * L, *tail = chunk.marginal.data() + (to - 1) * L;
        for (std::size_t y = 0; y < L; ++y) start[y] += static_cast<double>(head[y]);
        for (std::size_t y = 0; y < L; ++y) end[y] += static_cast<double>(tail[y]);
    }
}

template <class S>
void run_chunk(const LinearChainData<S>& data, const LinearChainWeights<S>& weights, const PairedWeights<S>& paired,
               const S* base, Chunk<S>& chunk, Sums<S>& sums) {
    score_chunk(data, weights, paired, base, chunk);
    const ChainBatch<S> batch{chunk.sequence.size(),   chunk.label.size(), data.labels,  chunk.first.data(),
                              chunk.edge_first.data(), chunk.node.data(),  weights.edge, true};
    const MarginalsOut<S> out{chunk.weight.data(), chunk.log_partition.data(), chunk.marginal.data(), nullptr};
    double* edge = data.variances ? nullptr : sums.small.data() + 3 * data.labels;
    chain_marginals(batch, out, edge, Rounded::together);
    compare_chunk(data, batch, chunk, sums);
    // `rare` has no room for the pairs of frequent features, which come first.
    const PairedSums<S> into{paired.frequent,   paired.single,
                             paired.stride,     data.labels,
                             paired.first,      paired.label,
                             sums.table.row(0), sums.rare.row(0) - data.pairs.first[data.frequent]};
    const S* end = chunk.marginal.data() + chunk.marginal.size();
    SparseRows<S> x = data.x;
    if (data.variances) x.value = data.square;
    for (std::size_t k = 0; k < chunk.sequence.size(); ++k) {
        const std::size_t s = chunk.sequence[k];
        sparse_kernels<S>().linear_transposed(x, static_cast<std::size_t>(data.first[s]),
                                              static_cast<std::size_t>(data.first[s + 1]), into,
                                              chunk.marginal.data() +
                                                  static_cast<std::size_t>(chunk.first[k]) * data.labels,
                                              end);
    }
}

// Sequences that are not empty, by falling length, cut into chunks of similar size.
template <class S>
std::vector<std::size_t> cut(const LinearChainData<S>& data, std::vector<std::size_t>& chunk_first) {
    std::vector<std::size_t> order;
    std::size_t filled = kChunk;
    for (std::size_t k = 0; k < data.sequences; ++k) {
        const auto s = static_cast<std::size_t>(data.order[k]);
        if (data.first[s + 1] == data.first[s]) continue;
        if (filled >= kChunk) {
            chunk_first.push_back(order.size());
            filled = 0;
        }
        order.push_back(s);
        filled += static_cast<std::size_t>(data.first[s + 1] - data.first[s]);
    }
    chunk_first.push_back(order.size());
    return order;
}

// Adds the first few of some sums, in their order, to what is there; to `totals`, of the pairs of frequent
// features, in double.
template <class S>
void add_up(const LinearChainData<S>& data, const std::vector<Sums<S>>& sums, std::size_t count,
            std::vector<double>& totals, const LinearChainGradient<S>& out) {
    const std::int64_t* first = data.pairs.first;
    const double work = 0.3 * static_cast<double>(count) * static_cast<double>(first[data.x.columns]);
    for_each_range(data.frequent, 512, work, [&](std::size_t from, std::size_t to) {
        for (std::size_t f = from; f < to; ++f)
            for (std::int64_t p = first[f]; p < first[f + 1]; ++p)
                for (std::size_t b = 0; b < count; ++b)
                    totals[static_cast<std::size_t>(p)] +=
                        static_cast<double>(sums[b].table.row(f)[data.pairs.label[p]]);
    });
    const std::int64_t start = first[data.frequent];
    for_each_range(static_cast<std::size_t>(first[data.x.columns] - start), 16384, work,
                   [&](std::size_t from, std::size_t to) {
                       S* gradient = out.features + start;
                       for (std::size_t b = 0; b < count; ++b) {
                           const S* more = sums[b].rare.row(0);
                           for (std::size_t p = from; p < to; ++p) gradient[p] += more[p];
                       }
                   });
    const std::size_t L = data.labels;
    for (std::size_t b = 0; b < count; ++b) {
        const auto& block = sums[b];
        for (std::size_t k = 0; k < L; ++k) out.bias[k] += block.small[k];
        for (std::size_t k = 0; k < L; ++k) out.start[k] += block.small[L + k];
        for (std::size_t k = 0; k < L; ++k) out.end[k] += block.small[2 * L + k];
        for (std::size_t k = 0; k < L * L; ++k) out.edge[k] += block.small[3 * L + k];
    }
}

}  // namespace linear_chain_detail

// Returns the loss. The sums over labels, ends and edges are added to what is there.
template <class S>
double linear_chain(const LinearChainData<S>& data, const LinearChainWeights<S>& weights,
                    const LinearChainGradient<S>& gradient) {
    using namespace linear_chain_detail;
    const std::size_t L = data.labels, stride = padded(L, sparse_kernels<S>().width);
    const WeightTable<S> table(data.frequent + 1, stride);  // and the bias, behind
    table.clear(0, data.frequent + 1);
    for (std::size_t f = 0; f < data.frequent; ++f)
        for (std::int64_t p = data.pairs.first[f]; p < data.pairs.first[f + 1]; ++p)
            table.row(f)[data.pairs.label[p]] = weights.features[p];
    std::copy(weights.bias, weights.bias + L, table.row(data.frequent));
    const PairedWeights<S> paired{data.frequent,    data.single,      stride,       L,
                                  data.pairs.first, data.pairs.label, table.row(0), weights.features};

    std::vector<std::size_t> chunk_first;
    const std::vector<std::size_t> order = cut(data, chunk_first);
    const std::size_t chunks = chunk_first.size() - 1;
    // As many blocks as keep their sums small beside the data; a power of two, so that two or four threads
    // have as many each.
    const auto pairs = static_cast<std::size_t>(data.pairs.first[data.x.columns]);
    const std::size_t share =
        static_cast<std::size_t>(data.x.first[data.x.rows]) / (data.frequent * stride + pairs + 1);
    const std::size_t blocks =
        std::max<std::size_t>(std::min<std::size_t>(std::clamp<std::size_t>(std::bit_floor(share), 4, 32), chunks), 1);
    const double work = static_cast<double>(data.x.first[data.x.rows]) * static_cast<double>(stride);
    const int threads = threads_for(work);
    // As many at a time as there are threads: sums take more memory than anything else here.
    const std::size_t most = std::min(blocks, static_cast<std::size_t>(std::max(threads, 1)));
    std::vector<Sums<S>> sums;
    sums.reserve(most);
    for (std::size_t b = 0; b < most; ++b) sums.emplace_back(data, stride);
    std::vector<double> totals(static_cast<std::size_t>(data.pairs.first[data.frequent]));
    std::fill(gradient.features, gradient.features + pairs, S(0));
    double loss = 0;
    for (std::size_t start = 0; start < blocks; start += most) {
        const std::size_t count = std::min(most, blocks - start);
        for_each_block(count, threads, [&](std::size_t b, std::size_t) {
            sums[b].clear(data.frequent);
            Chunk<S> chunk;
            for (std::size_t c = start + b; c < chunks; c += blocks) {
                chunk.fill(data, order.data() + chunk_first[c], order.data() + chunk_first[c + 1]);
                run_chunk(data, weights, paired, table.row(data.frequent), chunk, sums[b]);
            }
        });
        add_up(data, sums, count, totals, gradient);
        for (std::size_t b = 0; b < count; ++b) loss += sums[b].loss;
    }
    std::transform(totals.begin(), totals.end(), gradient.features, [](double total) { return static_cast<S>(total); });
    return loss;
}

}  // namespace kernelfields
