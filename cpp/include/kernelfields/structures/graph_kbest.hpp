// The k best labellings of a graph. Messages of best scores say exactly what every choice costs, when vertices are
// chosen from the last to the first: a labelling is the best one but for the places where it departs from what is best
// given its choices so far. Each labelling found offers its departures, at places behind its own last one; the best
// offer is the next labelling.
#pragma once

#include "graph.hpp"

#include <set>

namespace kernelfields {

class GraphBest {
public:
    GraphBest(GraphRoom& room, std::size_t k) : room_(room), most_(k), n_(room.plan.node.size()) {}

    // take(labels, score) for up to k labellings, best first.
    template <class Take> void run(double best, Take take) {
        offers_.insert({best, 0, 0, 0, 0});
        std::vector<std::int32_t> found;  // labellings, one after the other
        for (std::size_t rank = 0; rank < most_ && !offers_.empty(); ++rank) {
            const Offer offer = *offers_.begin();
            offers_.erase(offers_.begin());
            room_.label.assign(n_, 0);
            if (rank > 0)
                std::copy_n(found.begin() + static_cast<std::ptrdiff_t>(offer.from * n_), n_, room_.label.begin());
            complete(offer, rank);
            found.insert(found.end(), room_.label.begin(), room_.label.end());
            take(room_.label.data(), offer.score);
        }
    }

private:
    // The labelling `from` up to `place`, another label there, and the best behind it. Places count from the last node.
    struct Offer {
        double score;
        std::size_t number, from, place;
        std::int32_t label;
        bool operator<(const Offer& other) const {
            return score != other.score ? score > other.score : number < other.number;
        }
    };

    void complete(const Offer& offer, std::size_t rank) {
        for (std::size_t place = rank == 0 ? 0 : offer.place; place < n_; ++place) {
            const PlanNode& at = room_.plan.node[n_ - 1 - place];
            std::int32_t& label = room_.label[at.vertex];
            if (rank > 0 && place == offer.place) {
                label = offer.label;
                continue;
            }
            const auto choices = static_cast<std::int32_t>(room_.plan.choices(at.vertex));
            score_.resize(static_cast<std::size_t>(choices));
            for (label = 0; label < choices; ++label)
                score_[static_cast<std::size_t>(label)] = entry_score(room_, at, room_.label.data());
            const auto best = static_cast<std::int32_t>(first_largest(score_.data(), score_.size()));
            for (std::int32_t y = 0; y < choices; ++y)
                if (y != best) make_offer(offer.score, best, y, place, rank);
            label = best;
        }
    }
    void make_offer(double score, std::int32_t best, std::int32_t y, std::size_t place, std::size_t rank) {
        const double lost = score_[static_cast<std::size_t>(best)] - score_[static_cast<std::size_t>(y)];
        if (!(lost < -kNothing)) return;
        offers_.insert({score - lost, ++number_, rank, place, y});
        if (offers_.size() > most_) offers_.erase(std::prev(offers_.end()));
    }

    GraphRoom& room_;
    std::size_t most_, n_, number_ = 0;
    std::set<Offer> offers_;
    std::vector<double> score_;
};

// Rows of labels, -1 where an instance has fewer labellings; values instances x k, -inf there.
inline void graph_kbest(const GraphBatch& batch, std::size_t k, std::int32_t* labels, double* value) {
    std::fill(labels, labels + k * batch.graphs.vertices, -1);
    for_each_graph(batch, instance_blocks(batch.shapes, 64), 1.0, [&](const GraphView& view, std::size_t) {
        double total = 0;
        const GraphOutcome outcome = log_messages<largest_message>(view, total);
        double* values = value + view.s * k;
        std::fill(values, values + k, outcome == GraphOutcome::not_finite ? value_of(outcome, 0) : kNothing);
        if (outcome != GraphOutcome::done) return;
        std::size_t rank = 0;
        GraphBest(view.room, k).run(total, [&](const std::int32_t* chosen, double score) {
            values[rank] = score;
            write_labels(view.graphs, view.s, chosen, labels + rank++ * view.graphs.vertices);
        });
    });
}

}  // namespace kernelfields
