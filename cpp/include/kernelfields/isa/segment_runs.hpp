// Sums over all segmentations of one sequence some of whose runs have scores of their own: as segment_sweep.hpp, but
// in logarithms, because no two starts that a run can have may share an exponential.
#pragma once

#include "segment_sweep.hpp"

namespace kernelfields {
namespace {

constexpr double kNowhere = -1e300;  // a logarithm of nothing that can be subtracted from itself

// The runs of some labels, kWidth of them from v on, as positions are read: which are cut off, and all that are long.
struct RunWindow {
    const SegmentScores& x;
    const D* in;
    std::size_t v;
    Vec<D> earliest{};                   // the first start from which a run can come to here
    Vec<D> level = broadcast(kNowhere);  // of the starts of long runs: the largest, and
    Vec<D> mass{};                       // the sum of exponentials relative to it

    KF_INLINE Vec<D> start(std::size_t s) const {
        const std::size_t k = s * x.stride + v;
        const Vec<D> all = load(in + k) - load(x.prefix + k) - load(x.stay + k);
        return earliest > static_cast<D>(s) ? broadcast(-kInfinity<D>) : all;
    }
    // Takes in position t: runs that cannot go on to it end, others become long.
    KF_INLINE void step(std::size_t t) {
        if (x.open) {
            const Vec<D> on = load(x.on + t * x.stride + v), open = load(x.open + t * x.stride + v);
            const Vec<D> here = broadcast(static_cast<D>(t + 1)) - open;
            earliest = on != 0.0 ? earliest : here;
            mass = on != 0.0 ? mass : Vec<D>{};
            level = on != 0.0 ? level : broadcast(kNowhere);
        }
        if (t + 1 < x.longest) return;
        const Vec<D> from = start(t + 1 - x.longest), higher = maximum<D>(from, level);
        mass = mass * exp<D>(level - higher) + exp<D>(from - higher);
        level = higher;
    }
    // What a long run scores beside its start.
    KF_INLINE Vec<D> long_score() const {
        const Vec<D> score = load(x.duration + (x.longest - 1) * x.stride + v);
        return x.runs ? score + load(x.runs->free + v) : score;
    }
    // visit(s, score, extra) for all runs that end with position t and are not among the long ones.
    template <class Visit> KF_INLINE void each(std::size_t t, Visit visit) const {
        visit_runs(x, t, [&](std::size_t s, const D* extra) {
            const Vec<D> score = start(s) + load(x.duration_of(t + 1 - s) + v);
            visit(s, extra ? score + load(extra + v) : score, extra);
        });
    }
};

// out_{t+1} of some labels; `values` has room for all runs that end with one position.
KF_INLINE Vec<D> log_sum_of_runs(const RunWindow& window, std::size_t t, D* values) {
    Vec<D> high = window.level + window.long_score();
    const Vec<D> tail = high;
    std::size_t count = 0;
    window.each(t, [&](std::size_t, Vec<D> score, const D*) {
        store(values + kWidth<D> * count++, score);
        high = maximum<D>(score, high);
    });
    high = maximum<D>(high, broadcast(kNowhere));
    Vec<D> total = window.mass * exp<D>(tail - high);
    for (std::size_t k = 0; k < count; ++k) total += exp<D>(load(values + kWidth<D> * k) - high);
    return log_or_nothing(total) + high;
}

// Fills in all rows; `sweep` computes changes between labels.
KF_INLINE void sweep_runs(const SegmentScores& x, const SegmentSums& sums, SegmentSweep& sweep, D* values) {
    D* kept = values + (x.longest + x.runs->most) * x.stride;  // windows of all labels, as rows
    const std::size_t row = x.stride;
    for (std::size_t j = 0; j < row; ++j) {
        kept[j] = kept[2 * row + j] = 0;
        kept[row + j] = kNowhere;
    }
    for (std::size_t t = 0; t < x.length; ++t) {
        if (t > 0) sweep.change(t);
        for (std::size_t v = 0; v < row; v += kWidth<D>) {
            RunWindow window{x, sums.in, v, load(kept + v), load(kept + row + v), load(kept + 2 * row + v)};
            window.step(t);
            store(sums.out + (t + 1) * row + v,
                  log_sum_of_runs(window, t, values) + load(x.prefix + (t + 1) * row + v));
            store(kept + v, window.earliest);
            store(kept + row + v, window.level);
            store(kept + 2 * row + v, window.mass);
        }
    }
}

double segment_sweep(const SegmentScores& x, const SegmentSums& sums, double* work) {
    const std::size_t row = x.stride;
    SegmentSweep sweep{x, sums, work + 4 * row, work, work + row, work + 2 * row, work + 3 * row};
    sweep.begin();
    if (x.runs) sweep_runs(x, sums, sweep, work + 4 * row);
    for (std::size_t t = 0; !x.runs && t < x.length; ++t) {
        if (t > 0) sweep.change(t);
        if (x.open) sweep.cut(t);
        sweep.begin_runs(t);
        sweep.end_runs(t);
    }
    return segment_total(x, sums);
}

}  // namespace
}  // namespace kernelfields
