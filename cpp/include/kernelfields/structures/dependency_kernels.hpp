// What sums over dependency trees ask of the code compiled per instruction set: all of them in doubles.
#pragma once

#include "eisner.hpp"
#include "matrix_tree.hpp"

namespace kernelfields {

struct DependencyKernels {
    std::size_t width;  // of vectors: chart_stride(words, width) is how far rows are apart
    // weight(m, h) = exp(theta(m, h)), divided by the sum over h; returns what has been taken off the logarithms, -inf
    // where a word has no head.
    double (*weights)(std::size_t words, const double* theta, double* weight);
    double (*inside)(const EisnerChart<double>&, const double* weight, bool single_root);
    void (*outside)(const EisnerChart<double>&, const double* weight, bool single_root,
                    const EisnerChart<double>& slope, double* row, double* marginal);
    ReducedWords (*eliminate)(double* weight, std::size_t words, std::size_t stride, bool single_root, double* divisor);
    void (*slopes)(const double* weight, std::size_t words, std::size_t stride, bool single_root, const double* divisor,
                   double* slope);
};

}  // namespace kernelfields
