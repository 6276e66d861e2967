// Messages of belief propagation between pairs of vertices: exponentials of cavities, one product with the table, one
// logarithm for every label.
#pragma once

#include "../structures/message_kernels.hpp"
#include "simd_log.hpp"

namespace kernelfields {
namespace {

constexpr double kSmallestSum = 1e-280;  // below it numbers may have lost their digits

KF_INLINE void add_beliefs(const MessageJob& job, std::size_t v) {
    constexpr std::size_t W = kWidth<double>;
    double* row = job.belief + v * job.padded;
    const double* node = job.node + v * job.labels;
    const std::size_t end = job.incident_first[v + 1];
    for (std::size_t x = 0; x < job.padded; x += W) {
        Vec<double> sum = broadcast(-kInfinity<double>);
        for (std::size_t k = 0; k < W && x + k < job.labels; ++k) sum[k] = node[x + k];
        for (std::size_t k = job.incident_first[v]; k < end; ++k) {
            const std::size_t slot = job.incident[k];
            sum += job.weight[job.slot_factor[slot]] * load(job.message + slot * job.padded + x);
        }
        store(row + x, sum);
    }
}

void beliefs(const MessageJob& job, std::size_t from, std::size_t to) {
    for (std::size_t v = from; v < to; ++v) add_beliefs(job, v);
}

// cavity_j = belief_j - message to j; fresh(x) = log sum_{x'} table(x, x') exp(cavity_j(x')), with K vectors a row, any
// number of them where K is zero.
template <std::size_t kRows> double message_of(const MessageJob& job, std::size_t slot, double* fresh) {
    constexpr std::size_t W = kWidth<double>;
    const std::size_t K = kRows ? kRows : job.padded / W;
    const std::size_t f = job.slot_factor[slot], side = slot - job.slot_first[f], other = slot + 1 - 2 * side;
    const double* belief = job.belief + job.slot_vertex[other] * job.padded;
    const double* there = job.message + other * job.padded;
    const double* own = job.belief + job.slot_vertex[slot] * job.padded;
    const double* before = job.message + slot * job.padded;

    Vec<double> top = broadcast(-kInfinity<double>);
    for (std::size_t k = 0; k < K; ++k) {
        const Vec<double> b = load(belief + k * W);
        const Vec<double> cavity = b > -kInfinity<double> ? b - load(there + k * W) : b;
        store(fresh + k * W, cavity);
        top = maximum<double>(top, cavity);
    }
    const double most = largest<double>(top);
    if (!(most > -kInfinity<double>)) return -1;
    for (std::size_t k = 0; k < K; ++k) store(fresh + k * W, exp<double>(load(fresh + k * W) - most));

    // Rows of the table are labels of the other vertex, columns those of this one.
    const double* rows = job.exponentials + job.exponential_at[job.table[f]] + (side ? 0 : job.labels * job.padded);
    double sums[kRows ? kRows * W : 1];
    double* sum = kRows ? sums : fresh + job.padded;
    for (std::size_t k = 0; k < K; ++k) {
        Vec<double> a{}, b{};
        std::size_t x = 0;
        for (; x + 2 <= job.labels; x += 2) {
            a += fresh[x] * load(rows + x * job.padded + k * W);
            b += fresh[x + 1] * load(rows + (x + 1) * job.padded + k * W);
        }
        if (x < job.labels) a += fresh[x] * load(rows + x * job.padded + k * W);
        store(sum + k * W, a + b);
    }

    top = broadcast(-kInfinity<double>);
    bool small = false;
    for (std::size_t k = 0; k < K; ++k) {
        const Bits<double> alive = load(own + k * W) > -kInfinity<double>;
        const Vec<double> s = load(sum + k * W);
        small = small || any<double>(alive & (s < kSmallestSum));
        const Vec<double> logarithm = alive ? log(s) : broadcast(-kInfinity<double>);
        store(fresh + k * W, logarithm);
        top = maximum<double>(top, logarithm);
    }
    if (small) return -1;
    const double shift = largest<double>(top);
    Vec<double> change{};
    for (std::size_t k = 0; k < K; ++k) {
        const Bits<double> alive = load(own + k * W) > -kInfinity<double>;
        const Vec<double> old = load(before + k * W);
        const Vec<double> now = alive ? load(fresh + k * W) - shift : old;
        store(fresh + k * W, now);
        const Vec<double> moved = alive ? now - old : Vec<double>{};
        change = maximum<double>(change, maximum<double>(moved, -moved));
    }
    return largest<double>(change);
}

double message(const MessageJob& job, std::size_t slot, double* fresh) {
    switch (job.padded / kWidth<double>) {
        case 1: return message_of<1>(job, slot, fresh);
        case 2: return message_of<2>(job, slot, fresh);
        case 3: return message_of<3>(job, slot, fresh);
        case 4: return message_of<4>(job, slot, fresh);
        default: return message_of<0>(job, slot, fresh);
    }
}

void mix(double* message, const double* fresh, double step, std::size_t padded) {
    for (std::size_t x = 0; x < padded; x += kWidth<double>) {
        const Vec<double> old = load(message + x), now = load(fresh + x);
        const Vec<double> mixed = old + step * (now - old);
        // -inf, a label that has been ruled out, stays
        store(message + x,
              (old > -kInfinity<double>)&(now > -kInfinity<double>) ? mixed : broadcast(-kInfinity<double>));
    }
}

}  // namespace
}  // namespace kernelfields
