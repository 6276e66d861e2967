// Trees of a grammar: the chart of Cocke, Kasami and Younger over spans with symbols, summed and differentiated.
//
//   in[i, j, A] = u(i, j, A) sum_{A -> B C} w(A -> B C) sum_k in[i, k, B] in[k, j, C],     in[i, i + 1, A] = u(i, i +
//   1, A)
//
// Entries are kept twice: those that begin with word i, by symbol, side by side for all ends; and those that end before
// word j, by symbol, side by side for all beginnings. A sum over splits is then a product of two rows, and is taken
// once for all parents of a pair of children. Which ends a symbol has is noted: pairs that cannot meet cost a look.
#pragma once

#include "../core/wide.hpp"

#include <cstddef>
#include <cstdint>

namespace kernelfields {

// What charts look at: pairs of children (B, C), those with the same B side by side, each with all its rules.
struct RulesByChildren {
    std::size_t symbols, rules;
    const std::int32_t* first_pair;          // symbols + 1
    const std::int32_t *right, *first_rule;  // of pairs: C, and where its rules begin
    const std::int32_t* parent;              // of rules, in this order
};

template <class T> struct GrammarTables {
    std::size_t words, symbols, stride;
    T *begins, *ends;  // (words + 1) x symbols x stride: [i][A][j] and [j][A][i]
    KF_ALWAYS_INLINE T* begin(std::size_t i, std::size_t a) const { return begins + (i * symbols + a) * stride; }
    KF_ALWAYS_INLINE T* end(std::size_t j, std::size_t a) const { return ends + (j * symbols + a) * stride; }
};

// First and last end of what begins at i with a symbol, first and last beginning of what ends at j. Where there is
// none, first is kFar and last -1, and what the row of such a symbol holds is never looked at.
struct GrammarExtents {
    std::int32_t *first_end, *last_end, *first_begin, *last_begin;  // (words + 1) x symbols each
    static constexpr std::int32_t kFar = 0x7fffffff;
};

// An entry of a chart, or what stands for nothing.
template <class T>
KF_ALWAYS_INLINE T chart_entry(const GrammarTables<T>& chart, const GrammarExtents& x, std::size_t i, std::size_t j,
                               std::size_t a, T nothing) {
    const std::size_t row = i * chart.symbols + a;
    const auto end = static_cast<std::int32_t>(j);
    return x.first_end[row] <= end && end <= x.last_end[row] ? chart.begin(i, a)[j] : nothing;
}

struct PlainProducts {
    template <class T> static T times(T a, T b) { return a * b; }
    template <class T> static void raise(T& to, T by) { to += by; }
    template <class T> static bool none(const T& x) { return is_zero(x); }
    template <class T> static T zero(T) { return T{}; }
    template <class T> static T dot(const T* a, const T* b, std::size_t count) {
        T total{};
        for (std::size_t k = 0; k < count; ++k) total += a[k] * b[k];
        return total;
    }
    template <class T> static void add(T* to, T factor, const T* from, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) to[k] += factor * from[k];
    }
};

// visit(B, pair, from, count) for all pairs of children that can meet within the span (i, j), `count` splits from
// `from` on.
template <class Visit>
KF_ALWAYS_INLINE void for_each_meeting(const RulesByChildren& g, const GrammarExtents& x, std::size_t i, std::size_t j,
                                       Visit visit) {
    const std::int32_t *first_end = x.first_end + i * g.symbols, *last_end = x.last_end + i * g.symbols;
    const std::int32_t *first_begin = x.first_begin + j * g.symbols, *last_begin = x.last_begin + j * g.symbols;
    const auto last = static_cast<std::int32_t>(j) - 1;
    for (std::size_t b = 0; b < g.symbols; ++b) {
        const std::int32_t low = first_end[b], high = last_end[b] < last ? last_end[b] : last;
        if (low > high) continue;
        for (std::int32_t p = g.first_pair[b]; p < g.first_pair[b + 1]; ++p) {
            const auto c = static_cast<std::size_t>(g.right[p]);
            const std::int32_t from = first_begin[c] > low ? first_begin[c] : low;
            const std::int32_t to = last_begin[c] < high ? last_begin[c] : high;
            if (from <= to)
                visit(b, static_cast<std::size_t>(p), static_cast<std::size_t>(from),
                      static_cast<std::size_t>(to - from + 1));
        }
    }
}

// `w` by place of the rule, `u` by span (see spans.hpp) and symbol; `sum` has room for a number per symbol. Tables hold
// anything, and extents that there is nothing.
template <class Ops, class T>
KF_ALWAYS_INLINE void grammar_inside(const RulesByChildren& g, const GrammarTables<T>& chart, const GrammarExtents& x,
                                     const T* w, const T* u, T* sum) {
    const std::size_t n = chart.words, N = g.symbols;
    const auto put = [&](std::size_t i, std::size_t j, std::size_t a, T value) {
        if (Ops::none(value)) return;
        const auto b = static_cast<std::int32_t>(i), e = static_cast<std::int32_t>(j);
        if (x.first_end[i * N + a] == GrammarExtents::kFar) {
            x.first_end[i * N + a] = e;
            for (std::size_t k = 0; k < chart.stride; ++k) chart.begin(i, a)[k] = Ops::zero(T{});
        }
        if (x.last_begin[j * N + a] < 0) {
            x.last_begin[j * N + a] = b;
            for (std::size_t k = 0; k < chart.stride; ++k) chart.end(j, a)[k] = Ops::zero(T{});
        }
        x.last_end[i * N + a] = e;
        x.first_begin[j * N + a] = b;
        chart.begin(i, a)[j] = chart.end(j, a)[i] = value;
    };
    for (std::size_t i = n; i-- > 0;)
        for (std::size_t j = i + 1; j <= n; ++j) {
            const T* mine = u + (i * (2 * n - i - 1) / 2 + j - 1) * N;
            if (j == i + 1) {
                for (std::size_t a = 0; a < N; ++a) put(i, j, a, mine[a]);
                continue;
            }
            for (std::size_t a = 0; a < N; ++a) sum[a] = Ops::zero(T{});
            for_each_meeting(g, x, i, j, [&](std::size_t b, std::size_t p, std::size_t from, std::size_t count) {
                const T both = Ops::dot(chart.begin(i, b) + from,
                                        chart.end(j, static_cast<std::size_t>(g.right[p])) + from, count);
                if (Ops::none(both)) return;
                for (std::int32_t r = g.first_rule[p]; r < g.first_rule[p + 1]; ++r)
                    Ops::raise(sum[g.parent[r]], Ops::times(w[r], both));
            });
            for (std::size_t a = 0; a < N; ++a)
                if (!Ops::none(sum[a])) put(i, j, a, Ops::times(sum[a], mine[a]));
        }
}

// Derivatives of the sum by all entries, `slope`, which holds those by the whole sentence and zeros else
// where the chart has something; adds
// w(r) d/dw(r) to count[r]. `down` has room for a number per symbol.
template <class Ops, class T>
KF_ALWAYS_INLINE void grammar_outside(const RulesByChildren& g, const GrammarTables<T>& chart, const GrammarExtents& x,
                                      const T* w, const T* u, const GrammarTables<T>& slope, T* down, T* count) {
    const std::size_t n = chart.words, N = g.symbols;
    for (std::size_t i = 0; i + 1 < n; ++i)
        for (std::size_t j = n; j > i + 1; --j) {
            const T* mine = u + (i * (2 * n - i - 1) / 2 + j - 1) * N;
            bool some = false;
            for (std::size_t a = 0; a < N; ++a) {
                const bool reached = !Ops::none(mine[a]);
                down[a] = reached ? mine[a] * (slope.begin(i, a)[j] + slope.end(j, a)[i]) : T{};
                some = some || !Ops::none(down[a]);
            }
            if (!some) continue;
            for_each_meeting(g, x, i, j, [&](std::size_t b, std::size_t p, std::size_t from, std::size_t splits) {
                T above{};
                for (std::int32_t r = g.first_rule[p]; r < g.first_rule[p + 1]; ++r) above += w[r] * down[g.parent[r]];
                if (Ops::none(above)) return;
                const auto c = static_cast<std::size_t>(g.right[p]);
                const T both = Ops::dot(chart.begin(i, b) + from, chart.end(j, c) + from, splits);
                for (std::int32_t r = g.first_rule[p]; r < g.first_rule[p + 1]; ++r)
                    count[r] += w[r] * down[g.parent[r]] * both;
                Ops::add(slope.begin(i, b) + from, above, chart.end(j, c) + from, splits);
                Ops::add(slope.end(j, c) + from, above, chart.begin(i, b) + from, splits);
            });
        }
}

}  // namespace kernelfields
