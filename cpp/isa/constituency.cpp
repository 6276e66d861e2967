// Sums over binary trees for one instruction set, as chain.cpp has the recursions of chains.
#include "kernelfields/isa/constituency_rows.hpp"

#define KF_JOIN2(a, b) a##b
#define KF_JOIN(a, b) KF_JOIN2(a, b)

namespace kernelfields {

extern const ConstituencyKernels KF_JOIN(constituency_double_, KF_ISA);

const ConstituencyKernels KF_JOIN(constituency_double_, KF_ISA) = {
    .width = kWidth<double>,
    .labels_double = labels_of_spans<double>,
    .labels_float = labels_of_spans<float>,
    .scale_double = scale_rows<double>,
    .scale_float = scale_rows<float>,
    .exp = exp_of,
    .inside = inside_of,
    .outside = outside_of,
    .best = best_of,
};

}  // namespace kernelfields
