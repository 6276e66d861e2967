// Assignment by shortest augmenting paths, after cheap bids have placed most rows [jonker1987shortest].
//
// A row bids for the column it gains most from, and raises its price by as much as the second best is worse. Rows that
// are left over are placed one by one, along the path that costs least at the present prices; a path may also end where
// a row gives up its column and stays alone. Scores are those of the caller: nothing is negated or shifted.
#pragma once

#include "../structures/assignment_kernels.hpp"
#include "simd.hpp"

namespace kernelfields {
namespace {

struct TwoBest {
    double first, second;
    std::size_t column;  // of the first; the lowest of several
};

// The two largest of theta(i, j) - v(j) over all columns.
KF_INLINE TwoBest two_best(const AssignmentProblem& p, const double* theta) {
    Vec<double> first = broadcast(-kInfinity<double>), second = first;
    for (std::size_t j = 0; j < p.stride; j += kWidth<double>) {
        const Vec<double> gain = load(theta + j) - load(p.v + j);
        second = maximum<double>(second, minimum<double>(first, gain));
        first = maximum<double>(first, gain);
    }
    const double best = largest<double>(first);
    std::size_t column = 0;
    while (theta[column] - p.v[column] != best) ++column;
    const Bits<double> top = first == broadcast(best);
    const Vec<double> others = maximum<double>(second, top ? broadcast(-kInfinity<double>) : first);
    std::size_t tops = 0;
    for (std::size_t k = 0; k < kWidth<double>; ++k) tops += top[k] != 0;
    return {best, tops > 1 ? best : largest<double>(others), column};
}

// Rows bid, those that lose their column bid again; returns how many rows are left over in `free`.
KF_INLINE std::size_t bid(const AssignmentProblem& p) {
    std::size_t left = 0, count = p.rows;
    std::int32_t* const later = p.free + p.rows;
    for (std::size_t i = 0; i < p.rows; ++i) p.free[i] = static_cast<std::int32_t>(p.rows - 1 - i);
    for (std::size_t step = 0; count > 0 && step < 4 * p.rows; ++step) {
        const std::int32_t i = p.free[--count];
        const TwoBest best = two_best(p, p.theta + static_cast<std::size_t>(i) * p.stride);
        const double alone = p.none[i], second = best.second > alone ? best.second : alone;
        if (best.first <= alone && alone > -kInfinity<double>) {
            p.u[i] = alone;  // it stays alone, whatever the others do: columns only become dearer
            continue;
        }
        if (second == -kInfinity<double>) {  // no price would be too high for its only column: paths see to it
            p.u[i] = 0;
            later[left++] = i;
            continue;
        }
        const std::int32_t before = p.row[best.column];
        p.u[i] = second;
        p.v[best.column] += best.first - second;
        p.row[best.column] = i;
        p.column[i] = static_cast<std::int32_t>(best.column);
        if (before < 0) continue;
        p.column[before] = -1;
        if (best.first > second) p.free[count++] = before;
        else later[left++] = before;  // bids that raise nothing could go on for ever
    }
    for (std::size_t k = 0; k < left; ++k) p.free[count + k] = later[k];
    return count + left;
}

// Looks at the columns from row i, which is at distance `base` of the start: shorter ways are kept. Returns the least
// distance of a column that has not been visited.
KF_INLINE double look(const AssignmentProblem& p, std::size_t i, double base) {
    const double* theta = p.theta + i * p.stride;
    const Vec<double> start = broadcast(base + p.u[i]), self = broadcast(static_cast<double>(i));
    Vec<double> least = broadcast(kInfinity<double>);
    for (std::size_t j = 0; j < p.stride; j += kWidth<double>) {
        const Vec<double> closed = load(p.closed + j), old = load(p.distance + j);
        const Vec<double> way = (start - (load(theta + j) - load(p.v + j))) + closed;
        const Bits<double> shorter = way < old;
        const Vec<double> now = shorter ? way : old;
        store(p.distance + j, now);
        store(p.from + j, shorter ? self : load(p.from + j));
        least = minimum<double>(least, now + closed);
    }
    return -largest<double>(-least);
}

// Gives row `start` a column, or leaves some row alone; false where neither is possible.
KF_INLINE bool augment(const AssignmentProblem& p, std::size_t start) {
    for (std::size_t j = 0; j < p.stride; ++j) {
        p.distance[j] = kInfinity<double>;
        p.closed[j] = 0;
    }
    double reached = 0, alone = kInfinity<double>;
    std::size_t i = start, lonely = start, sink = p.stride;
    for (;;) {
        const double least = look(p, i, reached), giving_up = reached + p.u[i] - p.none[i];
        if (giving_up < alone) {
            alone = giving_up;
            lonely = i;
        }
        if (alone <= least) {
            if (alone == kInfinity<double>) return false;
            break;
        }
        std::size_t j = 0;
        while (p.distance[j] + p.closed[j] != least) ++j;
        reached = least;
        p.closed[j] = kInfinity<double>;
        if (p.row[j] < 0) {
            sink = j;
            break;
        }
        i = static_cast<std::size_t>(p.row[j]);
    }
    const double end = sink < p.stride ? reached : alone;
    for (std::size_t j = 0; j < p.stride; ++j) {
        if (p.closed[j] == 0) continue;
        const double rest = end - p.distance[j];
        if (p.row[j] >= 0) p.u[p.row[j]] -= rest;
        p.v[j] += rest;
    }
    p.u[start] -= end;
    std::int32_t given = static_cast<std::int32_t>(sink);
    if (sink == p.stride) {
        given = p.column[lonely];
        p.column[lonely] = -1;
        if (lonely == start) return true;
    }
    for (;;) {  // back along the path, each row takes the column after it
        const auto taker = static_cast<std::int32_t>(p.from[given]);
        const std::int32_t before = p.column[taker];
        p.row[given] = taker;
        p.column[taker] = given;
        if (static_cast<std::size_t>(taker) == start) return true;
        given = before;
    }
}

bool solve_assignment(const AssignmentProblem& p) {
    for (std::size_t j = 0; j < p.stride; ++j) {
        p.v[j] = 0;
        p.row[j] = -1;
    }
    for (std::size_t i = 0; i < p.rows; ++i) {
        p.column[i] = -1;
        p.u[i] = 0;  // rows that never come to bid start their path from here
    }
    if (p.stride == 0) {
        for (std::size_t i = 0; i < p.rows; ++i) {
            if (p.none[i] == -kInfinity<double>) return false;
            p.u[i] = p.none[i];
        }
        return true;
    }
    const std::size_t left = bid(p);
    for (std::size_t k = 0; k < left; ++k)
        if (!augment(p, static_cast<std::size_t>(p.free[k]))) return false;
    return true;
}

}  // namespace
}  // namespace kernelfields
