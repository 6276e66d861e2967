// The message that would change most goes first.
#pragma once

#include "factor_messages.hpp"

#include <utility>
#include <vector>

namespace kernelfields {

// Slots in a binary heap by how much their messages would change; positions are kept, so that changes can be corrected.
class ResidualSchedule {
public:
    ResidualSchedule(FactorMessages& messages, std::size_t from, std::size_t to)
        : messages_(messages),
          graph_(messages.graph()),
          first_(graph_.slot_first[from]),
          change_(graph_.slot_first[to] - first_, 0.0),
          heap_(change_.size()),
          place_(change_.size()) {
        for (std::size_t k = 0; k < heap_.size(); ++k) heap_[k] = place_[k] = k;
        for (std::size_t k = 0; k < heap_.size(); ++k) look(first_ + k);
    }

    // Returns the number of iterations, each as many messages as there are.
    std::size_t run(double step, std::size_t most, double tolerance, double& change) {
        const std::size_t size = heap_.size();
        for (std::size_t n = 0; n < most; ++n)
            for (std::size_t k = 0; k < size; ++k) {
                change = change_[heap_[0]];
                if (change <= tolerance) return n + 1;
                send(first_ + heap_[0], step);
            }
        change = change_[heap_[0]];
        return most;
    }

private:
    FactorMessages& messages_;
    const MessageGraph& graph_;
    const std::size_t first_;
    std::vector<double> change_;
    std::vector<std::size_t> heap_, place_;
    MessageRoom room_;

    void send(std::size_t slot, double step) {
        double* fresh = messages_.room(room_, 1);
        messages_.fresh(slot, fresh, room_);
        messages_.mix(slot, fresh, step);
        const std::size_t v = graph_.slot_vertex[slot];
        messages_.update_beliefs(v, v + 1);
        look(slot);
        for (std::size_t k = graph_.incident_first[v]; k < graph_.incident_first[v + 1]; ++k) {
            const std::size_t f = graph_.slot_factor[graph_.incident[k]];
            for (std::size_t other = graph_.slot_first[f]; other < graph_.slot_first[f + 1]; ++other)
                if (graph_.slot_vertex[other] != v) look(other);
        }
    }

    void look(std::size_t slot) {
        const std::size_t k = slot - first_;
        change_[k] = messages_.fresh(slot, messages_.room(room_, 1), room_);
        rise(place_[k]);
        sink(place_[k]);
    }

    void exchange(std::size_t a, std::size_t b) {
        std::swap(heap_[a], heap_[b]);
        place_[heap_[a]] = a;
        place_[heap_[b]] = b;
    }
    bool above(std::size_t a, std::size_t b) const { return change_[heap_[a]] > change_[heap_[b]]; }
    void rise(std::size_t at) {
        for (; at > 0 && above(at, (at - 1) / 2); at = (at - 1) / 2) exchange(at, (at - 1) / 2);
    }
    void sink(std::size_t at) {
        for (std::size_t child = 2 * at + 1; child < heap_.size(); child = 2 * at + 1) {
            if (child + 1 < heap_.size() && above(child + 1, child)) ++child;
            if (!above(child, at)) return;
            exchange(at, child);
            at = child;
        }
    }
};

}  // namespace kernelfields
