// Detours of chains: runs of positions.
#pragma once

#include "detour_set.hpp"

namespace kernelfields {

// Edge t of a chain is the one before position t, with one behind the last: a run touches those from its first
// position to the one behind it, both included.
inline std::uint32_t end_of(const Detour& run) {
    return run.from + run.length;
}

// One sequence. The words of a detour are its labels.
struct ChainInstance {
    static constexpr std::size_t kWords = 1;
    std::size_t from, length;  // positions from <= t < from + length of the batch; counted from zero below

    std::size_t edges() const { return length + 1; }
    bool is_source(std::size_t t) const { return t == 0; }
    bool is_sink(std::size_t t) const { return t + 1 == length; }

    // The k-th vertex of a detour.
    std::size_t vertex_of(const Detour& run, const std::int32_t*, std::size_t k) const { return run.from + k; }

    template <class Edge> void each_edge(const Detour& run, const std::int32_t*, Edge edge) const {
        for (std::size_t e = run.from; e <= end_of(run); ++e) edge(e);
    }

    // Calls vertex(t, wrong, right) and edge(wrong pair, right pair), pairs of labels, for all that a detour changes.
    template <class Vertex, class Edge>
    void each_part(const Detour& run, const std::int32_t* labels, const std::int32_t* right, Vertex vertex,
                   Edge edge) const {
        const std::size_t end = end_of(run);
        const auto label = [&](std::size_t t) { return run.from <= t && t < end ? labels[t - run.from] : right[t]; };
        for (std::size_t t = run.from; t < end; ++t) vertex(t, labels[t - run.from], right[t]);
        const std::size_t last = std::min<std::size_t>(end, length - 1);
        for (std::size_t t = std::max<std::size_t>(run.from, 1); t <= last; ++t)
            edge(LabelPair{label(t - 1), label(t)}, LabelPair{right[t - 1], right[t]});
    }
};

// The sequences of a batch.
class ChainRuns {
public:
    using Instance = ChainInstance;
    explicit ChainRuns(const std::int64_t* first) : first_(first) {}

    Instance instance(std::size_t s) const {
        return {static_cast<std::size_t>(first_[s]), static_cast<std::size_t>(first_[s + 1] - first_[s])};
    }

    // Calls take(from, length, words) for every detour of a labelling.
    template <class Take>
    void split(const Instance& chain, const std::int32_t* labels, const std::int32_t* right, Take take) {
        for (std::size_t t = 0; t < chain.length; ++t) {
            const std::size_t from = t;
            while (t < chain.length && labels[t] != right[t]) ++t;
            if (t > from) take(static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(t - from), labels + from);
        }
    }

private:
    const std::int64_t* first_;  // sequences + 1
};

}  // namespace kernelfields
