// The sequences of a group, made ready for the scaled recursions.
#pragma once

#include "../structures/chain_kernels.hpp"
#include "products.hpp"

namespace kernelfields {
namespace {

// Scaled recursions work with exp(score - largest score) and messages that sum to one. Neighbouring
// messages differ by at most exp(range of node + range of edge), so nothing that counts underflows
// while that range is below kRange. With -inf entries messages may drift apart step by step; there
// the forward pass watches for one that falls below exp(-kRange)/(2L), and gives up before anything
// is lost.
template <class C> constexpr double kRange = 0;
template <> constexpr double kRange<double> = 340;
template <> constexpr double kRange<float> = 38;

template <class C> struct Row {
    std::size_t sequence, length;
    double largest;  // sum over positions of the largest node score
    C* factor;       // exp(node - largest), length x stride
    C* alpha;        // forward messages, each summing to one
    Bits<C> low;     // set where a forward message came close to underflow

    KF_INLINE bool lost() const { return any<C>(low); }
};

template <class C> struct Rows {
    Row<C> row[kRows];
    std::size_t count = 0, labels, stride;
    bool watch;  // whether any score is -inf

    // Sequences are sorted longest first: those longer than t are the first ones.
    KF_INLINE std::size_t longer_than(std::size_t t) const {
        std::size_t n = count;
        while (n > 0 && row[n - 1].length <= t) --n;
        return n;
    }
    KF_INLINE void drop_lost() {
        std::size_t kept = 0;
        for (std::size_t r = 0; r < count; ++r)
            if (!row[r].lost()) row[kept++] = row[r];
        count = kept;
    }
};

// Numbers k, k+1, ... of a row of L scores, in the type of computation, and `fill` beyond the end.
template <class S, class C>
KF_INLINE Vec<C> load_scores(const S* p, std::size_t k, std::size_t L, const S* end, C fill = -kInfinity<C>) {
    if constexpr (sizeof(S) == sizeof(C)) {
        return load_first<C>(p + k, L - k, end, fill);
    } else {
        Vec<C> v = broadcast(fill);
        for (std::size_t i = 0; i < kWidth<C> && k + i < L; ++i) v[i] = static_cast<C>(p[k + i]);
        return v;
    }
}

struct Scan {
    double largest, range;  // range over the finite entries
    bool finite;            // neither NaN nor +inf anywhere
    bool forbids;           // -inf somewhere
};

// Largest score and range of `rows` rows of L scores.
template <class S, class C> KF_INLINE Scan scan(const S* p, std::size_t rows, std::size_t L, const S* end) {
    Vec<C> high = broadcast(-kInfinity<C>), low = broadcast(kInfinity<C>);
    Bits<C> good = ~Bits<C>{}, forbidden{};
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t k = 0; k < L; k += kWidth<C>) {
            const Vec<C> x = load_scores<S, C>(p + i * L, k, L, end, static_cast<C>(p[i * L]));
            forbidden |= x == -kInfinity<C>;
            high = maximum<C>(high, x);
            low = minimum<C>(low, x == -kInfinity<C> ? broadcast(kInfinity<C>) : x);
            good &= x <= std::numeric_limits<C>::max();
        }
    const double largest_score = static_cast<double>(largest<C>(high));
    const double smallest_score = -static_cast<double>(largest<C>(-low));
    return {largest_score, largest_score - smallest_score, !any<C>(~good), any<C>(forbidden)};
}

// factor[k] = exp(score[k] - largest), zeros in the padding.
template <class S, class C>
KF_INLINE void exponentiate(const S* p, std::size_t L, const S* end, double largest, C* factor) {
    for (std::size_t k = 0; k < L; k += kWidth<C>)
        store(factor + k, exp<C>(load_scores<S, C>(p, k, L, end) - static_cast<C>(largest)));
}

template <class S, class C> void prepare_edges(const S* edge, std::size_t L, SharedEdges<C>& out) {
    const std::size_t stride = padded(L, kWidth<C>);
    const Scan range = scan<S, C>(edge, L, L, edge + L * L);
    // Where all pairs are forbidden, sequences of one position remain: their zero counts of pairs are multiplied
    // by this table, which must not hold exp(-inf + inf).
    out.largest = range.largest >= -std::numeric_limits<double>::max() ? range.largest : 0.0;
    out.range = range.finite ? range.range : std::numeric_limits<double>::quiet_NaN();
    out.forbids = range.forbids;
    for (std::size_t i = 0; i < L; ++i)
        exponentiate<S, C>(edge + i * L, L, edge + L * L, out.largest, out.forward + i * stride);
    for (std::size_t i = 0; i < L; ++i)
        for (std::size_t j = 0; j < stride; ++j)
            out.backward[i * stride + j] = j < L ? out.forward[j * stride + i] : C(0);
}

// Whether the scaled recursion in C can hold the scores of a sequence: the slow, exact answer.
template <class S, class C>
inline bool holds(const ChainBatch<S>& batch, double edge_range, std::size_t s, Outcome& outcome) {
    const std::size_t L = batch.labels;
    const S* scores = batch.node + static_cast<std::size_t>(batch.first[s]) * L;
    bool narrow = true;
    for (std::size_t t = 0; t < batch.length(s); ++t, scores += L) {
        const Scan node = scan<S, C>(scores, 1, L, batch.node + batch.positions * L);
        if (!node.finite) outcome = Outcome::not_finite;
        narrow = narrow && node.finite && node.range + edge_range <= kRange<C>;
    }
    return narrow;
}

// Fills in the factors of one sequence (any finite numbers in the padding); false if the scaled
// recursion cannot hold its scores. The loop adds up all scores and keeps the lowest: if both are
// harmless, so is every score; only if not, `holds` looks closer.
template <class S, class C, int V>
KF_INLINE bool prepare_row(const ChainBatch<S>& batch, double edge_range, Row<C>& row, std::size_t stride,
                           Outcome& outcome, bool& watch) {
    const std::size_t L = batch.labels, vectors = V ? V : stride / kWidth<C>;
    const S* scores = batch.node + static_cast<std::size_t>(batch.first[row.sequence]) * L;
    const S* end = batch.node + batch.positions * L;
    Vec<C> lowest{}, total{};
    double sum_of_largest = 0;
    C* factor = row.factor;
    for (std::size_t t = 0; t < row.length; ++t, scores += L, factor += stride) {
        C* const here[1] = {factor};
        Held<C, 1, V> x(here);
        Vec<C> high = broadcast(-kInfinity<C>);
        for (std::size_t v = 0; v < vectors; ++v) {
            const Vec<C> score = load_scores<S, C>(scores, v * kWidth<C>, L, end, static_cast<C>(scores[0]));
            total += score;
            high = maximum<C>(score, high);
            x.set(0, v, score);
        }
        const C top = largest<C>(high);
        sum_of_largest += static_cast<double>(top);
        for (std::size_t v = 0; v < vectors; ++v) {
            const Vec<C> shifted = x.get(0, v) - top;
            lowest = minimum<C>(shifted, lowest);
            store(factor + v * kWidth<C>, exp<C>(shifted));
        }
    }
    row.largest = sum_of_largest;
    const C all = sum<C>(total);
    if (all - all == 0 && -largest<C>(-lowest) + kRange<C> >= edge_range) return true;
    watch = true;
    return edge_range <= kRange<C> && holds<S, C>(batch, edge_range, row.sequence, outcome);
}

// Rows of a group whose scores the scaled recursion in C can hold.
template <class S, class C>
KF_INLINE Rows<C> prepare_rows(const ChainBatch<S>& batch, double edge_range, bool edges_forbid, Group group,
                               Arena& arena, Outcome* outcome) {
    Rows<C> rows;
    rows.watch = edges_forbid;
    rows.labels = batch.labels;
    rows.stride = padded(batch.labels, kWidth<C>);
    for (std::size_t g = 0; g < group.count; ++g) {
        const std::size_t s = group.sequence[g];
        const std::size_t size = batch.length(s) * rows.stride;
        Row<C> row{s, batch.length(s), 0, take<C>(arena, size), take<C>(arena, size), {}};
        with_vectors(rows.stride / kWidth<C>, [&](auto V) {
            if (prepare_row<S, C, V.value>(batch, edge_range, row, rows.stride, outcome[s], rows.watch))
                rows.row[rows.count++] = row;
        });
    }
    return rows;
}

// A product of many factors, kept in range by moving powers of two aside.
struct LongProduct {
    double mantissa = 1;
    std::int64_t exponent = 0;

    KF_INLINE void times(double factor) {
        mantissa *= factor;
        std::int64_t bits;
        std::memcpy(&bits, &mantissa, sizeof bits);
        exponent += ((bits >> 52) & 0x7ff) - 1023;
        bits = (bits & ~(std::int64_t{0x7ff} << 52)) | (std::int64_t{1023} << 52);
        std::memcpy(&mantissa, &bits, sizeof bits);
    }
    double log() const { return __builtin_log(mantissa) + static_cast<double>(exponent) * 0.69314718055994530942; }
};

}  // namespace
}  // namespace kernelfields
