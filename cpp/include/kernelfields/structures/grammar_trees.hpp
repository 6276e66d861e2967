// Single trees of a grammar: the best, the k best, draws. Outputs are span * symbols + symbol for every span of a tree,
// in the order of spans.
#pragma once

#include "grammar.hpp"
#include "tree_draws.hpp"

#include <queue>

namespace kernelfields {

struct SymbolSpan {
    std::size_t i, j, symbol;
};
struct SymbolSplit {
    std::size_t split, left, right;
};

// visit(span) from the whole down; take_apart(span) is how one of several words is made.
template <class TakeApart, class Visit>
void walk_symbols(std::size_t n, std::size_t root, TakeApart take_apart, Visit visit) {
    std::vector<SymbolSpan> pending;
    if (n > 0) pending.push_back({0, n, root});
    while (!pending.empty()) {
        const SymbolSpan span = pending.back();
        pending.pop_back();
        visit(span);
        if (span.j - span.i == 1) continue;
        const SymbolSplit found = take_apart(span);
        pending.push_back({found.split, span.j, found.right});
        pending.push_back({span.i, found.split, found.left});
    }
}

inline void grammar_argmax(const GrammarBatch& batch, std::int32_t* output, double* value) {
    const std::size_t N = batch.spans.labels;
    std::vector<GrammarSums> memory;
    const std::vector<std::size_t> places = output_places(batch.spans);
    for_each_grammar_parse(
        batch, 0.01, [&](std::size_t threads, std::size_t) { memory.resize(threads); },
        [&](std::size_t s, std::size_t, std::size_t thread) {
            GrammarSums& sums = memory[thread];
            const std::size_t n = batch.spans.words(s);
            std::int32_t* next = output + places[s];
            std::fill(next, output + places[s + 1], 0);
            value[s] = sums.best_of(batch, s);
            if (!std::isfinite(value[s]) || n == 0) return;
            std::size_t root = 0;
            while (!batch.roots[root] || sums.best.entry(0, n, root, kNothing) != value[s]) ++root;
            const auto take_apart = [&](const SymbolSpan& span) {
                SymbolSplit first{};
                double most = kNothing;
                for_each_derivation(*batch.rules, sums.best, span.i, span.j, span.symbol, kNothing,
                                    [&](const GrammarRules::Rule& rule, std::size_t k, double left, double right) {
                                        const double score = batch.rule[rule.place] + (left + right);
                                        if (!(score > most)) return;
                                        most = score;
                                        first = {k, static_cast<std::size_t>(rule.left),
                                                 static_cast<std::size_t>(rule.right)};
                                    });
                return first;
            };
            walk_symbols(n, root, take_apart, [&](const SymbolSpan& span) {
                *next++ = static_cast<std::int32_t>(span_at(n, span.i, span.j) * N + span.symbol);
            });
            std::sort(output + places[s], next);
        });
}

inline void grammar_sample(const GrammarBatch& batch, std::size_t count, std::uint64_t seed, std::int32_t* output,
                           double* value) {
    const std::size_t N = batch.spans.labels;
    std::vector<GrammarSums> memory;
    const std::vector<std::size_t> places = output_places(batch.spans);
    for_each_grammar_parse(
        batch, 0.02, [&](std::size_t threads, std::size_t) { memory.resize(threads); },
        [&](std::size_t s, std::size_t, std::size_t thread) {
            GrammarSums& sums = memory[thread];
            const std::size_t n = batch.spans.words(s);
            value[s] = sums.run(batch, s, false);
            if (!std::isfinite(value[s]) || n == 0) return;
            const auto draw = [&]<class T>(const GrammarMemory<T>& chart, std::size_t r) {
                Uniforms uniform{seed, r, s};
                // The place of a mass among all of them, in proportion.
                std::vector<T> masses;
                const auto chosen = [&](double share) {
                    T total{};
                    for (const T& mass : masses) total += mass;
                    return draw_place(0, masses.size(), share,
                                      [&](std::size_t k) { return value_of(masses[k] / total); });
                };
                for (std::size_t a = 0; a < N; ++a) masses.push_back(batch.roots[a] ? chart.entry(0, n, a, T{}) : T{});
                const std::size_t root = chosen(uniform());
                std::int32_t* const begin = output + r * places.back() + places[s];
                std::int32_t* next = begin;
                std::vector<SymbolSplit> ways;
                const auto take_apart = [&](const SymbolSpan& span) {
                    masses.clear();
                    ways.clear();
                    for_each_derivation(*batch.rules, chart, span.i, span.j, span.symbol, T{},
                                        [&](const GrammarRules::Rule& rule, std::size_t k, T left, T right) {
                                            masses.push_back(chart.w[rule.place] * left * right);
                                            ways.push_back({k, static_cast<std::size_t>(rule.left),
                                                            static_cast<std::size_t>(rule.right)});
                                        });
                    return ways[chosen(uniform())];
                };
                walk_symbols(n, root, take_apart, [&](const SymbolSpan& span) {
                    *next++ = static_cast<std::int32_t>(span_at(n, span.i, span.j) * N + span.symbol);
                });
                std::sort(begin, next);
            };
            for (std::size_t r = 0; r < count; ++r)
                if (sums.widened) draw(sums.wide, r);
                else draw(sums.narrow, r);
        });
}

// The k best trees of a sentence: lists of derivations of every symbol of every span, made longer only when somebody
// asks for more [huang2005better, algorithm 3].
class GrammarBest {
public:
    // After sums.best_of(batch, s).
    GrammarBest(const GrammarBatch& batch, std::size_t s, const GrammarSums& sums)
        : batch_(batch), sums_(sums), n_(batch.spans.words(s)), N_(batch.spans.labels), lists_(spans_of(n_) * N_ + 1) {
        for (std::size_t a = 0; a < N_; ++a)
            if (n_ > 0 && batch.roots[a] && has({0, n_, a}, 0))
                goal_.next.push({list({0, n_, a}).best[0].score, 0, a, 0, 0, 0});
    }
    // Writes the tree of rank r = 0, 1, ..., and returns its score; -inf where there are fewer.
    double tree(std::size_t r, std::int32_t* output) {
        if (n_ == 0) return r == 0 ? 0 : kNothing;
        while (goal_.best.size() <= r && !goal_.next.empty()) {
            Derivation found = goal_.next.top();
            goal_.next.pop();
            goal_.best.push_back(found);
            const SymbolSpan root{0, n_, found.left};
            if (has(root, ++found.first)) {
                found.score = list(root).best[found.first].score;
                goal_.next.push(found);
            }
        }
        if (goal_.best.size() <= r) return kNothing;
        next_ = output;
        write({0, n_, goal_.best[r].left}, goal_.best[r].first);
        std::sort(output, next_);
        return goal_.best[r].score;
    }

private:
    struct Derivation {
        double score;
        std::size_t split, left, right, first, second;  // symbols of both parts, and their ranks
        double own = 0;                                 // the score of rule and span
        bool operator<(const Derivation& other) const {
            return score != other.score ? score < other.score : split > other.split;
        }
    };
    struct List {
        bool begun = false;
        std::size_t followed = 0;  // of the best, how many have offered what comes next
        std::vector<Derivation> best;
        std::priority_queue<Derivation> next;
    };

    List& list(const SymbolSpan& span) { return lists_[span_at(n_, span.i, span.j) * N_ + span.symbol]; }
    void offer(const SymbolSpan& span, Derivation d) {
        const SymbolSpan left{span.i, d.split, d.left}, right{d.split, span.j, d.right};
        if (!has(left, d.first) || !has(right, d.second)) return;
        d.score = d.own + (list(left).best[d.first].score + list(right).best[d.second].score);
        list(span).next.push(d);
    }
    void begin(const SymbolSpan& span) {
        list(span).begun = true;
        if (sums_.best.entry(span.i, span.j, span.symbol, kNothing) == kNothing) return;
        const double own = sums_.best.u[span_at(n_, span.i, span.j) * N_ + span.symbol];
        if (span.j - span.i == 1) {
            list(span).best.push_back({own, 0, 0, 0, 0, 0, own});
            return;
        }
        for_each_derivation(*batch_.rules, sums_.best, span.i, span.j, span.symbol, kNothing,
                            [&](const GrammarRules::Rule& rule, std::size_t k, double left, double right) {
                                const double score = batch_.rule[rule.place] + own;
                                if (score + left + right > kNothing)
                                    list(span).next.push({score + (left + right), k,
                                                          static_cast<std::size_t>(rule.left),
                                                          static_cast<std::size_t>(rule.right), 0, 0, score});
                            });
    }
    // Offers what comes next after a derivation: every pair of ranks from one other only.
    void follow(const SymbolSpan& span) {
        Derivation next = list(span).best[list(span).followed];
        if (span.j - span.i == 1) return;
        ++next.second;
        offer(span, next);
        if (next.second > 1) return;
        next.second = 0;
        ++next.first;
        offer(span, next);
    }
    // Whether there is a derivation of this rank; finds it, if nobody has asked before. The best scores are known from
    // the chart, so that a first derivation needs none of its parts.
    bool has(const SymbolSpan& span, std::size_t rank) {
        if (!list(span).begun) begin(span);
        while (list(span).best.size() <= rank) {
            for (; list(span).followed < list(span).best.size(); ++list(span).followed) follow(span);
            if (list(span).next.empty()) break;
            list(span).best.push_back(list(span).next.top());
            list(span).next.pop();
        }
        return list(span).best.size() > rank;
    }
    void write(const SymbolSpan& span, std::size_t rank) {
        *next_++ = static_cast<std::int32_t>(span_at(n_, span.i, span.j) * N_ + span.symbol);
        if (span.j - span.i == 1) return;
        has(span, rank);
        const Derivation found = list(span).best[rank];
        write({span.i, found.split, found.left}, found.first);
        write({found.split, span.j, found.right}, found.second);
    }

    const GrammarBatch& batch_;
    const GrammarSums& sums_;
    std::size_t n_, N_;
    std::vector<List> lists_;
    List goal_;
    std::int32_t* next_ = nullptr;
};

inline void grammar_kbest(const GrammarBatch& batch, std::size_t k, std::int32_t* output, double* value) {
    std::vector<GrammarSums> memory;
    const std::vector<std::size_t> places = output_places(batch.spans);
    for_each_grammar_parse(
        batch, 0.05, [&](std::size_t threads, std::size_t) { memory.resize(threads); },
        [&](std::size_t s, std::size_t, std::size_t thread) {
            std::fill(value + s * k, value + (s + 1) * k, kNothing);
            for (std::size_t r = 0; r < k; ++r)
                std::fill(output + r * places.back() + places[s], output + r * places.back() + places[s + 1], -1);
            if (!std::isfinite(memory[thread].best_of(batch, s))) return;
            GrammarBest best(batch, s, memory[thread]);
            for (std::size_t r = 0; r < k; ++r) {
                value[s * k + r] = best.tree(r, output + r * places.back() + places[s]);
                if (value[s * k + r] == kNothing) return;
            }
        });
}

}  // namespace kernelfields
