// Trees of a grammar for ragged batches: log-partition, marginals, covariance products, entropy.
#pragma once

#include "grammar_sums.hpp"

namespace kernelfields {

// body(s, block, thread), sentences of one block one after the other: sums over sentences are then the same on any
// number of threads. start(threads, blocks) comes first. `nanoseconds` for every rule and word cubed.
inline void for_each_grammar_parse(const GrammarBatch& batch, double nanoseconds,
                                   FunctionRef<void(std::size_t, std::size_t)> start,
                                   FunctionRef<void(std::size_t, std::size_t, std::size_t)> body) {
    double total = 0;
    const std::size_t sentences = batch.spans.sentences, blocks = std::min<std::size_t>(sentences, 64);
    for (std::size_t s = 0; s < sentences; ++s) {
        const auto n = static_cast<double>(batch.spans.words(s));
        total += nanoseconds * n * n * n * static_cast<double>(batch.rules->size());
    }
    const int threads = threads_for(total);
    start(static_cast<std::size_t>(threads), blocks);
    for_each_block(blocks, threads, [&](std::size_t block, std::size_t thread) {
        for (std::size_t s = sentences * block / blocks; s < sentences * (block + 1) / blocks; ++s)
            body(s, block, thread);
    });
}

struct GrammarOut {
    const double* weight;  // per sentence, or null
    double* value;         // log-partitions
    RealsOut span;         // spans x symbols, or null
    double* rule;          // rules, added up over sentences
};

namespace detail {

// Runs `ask(sums, s)`, which returns log-partitions; writes what `spans` and `counts` of sums hold afterwards.
inline void grammar_parts(const GrammarBatch& batch, double nanoseconds, const GrammarOut& out,
                          FunctionRef<double(GrammarSums&, std::size_t)> ask, std::vector<double> GrammarSums::* spans,
                          std::vector<double> GrammarSums::* counts) {
    const std::size_t N = batch.spans.labels, R = batch.rules->size();
    std::vector<GrammarSums> memory;
    std::vector<double> totals;
    std::size_t blocks = 0;
    for_each_grammar_parse(
        batch, nanoseconds,
        [&](std::size_t threads, std::size_t count) {
            memory.resize(threads);
            blocks = count;
            totals.resize(out.span ? blocks * R : 0);
        },
        [&](std::size_t s, std::size_t block, std::size_t thread) {
            GrammarSums& sums = memory[thread];
            const std::size_t n = batch.spans.words(s);
            out.value[s] = ask(sums, s);
            if (!out.span) return;
            const RealsOut to = out.span + static_cast<std::size_t>(batch.spans.first_span[s]) * N;
            if (!std::isfinite(out.value[s]) || n == 0) return to.clear(spans_of(n) * N);
            const double times = out.weight ? out.weight[s] : 1.0;
            const std::vector<double>&mine = sums.*spans, &used = sums.*counts;
            for (std::size_t k = 0; k < spans_of(n) * N; ++k) to.set(k, times * mine[k]);
            for (std::size_t r = 0; r < R; ++r) totals[block * R + r] += times * used[r];
        });
    if (!out.span) return;
    for (std::size_t block = 0; block < blocks; ++block)
        for (std::size_t r = 0; r < R; ++r) out.rule[batch.rules->number(r)] += totals[block * R + r];
}

}  // namespace detail

inline void grammar_marginals(const GrammarBatch& batch, const GrammarOut& out) {
    detail::grammar_parts(
        batch, 0.02, out,
        [&](GrammarSums& sums, std::size_t s) { return sums.run(batch, s, static_cast<bool>(out.span)); },
        &GrammarSums::marginal, &GrammarSums::count);
}

// The derivative of marginals along a direction of span scores, and of rule scores by place.
inline void grammar_covariance(const GrammarBatch& batch, Reals span_direction,
                               const std::vector<double>& rule_direction, const GrammarOut& out) {
    const std::size_t N = batch.spans.labels;
    detail::grammar_parts(
        batch, 0.2, out,
        [&](GrammarSums& sums, std::size_t s) {
            const Reals along = span_direction + static_cast<std::size_t>(batch.spans.first_span[s]) * N;
            sums.along_rule = rule_direction;
            sums.along_span.resize(spans_of(batch.spans.words(s)) * N);
            along.copy(sums.along_span.size(), sums.along_span.data());
            return sums.differentiate(batch, s);
        },
        &GrammarSums::change, &GrammarSums::count_change);
}

// visit(rule, split, mass) for all ways to take apart the symbol a over the span (i, j).
template <class T, class Visit>
void for_each_derivation(const GrammarRules& rules, const GrammarMemory<T>& memory, std::size_t i, std::size_t j,
                         std::size_t a, T nothing, Visit visit) {
    for (const GrammarRules::Rule* rule = rules.begin(a); rule != rules.end(a); ++rule) {
        const auto left = static_cast<std::size_t>(rule->left), right = static_cast<std::size_t>(rule->right);
        const std::size_t N = memory.chart.symbols;
        const std::int32_t low = std::max(memory.at.first_end[i * N + left], memory.at.first_begin[j * N + right]);
        const std::int32_t high = std::min(
            {memory.at.last_end[i * N + left], memory.at.last_begin[j * N + right], static_cast<std::int32_t>(j) - 1});
        for (std::int32_t k = std::max(low, static_cast<std::int32_t>(i) + 1); k <= high; ++k) {
            const auto split = static_cast<std::size_t>(k);
            visit(*rule, split, memory.entry(i, split, left, nothing), memory.entry(split, j, right, nothing));
        }
    }
}

// H = sum over symbols of spans of P(span, symbol) H(rule, split | span, symbol), and of the symbol of the whole.
inline void grammar_entropy(const GrammarBatch& batch, double* value) {
    constexpr double kRare = 1e-25;  // what is rarer adds less than rounding does
    const std::size_t N = batch.spans.labels;
    std::vector<GrammarSums> memory;
    for_each_grammar_parse(
        batch, 0.05, [&](std::size_t threads, std::size_t) { memory.resize(threads); },
        [&](std::size_t s, std::size_t, std::size_t thread) {
            GrammarSums& sums = memory[thread];
            const std::size_t n = batch.spans.words(s);
            value[s] = sums.run(batch, s, true);
            if (!std::isfinite(value[s]) || n == 0) return;
            value[s] = entropy_of(sums.marginal.data() + span_at(n, 0, n) * N, N);
            const auto within = [&]<class T>(const GrammarMemory<T>& chart) {
                for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t row) {
                    for (std::size_t a = 0; j - i > 1 && a < N; ++a) {
                        const double p = sums.marginal[row * N + a];
                        if (p < kRare) continue;
                        std::vector<T> masses;
                        T total{};
                        for_each_derivation(*batch.rules, chart, i, j, a, T{},
                                            [&](const GrammarRules::Rule& rule, std::size_t, T left, T right) {
                                                masses.push_back(chart.w[rule.place] * left * right);
                                                total += masses.back();
                                            });
                        for (const T& mass : masses) {
                            const double share = value_of(mass / total);
                            if (share > 0) value[s] -= p * share * std::log(share);
                        }
                    }
                });
            };
            if (sums.widened) within(sums.wide);
            else within(sums.narrow);
        });
}

}  // namespace kernelfields
