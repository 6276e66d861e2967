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

// The largest numbers that lanes have seen, the second largest, and the column of the first, as a number.
struct Largest {
    Vec<double> first, second, column;
};

KF_INLINE Largest joined(const Largest& a, const Largest& b) {
    const Bits<double> other = b.first > a.first;
    return {maximum<double>(a.first, b.first),
            maximum<double>(maximum<double>(a.second, b.second), minimum<double>(a.first, b.first)),
            other ? b.column : a.column};
}

template <int distance> KF_INLINE Largest rotated(const Largest& a) {
    return {rotate<distance>(a.first), rotate<distance>(a.second), rotate<distance>(a.column)};
}

// All lanes into the first, log2(width) steps in registers.
KF_INLINE Largest over_lanes(Largest a) {
    if constexpr (kWidth<double> >= 8) a = joined(a, rotated<4>(a));
    if constexpr (kWidth<double> >= 4) a = joined(a, rotated<2>(a));
    return joined(a, rotated<1>(a));
}

KF_INLINE Vec<double> numbers_from_zero() {
    Vec<double> lane{};
    for (std::size_t k = 0; k < kWidth<double>; ++k) lane[k] = static_cast<double>(k);
    return lane;
}

struct TwoBest {
    double first, second;
    std::size_t column;  // of the first
};

// The two largest of theta(i, j) - v(j) over all columns.
KF_INLINE TwoBest two_best(const AssignmentProblem& p, const double* theta) {
    const Vec<double> nothing = broadcast(-kInfinity<double>);
    Largest most{nothing, nothing, Vec<double>{}};
    Vec<double> column = numbers_from_zero();
    for (std::size_t j = 0; j < p.stride; j += kWidth<double>, column += static_cast<double>(kWidth<double>))
        most = joined(most, {load(theta + j) - load(p.v + j), nothing, column});
    most = over_lanes(most);
    return {most.first[0], most.second[0], static_cast<std::size_t>(most.column[0])};
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

struct Nearest {
    double distance;
    std::size_t column;
};

// Looks at the columns from row i, which is at distance `base` of the start: shorter ways are kept. Returns the nearest
// column that has not been visited.
KF_INLINE Nearest look(const AssignmentProblem& p, std::size_t i, double base) {
    const double* theta = p.theta + i * p.stride;
    const Vec<double> start = broadcast(base + p.u[i]), self = broadcast(static_cast<double>(i));
    const Vec<double> nothing = broadcast(-kInfinity<double>);
    Largest most{nothing, nothing, Vec<double>{}};
    Vec<double> column = numbers_from_zero();
    for (std::size_t j = 0; j < p.stride; j += kWidth<double>, column += static_cast<double>(kWidth<double>)) {
        const Vec<double> closed = load(p.closed + j), old = load(p.distance + j);
        const Vec<double> way = (start - (load(theta + j) - load(p.v + j))) + closed;
        const Bits<double> shorter = way < old;
        const Vec<double> now = shorter ? way : old;
        store(p.distance + j, now);
        store(p.from + j, shorter ? self : load(p.from + j));
        most = joined(most, {-(now + closed), nothing, column});
    }
    most = over_lanes(most);
    return {-most.first[0], static_cast<std::size_t>(most.column[0])};
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
        const auto [least, j] = look(p, i, reached);
        const double giving_up = reached + p.u[i] - p.none[i];
        if (giving_up < alone) {
            alone = giving_up;
            lonely = i;
        }
        if (alone <= least) {
            if (alone == kInfinity<double>) return false;
            break;
        }
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
