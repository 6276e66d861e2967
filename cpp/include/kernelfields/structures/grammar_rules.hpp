// Binary rules A -> B C of a grammar over symbols 0 ... N - 1, by their children and by their parents.
#pragma once

#include "grammar_chart.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace kernelfields {

class GrammarRules {
public:
    struct Rule {
        std::int32_t left, right;
        std::size_t place;  // in the order of RulesByChildren
    };

    // `given` are (parent, left, right) of all rules.
    GrammarRules(std::size_t symbols, std::size_t rules, const std::int32_t* given)
        : symbols_(symbols),
          number_(rules),
          parent_(rules),
          first_pair_(symbols + 1, 0),
          first_by_parent_(symbols + 1, 0) {
        const auto at = [&](std::size_t r, std::size_t k) { return given[3 * r + k]; };
        std::iota(number_.begin(), number_.end(), std::size_t{0});
        std::stable_sort(number_.begin(), number_.end(), [&](std::size_t a, std::size_t b) {
            return std::pair(at(a, 1), at(a, 2)) < std::pair(at(b, 1), at(b, 2));
        });
        by_parent_.resize(rules);
        for (std::size_t p = 0; p < rules; ++p) {
            const std::size_t r = number_[p];
            parent_[p] = at(r, 0);
            ++first_by_parent_[static_cast<std::size_t>(at(r, 0)) + 1];
            const bool same = p > 0 && at(r, 1) == at(number_[p - 1], 1) && at(r, 2) == at(number_[p - 1], 2);
            if (same) continue;
            first_rule_.push_back(static_cast<std::int32_t>(p));
            right_.push_back(at(r, 2));
            ++first_pair_[static_cast<std::size_t>(at(r, 1)) + 1];
        }
        first_rule_.push_back(static_cast<std::int32_t>(rules));
        std::partial_sum(first_pair_.begin(), first_pair_.end(), first_pair_.begin());
        std::partial_sum(first_by_parent_.begin(), first_by_parent_.end(), first_by_parent_.begin());
        std::vector<std::int32_t> next(first_by_parent_.begin(), first_by_parent_.end() - 1);
        for (std::size_t p = 0; p < rules; ++p) {
            const std::size_t r = number_[p];
            by_parent_[static_cast<std::size_t>(next[static_cast<std::size_t>(parent_[p])]++)] = {at(r, 1), at(r, 2),
                                                                                                  p};
        }
    }

    RulesByChildren by_children() const {
        return {symbols_, parent_.size(), first_pair_.data(), right_.data(), first_rule_.data(), parent_.data()};
    }
    // The rules of a parent.
    const Rule* begin(std::size_t parent) const { return by_parent_.data() + first_by_parent_[parent]; }
    const Rule* end(std::size_t parent) const { return by_parent_.data() + first_by_parent_[parent + 1]; }
    // The number that whoever gave the rules knows one by.
    std::size_t number(std::size_t place) const { return number_[place]; }
    // The number of a rule, -1 where there is no such rule.
    std::int32_t find(std::size_t parent, std::size_t left, std::size_t right) const {
        for (const Rule* rule = begin(parent); rule != end(parent); ++rule)
            if (static_cast<std::size_t>(rule->left) == left && static_cast<std::size_t>(rule->right) == right)
                return static_cast<std::int32_t>(number_[rule->place]);
        return -1;
    }
    // Rules, by number, of the n - 1 spans of several words of an output, in its order; false where it is no tree.
    bool rules_of(std::size_t n, const std::int32_t* output, std::int32_t* found) const {
        struct Node {
            std::size_t place = SIZE_MAX, symbol = 0;
        };
        std::vector<Node> widest(n + 1);  // by their ends, of the spans so far: where they begin, and their symbols
        std::size_t to = 2 * n - 1;
        for (std::size_t i = n, count = 1, first = n * (n + 1) / 2; i-- > 0; ++count) {
            first -= count;  // spans that begin with i are first ... first + count - 1
            const auto row = [&](std::size_t k) { return static_cast<std::size_t>(output[k]) / symbols_; };
            std::size_t from = to;
            while (from > 0 && output[from - 1] >= 0 && row(from - 1) >= first) --from;
            // The single word comes first; whatever is longer has the one before it as its left part.
            std::size_t middle = 0, left = 0;
            for (std::size_t k = from; k < to; ++k) {
                const std::size_t j = row(k) - first + i + 1, symbol = static_cast<std::size_t>(output[k]) % symbols_;
                if (j > n || (k == from) != (j == i + 1) || j <= middle) return false;
                if (k > from) {
                    if (widest[j].place != middle || middle == 0) return false;
                    found[k - i - 1] = find(symbol, left, widest[j].symbol);
                }
                widest[j] = {i, symbol};
                middle = j;
                left = symbol;
            }
            if (middle == 0) return false;
            to = from;
        }
        return to == 0 && widest[n].place == 0;
    }
    std::size_t symbols() const { return symbols_; }
    std::size_t size() const { return parent_.size(); }

private:
    std::size_t symbols_;
    std::vector<std::size_t> number_;
    std::vector<std::int32_t> parent_, first_pair_, right_, first_rule_, first_by_parent_;
    std::vector<Rule> by_parent_;
};

}  // namespace kernelfields
