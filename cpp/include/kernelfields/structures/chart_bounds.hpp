// How large the outside of a span can be: whether sums over a chart in doubles may lose what counts.
//
// What underflows at a span is lost from Z times the outside of the span, the sum over all that can be around it: the
// weights of the spans above it, and the sums of the spans beside these. Where no tree of a span has more than 1, the
// outside is at most
//
//   the product of the weights of the spans above, which is a path of ever larger spans, times their number of ways,
//   and Z divided by the sum of the span, which is at least its best tree.
//
// Both bounds are taken span by span, the larger spans first; a path may also pass by a span that is not in the tree.
#pragma once

#include "../core/logarithms.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kernelfields {

// The largest logarithm of an outside, times the weight of its span, of all spans of several words; `weight(i, j)` is
// the logarithm of the largest weight of a span, `least(i, j)` that of the smallest of the best sums of its items, -inf
// where one of them has none, `best` that of Z or more, and `ways` that of the number of ways in which a span can be
// part of a tree, as far as weights do not make up for it. Words are spans of weight 1. `row` is memory.
template <class Weight, class Least>
double largest_outside(std::size_t n, double ways, double best, Weight weight, Least least, std::vector<double>& row) {
    row.assign(n + 2, kNothing);  // what leads to (i, j), by j: from (i - 1, j) before, then from (i, j + 1) too
    row[n] = ways;
    double most = 0;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = n; j > i; --j) {
            const double above = std::max(row[j], row[j + 1]);
            const double outside = std::min(above, best - least(i, j));
            const double through = outside + (j - i > 1 ? weight(i, j) : 0.0);
            most = std::max({most, outside, through});
            row[j] = std::max(above, through);
        }
    return most;
}

}  // namespace kernelfields
