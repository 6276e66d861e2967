// Exact samples of segments: sums before every boundary, then runs drawn from the last to the first.
#pragma once

#include "../core/draw.hpp"
#include "segments.hpp"

namespace kernelfields {

class SegmentSampler {
public:
    SegmentSampler(const SegmentScores& scores, const SegmentSums& sums) : x_(scores), sums_(sums) {}

    // uniform(t) is a random number for what ends before t, and another for its label.
    template <class Uniform> void draw(Uniform uniform, std::int32_t* labels) {
        const std::size_t L = x_.labels;
        std::size_t label = draw_one(L, uniform(2 * x_.length + 1),
                                     [&](std::size_t j) { return sums_.out[x_.length * x_.stride + j]; });
        for (std::size_t t = x_.length;;) {
            const std::size_t begin = draw_start(t, label, uniform(2 * t));
            std::fill(labels + begin, labels + t, static_cast<std::int32_t>(label));
            if (begin == 0) return;
            const double* pairs = x_.pairs + (begin - 1) * x_.pairs_step;
            const std::size_t after = label;
            label = draw_one(L, uniform(2 * begin + 1), [&](std::size_t i) {
                return sums_.out[begin * x_.stride + i] + pairs[i * x_.stride + after];
            });
            t = begin;
        }
    }

private:
    // From where a run of label j that ends before t can come.
    std::size_t first_start(std::size_t t, std::size_t j) const {
        if (!x_.on) return 0;
        std::size_t s = t;
        while (s > 0 && x_.on[(s - 1) * x_.stride + j] != 0) --s;
        return s > 0 && x_.open[(s - 1) * x_.stride + j] != 0 ? s - 1 : s;
    }
    std::size_t draw_start(std::size_t t, std::size_t j, double uniform) {
        const std::size_t first = first_start(t, j);
        extra_.assign(t - first, x_.runs ? x_.runs->free[j] : 0.0);
        if (x_.runs)
            visit_runs(x_, t - 1, [&](std::size_t s, const double* extra) {
                const bool among_long = t - s >= x_.longest && x_.runs->free[j] == 0.0;
                if (s >= first && !among_long) extra_[s - first] = extra[j];
            });
        return first + draw_one(t - first, uniform, [&](std::size_t k) {
                   const std::size_t row = (first + k) * x_.stride + j;
                   return sums_.in[row] - x_.prefix[row] - x_.stay[row] + x_.duration_of(t - first - k)[j] + extra_[k];
               });
    }
    template <class LogMass> std::size_t draw_one(std::size_t count, double uniform, LogMass log_mass) {
        cumulative_.resize(count);
        return static_cast<std::size_t>(draw_label(count, uniform, cumulative_, log_mass));
    }

    const SegmentScores& x_;
    const SegmentSums& sums_;
    std::vector<double> cumulative_, extra_;
};

// `count` labellings of the whole batch (count x positions); log_partition tells which can be had.
template <class S>
void segment_sample(const SegmentBatch<S>& batch, std::size_t count, std::uint64_t seed, std::int32_t* labels,
                    double* log_partition) {
    const SharedSegmentScores shared(batch);
    const ChainBatch<S>& chain = batch.chain;
    const double work = segment_work_of(batch) * (1 + static_cast<double>(count));
    for_each_block(chain.sequences, threads_for(work), [&](std::size_t s, std::size_t) {
        log_partition[s] = kNaN;
        if (!usable_sequence(batch, shared, s)) return;
        SegmentSweeps sweeps(batch, shared, s, false);
        log_partition[s] = sweeps.log_partition;
        if (!std::isfinite(log_partition[s]) || chain.length(s) == 0) return;
        const SegmentRows<S> rows(batch, shared, s, true);
        const SegmentScores scores = rows.scores();
        const SegmentSums sums = sweeps.before();
        SegmentSampler sampler(scores, sums);
        const auto first = static_cast<std::size_t>(chain.first[s]);
        for (std::size_t n = 0; n < count; ++n)
            sampler.draw([&](std::size_t place) { return uniform_at(seed, n, 2 * (first + s) + place); },
                         labels + n * chain.positions + first);
    });
}

}  // namespace kernelfields
