// The emission densities of one instruction set. Compiled once for each (CMakeLists.txt), KF_ISA
// naming the table.
#include "kernelfields/isa/gaussian.hpp"

#define KF_JOIN2(a, b) a##b
#define KF_JOIN(a, b) KF_JOIN2(a, b)

namespace kernelfields {

extern const EmissionKernels KF_JOIN(emissions_double_, KF_ISA);

const EmissionKernels KF_JOIN(emissions_double_, KF_ISA) = {
    .gaussian_scores = gaussian_scores,
    .gaussian_sums = gaussian_sums,
};

}  // namespace kernelfields
