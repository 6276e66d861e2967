// Detours of forests: patches, connected sets of vertices.
//
// Vertices of an instance have *slots*, numbers by depth from the roots down, children of one vertex in a row. An edge
// has the slot of its lower end; a root has one above it. A patch touches the edge of its top, which is its first
// slot, and those of all children of its vertices.
#pragma once

#include "../structures/forest.hpp"
#include "detour_set.hpp"

#include <numeric>

namespace kernelfields {

// One instance. The words of a detour are its labels, then its slots, from the top down.
struct ForestInstance {
    static constexpr std::size_t kWords = 2;
    std::size_t from, length;  // vertices from <= v < from + length of the batch; counted from zero below
    std::size_t levels;
    const std::uint32_t* level;   // levels + 1: the first slot of each depth, and the number of slots
    const std::size_t* vertex;    // of each slot
    const std::uint32_t* slot;    // of each vertex
    const std::uint32_t* parent;  // slots: that of the parent; nothing at roots
    const std::uint32_t* child;   // slots + 1: children of slot k have the slots child[k] .. child[k + 1] - 1

    std::size_t edges() const { return length; }
    bool is_root(std::size_t k) const { return k < level[1]; }
    bool is_source(std::size_t v) const { return is_root(slot[v]); }
    bool is_sink(std::size_t v) const { return child[slot[v]] == child[slot[v] + 1]; }

    static const std::int32_t* slots(const Detour& patch, const std::int32_t* words) { return words + patch.length; }

    // The k-th vertex of a detour.
    std::size_t vertex_of(const Detour& patch, const std::int32_t* words, std::size_t k) const {
        return vertex[slots(patch, words)[k]];
    }

    template <class Edge> void each_edge(const Detour& patch, const std::int32_t* words, Edge edge) const {
        edge(std::size_t{patch.from});
        each_child(patch, words, [&](std::size_t, std::size_t below, std::size_t) { edge(below); });
    }

    // Calls body(k, slot, m) for every child of every vertex: that of the k-th vertex, and the m-th one itself, or none
    // of them if m is the length. Slots of vertices grow, and so do those of their children.
    template <class Body> void each_child(const Detour& patch, const std::int32_t* words, Body body) const {
        const std::int32_t* own = slots(patch, words);
        std::size_t next = 1;
        for (std::size_t k = 0; k < patch.length; ++k)
            for (std::size_t c = child[own[k]]; c < child[own[k] + 1]; ++c) {
                const bool inside = next < patch.length && static_cast<std::size_t>(own[next]) == c;
                body(k, c, inside ? next++ : patch.length);
            }
    }

    // Calls vertex(v, wrong, right) and edge(wrong pair, right pair), pairs of labels, for all that a detour changes.
    template <class Vertex, class Edge>
    void each_part(const Detour& patch, const std::int32_t* words, const std::int32_t* right, Vertex vertex_part,
                   Edge edge) const {
        const std::int32_t* own = slots(patch, words);
        const auto right_at = [&](std::size_t k) { return right[vertex[k]]; };
        for (std::size_t k = 0; k < patch.length; ++k) vertex_part(vertex[own[k]], words[k], right_at(own[k]));
        if (!is_root(patch.from)) {
            const std::int32_t above = right_at(parent[patch.from]);
            edge(LabelPair{above, words[0]}, LabelPair{above, right_at(patch.from)});
        }
        each_child(patch, words, [&](std::size_t k, std::size_t below, std::size_t m) {
            const std::int32_t wrong = m < patch.length ? words[m] : right_at(below);
            edge(LabelPair{words[k], wrong}, LabelPair{right_at(own[k]), right_at(below)});
        });
    }
};

// The forests of a batch, as instances see them.
class ForestPatches {
public:
    using Instance = ForestInstance;
    explicit ForestPatches(const Forest& forest)
        : first_(forest.first, forest.first + forest.sequences + 1),
          level_first_(forest.sequences + 1),
          vertex_(forest.positions),
          slot_(forest.positions),
          parent_(forest.positions),
          child_(forest.positions + forest.sequences) {
        for (std::size_t s = 0; s < forest.sequences; ++s) add(forest, s);
    }

    Instance instance(std::size_t s) const {
        const auto from = static_cast<std::size_t>(first_[s]);
        const std::size_t levels = level_first_[s + 1] - level_first_[s] - 1;
        return {from,
                static_cast<std::size_t>(first_[s + 1]) - from,
                levels,
                level_.data() + level_first_[s],
                vertex_.data() + from,
                slot_.data() + from,
                parent_.data() + from,
                child_.data() + from + s};
    }

    // Calls take(from, length, words) for every detour of a labelling. A wrong vertex belongs to the patch of its
    // parent if that is wrong, too.
    template <class Take>
    void split(const Instance& tree, const std::int32_t* labels, const std::int32_t* right, Take take) {
        patch_.assign(tree.length, kRight);
        size_.clear();
        for (std::size_t k = 0; k < tree.length; ++k) {
            if (labels[tree.vertex[k]] == right[tree.vertex[k]]) continue;
            const std::uint32_t above = tree.is_root(k) ? kRight : patch_[tree.parent[k]];
            if (above == kRight) size_.push_back(0);
            patch_[k] = above == kRight ? static_cast<std::uint32_t>(size_.size()) - 1 : above;
            ++size_[patch_[k]];
        }
        gather(tree, labels);
        for (std::size_t p = 0, at = 0; p < size_.size(); at += kWords * size_[p++])
            take(static_cast<std::uint32_t>(words_[at + size_[p]]), size_[p], words_.data() + at);
    }

private:
    static constexpr std::size_t kWords = Instance::kWords;
    static constexpr std::uint32_t kRight = ~std::uint32_t{0};

    void add(const Forest& forest, std::size_t s) {
        const auto from = static_cast<std::size_t>(first_[s]), length = forest.length(s);
        for (std::size_t d = 0; d < forest.levels(s); ++d)
            level_.push_back(static_cast<std::uint32_t>(forest.level[forest.level_first[s] + d] - from));
        if (length == 0) level_.push_back(0);  // no roots: level[1] is there for all instances
        const std::size_t roots = forest.levels(s) > 1 ? level_[level_first_[s] + 1] : length;
        level_.push_back(static_cast<std::uint32_t>(length));
        level_first_[s + 1] = level_.size();
        std::uint32_t* child = child_.data() + from + s;
        child[0] = static_cast<std::uint32_t>(roots);
        for (std::size_t k = 0; k < length; ++k) {
            const std::size_t v = forest.downward[from + k];
            vertex_[from + k] = v - from;
            slot_[v] = static_cast<std::uint32_t>(k);
            child[k + 1] = child[k] + static_cast<std::uint32_t>(forest.children[v]);
            if (forest.parent[v] >= 0) parent_[from + k] = slot_[static_cast<std::size_t>(forest.parent[v])];
        }
    }
    // The labels and slots of all patches, patch by patch.
    void gather(const Instance& tree, const std::int32_t* labels) {
        place_.assign(size_.size() + 1, 0);
        for (std::size_t p = 0; p < size_.size(); ++p) place_[p + 1] = place_[p] + kWords * size_[p];
        words_.resize(place_.back());
        for (std::size_t k = 0; k < tree.length; ++k) {
            if (patch_[k] == kRight) continue;
            const std::size_t at = place_[patch_[k]]++;
            words_[at] = labels[tree.vertex[k]];
            words_[at + size_[patch_[k]]] = static_cast<std::int32_t>(k);
        }
    }

    std::vector<std::int64_t> first_;
    std::vector<std::size_t> level_first_, vertex_;
    std::vector<std::uint32_t> level_, slot_, parent_, child_;
    std::vector<std::uint32_t> patch_, size_;  // of each slot, of each patch; of the last labelling
    std::vector<std::size_t> place_;
    std::vector<std::int32_t> words_;
};

}  // namespace kernelfields
