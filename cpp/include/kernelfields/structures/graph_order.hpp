// Orders in which the vertices of a graph are eliminated: summing out a vertex joins all its neighbours, and takes a
// table over the labels of the vertex and of them. The best order is hard to find; two good ones are tried.
#pragma once

#include "graphs.hpp"

#include <limits>
#include <queue>
#include <tuple>
#include <unordered_set>

namespace kernelfields {

struct Elimination {
    std::vector<std::uint32_t> order;  // vertices counted from the first of the instance; cut short where refused
    std::size_t width = 0;             // neighbours of a vertex when it is eliminated, at most
    double largest = 1, entries = 0;   // of the largest table, and of all of them
    double messages = 0;               // entries of all messages
    bool refused = false;              // some table has more entries than allowed
};

// A graph that loses vertices and gains edges. Neighbours that are gone are dropped when they are looked at.
class ShrinkingGraph {
public:
    ShrinkingGraph(const Graphs& graphs, std::size_t s) : n_(graphs.length(s)), degree_(n_), gone_(n_), near_(n_) {
        if (n_ <= kDense) bits_.assign(n_ * ((n_ + 63) / 64), 0);
        const auto start = graphs.first[s];
        choices_.assign(graphs.choices.begin() + start, graphs.choices.begin() + start + static_cast<std::int64_t>(n_));
        for_each_clique(graphs, s, [&](std::size_t t, std::size_t, const std::int64_t* of) {
            const std::size_t arity = graphs.types[t - 1].arity;
            for (std::size_t a = 0; a < arity; ++a)
                for (std::size_t b = 0; b < a; ++b)
                    join(static_cast<std::uint32_t>(of[a] - start), static_cast<std::uint32_t>(of[b] - start));
        });
    }
    std::size_t size() const { return n_; }
    std::size_t degree(std::uint32_t v) const { return degree_[v]; }
    bool gone(std::uint32_t v) const { return gone_[v]; }
    double choices(std::uint32_t v) const { return choices_[v]; }

    const std::vector<std::uint32_t>& near(std::uint32_t v) {
        if (near_[v].size() != degree_[v]) std::erase_if(near_[v], [&](std::uint32_t u) { return gone_[u] != 0; });
        return near_[v];
    }
    bool joined(std::uint32_t a, std::uint32_t b) const {
        if (n_ <= kDense) return bits_[a * ((n_ + 63) / 64) + b / 64] >> (b % 64) & 1;
        return pairs_.contains(key(a, b));
    }
    // Vertices with one label take no part: nothing depends on them.
    bool join(std::uint32_t a, std::uint32_t b) {
        if (choices_[a] < 2 || choices_[b] < 2 || joined(a, b)) return false;
        if (n_ <= kDense) {
            bits_[a * ((n_ + 63) / 64) + b / 64] |= std::uint64_t{1} << (b % 64);
            bits_[b * ((n_ + 63) / 64) + a / 64] |= std::uint64_t{1} << (a % 64);
        } else {
            pairs_.insert(key(a, b));
        }
        near_[a].push_back(b);
        near_[b].push_back(a);
        ++degree_[a];
        ++degree_[b];
        return true;
    }
    // Joins the neighbours of v and takes it away; true where that made an edge.
    bool eliminate(std::uint32_t v) {
        const std::vector<std::uint32_t> around = near(v);
        bool made = false;
        for (std::size_t k = 0; k < around.size(); ++k)
            for (std::size_t j = 0; j < k; ++j) made |= join(around[k], around[j]);
        for (const std::uint32_t u : around) --degree_[u];
        gone_[v] = 1;
        return made;
    }
    double table(std::uint32_t v) {
        double entries = choices_[v];
        for (const std::uint32_t u : near(v)) entries *= choices_[u];
        return entries;
    }

private:
    static constexpr std::size_t kDense = 2048;  // up to half a megabyte of bits
    static std::uint64_t key(std::uint32_t a, std::uint32_t b) {
        return std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
    }
    std::size_t n_;
    std::vector<std::uint32_t> degree_;
    std::vector<std::uint8_t> gone_;
    std::vector<std::vector<std::uint32_t>> near_;
    std::vector<std::uint32_t> choices_;
    std::vector<std::uint64_t> bits_;
    std::unordered_set<std::uint64_t> pairs_;
};

// Takes the next vertex of an order; false where its table is too large.
inline bool eliminate_next(ShrinkingGraph& graph, std::uint32_t v, double most, Elimination& result) {
    const double entries = graph.table(v);
    result.width = std::max(result.width, graph.degree(v));
    result.largest = std::max(result.largest, entries);
    result.entries += entries;
    result.messages += entries / graph.choices(v);
    result.order.push_back(v);
    result.refused = entries > most;
    return !result.refused;
}

// Always the vertex that makes the fewest new edges, these weighted by the label pairs they stand for; then the one
// with the smallest table.
class MinFill {
public:
    MinFill(const Graphs& graphs, std::size_t s) : graph_(graphs, s), version_(graph_.size()), seen_(graph_.size()) {}

    Elimination run(double most) {
        Elimination result;
        for (std::uint32_t v = 0; v < graph_.size(); ++v) push(v);
        while (!queue_.empty()) {
            const auto [fill, table, v, version] = queue_.top();
            queue_.pop();
            if (graph_.gone(v) || version != version_[v]) continue;
            if (!eliminate_next(graph_, v, most, result)) break;
            remove(v);
        }
        return result;
    }

private:
    static constexpr std::size_t kMany = 40;  // neighbours: their table would be larger than any that is allowed
    using Entry = std::tuple<double, double, std::uint32_t, std::uint32_t>;

    void push(std::uint32_t v) {
        constexpr double last = std::numeric_limits<double>::infinity();
        const bool many = graph_.degree(v) > kMany;
        queue_.emplace(many ? last : fill(v), many ? last : graph_.table(v), v, ++version_[v]);
    }
    double fill(std::uint32_t v) {
        if (graph_.degree(v) < 2) return 0;
        const auto& around = graph_.near(v);
        double weight = 0;
        for (std::size_t k = 0; k < around.size(); ++k)
            for (std::size_t j = 0; j < k; ++j)
                if (!graph_.joined(around[k], around[j]))
                    weight += graph_.choices(around[k]) * graph_.choices(around[j]);
        return weight;
    }
    void remove(std::uint32_t v) {
        const std::vector<std::uint32_t> around = graph_.near(v);
        const bool made = graph_.eliminate(v);
        ++stamp_;
        for (const std::uint32_t u : around) renew(u);
        if (!made) return;
        for (const std::uint32_t u : around)
            if (graph_.degree(u) <= kMany)
                for (const std::uint32_t w : graph_.near(u)) renew(w);
    }
    void renew(std::uint32_t v) {
        if (seen_[v] == stamp_) return;
        seen_[v] = stamp_;
        push(v);
    }

    ShrinkingGraph graph_;
    std::vector<std::uint32_t> version_;
    std::vector<std::size_t> seen_;
    std::size_t stamp_ = 0;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

// Breadth first from a vertex far from others: a front that sweeps over the graph, best for grids and ladders.
inline std::vector<std::uint32_t> sweep_order(const Graphs& graphs, std::size_t s) {
    ShrinkingGraph graph(graphs, s);
    const std::size_t n = graph.size();
    std::vector<std::uint32_t> order, found;
    std::vector<std::uint32_t> seen(n, 0);  // by which of the walks
    std::uint32_t walk = 0;
    const auto reach = [&](std::uint32_t from) {
        found.assign(1, from);
        seen[from] = ++walk;
        for (std::size_t k = 0; k < found.size(); ++k) {
            std::vector<std::uint32_t> next = graph.near(found[k]);
            std::stable_sort(next.begin(), next.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return graph.degree(a) < graph.degree(b); });
            for (const std::uint32_t u : next)
                if (seen[u] != walk) found.push_back(u), seen[u] = walk;
        }
    };
    for (std::uint32_t v = 0; v < n; ++v) {
        if (seen[v]) continue;
        reach(v);
        reach(found.back());
        order.insert(order.end(), found.begin(), found.end());
    }
    return order;
}

inline Elimination eliminate_in_order(const Graphs& graphs, std::size_t s, const std::vector<std::uint32_t>& order,
                                      double most) {
    ShrinkingGraph graph(graphs, s);
    Elimination result;
    for (const std::uint32_t v : order) {
        if (!eliminate_next(graph, v, most, result)) break;
        graph.eliminate(v);
    }
    return result;
}

}  // namespace kernelfields
