// Sums over the trees of a grammar for one instruction set, as chain.cpp has the recursions of chains.
#include "kernelfields/isa/grammar_rows.hpp"

#define KF_JOIN2(a, b) a##b
#define KF_JOIN(a, b) KF_JOIN2(a, b)

namespace kernelfields {

extern const GrammarKernels KF_JOIN(grammar_double_, KF_ISA);

const GrammarKernels KF_JOIN(grammar_double_, KF_ISA) = {
    .width = kWidth<double>,
    .inside = grammar_inside_of,
    .outside = grammar_outside_of,
    .best = grammar_best_of,
};

}  // namespace kernelfields
