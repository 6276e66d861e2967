// Assignment problems for one instruction set, as chain.cpp has the recursions of chains.
#include "kernelfields/isa/assignment_rows.hpp"

#define KF_JOIN2(a, b) a##b
#define KF_JOIN(a, b) KF_JOIN2(a, b)

namespace kernelfields {

extern const AssignmentKernels KF_JOIN(assignment_double_, KF_ISA);

const AssignmentKernels KF_JOIN(assignment_double_, KF_ISA) = {
    .width = kWidth<double>,
    .solve = solve_assignment,
};

}  // namespace kernelfields
