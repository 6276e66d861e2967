// What sums over binary trees ask of the code compiled per instruction set.
#pragma once

#include "cky.hpp"

namespace kernelfields {

// Labels first, ..., labels - 1 of one span after the other, summed.
template <class S> struct LabelSums {
    const S* scores;  // spans x labels
    std::size_t words, spans, labels;
    S* share;     // spans x labels: exp(score - top) of the labels that are summed, or null
    double* top;  // spans: the largest score, -inf where no label is allowed
    double* sum;  // spans: sum of shares, 0 where no label is allowed
};

struct ConstituencyKernels {
    std::size_t width;  // of vectors: cky_stride(words, width) is how far rows are apart
    // All labels of spans of one word; of others, all but the first `skip`. False where a score is NaN or +inf.
    bool (*labels_double)(const LabelSums<double>&, std::size_t skip);
    bool (*labels_float)(const LabelSums<float>&, std::size_t skip);
    void (*scale_double)(double* share, std::size_t spans, std::size_t labels, const double* factor);
    void (*scale_float)(float* share, std::size_t spans, std::size_t labels, const double* factor);
    void (*exp)(double* x, std::size_t count);
    double (*inside)(const CkyTables<double>&, const double* w, const double* v, double* row);
    void (*outside)(const CkyTables<double>&, const double* w, const double* v, const CkyTables<double>& slope);
    // The same as inside with maxima for sums and sums for products: scores for weights, -inf for zero.
    double (*best)(const CkyTables<double>&, const double* w, const double* v, double* row);

    bool labels(const LabelSums<double>& sums, std::size_t skip) const { return labels_double(sums, skip); }
    bool labels(const LabelSums<float>& sums, std::size_t skip) const { return labels_float(sums, skip); }
    void scale(double* share, std::size_t spans, std::size_t count, const double* factor) const {
        scale_double(share, spans, count, factor);
    }
    void scale(float* share, std::size_t spans, std::size_t count, const double* factor) const {
        scale_float(share, spans, count, factor);
    }
};

}  // namespace kernelfields
