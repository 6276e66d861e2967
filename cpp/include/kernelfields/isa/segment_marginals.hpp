// Marginals of segments: of labels, label pairs and run lengths, from the sums before and after every boundary.
//
//   begin_s(j) = exp(in_s(j) + after_s(j) - log Z)         a run of label j begins at s
//   end_t(j)   = exp(out_t(j) + change_t(j) - log Z)       a run of label j ends before t
//
// where after_s sums over all that a run from s on can be followed by, and change_t over all that follows its end.
// The probability of a label rises where runs begin and falls where they end.
#pragma once

#include "segment_runs.hpp"

namespace kernelfields {
namespace {

constexpr double kSafe = 300;        // exponents whose exponentials can be multiplied
constexpr std::size_t kStarts = 32;  // of runs whose exponentials are relative to one number

struct SegmentParts {
    const SegmentMarginals& m;
    const SegmentScores& x;
    D *left, *right, *products;  // scratch: two rows, a table

    KF_INLINE explicit SegmentParts(const SegmentMarginals& given, D* work)
        : m(given), x(given.scores), left(work), right(work + x.stride), products(work + 2 * x.stride) {}

    KF_INLINE const D* in(std::size_t s) const { return m.before.in + s * x.stride; }
    KF_INLINE const D* out(std::size_t t) const { return m.before.out + t * x.stride; }
    KF_INLINE const D* after(std::size_t s) const { return m.after.out + (x.length - s) * x.stride; }
    KF_INLINE const D* change(std::size_t t) const { return m.after.in + (x.length - t) * x.stride; }
    KF_INLINE Vec<D> begins(std::size_t s, std::size_t v) const {
        return exp<D>(load(in(s) + v) + load(after(s) + v) - m.log_partition);
    }
    KF_INLINE Vec<D> ends(std::size_t t, std::size_t v) const {
        return exp<D>(load(out(t) + v) + load(change(t) + v) - m.log_partition);
    }

    // Labels; staying is what is left of a label where no run begins.
    KF_INLINE void labels() {
        for (std::size_t v = 0; v < x.stride; v += kWidth<D>) {
            Vec<D> here{};
            for (std::size_t t = 0; t < x.length; ++t) {
                const Vec<D> fresh = begins(t, v);
                if (t > 0) {
                    here = maximum<D>(here - ends(t, v), Vec<D>{});
                    // What rounding has left of a label is nothing where no run can go on.
                    if (x.on) here = load(x.on + t * x.stride + v) != 0.0 ? here : Vec<D>{};
                    stays(t, v, here);
                }
                here = minimum<D>(here + fresh, broadcast(1.0));
                store(m.node + t * x.stride + v, here * m.weight);
            }
        }
    }
    KF_INLINE void stays(std::size_t t, std::size_t v, Vec<D> share) {
        D* table = m.pairs + (x.pairs_step ? (t - 1) * x.pairs_step : 0);
        for (std::size_t k = 0; k < kWidth<D> && v + k < x.labels; ++k)
            table[(v + k) * (x.stride + 1)] += share[k] * m.weight;
    }

    KF_INLINE void changes() {
        for (std::size_t k = 0; k < x.labels * x.stride; ++k) products[k] = 0;
        for (std::size_t t = 1; t < x.length; ++t)
            if (!x.factor || !quick_changes(t)) slow_changes(t);
        if (!x.factor) return;
        for (std::size_t k = 0; k < x.labels * x.stride; ++k) m.pairs[k] += products[k] * x.factor[k];
    }
    // Products of exponentials, to be multiplied with those of the pairs at the end; false if they would overflow.
    KF_INLINE bool quick_changes(std::size_t t) {
        Vec<D> high = broadcast(-kInfinity<D>), other = high;
        for (std::size_t v = 0; v < x.stride; v += kWidth<D>) {
            high = maximum<D>(load(out(t) + v), high);
            other = maximum<D>(load(after(t) + v), other);
        }
        const D a = largest<D>(high), b = largest<D>(other), exponent = a + b + x.top[0] - m.log_partition;
        if (!(exponent > ExpConstants<D>::lowest)) return true;  // no change here
        if (exponent > kSafe) return false;
        const Vec<D> share = exp<D>(broadcast(exponent)) * m.weight;
        for (std::size_t v = 0; v < x.stride; v += kWidth<D>) {
            store(left + v, exp<D>(load(out(t) + v) - a) * share);
            store(right + v, exp<D>(load(after(t) + v) - b));
        }
        for (std::size_t i = 0; i < x.labels; ++i)
            for (std::size_t v = 0; v < x.stride; v += kWidth<D>) {
                D* place = products + i * x.stride + v;
                store(place, load(place) + left[i] * load(right + v));
            }
        return true;
    }
    KF_INLINE void slow_changes(std::size_t t) {
        const std::size_t table = x.pairs_step ? (t - 1) * x.pairs_step : 0;
        for (std::size_t i = 0; i < x.labels; ++i) {
            const D base = out(t)[i] - m.log_partition;
            if (!(base > -kInfinity<D>)) continue;
            for (std::size_t v = 0; v < x.stride; v += kWidth<D>) {
                const std::size_t k = table + i * x.stride + v;
                const Vec<D> p = exp<D>(load(x.pairs + k) + load(after(t) + v) + base);
                store(m.pairs + k, load(m.pairs + k) + p * m.weight);
            }
        }
    }

    KF_INLINE Vec<D> start(std::size_t s, std::size_t v) const {
        const std::size_t k = s * x.stride + v;
        return load(in(s) + v) - load(x.prefix + k) - load(x.stay + k) - m.log_partition;
    }
    KF_INLINE Vec<D> end(std::size_t t, std::size_t v) const {
        return load(change(t) + v) + load(x.prefix + t * x.stride + v);
    }

    // Runs of fewer than K positions, by blocks of starts.
    KF_INLINE void lengths(std::size_t v) {
        for (std::size_t from = 0; from < x.length; from += kStarts) {
            const std::size_t to = from + kStarts < x.length ? from + kStarts : x.length;
            if (x.open || !quick_lengths(v, from, to)) slow_lengths(v, from, to);
        }
    }
    // Products of exponentials of starts and of ends, added up for every length; false if they would overflow.
    KF_INLINE bool quick_lengths(std::size_t v, std::size_t from, std::size_t to) {
        const std::size_t last = to + x.longest - 2 < x.length ? to + x.longest - 2 : x.length;
        D *starts = products, *ends = products + (to - from) * kWidth<D>;
        Vec<D> high = broadcast(kNowhere), other = high;
        for (std::size_t s = from; s < to; ++s) high = maximum<D>(start(s, v), high);
        for (std::size_t t = from + 1; t <= last; ++t) other = maximum<D>(end(t, v), other);
        const Vec<D> exponent = high + other + load(x.most + v);
        if (any<D>(exponent > kSafe)) return false;
        for (std::size_t s = from; s < to; ++s) store(starts + (s - from) * kWidth<D>, exp<D>(start(s, v) - high));
        for (std::size_t t = from + 1; t <= last; ++t) store(ends + (t - from) * kWidth<D>, exp<D>(end(t, v) - other));
        const Vec<D> share = exp<D>(exponent) * m.weight;
        for (std::size_t d = 1; d < x.longest && from + d <= x.length; ++d) {
            const std::size_t count = (to + d <= x.length ? to : x.length + 1 - d) - from;
            Vec<D> total{};
            for (std::size_t k = 0; k < count; ++k)
                total += load(starts + k * kWidth<D>) * load(ends + (k + d) * kWidth<D>);
            D* place = m.durations + (d - 1) * x.stride + v;
            store(place, load(place) + total * load(x.weight + (d - 1) * x.stride + v) * share);
        }
        return true;
    }
    KF_INLINE void slow_lengths(std::size_t v, std::size_t first, std::size_t to) {
        const Vec<D> nothing = broadcast(-kInfinity<D>);
        for (std::size_t s = first; s < to; ++s) {
            Vec<D> from = start(s, v);
            if (x.open) from = load(x.open + s * x.stride + v) != 0.0 ? from : nothing;
            for (std::size_t d = 1; d < x.longest && s + d <= x.length; ++d) {
                if (x.open && d > 1) from = load(x.on + (s + d - 1) * x.stride + v) != 0.0 ? from : nothing;
                const std::size_t row = (d - 1) * x.stride + v;
                const Vec<D> p = exp<D>(from + end(s + d, v) + load(x.duration + row));
                store(m.durations + row, load(m.durations + row) + p * m.weight);
            }
        }
    }
    // Long runs: sums over their starts; and all others where some have scores of their own.
    KF_INLINE void long_runs(std::size_t v) {
        const std::size_t row = (x.longest - 1) * x.stride + v;
        RunWindow window{x, m.before.in, v};
        const Vec<D> score = window.long_score();
        Vec<D> total{};
        for (std::size_t t = 0; t < x.length; ++t) {
            window.step(t);
            const Vec<D> rest = end(t + 1, v) - m.log_partition;
            total += window.mass * exp<D>(window.level + score + rest);
            if (x.runs) listed_runs(window, t, rest);
        }
        store(m.durations + row, load(m.durations + row) + total * m.weight);
    }
    KF_INLINE void listed_runs(const RunWindow& window, std::size_t t, Vec<D> rest) {
        window.each(t, [&](std::size_t s, Vec<D> score, const D* extra) {
            const Vec<D> p = exp<D>(score + rest) * m.weight;
            D* length = m.durations + (x.duration_of(t + 1 - s) - x.duration) + window.v;
            store(length, load(length) + p);
            if (extra != x.runs->free) store(m.extra + (extra - x.runs->extra) + window.v, p);
        });
    }
};

void segment_marginals(const SegmentMarginals& m, double* work) {
    SegmentParts parts(m, work);
    parts.labels();
    parts.changes();
    for (std::size_t v = 0; v < m.scores.stride; v += kWidth<D>) {
        if (!m.scores.runs) parts.lengths(v);
        parts.long_runs(v);
    }
}

void segment_exp(double* x, std::size_t count) {
    for (std::size_t k = 0; k < count; k += kWidth<D>) store(x + k, exp<D>(load(x + k)));
}

}  // namespace
}  // namespace kernelfields
