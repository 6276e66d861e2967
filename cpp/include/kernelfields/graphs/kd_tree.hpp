// Nearest neighbours among points of few dimensions, by a tree of boxes [friedman1977]: halves along the widest side
// until a box holds few points, and a search that leaves out boxes farther away than what it has found.
#pragma once

#include "../core/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace kernelfields {

// A point that was found. Of two that are equally far the first is nearer: results do not depend on the tree.
struct Near {
    double squared;
    std::int32_t point;

    bool operator<(const Near& other) const {
        return squared < other.squared || (squared == other.squared && point < other.point);
    }
};

// The nearest so far, in order.
class NearList {
public:
    explicit NearList(std::size_t size) : found_(size) {}

    void clear() { count_ = 0; }
    const std::vector<Near>& found() const { return found_; }

    double farthest() const {
        return count_ < found_.size() ? std::numeric_limits<double>::infinity() : found_.back().squared;
    }

    void add(const Near& one) {
        if (count_ == found_.size() && !(one < found_.back())) return;
        std::size_t place = count_ < found_.size() ? count_++ : count_ - 1;
        for (; place > 0 && one < found_[place - 1]; --place) found_[place] = found_[place - 1];
        found_[place] = one;
    }

private:
    std::vector<Near> found_;
    std::size_t count_ = 0;
};

class KdTree {
public:
    static constexpr std::size_t kLeaf = 16;  // points of a box that is not halved again
    static constexpr std::int32_t kNone = -1;

    KdTree(const double* points, std::size_t count, std::size_t dimensions)
        : dimensions_(dimensions), leaves_(1), order_(count) {
        while (leaves_ * kLeaf < count) leaves_ *= 2;
        std::iota(order_.begin(), order_.end(), 0);
        boxes_.resize(2 * leaves_ * 2 * dimensions);
        blocks_.resize(leaves_ * kLeaf * dimensions);
        begins_.resize(leaves_ + 1, count);
        const int threads = threads_for(100.0 * static_cast<double>(count));
        const std::size_t parts = std::min<std::size_t>(leaves_, threads > 1 ? 16 : 1);
        std::vector<Range> ranges(2 * parts, Range{0, count});
        for (std::size_t node = 1; node < parts; ++node) halve(points, node, ranges[node], &ranges[2 * node]);
        for_each_block(parts, threads,
                       [&](std::size_t part, std::size_t) { build(points, parts + part, ranges[parts + part]); });
    }

    // Points in the order of the tree, in which neighbours are near each other.
    const std::vector<std::int32_t>& order() const { return order_; }

    // The points nearest to another, but for one of them.
    void search(const double* point, std::int32_t without, NearList& near) const {
        near.clear();
        Waiting waiting[2 * std::numeric_limits<std::size_t>::digits];  // the tree is less deep than that
        std::size_t count = 0;
        waiting[count++] = {1, 0.0};
        while (count) {
            const Waiting next = waiting[--count];
            if (next.squared > near.farthest()) continue;
            std::size_t node = next.node;
            while (node < leaves_) {
                const double left = distance_to(2 * node, point), right = distance_to(2 * node + 1, point);
                const bool first = left <= right;
                waiting[count++] = {2 * node + first, std::max(left, right)};
                node = 2 * node + !first;
                if (std::min(left, right) > near.farthest()) break;
            }
            if (node >= leaves_) look_into(node - leaves_, point, without, near);
        }
    }

private:
    struct Range {
        std::size_t from, to;
    };
    struct Waiting {
        std::size_t node;
        double squared;
    };

    double* low(std::size_t node) { return boxes_.data() + 2 * node * dimensions_; }
    double* high(std::size_t node) { return low(node) + dimensions_; }

    // Finds the box of a node.
    void enclose(const double* points, std::size_t node, Range range) {
        std::fill(low(node), low(node) + dimensions_, std::numeric_limits<double>::infinity());
        std::fill(high(node), high(node) + dimensions_, -std::numeric_limits<double>::infinity());
        for (std::size_t k = range.from; k < range.to; ++k)
            for (std::size_t d = 0; d < dimensions_; ++d) {
                const double x = points[static_cast<std::size_t>(order_[k]) * dimensions_ + d];
                low(node)[d] = std::min(low(node)[d], x);
                high(node)[d] = std::max(high(node)[d], x);
            }
    }

    // Halves the points of a node along the widest side of its box.
    void halve(const double* points, std::size_t node, Range range, Range* halves) {
        enclose(points, node, range);
        std::size_t widest = 0;
        for (std::size_t d = 1; d < dimensions_; ++d)
            if (high(node)[d] - low(node)[d] > high(node)[widest] - low(node)[widest]) widest = d;
        const std::size_t middle = range.from + (range.to - range.from) / 2;
        const auto at = [&](std::int32_t i) { return points[static_cast<std::size_t>(i) * dimensions_ + widest]; };
        const auto from = order_.begin();
        std::nth_element(from + static_cast<std::ptrdiff_t>(range.from), from + static_cast<std::ptrdiff_t>(middle),
                         from + static_cast<std::ptrdiff_t>(range.to),
                         [&](std::int32_t a, std::int32_t b) { return at(a) < at(b) || (at(a) == at(b) && a < b); });
        halves[0] = {range.from, middle};
        halves[1] = {middle, range.to};
    }

    void build(const double* points, std::size_t node, Range range) {
        if (node >= leaves_) {
            enclose(points, node, range);
            copy_into(points, node - leaves_, range);
            return;
        }
        Range halves[2];
        halve(points, node, range, halves);
        build(points, 2 * node, halves[0]);
        build(points, 2 * node + 1, halves[1]);
    }

    // Copies the points of a leaf side by side, one dimension after the other.
    void copy_into(const double* points, std::size_t leaf, Range range) {
        begins_[leaf] = range.from;
        double* const block = blocks_.data() + leaf * kLeaf * dimensions_;
        for (std::size_t k = range.from; k < range.to; ++k)
            for (std::size_t d = 0; d < dimensions_; ++d)
                block[d * kLeaf + k - range.from] = points[static_cast<std::size_t>(order_[k]) * dimensions_ + d];
    }

    // The squared distance from a point to the box of a node.
    double distance_to(std::size_t node, const double* point) const {
        const double* const low = boxes_.data() + 2 * node * dimensions_;
        const double* const high = low + dimensions_;
        double sum = 0;
        for (std::size_t d = 0; d < dimensions_; ++d) {
            const double outside = std::max(std::max(low[d] - point[d], point[d] - high[d]), 0.0);
            sum += outside * outside;
        }
        return sum;
    }

    void look_into(std::size_t leaf, const double* point, std::int32_t without, NearList& near) const {
        const double* const block = blocks_.data() + leaf * kLeaf * dimensions_;
        double squared[kLeaf] = {};
        for (std::size_t d = 0; d < dimensions_; ++d)
            for (std::size_t k = 0; k < kLeaf; ++k) {  // also where there is no point
                const double difference = block[d * kLeaf + k] - point[d];
                squared[k] += difference * difference;
            }
        const std::size_t count = begins_[leaf + 1] - begins_[leaf];
        for (std::size_t k = 0; k < count; ++k)
            if (squared[k] <= near.farthest() && order_[begins_[leaf] + k] != without)
                near.add({squared[k], order_[begins_[leaf] + k]});
    }

    std::size_t dimensions_, leaves_;
    std::vector<std::int32_t> order_;  // points, leaf by leaf
    std::vector<double> boxes_;        // of nodes from 1 on: lower corner, upper corner
    std::vector<double> blocks_;       // of leaves: (dimensions, kLeaf)
    std::vector<std::size_t> begins_;  // of leaves, in the order
};

// The `k` nearest of all points of the tree to each of `count` others, (count, k), in order of distance; without
// others, to each of its own points among the rest.
inline void nearest_points(const double* points, std::size_t size, std::size_t dimensions, const double* others,
                           std::size_t count, std::size_t k, std::int32_t* index, double* distance) {
    const KdTree tree(points, size, dimensions);
    constexpr std::size_t kBlock = 256;
    const std::size_t queries = others ? count : size;
    const int threads = threads_for(1000.0 * static_cast<double>(queries));
    for_each_block((queries + kBlock - 1) / kBlock, threads, [&](std::size_t block, std::size_t) {
        NearList near(k);
        for (std::size_t q = block * kBlock; q < std::min(queries, (block + 1) * kBlock); ++q) {
            const auto i = others ? q : static_cast<std::size_t>(tree.order()[q]);
            const double* const point = (others ? others : points) + i * dimensions;
            tree.search(point, others ? KdTree::kNone : static_cast<std::int32_t>(i), near);
            for (std::size_t r = 0; r < k; ++r) {
                index[i * k + r] = near.found()[r].point;
                distance[i * k + r] = std::sqrt(near.found()[r].squared);
            }
        }
    });
}

}  // namespace kernelfields
