// Labelled graphs as factor graphs: cliques with tables of scores, for searches of good labellings.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kernelfields {

// Scores of a batch. Factor f has the slots first_slot[f] up to first_slot[f + 1], one for each member;
// member[k] is the vertex of slot k, counted over the batch. Its table starts at tables + table[f], the last
// member's label running fastest. Factors come instance by instance.
struct FactorGraphs {
    std::size_t instances = 0, labels = 0;
    const std::int64_t *first_vertex = nullptr, *first_factor = nullptr, *first_slot = nullptr;
    const std::int64_t *member = nullptr, *table = nullptr;
    const double *node = nullptr, *tables = nullptr;
    const double* swapped = nullptr;  // the same tables, those of pairs transposed
};

constexpr double kForbidden = -std::numeric_limits<double>::infinity();

// One instance; slots and vertices counted from 0 inside it.
class FactorGraph {
public:
    struct Slot {
        std::size_t factor, place;
        bool lowest, highest;  // among the members of its factor
    };

    FactorGraph(const FactorGraphs& all, std::size_t s)
        : all_(all),
          first_(static_cast<std::size_t>(all.first_vertex[s])),
          vertices_(static_cast<std::size_t>(all.first_vertex[s + 1]) - first_),
          first_factor_(static_cast<std::size_t>(all.first_factor[s])),
          factors_(static_cast<std::size_t>(all.first_factor[s + 1]) - first_factor_),
          first_slot_(static_cast<std::size_t>(all.first_slot[first_factor_])),
          begin_(vertices_ + 1, 0) {
        const std::size_t slots = slot(factors_);
        for (std::size_t k = 0; k < slots; ++k) ++begin_[vertex(k) + 1];
        for (std::size_t v = 0; v < vertices_; ++v) begin_[v + 1] += begin_[v];
        around_.resize(slots);
        std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
        for (std::size_t f = 0; f < factors_; ++f) {
            std::size_t least = vertices_, most = 0;
            for (std::size_t k = slot(f); k < slot(f + 1); ++k) {
                least = std::min(least, vertex(k));
                most = std::max(most, vertex(k));
            }
            for (std::size_t k = slot(f); k < slot(f + 1); ++k)
                around_[next[vertex(k)]++] = {f, k - slot(f), vertex(k) == least, vertex(k) == most};
        }
    }

    std::size_t labels() const { return all_.labels; }
    std::size_t vertices() const { return vertices_; }
    std::size_t factors() const { return factors_; }
    std::size_t first_vertex() const { return first_; }
    std::size_t slot(std::size_t f) const {
        return static_cast<std::size_t>(all_.first_slot[first_factor_ + f]) - first_slot_;
    }
    std::size_t arity(std::size_t f) const { return slot(f + 1) - slot(f); }
    std::size_t vertex(std::size_t slot) const {
        return static_cast<std::size_t>(all_.member[first_slot_ + slot]) - first_;
    }
    const double* node(std::size_t v) const { return all_.node + (first_ + v) * labels(); }
    const double* table(std::size_t f) const { return all_.tables + all_.table[first_factor_ + f]; }
    // The table of a pair with the labels of the member at `place` running fastest.
    const double* towards(std::size_t f, std::size_t place) const {
        return (place ? all_.tables : all_.swapped) + all_.table[first_factor_ + f];
    }
    // The slots of a vertex.
    const Slot* begin(std::size_t v) const { return around_.data() + begin_[v]; }
    const Slot* end(std::size_t v) const { return around_.data() + begin_[v + 1]; }

    // Adds the scores of factor f for every label of the member at `place`, the labels of the others given.
    void add_row(std::size_t f, std::size_t place, const std::int32_t* labels, double* into) const {
        const std::size_t L = this->labels(), k = slot(f), a = arity(f);
        if (a == 2) {
            const double* row = towards(f, place) + static_cast<std::size_t>(labels[vertex(k + 1 - place)]) * L;
            for (std::size_t x = 0; x < L; ++x) into[x] += row[x];
            return;
        }
        std::size_t at = 0, step = 1;
        for (std::size_t q = 0; q < a; ++q)
            at = at * L + (q == place ? 0 : static_cast<std::size_t>(labels[vertex(k + q)]));
        for (std::size_t q = place + 1; q < a; ++q) step *= L;
        const double* entry = table(f) + at;
        for (std::size_t x = 0; x < L; ++x) into[x] += entry[x * step];
    }

    double score(const std::int32_t* labels) const {
        double total = 0;
        for (std::size_t v = 0; v < vertices_; ++v) total += node(v)[labels[v]];
        for (std::size_t f = 0; f < factors_; ++f) {
            std::size_t at = 0;
            for (std::size_t k = slot(f); k < slot(f + 1); ++k)
                at = at * this->labels() + static_cast<std::size_t>(labels[vertex(k)]);
            total += table(f)[at];
        }
        return total;
    }

    // Iterated conditional modes: one vertex after another takes its best label, until none has a better one.
    void improve(std::int32_t* labels, std::vector<double>& row) const {
        const std::size_t L = this->labels();
        row.resize(L);
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t v = 0; v < vertices_; ++v) {
                std::copy_n(node(v), L, row.data());
                for (const Slot* at = begin(v); at != end(v); ++at) add_row(at->factor, at->place, labels, row.data());
                const auto best = static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
                const double now = row[static_cast<std::size_t>(labels[v])];
                // Rounding must not let two labels take turns for ever.
                if (row[best] > now + 1e-12 * (1 + std::abs(now)) || (now == kForbidden && row[best] > now)) {
                    labels[v] = static_cast<std::int32_t>(best);
                    changed = true;
                }
            }
        }
    }

private:
    const FactorGraphs& all_;
    std::size_t first_, vertices_, first_factor_, factors_, first_slot_;
    std::vector<std::size_t> begin_;
    std::vector<Slot> around_;
};

}  // namespace kernelfields
