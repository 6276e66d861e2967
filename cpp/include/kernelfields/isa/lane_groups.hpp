// Stretches of sequences side by side: one in every lane of a few vectors.
#pragma once

#include "chain_rows.hpp"
#include "transpose.hpp"

namespace kernelfields {
namespace {

// Vectors of sequences in flight: a single narrow one would wait for its own sums, a second wide one would only take
// room in the cache.
constexpr std::size_t kSets = KF_VECTOR_BYTES == 64 ? 1 : 2;
template <class S> constexpr std::size_t kLanes = kSets * kWidth<S>;

// Calls f with the number of labels as a constant, 2 to kFewLabels; leaves it where there is no such constant.
template <class F> KF_INLINE void with_few_labels(std::size_t labels, F f) {
    static_assert(kFewLabels == 10);
    switch (labels) {
        case 2: return f(Count<2>{});
        case 3: return f(Count<3>{});
        case 4: return f(Count<4>{});
        case 5: return f(Count<5>{});
        case 6: return f(Count<6>{});
        case 7: return f(Count<7>{});
        case 8: return f(Count<8>{});
        case 9: return f(Count<9>{});
        case 10: return f(Count<10>{});
        default: return;
    }
}

// The stretches of a group. Lanes beyond the last one are empty. Positions are worked on in steps of a vector's width:
// so many numbers of one sequence, and then of the next, are read, and turned about in registers.
template <class S> struct LaneGroup {
    static constexpr std::size_t kCount = kLanes<S>;
    std::size_t labels, count, longest = 0;  // labels; stretches, and their positions
    bool weighted = false;                   // whether some weight is not 1
    std::size_t from, to;                    // positions that are alike in all lanes
    const S* node[kCount];
    const S* end;                                                            // of all node scores
    std::size_t begin[kCount];                                               // of each stretch, in the batch
    std::size_t length[kCount] = {}, first[kCount] = {}, last[kCount] = {};  // positions; those that count
    S lengths[kCount] = {}, firsts[kCount] = {}, lasts[kCount] = {}, weights[kCount] = {};

    // `lanes`: how many of them are looked at.
    KF_INLINE LaneGroup(const ChainBatch<S>& batch, const Stretch* stretch, std::size_t stretches, const double* weight,
                        std::size_t lanes = kCount)
        : labels(batch.labels), count(stretches), end(batch.node + batch.positions * batch.labels) {
        from = count == lanes ? 0 : std::size_t(-1);
        to = std::size_t(-1);
        for (std::size_t r = 0; r < kCount; ++r) {
            node[r] = batch.node;
            begin[r] = 0;
            if (r >= count) continue;
            const Stretch& one = stretch[r];
            begin[r] = one.begin;
            node[r] += one.begin * labels;
            lengths[r] = static_cast<S>(length[r] = one.length);
            firsts[r] = static_cast<S>(first[r] = one.from);
            lasts[r] = static_cast<S>(last[r] = one.to);
            weights[r] = static_cast<S>(weight ? weight[one.sequence] : 1.0);
            weighted = weighted || weights[r] != 1;
            longest = longest > one.length ? longest : one.length;
            // Neither the position where a piece meets the one before is like the others, nor the last one of a
            // sequence, which has no edge to the right.
            const std::size_t outer = one.from > 0 ? one.from + 1 : 0;
            from = from > outer ? from : outer;
            const std::size_t inner = one.to < one.length ? one.to : one.length - 1;
            to = to < inner ? to : inner;
        }
    }
    // Whether `steps` positions from t on count, and go on to the right, in all lanes.
    KF_INLINE bool plain(std::size_t t, std::size_t steps) const { return t >= from && t + steps <= to; }
};

// What depends little on the number of labels is compiled once for all of them, and not into every caller.
#define KF_ONCE __attribute__((noinline))

// Memory is asked for so many tiles before it is needed: there are more streams than the processor follows by itself.
template <class S> constexpr std::size_t kTilesAhead = 1;

// `steps` positions from t on of one set of lanes: scores[position * L + label]. Zeros beyond the end of a stretch.
template <class S>
KF_ONCE void load_lanes(const LaneGroup<S>& lanes, std::size_t set, std::size_t t, std::size_t steps, Vec<S>* scores) {
    constexpr std::size_t W = kWidth<S>;
    const std::size_t L = lanes.labels;
    const S* const* row = lanes.node + set * W;
    const auto each_block = [&](auto read) {
        for (std::size_t k = 0, at = t * L; k < steps * L; k += W, at += W) {
            Vec<S> block[W];
            KF_UNROLL
            for (std::size_t r = 0; r < W; ++r) {
                __builtin_prefetch(row[r] + at + kTilesAhead<S> * W * L);
                block[r] = read(r, at);
            }
            transpose(block);
            KF_UNROLL
            for (std::size_t r = 0; r < W; ++r) scores[k + r] = block[r];
        }
    };
    if (steps == W && lanes.plain(t, steps))
        return each_block([&](std::size_t r, std::size_t at) { return load(row[r] + at); });
    each_block([&](std::size_t r, std::size_t at) {
        const std::size_t size = lanes.length[set * W + r] * L;
        return at < size ? load_first<S>(row[r] + at, size - at, lanes.end, S(0)) : Vec<S>{};
    });
}

// The reverse: values of positions that count, to the places of their sequences in `out`.
template <class S>
KF_ONCE void store_lanes(const LaneGroup<S>& lanes, std::size_t set, std::size_t t, std::size_t steps,
                         const Vec<S>* values, S* out) {
    constexpr std::size_t W = kWidth<S>;
    const std::size_t L = lanes.labels;
    const std::size_t* begin = lanes.begin + set * W;
    const auto each_block = [&](auto write) {
        for (std::size_t k = 0, at = t * L; k < steps * L; k += W, at += W) {
            Vec<S> block[W];
            KF_UNROLL
            for (std::size_t r = 0; r < W; ++r) block[r] = values[k + r];
            transpose(block);
            KF_UNROLL
            for (std::size_t r = 0; r < W; ++r) {
                S* place = out + begin[r] * L + at;
                __builtin_prefetch(place - kTilesAhead<S> * W * L, 1);
                write(r, at, place, block[r]);
            }
        }
    };
    if (steps == W && lanes.plain(t, steps))
        return each_block([&](std::size_t, std::size_t, S* place, Vec<S> here) { store(place, here); });
    each_block([&](std::size_t r, std::size_t at, S* place, Vec<S> here) {
        const std::size_t lane = set * W + r, low = lanes.first[lane] * L, high = lanes.last[lane] * L;
        if (at >= low && at + W <= high) return store(place, here);
        for (std::size_t i = 0; i < W; ++i)
            if (at + i >= low && at + i < high) place[i] = here[i];
    });
}

}  // namespace
}  // namespace kernelfields
