// Sums over dependency trees for one instruction set, as chain.cpp has the recursions of chains.
#include "kernelfields/isa/dependency_rows.hpp"

#define KF_JOIN2(a, b) a##b
#define KF_JOIN(a, b) KF_JOIN2(a, b)

namespace kernelfields {

extern const DependencyKernels KF_JOIN(dependency_double_, KF_ISA);

const DependencyKernels KF_JOIN(dependency_double_, KF_ISA) = {
    .width = kWidth<double>,
    .weights = normalised_weights,
    .inside = projective_inside,
    .outside = projective_outside,
    .eliminate = eliminated,
    .slopes = slopes_of,
};

}  // namespace kernelfields
