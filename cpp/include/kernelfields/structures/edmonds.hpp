// The best tree, projective or not: Chu, Liu and Edmonds' algorithm on a matrix, in time n^2.
//
// From a word not seen before, best heads are followed until they lead to one that was done before, or make a cycle,
// which becomes one node: each round grows a path or shortens it, and looks at one row [gabow1986efficient]. Scores
// are pairs, compared by their first numbers first: how many arcs are forbidden or, with a single root word, come from
// the root. A tree with one of these is then better than all with more, whatever its score: no constant has to be
// subtracted from scores, and one run is enough [stanojevic2021root].
#pragma once

#include "arcs.hpp"

namespace kernelfields {

class Edmonds {
public:
    // Heads of words 1 ... n, theta as in read_arcs; whether they are an allowed tree. Ties go to the lower head.
    bool run(std::size_t n, const double* theta, bool single_root, std::int32_t* heads) {
        start(n, theta, single_root);
        for (std::size_t word = 1; word <= n; ++word)
            if (state_[word] == State::unseen) grow(word);
        return expand(theta, single_root, heads);
    }

private:
    enum class State : char { unseen, on_path, done, merged };
    struct Arc {
        std::int64_t faults;  // forbidden, from the root
        double score;
        std::size_t head, word;
        bool operator<(const Arc& other) const {
            return faults != other.faults ? faults > other.faults : score < other.score;
        }
    };
    Arc& arc(std::size_t to, std::size_t from) { return arcs_[to * (n_ + 1) + from]; }

    void start(std::size_t n, const double* theta, bool single_root) {
        n_ = n;
        arcs_.resize((n + 1) * (n + 1));
        state_.assign(n + 1, State::unseen);
        state_[0] = State::done;
        chosen_.assign(n + 1, 0);
        node_.resize(n + 1);
        above_.assign(n + 1, 0);
        entering_.assign(n + 1, {});
        members_.assign(n + 1, {});
        const auto forbidden = static_cast<std::int64_t>(n) + 1;
        for (std::size_t m = 0; m <= n; ++m) {
            node_[m] = m;
            for (std::size_t h = 0; m > 0 && h <= n; ++h) {
                const double score = theta[arc_at(n, m, h)];
                const bool banned = score == kNothing;
                arc(m, h) = {banned ? forbidden : (h == 0 && single_root ? 1 : 0), banned ? 0 : score, h, m};
            }
        }
    }
    void grow(std::size_t word) {
        path_.assign(1, word);
        state_[word] = State::on_path;
        while (!path_.empty()) {
            const std::size_t top = path_.back(), head = best_head(top);
            chosen_[top] = head;
            entering_[node_[top]] = arc(top, head);
            if (state_[head] == State::on_path) {
                merge(head);
            } else if (state_[head] == State::unseen) {
                state_[head] = State::on_path;
                path_.push_back(head);
            } else {
                for (const std::size_t slot : path_) state_[slot] = State::done;
                path_.clear();
            }
        }
    }
    std::size_t best_head(std::size_t top) {
        std::size_t best = n_ + 1;
        for (std::size_t h = 0; h <= n_; ++h)
            if (h != top && state_[h] != State::merged && (best > n_ || arc(top, best) < arc(top, h))) best = h;
        return best;
    }
    // The cycle from the top of the path back to `first` becomes one node, in the place of `first`.
    void merge(std::size_t first) {
        const std::size_t made = members_.size();
        members_.emplace_back();
        above_.push_back(0);
        entering_.emplace_back();
        std::size_t begin = path_.size();
        while (path_[begin - 1] != first) --begin;
        cycle_.assign(path_.begin() + static_cast<std::ptrdiff_t>(begin) - 1, path_.end());
        path_.resize(begin);
        for (const std::size_t slot : cycle_) {
            members_[made].push_back(node_[slot]);
            above_[node_[slot]] = made;
            const Arc inside = arc(slot, chosen_[slot]);
            for (std::size_t x = 0; x <= n_; ++x) {  // what an arc into the cycle gains over the one it replaces
                arc(slot, x).faults -= inside.faults;
                arc(slot, x).score -= inside.score;
            }
            if (slot != first) state_[slot] = State::merged;
        }
        for (const std::size_t slot : cycle_)
            for (std::size_t x = 0; x <= n_; ++x) {
                if (x == first || state_[x] == State::merged) continue;
                if (arc(first, x) < arc(slot, x)) arc(first, x) = arc(slot, x);
                if (x > 0 && arc(x, first) < arc(x, slot)) arc(x, first) = arc(x, slot);
            }
        node_[first] = made;
    }
    // The arc into a node is the one into its member that has the word; the other members keep theirs.
    bool expand(const double* theta, bool single_root, std::int32_t* heads) {
        for (std::size_t node = members_.size(); node-- > n_ + 1;) {
            std::size_t inner = entering_[node].word;
            while (above_[inner] != node) inner = above_[inner];
            entering_[inner] = entering_[node];
        }
        std::size_t roots = 0;
        bool allowed = true;
        for (std::size_t m = 1; m <= n_; ++m) {
            heads[m - 1] = static_cast<std::int32_t>(entering_[m].head);
            roots += entering_[m].head == 0;
            allowed = allowed && theta[arc_at(n_, m, entering_[m].head)] > kNothing;
        }
        return allowed && (!single_root || roots <= 1);
    }

    std::size_t n_ = 0;
    std::vector<Arc> arcs_;            // by the places of nodes
    std::vector<State> state_;         // of places
    std::vector<std::size_t> chosen_;  // best head of a place
    std::vector<std::size_t> node_;    // which node is at a place
    std::vector<std::size_t> above_;   // the cycle that a node is in; 0 for none
    std::vector<Arc> entering_;        // of nodes
    std::vector<std::vector<std::size_t>> members_;
    std::vector<std::size_t> path_, cycle_;
};

}  // namespace kernelfields
