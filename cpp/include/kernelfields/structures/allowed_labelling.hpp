// A labelling that no score forbids, where a local search finds one.
#pragma once

#include "../core/draw.hpp"
#include "factor_blocks.hpp"

namespace kernelfields {

class AllowedLabelling {
public:
    AllowedLabelling(const MessageScores& scores, std::size_t s)
        : graph_(scores.graph),
          scores_(scores),
          vertices_(range(graph_.first, s)),
          factors_(range(graph_.factor_first, s)) {}

    // Whether any table of the instance forbids something.
    bool needed() const {
        for (std::size_t f = factors_.from; f < factors_.to; ++f) {
            const double* T = scores_.table(f);
            if (std::any_of(T, T + scores_.size(f), [](double x) { return x == kNothing; })) return true;
        }
        return false;
    }

    // From the best labels of vertices by themselves, then from random ones: the label that breaks the fewest rules, of
    // these the best, vertex by vertex.
    bool find() {
        for (std::size_t attempt = 0; attempt < kAttempts; ++attempt)
            if (begin(attempt) && repair(attempt)) return true;
        return false;
    }

    std::size_t label(std::size_t v) const { return label_[v - vertices_.from]; }

private:
    static constexpr std::size_t kAttempts = 20, kSweeps = 200;
    const MessageGraph& graph_;
    const MessageScores& scores_;
    const Range vertices_, factors_;
    std::vector<std::size_t> label_;

    bool begin(std::size_t attempt) {
        const std::size_t L = graph_.labels;
        std::vector<double> cumulative(L);
        label_.assign(vertices_.to - vertices_.from, 0);
        for (std::size_t v = vertices_.from; v < vertices_.to; ++v) {
            const double* node = scores_.node + v * L;
            if (largest_of(node, L) == kNothing) return false;
            std::size_t& mine = label_[v - vertices_.from];
            if (attempt == 0) mine = first_largest(node, L);
            else
                mine = static_cast<std::size_t>(
                    draw_by_mass(L, uniform_at(0, attempt, v - vertices_.from), cumulative,
                                 [&](std::size_t x) { return node[x] > kNothing ? 1.0 : 0.0; }));
        }
        return true;
    }

    bool repair(std::size_t attempt) {
        for (std::size_t n = 0; n < kSweeps; ++n) {
            std::size_t broken = 0, moved = 0;
            for (std::size_t v = vertices_.from; v < vertices_.to; ++v) {
                const std::size_t before = label(v);
                broken += choose(v, attempt, n);
                moved += label(v) != before;
            }
            if (broken == 0) return true;
            if (moved == 0 && attempt == 0) return false;
        }
        return false;
    }

    // Returns how many rules the label that was chosen breaks; among equally good ones chance decides.
    std::size_t choose(std::size_t v, std::size_t attempt, std::size_t sweep) {
        const std::size_t L = graph_.labels;
        std::size_t best = label(v), fewest = std::numeric_limits<std::size_t>::max();
        double most = kNothing;
        for (std::size_t x = 0; x < L; ++x) {
            double score = scores_.node[v * L + x];
            if (score == kNothing) continue;
            std::size_t broken = 0;
            for (std::size_t k = graph_.incident_first[v]; k < graph_.incident_first[v + 1]; ++k) {
                const double value = at(graph_.slot_factor[graph_.incident[k]], v, x);
                if (value == kNothing) ++broken;
                else score += value;
            }
            if (attempt > 0 && broken > 0) score = uniform_at(sweep + 1, attempt, (v - vertices_.from) * L + x);
            if (broken < fewest || (broken == fewest && score > most)) best = x, fewest = broken, most = score;
        }
        label_[v - vertices_.from] = best;
        return fewest;
    }

    double at(std::size_t f, std::size_t v, std::size_t x) const {
        std::size_t index = 0;
        for (std::size_t slot = graph_.slot_first[f]; slot < graph_.slot_first[f + 1]; ++slot) {
            const std::size_t w = graph_.slot_vertex[slot];
            index = index * graph_.labels + (w == v ? x : label(w));
        }
        return scores_.table(f)[index];
    }
};

}  // namespace kernelfields
