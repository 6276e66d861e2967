// Single trees of one sentence: the best one, from a chart of maxima, and draws, from a chart of sums.
#pragma once

#include "span_sums.hpp"
#include "tree_draws.hpp"

namespace kernelfields {

// A span of a tree, and whether it is a right part: then its label may be the empty one.
struct TreeSpan {
    std::size_t i, j;
    bool right;
};

// visit(span) from the whole down; split(span) is where one of several words is split.
template <class Split, class Visit>
void walk_down(std::size_t n, std::vector<TreeSpan>& pending, Split split, Visit visit) {
    pending.clear();
    if (n > 0) pending.push_back({0, n, false});
    while (!pending.empty()) {
        const TreeSpan span = pending.back();
        pending.pop_back();
        visit(span);
        if (span.j - span.i == 1) continue;
        const std::size_t k = split(span);
        pending.push_back({k, span.j, true});
        pending.push_back({span.i, k, false});
    }
}

class CkyArgmax {
public:
    // visit(span) for the spans of the best tree; `w` and `v` (i, j) are the scores of spans that are left parts, or
    // the whole, and of right parts. Ties go to the first split. Returns false where there is no tree.
    template <class Score, class Visit> bool run(std::size_t n, Score w, Score v, Visit visit);

private:
    std::vector<double> memory_;
    std::vector<TreeSpan> pending_;
};

template <class Score, class Visit> bool CkyArgmax::run(std::size_t n, Score w, Score v, Visit visit) {
    const std::size_t stride = cky_stride(n, constituency_kernels().width), size = (n + 1) * stride;
    memory_.assign(4 * size + stride + kPiece / sizeof(double), kNothing);
    void* place = memory_.data();
    std::size_t room = memory_.size() * sizeof(double);
    auto* const left = static_cast<double*>(std::align(kPiece, room - kPiece, place, room));
    double *const right = left + size, *const row = left + 4 * size;
    const CkyTables<double> chart{n, stride, left + 2 * size, left + 3 * size, nullptr};
    for_each_span(n, [&](std::size_t i, std::size_t j, std::size_t) {
        left[i * stride + j] = w(i, j);
        right[i * stride + j] = v(i, j);
    });
    if (n > 0 && !(constituency_kernels().best(chart, left, right, row) > kNothing)) return false;
    const auto split = [&](const TreeSpan& span) {
        std::size_t first = span.i + 1;
        double most = kNothing;
        for (std::size_t k = span.i + 1; k < span.j; ++k) {
            const double score = chart.full[span.i * stride + k] + chart.any[k * stride + span.j];
            if (score > most) most = score, first = k;
        }
        return first;
    };
    walk_down(n, pending_, split, visit);
    return true;
}

// Splits of a chart, each in proportion to its share of the sum.
template <class T> class CkyDraws {
public:
    explicit CkyDraws(const CkyTables<T>& chart) : chart_(chart) {}

    template <class Visit> void operator()(Uniforms& uniform, Visit visit) {
        walk_down(chart_.words, pending_, [&](const TreeSpan& span) { return split(span, uniform()); }, visit);
    }

private:
    std::size_t split(const TreeSpan& span, double share) const {
        T total{};
        const auto mass = [&](std::size_t k) {
            return chart_.full[span.i * chart_.stride + k] * chart_.any[k * chart_.stride + span.j];
        };
        for (std::size_t k = span.i + 1; k < span.j; ++k) total += mass(k);
        return draw_place(span.i + 1, span.j, share, [&](std::size_t k) { return value_of(mass(k) / total); });
    }

    const CkyTables<T>& chart_;
    std::vector<TreeSpan> pending_;
};

}  // namespace kernelfields
