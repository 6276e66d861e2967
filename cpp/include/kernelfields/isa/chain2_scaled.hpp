// Forward-backward of second-order chains by scaled recursions, edge scores shared by all positions.
//
//   alpha_t(j, k)    = F_t(j, k) sum_i alpha_{t-1}(i, j) T(i, j, k) / c_t     F_t(j, k) = exp(edge(j, k) + node_t(k))
//   beta_{t-1}(i, j) = sum_k T(i, j, k) v_t(j, k)                             v_t = F_t beta_t, scaled to sum one
//   mu_t(i, j, k)    = alpha_{t-1}(i, j) T(i, j, k) v_t(j, k) / n_t           n_t = <alpha_{t-1}, beta_{t-1}>
//
// alpha_0 is over single labels, and there is no triple before y_2. Vectors are over the last label forwards and over
// the label in the middle backwards: there v is kept transposed, and sums of triples are products of whole vectors.
#pragma once

#include "chain2_tables.hpp"
#include "transpose.hpp"

namespace kernelfields {
namespace {

// Calls f(Count<n>, first) for 1 to 4 vectors at a time.
template <class F> KF_INLINE void in_fours(std::size_t vectors, F f) {
    std::size_t at = 0;
    for (; at + 4 <= vectors; at += 4) f(Count<4>{}, at);
    if (at < vectors) with_rows(vectors - at, [&](auto n) { f(n, at); });
}

// One sequence at a time; sums are those of a group.
struct Chain2Room {
    static constexpr std::size_t kSlots = 4;  // positions whose sums of triples are added together
    std::size_t labels, stride, square;       // square: of padded rows
    double *factor, *alpha, *beta, *triples, *pairs;
    double *share[kSlots], *into[kSlots];  // alpha_{t-1} weight / n, v_t transposed

    KF_INLINE Chain2Room(Arena& arena, std::size_t L, std::size_t longest)
        : labels(L), stride(padded(L, kWidth<double>)), square(L * stride) {
        factor = take<double>(arena, longest * stride);
        alpha = take<double>(arena, longest * square);
        beta = take<double>(arena, square);
        pairs = take<double>(arena, square);
        triples = take<double>(arena, L * square);
        for (std::size_t k = 0; k < kSlots; ++k) {
            share[k] = take<double>(arena, square);
            into[k] = take<double>(arena, square);
            std::memset(into[k], 0, square * sizeof(double));  // padding stays zero
        }
        std::memset(pairs, 0, square * sizeof(double));
        std::memset(triples, 0, L * square * sizeof(double));
    }
};

inline std::size_t chain2_bytes(std::size_t L, std::size_t longest) {
    const std::size_t stride = padded(L, kWidth<double>), square = L * stride;
    const std::size_t numbers = longest * (stride + square) + (2 + L + 2 * Chain2Room::kSlots) * square;
    return numbers * sizeof(double) + (5 + 2 * Chain2Room::kSlots) * kPiece;
}

// alpha_t before scaling, and its sum.
KF_INLINE double chain2_step(const Chain2Tables& tables, const Chain2Room& room, std::size_t t) {
    constexpr std::size_t W = kWidth<double>;
    const std::size_t L = room.labels, stride = room.stride;
    const double *from = room.alpha + (t - 1) * room.square, *factor = room.factor + t * stride;
    double* to = room.alpha + t * room.square;
    Vec<double> total{};
    for (std::size_t j = 0; j < L; ++j)
        in_fours(stride / W, [&](auto count, std::size_t at) {
            constexpr int n = decltype(count)::value;
            Vec<double> sums[n] = {};
            const double* row = tables.forward + j * stride + at * W;
            if (t == 1) {
                for (int v = 0; v < n; ++v) sums[v] = broadcast(from[j]);
            } else
                for (std::size_t i = 0; i < L; ++i, row += room.square)
                    for (int v = 0; v < n; ++v) sums[v] += load(row + v * W) * from[i * stride + j];
            for (int v = 0; v < n; ++v) {
                const std::size_t k = (at + v) * W;
                sums[v] *= load(tables.edge + j * stride + k) * load(factor + k);
                total += sums[v];
                store(to + j * stride + k, sums[v]);
            }
        });
    return sum<double>(total);
}

// All forward messages; false if something positive came close to underflow, or nothing is left.
KF_INLINE bool chain2_forward(const Chain2Tables& tables, const Chain2Room& room, std::size_t length, bool watch,
                              LongProduct& scale) {
    const auto states = static_cast<double>(room.labels * room.labels);
    const double threshold = __builtin_exp(-kRange<double>) / (2 * states);
    Bits<double> low{};
    for (std::size_t t = 0; t < length; ++t) {
        const std::size_t size = t ? room.square : room.stride;
        double *here = room.alpha + t * room.square, total = 0;
        if (t > 0) total = chain2_step(tables, room, t);
        else
            for (std::size_t k = 0; k < size; ++k) total += here[k] = k < room.labels ? room.factor[k] : 0;
        if (!(total > 0)) return false;
        const double inverse = 1 / total;
        for (std::size_t k = 0; k < size; k += kWidth<double>) {
            const Vec<double> value = load(here + k) * inverse;
            if (watch) low |= (value > 0) & (value < threshold);
            store(here + k, value);
        }
        scale.times(total);
    }
    return !watch || !any<double>(low);
}

// <alpha_t, beta_t>, and the sum of beta_t.
struct Chain2Sums {
    double meet, beta;
};

// beta_{t-1} where alpha_{t-1} has reached, from v_t transposed.
KF_INLINE Chain2Sums chain2_back(const Chain2Tables& tables, const Chain2Room& room, const double* alpha,
                                 const double* into) {
    constexpr std::size_t W = kWidth<double>;
    const std::size_t L = room.labels, stride = room.stride;
    Vec<double> meet{}, total{};
    for (std::size_t i = 0; i < L; ++i)
        in_fours(stride / W, [&](auto count, std::size_t at) {
            constexpr int n = decltype(count)::value;
            Vec<double> sums[n] = {};
            const double *row = tables.backward + i * room.square + at * W, *right = into + at * W;
            for (std::size_t k = 0; k < L; ++k, row += stride, right += stride)
                for (int v = 0; v < n; ++v) sums[v] += load(row + v * W) * load(right + v * W);
            for (int v = 0; v < n; ++v) {
                const std::size_t cell = i * stride + (at + v) * W;
                const Vec<double> here = load(alpha + cell), value = here > 0 ? sums[v] : Vec<double>{};
                meet += here * value;
                total += value;
                store(room.beta + cell, value);
            }
        });
    return {sum<double>(meet), sum<double>(total)};
}

// beta at the last position: ones where alpha has reached.
KF_INLINE Chain2Sums chain2_end(const Chain2Room& room, const double* alpha) {
    Vec<double> total{};
    for (std::size_t k = 0; k < room.square; k += kWidth<double>) {
        const Vec<double> value = load(alpha + k) > 0 ? broadcast(1.0) : Vec<double>{};
        total += value;
        store(room.beta + k, value);
    }
    return {1, sum<double>(total)};
}

// triples(i, k, .) += sum over slots of share(i, .) into(k, .)
KF_INLINE void add_triples(const Chain2Room& room, std::size_t slots) {
    constexpr std::size_t W = kWidth<double>;
    for (std::size_t i = 0; slots > 0 && i < room.labels; ++i)
        for (std::size_t at = 0; at < room.stride; at += W)
            with_rows(slots, [&](auto count) {
                constexpr int n = decltype(count)::value;
                Vec<double> left[n];
                for (int s = 0; s < n; ++s) left[s] = load(room.share[s] + i * room.stride + at);
                for (std::size_t k = 0; k < room.labels; ++k) {
                    double* cell = room.triples + i * room.square + k * room.stride + at;
                    Vec<double> total = load(cell);
                    for (int s = 0; s < n; ++s) total += left[s] * load(room.into[s] + k * room.stride + at);
                    store(cell, total);
                }
            });
}

// Marginals of the pair that ends at t, to nodes and sums of pairs; alpha times `scale` into `share`.
template <class S>
KF_INLINE void chain2_pairs(const Chain2Room& room, std::size_t t, double scale, double* share, S* node) {
    constexpr std::size_t W = kWidth<double>;
    const double* alpha = room.alpha + t * room.square;
    for (std::size_t at = 0; at < room.stride; at += W) {
        Vec<double> column{};
        for (std::size_t i = 0; i < room.labels; ++i) {
            const std::size_t cell = i * room.stride + at;
            const Vec<double> left = load(alpha + cell) * scale, pair = left * load(room.beta + cell);
            store(share + cell, left);
            store(room.pairs + cell, load(room.pairs + cell) + pair);
            column += pair;
        }
        for (std::size_t k = 0; k < W && at + k < room.labels; ++k) node[at + k] = static_cast<S>(column[k]);
    }
}

// v_t transposed, over the sum of beta_t.
KF_INLINE void chain2_into(const Chain2Tables& tables, const Chain2Room& room, std::size_t t, double total,
                           double* into) {
    constexpr std::size_t W = kWidth<double>;
    const std::size_t L = room.labels, stride = room.stride;
    const double inverse = 1 / total;
    // Numbers stored one by one could not be loaded together at once: blocks are turned about in registers.
    for (std::size_t from = 0; from < L; from += W)
        for (std::size_t at = 0; at < stride; at += W) {
            Vec<double> block[W] = {};
            const Vec<double> factor = load(room.factor + t * stride + at) * inverse;
            for (std::size_t r = 0; r < W && from + r < L; ++r) {
                const std::size_t cell = (from + r) * stride + at;
                block[r] = load(room.beta + cell) * load(tables.edge + cell) * factor;
            }
            transpose(block);
            for (std::size_t k = 0; k < W && at + k < L; ++k) store(into + (at + k) * stride + from, block[k]);
        }
}

// Marginals of the first label, from v_1 transposed.
template <class S> KF_INLINE void chain2_first(const Chain2Room& room, const double* into, double weight, S* node) {
    double meet = 0;
    for (std::size_t j = 0; j < room.labels; ++j) {
        double value = into ? 0 : 1;
        for (std::size_t k = 0; into && k < room.labels; ++k) value += into[k * room.stride + j];
        meet += room.beta[j] = room.alpha[j] * value;
    }
    for (std::size_t j = 0; j < room.labels; ++j) node[j] = static_cast<S>(room.beta[j] * weight / meet);
}

template <class S>
KF_INLINE void chain2_backward(const Chain2Tables& tables, const Chain2Room& room, std::size_t length, double weight,
                               S* node) {
    const std::size_t L = room.labels;
    std::size_t slot = 0;
    for (std::size_t t = length; t-- > 1;) {
        const double* alpha = room.alpha + t * room.square;
        const Chain2Sums sums =
            t + 1 < length ? chain2_back(tables, room, alpha, room.into[slot]) : chain2_end(room, alpha);
        chain2_pairs<S>(room, t, weight / sums.meet, room.share[slot], node + t * L);
        // The last position has a share of nothing: its slot is used again.
        if (t + 1 < length && ++slot == Chain2Room::kSlots) {
            add_triples(room, slot);
            slot = 0;
        }
        chain2_into(tables, room, t, sums.beta, room.into[slot]);
    }
    add_triples(room, slot);
    chain2_first<S>(room, length > 1 ? room.into[slot] : nullptr, weight, node);
}

KF_INLINE void flush_triples(const Chain2Tables& tables, const Chain2Room& room, double* sums) {
    const std::size_t L = room.labels, stride = room.stride;
    for (std::size_t i = 0; i < L; ++i)
        for (std::size_t j = 0; j < L; ++j) {
            const double* row = tables.forward + (i * L + j) * stride;
            for (std::size_t k = 0; k < L; ++k)
                sums[(i * L + j) * L + k] += room.triples[i * room.square + k * stride + j] * row[k];
            sums[L * L * L + i * L + j] += room.pairs[i * stride + j];
        }
}

template <class S>
void chain2_marginals_of(const Chain2Batch<S>& batch, const Chain2Tables& tables, Group group,
                         const MarginalsOut<S>& out, double* sums, Arena arena, Outcome* outcome) {
    const ChainBatch<S>& chain = batch.chain;
    if (!(tables.range <= kRange<double>)) return;
    const Chain2Room room(arena, chain.labels, chain.length(group.sequence[0]));
    for (std::size_t g = 0; g < group.count; ++g) {
        const std::size_t s = group.sequence[g], length = chain.length(s);
        const auto first = static_cast<std::size_t>(chain.first[s]);
        Row<double> row{s, length, 0, room.factor, room.alpha, {}};
        bool watch = tables.forbids;
        LongProduct scale;
        if (!prepare_row<S, double, 0>(chain, tables.range, row, room.stride, outcome[s], watch) ||
            !chain2_forward(tables, room, length, watch, scale))
            continue;
        out.log_partition[s] = scale.log() + row.largest +
                               (length > 1 ? static_cast<double>(length - 1) * tables.largest_edge : 0) +
                               (length > 2 ? static_cast<double>(length - 2) * tables.largest_triple : 0);
        outcome[s] = Outcome::done;
        if (out.node)
            chain2_backward<S>(tables, room, length, out.weight ? out.weight[s] : 1.0, out.node + first * chain.labels);
    }
    if (out.node) flush_triples(tables, room, sums);
}

}  // namespace
}  // namespace kernelfields
