// The way that shares have gone since a panel was opened, to go on with a part of it: over-relaxation.
//
// Where instances of other panels have much in common with those of one, all of them end up too short when each panel
// goes as far as is best by itself.
#pragma once

#include "detours.hpp"

#include <algorithm>
#include <vector>

namespace kernelfields {

template <class Bound> class DetourWay {
public:
    void begin(const std::vector<Bound>& panel) {
        count_.clear();
        share_.clear();
        for (const Bound& s : panel) {
            count_.push_back(s.set->list.size());
            for (const Detour& d : s.set->list) share_.push_back(d.share);
        }
    }
    // Moves every share by a multiple of the way so far, as there is room; returns by how much the dual has risen.
    // Detours that have come since are behind the others, and began at zero.
    template <class Function> double go_on(const std::vector<Bound>& panel, Function& f, double factor) const {
        double gain = 0;
        const double* before = share_.data();
        for (std::size_t k = 0; k < panel.size(); before += count_[k++]) {
            const Bound& s = panel[k];
            for (std::size_t m = 0; m < s.set->list.size(); ++m) {
                Detour& d = s.set->list[m];
                const double way = d.share - (m < count_[k] ? before[m] : 0.0);
                const double room = std::max(s.capacity - s.set->load(s.at, d), 0.0);
                const double by = std::clamp(factor * way, -d.share, room);
                if (by == 0) continue;
                gain += by * (f.gain(s, d) - 0.5 * by * d.square);
                f.move(s, d, by);
            }
        }
        return gain;
    }

private:
    std::vector<std::size_t> count_;  // detours of every instance
    std::vector<double> share_;       // of all of them
};

}  // namespace kernelfields
