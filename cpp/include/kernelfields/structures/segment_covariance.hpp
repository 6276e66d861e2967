// Derivatives of the marginals of segments along a direction in score space: both sweeps and all marginals in
// logarithms, every number with its derivative beside it.
#pragma once

#include "segments.hpp"

namespace kernelfields {

struct Dual {
    double value, slope;
    Dual operator+(Dual other) const { return {value + other.value, slope + other.slope}; }
    Dual operator-(Dual other) const { return {value - other.value, slope - other.slope}; }
};

// A log-sum that numbers are added to one by one.
class DualSum {
public:
    void add(Dual x) {
        if (x.value == kNothing) return;
        if (x.value > top_) {
            const double factor = std::exp(top_ - x.value);
            mass_ *= factor;
            tilted_ *= factor;
            top_ = x.value;
        }
        const double p = std::exp(x.value - top_);
        mass_ += p;
        tilted_ += p * x.slope;
    }
    Dual log() const { return mass_ > 0 ? Dual{top_ + std::log(mass_), tilted_ / mass_} : Dual{kNothing, 0}; }

private:
    double top_ = kNothing, mass_ = 0, tilted_ = 0;
};

// Scores of one sequence in one direction of reading, with their derivatives.
struct DualScores {
    const SegmentScores &x, &dx;

    Dual prefix(std::size_t t, std::size_t j) const { return at(x.prefix, dx.prefix, t, j); }
    Dual stay(std::size_t t, std::size_t j) const { return at(x.stay, dx.stay, t, j); }
    Dual duration(std::size_t d, std::size_t j) const { return at(x.duration, dx.duration, d - 1, j); }
    Dual pair(std::size_t t, std::size_t i, std::size_t j) const {
        const std::size_t k = (t - 1) * x.pairs_step + i * x.stride + j;
        return i == j ? Dual{kNothing, 0} : Dual{x.pairs[k], dx.pairs[k]};
    }
    // What a run scores beside its length; null where none have such scores.
    Dual extra(const double* row, std::size_t j) const {
        if (!row || row == x.runs->free) return {row ? row[j] : 0.0, 0};
        return {row[j], dx.runs->extra[row - x.runs->extra + static_cast<std::ptrdiff_t>(j)]};
    }
    Dual long_run(std::size_t j) const {
        const Dual score = duration(x.longest, j);
        return x.runs ? score + Dual{x.runs->free[j], 0} : score;
    }
    bool open(std::size_t t, std::size_t j) const { return !x.open || x.open[t * x.stride + j] != 0; }
    bool on(std::size_t t, std::size_t j) const { return !x.on || x.on[t * x.stride + j] != 0; }

private:
    Dual at(const double* values, const double* slopes, std::size_t row, std::size_t j) const {
        return {values[row * x.stride + j], slopes[row * x.stride + j]};
    }
};

// visit(s, score, extra) for every run of label j whose last position is t, except those that are as long as runs of
// their own length get, or longer: they are summed up in long_runs().
class DualRuns {
public:
    DualRuns(const DualScores& scores, std::size_t j, const std::vector<Dual>& in) : x_(scores), j_(j), in_(in) {}

    Dual start(std::size_t s) const { return in_[s * x_.x.labels + j_] - x_.prefix(s, j_) - x_.stay(s, j_); }
    template <class Visit> void step(std::size_t t, Visit visit) {
        const std::size_t K = x_.x.longest;
        if (!x_.on(t, j_)) {
            early_ = x_.open(t, j_) ? t : t + 1;
            long_ = DualSum();
        }
        if (t + 1 >= K && t + 1 - K >= early_) long_.add(start(t + 1 - K));
        visit_runs(x_.x, t, [&](std::size_t s, const double* extra) {
            const std::size_t d = std::min(t + 1 - s, K);
            if (s >= early_) visit(s, start(s) + x_.duration(d, j_) + x_.extra(extra, j_), extra);
        });
    }
    Dual long_runs() const { return long_.log() + x_.long_run(j_); }

private:
    const DualScores& x_;
    std::size_t j_, early_ = 0;
    const std::vector<Dual>& in_;
    DualSum long_;
};

struct DualSweep {
    std::vector<Dual> in, out;  // as SegmentSums, rows of `labels`

    explicit DualSweep(const DualScores& scores) {
        const std::size_t T = scores.x.length, L = scores.x.labels;
        in.assign((T + 1) * L, Dual{kNothing, 0});
        out = in;
        std::fill_n(in.begin(), L, Dual{0, 0});
        std::vector<DualRuns> runs;
        for (std::size_t j = 0; j < L; ++j) runs.emplace_back(scores, j, in);
        for (std::size_t t = 0; t < T; ++t) {
            for (std::size_t j = 0; j < L && t > 0; ++j) {
                DualSum sum;
                for (std::size_t i = 0; i < L; ++i) sum.add(out[t * L + i] + scores.pair(t, i, j));
                in[t * L + j] = sum.log();
            }
            for (std::size_t j = 0; j < L; ++j) {
                DualSum sum;
                runs[j].step(t, [&](std::size_t, Dual score, const double*) { sum.add(score); });
                sum.add(runs[j].long_runs());
                out[(t + 1) * L + j] = sum.log() + scores.prefix(t + 1, j);
            }
        }
    }
    Dual total(std::size_t T, std::size_t L) const {
        DualSum sum;
        for (std::size_t j = 0; j < L; ++j) sum.add(out[T * L + j]);
        return sum.log();
    }
};

// Where derivatives of marginals of one sequence go: rows of `labels`.
struct DualOut {
    double weight;
    double *node, *pairs, *durations;  // pairs: one table, added to, or one per boundary
    double* extra;                     // as the rows of runs, or null
};

inline Dual differentiate(const DualScores& ahead, const DualScores& back, const DualOut& out) {
    const std::size_t T = ahead.x.length, L = ahead.x.labels, K = ahead.x.longest;
    const DualSweep before(ahead), after(back);
    const Dual total = before.total(T, L);
    if (!std::isfinite(total.value)) return total;
    // The derivative of exp(x - log Z).
    const auto slope = [&](Dual x) {
        return x.value == kNothing ? 0.0 : out.weight * std::exp(x.value - total.value) * (x.slope - total.slope);
    };
    const auto change = [&](std::size_t t, std::size_t j) { return after.in[(T - t) * L + j]; };
    const auto rest = [&](std::size_t s, std::size_t j) { return after.out[(T - s) * L + j]; };
    for (std::size_t j = 0; j < L; ++j) {
        double here = 0;
        DualRuns runs(ahead, j, before.in);
        for (std::size_t t = 0; t < T; ++t) {
            double* table = out.pairs + (t > 0 && ahead.x.pairs_step ? (t - 1) * L * L : 0);
            if (t > 0) {
                here -= slope(before.out[t * L + j] + change(t, j));
                table[j * (L + 1)] += here;
                for (std::size_t i = 0; i < L; ++i)
                    if (i != j) table[i * L + j] += slope(before.out[t * L + i] + ahead.pair(t, i, j) + rest(t, j));
            }
            here += slope(before.in[t * L + j] + rest(t, j));
            out.node[t * L + j] = here;
            const Dual end = ahead.prefix(t + 1, j) + change(t + 1, j);
            runs.step(t, [&](std::size_t s, Dual score, const double* extra) {
                const double change = slope(score + end);
                out.durations[(std::min(t + 1 - s, K) - 1) * L + j] += change;
                if (extra && extra != ahead.x.runs->free)
                    out.extra[extra - ahead.x.runs->extra + static_cast<std::ptrdiff_t>(j)] = change;
            });
            out.durations[(K - 1) * L + j] += slope(runs.long_runs() + end);
        }
    }
    return total;
}

// out.log_partition becomes the derivative of the log-partitions.
template <class S>
void segment_covariance(const SegmentBatch<S>& batch, const SegmentBatch<S>& direction, const SegmentOut<S>& out) {
    const SharedSegmentScores shared(batch), along(direction);
    const ChainBatch<S>& chain = batch.chain;
    const std::size_t L = chain.labels, square = L * L, lengths = batch.longest * L;
    const std::size_t blocks = std::min<std::size_t>(chain.sequences, 64), sums = (chain.shared ? square : 0) + lengths;
    std::vector<double> totals(blocks * sums);
    for_each_block(blocks, threads_for(40 * segment_work_of(batch)), [&](std::size_t block, std::size_t) {
        double* sum = totals.data() + block * sums;
        std::vector<double> node, pairs, extra;
        const std::size_t from = chain.sequences * block / blocks, to = chain.sequences * (block + 1) / blocks;
        for (std::size_t s = from; s < to; ++s) {
            const std::size_t length = chain.length(s), edges = length > 0 ? length - 1 : 0;
            out.log_partition[s] = length ? kNaN : 0;
            if (length == 0 || !usable_sequence(batch, shared, s)) continue;
            const SegmentRows<S> rows(batch, shared, s, true), back(batch, shared, s, false);
            const SegmentRows<S> slopes(direction, along, s, true), back_slopes(direction, along, s, false);
            const SegmentScores x = rows.scores(), dx = slopes.scores(), y = back.scores(), dy = back_slopes.scores();
            node.resize(length * L);
            if (!chain.shared) pairs.assign(edges * square, 0.0);
            if (rows.listed()) extra.assign(rows.listed()->size(), 0.0);
            const Dual total = differentiate({x, dx}, {y, dy},
                                             {.weight = out.weight ? out.weight[s] : 1.0,
                                              .node = node.data(),
                                              .pairs = chain.shared ? sum + lengths : pairs.data(),
                                              .durations = sum,
                                              .extra = extra.data()});
            out.log_partition[s] = std::isfinite(total.value) ? total.slope : total.value;
            if (!std::isfinite(total.value)) continue;
            copy_rows(node.data(), length, L, L, out.node + static_cast<std::size_t>(chain.first[s]) * L);
            if (!chain.shared)
                copy_rows(pairs.data(), edges * L, L, L,
                          out.edge + static_cast<std::size_t>(chain.edge_first[s]) * square);
            if (rows.listed()) rows.listed()->unmerge(extra.data(), out.segment);
        }
    });
    for (std::size_t block = 0; block < blocks; ++block) {
        add_rows(totals.data() + block * sums, batch.longest, L, L, out.duration);
        if (chain.shared) add_rows(totals.data() + block * sums + lengths, L, L, L, out.edge_sum);
    }
}

}  // namespace kernelfields
