// Blocked Gibbs sampling: a random forest of vertices is drawn at once given the others, then these one by one.
#pragma once

#include "../core/draw.hpp"
#include "allowed_labelling.hpp"
#include "factor_beliefs.hpp"
#include "random_forests.hpp"

namespace kernelfields {

// The labels of one instance, and the forest that is drawn next.
class GibbsChain {
public:
    GibbsChain(const MessageScores& scores, std::size_t s, std::uint64_t seed)
        : graph_(scores.graph),
          scores_(scores),
          vertices_(range(graph_.first, s)),
          seed_(seed + 0x632be59bd9b4e019ULL * (s + 1)),
          label_(vertices_.to - vertices_.from),
          place_(label_.size()),
          up_(label_.size() * graph_.labels),
          mass_(graph_.labels),
          cumulative_(graph_.labels) {
        AllowedLabelling start(scores, s);
        possible_ = start.find();
        for (std::size_t v = 0; v < label_.size() && possible_; ++v) label_[v] = start.label(vertices_.from + v);
        order_.resize(label_.size());
        for (std::size_t v = 0; v < order_.size(); ++v) order_[v] = v;
    }

    // Whether a labelling to begin with was found.
    bool possible() const { return possible_; }
    std::size_t label(std::size_t v) const { return label_[v - vertices_.from]; }

    void sweep() {
        shuffle();
        grow();
        for (std::size_t k = forest_.size(); k-- > 0;) send(k);
        for (std::size_t k = 0; k < forest_.size(); ++k) draw(k);
        for (const std::size_t v : rest_) draw_alone(v);
        ++sweeps_;
    }

private:
    static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
    struct Member {
        std::size_t vertex, above, factor;  // vertices counted from those of the instance; kNobody at roots
    };
    const MessageGraph& graph_;
    const MessageScores& scores_;
    const Range vertices_;
    const std::uint64_t seed_;
    std::uint64_t sweeps_ = 0;
    bool possible_ = false;
    std::vector<std::size_t> label_, place_, order_, rest_;  // place: in the forest, or kNobody
    std::vector<Member> forest_;                             // those above come before those below
    std::vector<double> up_;                                 // place x labels: log of the mass below, and of one's own
    std::vector<double> mass_, cumulative_;

    double uniform(std::uint64_t what, std::size_t k) const { return uniform_at(seed_ + what, sweeps_, k); }

    void shuffle() {
        for (std::size_t k = order_.size(); k > 1; --k) {
            const auto other = static_cast<std::size_t>(uniform(1, k) * static_cast<double>(k));
            std::swap(order_[k - 1], order_[std::min(other, k - 1)]);
        }
    }

    template <class Body> void each_factor(std::size_t v, Body body) const {
        const std::size_t at = vertices_.from + v;
        for (std::size_t k = graph_.incident_first[at]; k < graph_.incident_first[at + 1]; ++k)
            body(graph_.slot_factor[graph_.incident[k]]);
    }

    // The only member of a factor, besides v, that is in the set; kNobody without any, or the number of all vertices
    // where there are several.
    std::size_t partner(std::size_t f, std::size_t v, const std::vector<char>& in) const {
        std::size_t found = kNobody;
        for (std::size_t slot = graph_.slot_first[f]; slot < graph_.slot_first[f + 1]; ++slot) {
            const std::size_t w = graph_.slot_vertex[slot] - vertices_.from;
            if (w == v || !in[w]) continue;
            if (found != kNobody) return label_.size();
            found = w;
        }
        return found;
    }

    // Takes vertices in random order while they close no cycle; then puts those above before those below.
    void grow() {
        const std::size_t N = label_.size();
        JoinedVertices joined(0, N);
        std::vector<char> in(N, 0);
        std::vector<std::size_t> roots;
        rest_.clear();
        for (const std::size_t v : order_) {
            roots.clear();
            bool free = true;
            each_factor(v, [&](std::size_t f) {
                const std::size_t w = partner(f, v, in);
                if (w == kNobody || !free) return;
                const std::size_t root = w < N ? joined.root(w) : 0;
                free = w < N && std::find(roots.begin(), roots.end(), root) == roots.end();
                roots.push_back(root);
            });
            if (!free) {
                rest_.push_back(v);
                continue;
            }
            in[v] = 1;
            for (const std::size_t root : roots) joined.join(root, joined.root(v));
        }
        arrange(in);
    }

    void arrange(const std::vector<char>& in) {
        forest_.clear();
        std::fill(place_.begin(), place_.end(), kNobody);
        for (const std::size_t root : order_) {
            if (!in[root] || place_[root] != kNobody) continue;
            place_[root] = forest_.size();
            forest_.push_back({root, kNobody, kNobody});
            for (std::size_t next = place_[root]; next < forest_.size(); ++next) {
                const std::size_t v = forest_[next].vertex;
                each_factor(v, [&](std::size_t f) {
                    const std::size_t w = partner(f, v, in);
                    if (w == kNobody || place_[w] != kNobody) return;
                    place_[w] = forest_.size();
                    forest_.push_back({w, next, f});
                });
            }
        }
    }

    // The score of a factor with labels of up to two vertices in place of their own.
    double at(std::size_t f, std::size_t v, std::size_t x, std::size_t w, std::size_t y) const {
        std::size_t index = 0;
        for (std::size_t slot = graph_.slot_first[f]; slot < graph_.slot_first[f + 1]; ++slot) {
            const std::size_t u = graph_.slot_vertex[slot] - vertices_.from;
            index = index * graph_.labels + (u == v ? x : u == w ? y : label_[u]);
        }
        return scores_.table(f)[index];
    }

    // up = own scores given the vertices outside, plus sums over those below, which have been sent already.
    void send(std::size_t k) {
        const std::size_t L = graph_.labels, v = forest_[k].vertex;
        double* up = up_.data() + k * L;
        std::copy_n(scores_.node + (vertices_.from + v) * L, L, up);
        each_factor(v, [&](std::size_t f) {
            const std::size_t w = linked(f, v);
            if (w == kNobody) {
                for (std::size_t x = 0; x < L; ++x) up[x] += at(f, v, x, v, x);
            } else if (place_[w] > k) {  // below
                for (std::size_t x = 0; x < L; ++x) {
                    for (std::size_t y = 0; y < L; ++y) mass_[y] = up_[place_[w] * L + y] + at(f, v, x, w, y);
                    up[x] += log_sum_exp(mass_.data(), L);
                }
            }
        });
    }

    // The other member of a factor that is in the forest.
    std::size_t linked(std::size_t f, std::size_t v) const {
        for (std::size_t slot = graph_.slot_first[f]; slot < graph_.slot_first[f + 1]; ++slot) {
            const std::size_t w = graph_.slot_vertex[slot] - vertices_.from;
            if (w != v && place_[w] != kNobody) return w;
        }
        return kNobody;
    }

    void draw(std::size_t k) {
        const std::size_t L = graph_.labels, v = forest_[k].vertex;
        const double* up = up_.data() + k * L;
        std::copy(up, up + L, mass_.begin());
        if (forest_[k].above != kNobody) {
            const std::size_t above = forest_[forest_[k].above].vertex;
            for (std::size_t x = 0; x < L; ++x) mass_[x] += at(forest_[k].factor, v, x, above, label_[above]);
        }
        choose(v);
    }

    void draw_alone(std::size_t v) {
        const std::size_t L = graph_.labels;
        std::copy_n(scores_.node + (vertices_.from + v) * L, L, mass_.begin());
        each_factor(v, [&](std::size_t f) {
            for (std::size_t x = 0; x < L; ++x) mass_[x] += at(f, v, x, v, x);
        });
        choose(v);
    }

    void choose(std::size_t v) {
        label_[v] = static_cast<std::size_t>(
            draw_label(graph_.labels, uniform(2, v), cumulative_, [&](std::size_t x) { return mass_[x]; }));
    }
};

// `count` labellings, `thin` sweeps apart, after `burn_in` sweeps; instances without a start have the value -inf.
inline void gibbs_sample(const MessageScores& scores, std::size_t count, std::size_t burn_in, std::size_t thin,
                         std::uint64_t seed, std::int32_t* labels, double* value) {
    const MessageGraph& graph = scores.graph;
    const auto L = static_cast<double>(graph.labels);
    const double work =
        10.0 * static_cast<double>(graph.slots + graph.vertices) * L * L * static_cast<double>(burn_in + thin * count);
    for_each_block(graph.instances, threads_for(work), [&](std::size_t s, std::size_t) {
        value[s] = std::numeric_limits<double>::quiet_NaN();
        if (!usable_scores(scores, s)) return;
        GibbsChain chain(scores, s, seed);
        value[s] = chain.possible() ? 0 : kNothing;
        if (!chain.possible()) return;
        for (std::size_t n = 0; n < burn_in; ++n) chain.sweep();
        const Range vertices = range(graph.first, s);
        for (std::size_t k = 0; k < count; ++k) {
            for (std::size_t n = 0; n < thin; ++n) chain.sweep();
            for (std::size_t v = vertices.from; v < vertices.to; ++v)
                labels[k * graph.vertices + v] = static_cast<std::int32_t>(chain.label(v));
        }
    });
}

}  // namespace kernelfields
