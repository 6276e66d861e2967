// What sums over the trees of a grammar ask of the code compiled per instruction set: all of them in doubles.
#pragma once

#include "grammar_chart.hpp"

namespace kernelfields {

struct GrammarKernels {
    std::size_t width;  // of vectors
    void (*inside)(const RulesByChildren&, const GrammarTables<double>&, const GrammarExtents&, const double* w,
                   const double* u, double* sum);
    void (*outside)(const RulesByChildren&, const GrammarTables<double>&, const GrammarExtents&, const double* w,
                    const double* u, const GrammarTables<double>& slope, double* down, double* count);
    // The same as inside with maxima for sums and sums for products: scores for weights, -inf for nothing.
    void (*best)(const RulesByChildren&, const GrammarTables<double>&, const GrammarExtents&, const double* w,
                 const double* u, double* sum);
};

}  // namespace kernelfields
