// Forward-backward where few label pairs are allowed: those that are not are never looked at.
//
// The recursions of chain_lanes.hpp, one sequence in every lane of a vector, any number of labels, sums over the
// allowed pairs alone:
//
//   alpha_t(j) = 2^-n_t b_t(j) sum_{i -> j} alpha_{t-1}(i) A(i, j)      n_t from the exponent of the sum, every time
//   beta_t(i) = sum_{i -> j} A(i, j) b_{t+1}(j) beta_{t+1}(j) / m_t     m_t makes <alpha_t, beta_t> one
//
// Vectors over labels could not leave out single pairs. Where something is forbidden, messages may drift apart step by
// step, so that small entries are watched; and labels that no path reaches take no part in the backward pass, where
// they could outgrow all others.
#pragma once

#include "lane_messages.hpp"

namespace kernelfields {
namespace {

// Messages of the lanes, position by position, label by label.
template <class S> struct AllowedMessages {
    Vec<S>*factor, *alpha;  // exp(node - largest), zero where forbidden; forward messages
    // Of the positions of a tile. The first two label by label, as they are read again for every pair.
    Vec<S>*into, *share;  // b_{t+1} beta_{t+1} / m_t, and alpha_t where the edge counts
    Vec<S>* marginal;
    Vec<S>* value;  // of one position
    S* pair;        // sums of allowed pairs, lane by lane

    KF_INLINE AllowedMessages(Arena& arena, std::size_t labels, std::size_t pairs, std::size_t longest) {
        const std::size_t W = kWidth<S>, all = padded(longest, W) * labels;
        factor = take<Vec<S>>(arena, all);
        alpha = take<Vec<S>>(arena, all);
        into = take<Vec<S>>(arena, W * labels);
        share = take<Vec<S>>(arena, W * labels);
        marginal = take<Vec<S>>(arena, W * labels);
        value = take<Vec<S>>(arena, labels);
        pair = take<S>(arena, pairs * W);
    }
};

template <class S> std::size_t allowed_bytes(std::size_t labels, std::size_t pairs, std::size_t longest) {
    const std::size_t W = kWidth<S>;
    return ((2 * padded(longest, W) + 3 * W + 1) * labels + pairs) * sizeof(Vec<S>) + 7 * kPiece;
}

// What is known of the scores of the lanes so far.
template <class S> struct AllowedScan {
    Vec<S> lowest{}, tops{};
    Bits<S> good = ~Bits<S>{};
    double largest[kWidth<S>] = {};  // sums of the largest score

    KF_INLINE void flush() {
        for (std::size_t r = 0; r < kWidth<S>; ++r) largest[r] += static_cast<double>(tops[r]);
        tops = Vec<S>{};
    }
};

// Scores of some positions, in place, to exp(score - largest).
template <class S>
KF_INLINE void allowed_factors(const LaneGroup<S>& lanes, std::size_t t, std::size_t steps, Vec<S>* x,
                               AllowedScan<S>& scan) {
    const std::size_t L = lanes.labels;
    const Vec<S> lengths = load(lanes.lengths);
    for (std::size_t k = 0; k < steps; ++k, x += L) {
        Vec<S> top = x[0];
        for (std::size_t j = 1; j < L; ++j) top = maximum<S>(x[j], top);
        scan.tops += lengths > broadcast(static_cast<S>(t + k)) ? top : Vec<S>{};
        scan.good &= top > -kInfinity<S>;
        for (std::size_t j = 0; j < L; ++j) {
            const Vec<S> shifted = x[j] - top;
            scan.good &= x[j] <= std::numeric_limits<S>::max();
            scan.lowest = (shifted < scan.lowest) & (shifted > -kInfinity<S>) ? shifted : scan.lowest;
            x[j] = exp<S>(shifted);
        }
    }
}

// The sum over the entries of a row, from[label] * value; two sums, so that none waits for the other.
template <class S> KF_INLINE Vec<S> allowed_sum(const Vec<S>* from, const AllowedRows<S>& rows, std::size_t row) {
    Vec<S> even{}, odd{};
    const std::uint32_t end = rows.first[row + 1];
    std::uint32_t k = rows.first[row];
    for (; k + 2 <= end; k += 2) {
        even += from[rows.label[k]] * rows.value[k];
        odd += from[rows.label[k + 1]] * rows.value[k + 1];
    }
    if (k < end) even += from[rows.label[k]] * rows.value[k];
    return even + odd;
}

// Where the forward pass of the lanes is.
template <class S> struct AllowedForward {
    Bits<S> exponent{}, lost{};
    Vec<S> lengths;
    S threshold;
    double log_sum[kWidth<S>] = {};  // at the last position of each
};

// One step forward; `from` is null at the first position.
template <class S>
KF_INLINE void allowed_forward(const AllowedPairs<S>& pairs, const Vec<S>* from, const Vec<S>* factor, Vec<S>* to,
                               std::size_t t, AllowedForward<S>& state) {
    const std::size_t L = pairs.labels;
    Vec<S> total{};
    for (std::size_t r = 0; r < L; ++r) {
        const std::uint32_t j = pairs.in.row[r];
        to[j] = from ? allowed_sum<S>(from, pairs.in, r) * factor[j] : factor[j];
        total += to[j];
    }
    const Bits<S> power = PowerOfTwo<S>::exponent(total), here = state.lengths > broadcast(static_cast<S>(t));
    const Vec<S> inverse = PowerOfTwo<S>::inverse(power);
    state.exponent += power;
    Bits<S> low = ~(total > 0);
    for (std::size_t j = 0; j < L; ++j) {
        to[j] *= inverse;
        low |= (to[j] > 0) & (to[j] < state.threshold);
    }
    state.lost |= low & here;
    total *= inverse;
    for (std::size_t r = 0; r < kWidth<S>; ++r)
        if (state.lengths[r] == static_cast<S>(t + 1))
            state.log_sum[r] = __builtin_log(static_cast<double>(total[r])) +
                               static_cast<double>(state.exponent[r]) * 0.69314718055994530942;
}

// One step back, the k-th of its tile. `value` holds b_{t+1} beta_{t+1} and becomes b_t beta_t.
template <class S>
KF_INLINE void allowed_backward(const LaneGroup<S>& lanes, const AllowedPairs<S>& pairs, std::size_t t,
                                const AllowedMessages<S>& messages) {
    const std::size_t L = pairs.labels, k = t % kWidth<S>;
    const Vec<S>*alpha = messages.alpha + t * L, *factor = messages.factor + t * L;
    Vec<S>* marginal = messages.marginal + k * L;
    const Bits<S> ends = load(lanes.lengths) <= broadcast(static_cast<S>(t + 1));
    Vec<S> meet{};
    for (std::size_t r = 0; r < L; ++r) {
        const std::uint32_t i = pairs.out.row[r];
        const Vec<S> sum = allowed_sum<S>(messages.value, pairs.out, r);
        marginal[i] = alpha[i] > 0 ? (ends ? broadcast(S(1)) : sum) : Vec<S>{};
        meet += alpha[i] * marginal[i];
    }
    const Vec<S> scale = S(1) / meet;
    for (std::size_t i = 0; i < L; ++i) {
        // Lanes that have ended may hold anything.
        messages.into[i * kWidth<S> + k] = ends ? Vec<S>{} : messages.value[i] * scale;
        messages.share[i * kWidth<S> + k] = ends ? Vec<S>{} : alpha[i];
        const Vec<S> beta = marginal[i] * scale;
        messages.value[i] = beta * factor[i];
        marginal[i] = alpha[i] * beta;
    }
}

// Sums of pairs over the positions of a tile.
template <class S>
KF_INLINE void add_allowed(const AllowedPairs<S>& pairs, const AllowedMessages<S>& messages, std::size_t steps) {
    constexpr std::size_t W = kWidth<S>;
    const std::size_t L = pairs.labels;
    for (std::size_t r = 0; r < L; ++r) {
        Vec<S> share[W];
        KF_UNROLL
        for (std::size_t k = 0; k < W; ++k) share[k] = k < steps ? messages.share[pairs.out.row[r] * W + k] : Vec<S>{};
        for (std::uint32_t p = pairs.out.first[r]; p < pairs.out.first[r + 1]; ++p) {
            const Vec<S>* into = messages.into + pairs.out.label[p] * W;
            Vec<S> even = load(messages.pair + p * W), odd{};
            KF_UNROLL
            for (std::size_t k = 0; k < W; k += 2) {
                even += share[k] * into[k];
                odd += share[k + 1] * into[k + 1];
            }
            store(messages.pair + p * W, even + odd);
        }
    }
}

// Sums of pairs over lanes, each times its weight and A, to edge_sum, and back to zero.
template <class S>
KF_INLINE void flush_allowed(const AllowedPairs<S>& pairs, const S* weights, S* pair, double* edge_sum) {
    for (std::size_t r = 0; r < pairs.labels; ++r)
        for (std::uint32_t p = pairs.out.first[r]; p < pairs.out.first[r + 1]; ++p) {
            S* sums = pair + p * kWidth<S>;
            edge_sum[pairs.out.row[r] * pairs.labels + pairs.out.label[p]] +=
                static_cast<double>(sum<S>(load(sums) * load(weights))) * static_cast<double>(pairs.out.value[p]);
            store(sums, Vec<S>{});
        }
}

template <class S>
KF_INLINE bool allowed_forward_pass(const LaneGroup<S>& lanes, const AllowedPairs<S>& pairs,
                                    const AllowedMessages<S>& messages, double* log_partition) {
    constexpr std::size_t W = kWidth<S>;
    const std::size_t L = lanes.labels;
    AllowedScan<S> scan;
    AllowedForward<S> state;
    state.lengths = load(lanes.lengths);
    state.threshold = static_cast<S>(__builtin_exp(-kRange<S>) / (2 * static_cast<double>(L)));
    for (std::size_t t = 0; t < lanes.longest; t += W) {
        const std::size_t steps = lanes.longest - t < W ? lanes.longest - t : W;
        load_lanes<S>(lanes, 0, t, steps, messages.factor + t * L);
        allowed_factors<S>(lanes, t, steps, messages.factor + t * L, scan);
        scan.flush();
        for (std::size_t k = t; k < t + steps; ++k)
            allowed_forward<S>(pairs, k ? messages.alpha + (k - 1) * L : nullptr, messages.factor + k * L,
                               messages.alpha + k * L, k, state);
    }
    const double range = static_cast<double>(largest<S>(-scan.lowest)) + pairs.range;
    if (any<S>(~scan.good) || any<S>(state.lost) || !(range <= kRange<S>)) return false;
    for (std::size_t r = 0; r < lanes.count; ++r) {
        const double edges = lanes.length[r] > 1 ? static_cast<double>(lanes.length[r] - 1) * pairs.largest : 0;
        log_partition[r] = state.log_sum[r] + scan.largest[r] + edges;
    }
    return true;
}

template <class S>
KF_INLINE void allowed_backward_pass(const LaneGroup<S>& lanes, const AllowedPairs<S>& pairs,
                                     const AllowedMessages<S>& messages, S* out, double* edge_sum) {
    constexpr std::size_t W = kWidth<S>;
    constexpr std::size_t kFlushEvery = sizeof(S) == sizeof(double) ? std::size_t(-1) : 128;
    const std::size_t L = lanes.labels;
    const S* weights = lanes.weights;
    for (std::size_t j = 0; j < L; ++j) messages.value[j] = Vec<S>{};
    for (std::size_t k = 0; k < W * L; ++k) messages.into[k] = Vec<S>{};  // the last tile may not fill all of it
    for (std::size_t p = 0; p < pairs.count * W; p += W) store(messages.pair + p, Vec<S>{});
    for (std::size_t t = (lanes.longest - 1) / W * W;; t -= W) {
        const std::size_t steps = lanes.longest - t < W ? lanes.longest - t : W;
        for (std::size_t k = steps; k-- > 0;) allowed_backward<S>(lanes, pairs, t + k, messages);
        if (edge_sum) add_allowed<S>(pairs, messages, steps);
        for (std::size_t k = 0; lanes.weighted && k < steps * L; ++k) messages.marginal[k] *= load(weights);
        store_lanes<S>(lanes, 0, t, steps, messages.marginal, out);
        if (t == 0) break;
        if (edge_sum && t % kFlushEvery == 0) flush_allowed<S>(pairs, weights, messages.pair, edge_sum);
    }
    if (edge_sum) flush_allowed<S>(pairs, weights, messages.pair, edge_sum);
}

template <class S>
bool allowed_marginals(const ChainBatch<S>& batch, const AllowedPairs<S>& pairs, const LaneWork& work,
                       const MarginalsOut<S>& out, double* edge_sum, Arena arena) {
    const LaneGroup<S> lanes(batch, work.stretch, work.count, out.weight, kWidth<S>);
    const AllowedMessages<S> messages(arena, batch.labels, pairs.count, lanes.longest);
    if (!allowed_forward_pass<S>(lanes, pairs, messages, work.log_mass)) return false;
    if (out.node) allowed_backward_pass<S>(lanes, pairs, messages, out.node, edge_sum);
    return true;
}

}  // namespace
}  // namespace kernelfields
