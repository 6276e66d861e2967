// Sums over all segmentations of one sequence, from its first position to its last.
//
// With P the prefix sums of scores, in_s(j) the log-sum of all that is before a run of label j that begins at s, and
// u_s(j) = in_s(j) - P_s(j) - stay_s(j),
//
//   out_t(j) = P_t(j) + log sum_s exp(u_s(j) + duration_{t-s}(j)),    in_t(j) = log sum_{i != j} exp(out_t(i) + pair(i,
//   j)).
//
// Runs of K positions and more score alike, so that their sum only grows; the others are a window of K - 1 rows:
// O(T L (K + L)). Exponentials are relative to a number per label that follows the largest u; where a sum gets
// so small that rounding could have eaten it, it is computed from logarithms.
#pragma once

#include "../structures/segment_kernels.hpp"
#include "simd_log.hpp"

namespace kernelfields {
namespace {

using D = double;

constexpr double kFaint = 1e-100;  // sums below may have lost what they should be made of
constexpr double kHigh = 200;      // how far u may be above what exponentials are relative to

KF_INLINE Vec<D> log_or_nothing(Vec<D> x) {
    return x > 0.0 ? log(x) : broadcast(-kInfinity<D>);
}

struct SegmentSweep {
    const SegmentScores& x;
    const SegmentSums& sums;
    D* run;       // exp(u_s - level), length rows; zeros where a run from s cannot go on
    D* tail;      // sum of run over the starts of runs that have K positions or more
    D* level;     // what exponentials are relative to
    D* mass;      // scratch: exp(out - largest)
    D* earliest;  // the first start from which a run can come to here

    KF_INLINE D u(std::size_t s, std::size_t j) const {
        const std::size_t k = s * x.stride + j;
        return sums.in[k] - x.prefix[k] - x.stay[k];
    }
    KF_INLINE std::size_t first_start(std::size_t j) const { return static_cast<std::size_t>(earliest[j]); }

    // The first row: an empty past.
    KF_INLINE void begin() {
        for (std::size_t j = 0; j < x.stride; ++j) {
            sums.in[j] = j < x.labels ? 0 : -kInfinity<D>;
            tail[j] = level[j] = earliest[j] = 0;
        }
    }

    // in_t from out_t.
    KF_INLINE void change(std::size_t t) {
        const D* out = sums.out + t * x.stride;
        D* in = sums.in + t * x.stride;
        const D* pairs = x.pairs + (t - 1) * x.pairs_step;
        const D top = x.top[x.pairs_step ? t - 1 : 0];
        Vec<D> high = broadcast(-kInfinity<D>);
        for (std::size_t v = 0; v < x.stride; v += kWidth<D>) high = maximum<D>(load(out + v), high);
        const D most = largest<D>(high);
        if (!(most > -kInfinity<D>)) {
            for (std::size_t j = 0; j < x.stride; ++j) in[j] = -kInfinity<D>;
            return;
        }
        for (std::size_t v = 0; v < x.stride; v += kWidth<D>) store(mass + v, exp<D>(load(out + v) - most));
        for (std::size_t v = 0; v < x.stride; v += kWidth<D>) {
            Vec<D> total{}, other{};
            std::size_t i = 0;
            for (; i + 2 <= x.labels; i += 2) {
                total += mass[i] * pair_factors(pairs, top, i, v);
                other += mass[i + 1] * pair_factors(pairs, top, i + 1, v);
            }
            if (i < x.labels) total += mass[i] * pair_factors(pairs, top, i, v);
            total += other;
            store(in + v, log_or_nothing(total) + (most + top));
            if (any<D>(total < kFaint))
                for (std::size_t k = 0; k < kWidth<D> && v + k < x.labels; ++k)
                    if (total[k] < kFaint) in[v + k] = faint_change(out, pairs, v + k);
        }
    }
    KF_INLINE Vec<D> pair_factors(const D* pairs, D top, std::size_t i, std::size_t v) const {
        if (x.factor) return load(x.factor + i * x.stride + v);
        return exp<D>(load(pairs + i * x.stride + v) - top);
    }
    D faint_change(const D* out, const D* pairs, std::size_t j) const {
        D most = -kInfinity<D>, total = 0;
        for (std::size_t i = 0; i < x.labels; ++i) {
            const D one = out[i] + pairs[i * x.stride + j];
            most = one > most ? one : most;
        }
        if (most == -kInfinity<D>) return most;
        for (std::size_t i = 0; i < x.labels; ++i) total += __builtin_exp(out[i] + pairs[i * x.stride + j] - most);
        return most + __builtin_log(total);
    }

    // The window that position t is at the end of, before a run may begin at t: how far back runs may reach.
    KF_INLINE std::size_t window(std::size_t t) const { return t + 1 > x.longest ? t + 1 - x.longest : 0; }

    // Takes in what position t forbids: runs that would have to go on to it.
    KF_INLINE void cut(std::size_t t) {
        const D *on = x.on + t * x.stride, *open = x.open + t * x.stride;
        for (std::size_t j = 0; j < x.labels; ++j) {
            if (on[j] != 0) continue;
            for (std::size_t s = window(t); s < t; ++s) run[s * x.stride + j] = 0;
            tail[j] = 0;
            earliest[j] = static_cast<D>(open[j] != 0 ? t : t + 1);
        }
    }

    // Lets runs begin at t.
    KF_INLINE void begin_runs(std::size_t t) {
        const std::size_t row = t * x.stride;
        for (std::size_t v = 0; v < x.stride; v += kWidth<D>) {
            const Vec<D> here = load(sums.in + row + v) - load(x.prefix + row + v) - load(x.stay + row + v);
            if (any<D>(here > load(level + v) + kHigh))
                for (std::size_t k = 0; k < kWidth<D>; ++k)
                    if (here[k] > level[v + k] + kHigh) raise(t, v + k, here[k]);
            Vec<D> value = exp<D>(here - load(level + v));
            if (x.open) value = value * load(x.open + row + v);
            store(run + row + v, value);
        }
    }
    void raise(std::size_t t, std::size_t j, D to) {
        const D factor = __builtin_exp(level[j] - to);
        for (std::size_t s = window(t); s < t; ++s) run[s * x.stride + j] *= factor;
        tail[j] *= factor;
        level[j] = to;
    }

    // out_{t+1}: runs that end with position t.
    KF_INLINE void end_runs(std::size_t t) {
        const std::size_t row = (t + 1) * x.stride;
        const std::size_t shorter = t + 1 < x.longest ? t + 1 : x.longest - 1;  // runs with a length of their own
        const D* last = x.weight + (x.longest - 1) * x.stride;
        for (std::size_t v = 0; v < x.stride; v += kWidth<D>) {
            if (t + 1 >= x.longest) store(tail + v, load(tail + v) + load(run + (t + 1 - x.longest) * x.stride + v));
            Vec<D> total = load(tail + v) * load(last + v), other{};
            const D *weight = x.weight + v, *value = run + t * x.stride + v;
            for (std::size_t left = shorter; left >= 2; left -= 2) {
                total += load(value) * load(weight);
                other += load(value - x.stride) * load(weight + x.stride);
                value -= 2 * x.stride;
                weight += 2 * x.stride;
            }
            if (shorter % 2) total += load(value) * load(weight);
            total += other;
            const Vec<D> base = load(x.prefix + row + v) + load(level + v) + load(x.most + v);
            store(sums.out + row + v, log_or_nothing(total) + base);
            if (any<D>(total < kFaint))
                for (std::size_t k = 0; k < kWidth<D> && v + k < x.labels; ++k)
                    if (total[k] < kFaint) sums.out[row + v + k] = faint_end(t, v + k);
        }
    }
    // out_{t+1}(j) from logarithms; exponentials become relative to the largest that counts.
    D faint_end(std::size_t t, std::size_t j) {
        D most = -kInfinity<D>, highest = -kInfinity<D>, total = 0;
        const auto value = [&](std::size_t s) {
            const std::size_t d = t + 1 - s < x.longest ? t + 1 - s : x.longest;
            return u(s, j) + x.duration[(d - 1) * x.stride + j];
        };
        for (std::size_t s = first_start(j); s <= t; ++s) {
            const D one = value(s), start = u(s, j);
            most = one > most ? one : most;
            highest = start > highest ? start : highest;
        }
        if (highest > -kInfinity<D>) relevel(t, j, highest);
        else earliest[j] = static_cast<D>(t + 1);  // no need to look at these again
        if (most == -kInfinity<D>) return most;
        for (std::size_t s = first_start(j); s <= t; ++s) total += __builtin_exp(value(s) - most);
        return x.prefix[(t + 1) * x.stride + j] + most + __builtin_log(total);
    }
    void relevel(std::size_t t, std::size_t j, D to) {
        level[j] = to;
        tail[j] = 0;
        for (std::size_t s = first_start(j); s <= t; ++s) {
            const D one = __builtin_exp(u(s, j) - to);
            if (s + x.longest <= t + 1) tail[j] += one;
            run[s * x.stride + j] = one;
        }
    }
};

// The sum over all labels of what ends with the last position.
KF_INLINE D segment_total(const SegmentScores& x, const SegmentSums& sums) {
    if (x.length == 0) return 0;
    const D* last = sums.out + x.length * x.stride;
    D most = -kInfinity<D>, total = 0;
    for (std::size_t j = 0; j < x.labels; ++j) most = last[j] > most ? last[j] : most;
    if (most == -kInfinity<D>) return most;
    for (std::size_t j = 0; j < x.labels; ++j) total += __builtin_exp(last[j] - most);
    return most + __builtin_log(total);
}

}  // namespace
}  // namespace kernelfields
