// The tables of junction trees for one instruction set, as chain.cpp has the recursions of chains.
#include "kernelfields/isa/graph_tables.hpp"

#define KF_JOIN2(a, b) a##b
#define KF_JOIN(a, b) KF_JOIN2(a, b)

namespace kernelfields {

extern const GraphKernels KF_JOIN(graph_double_, KF_ISA);

const GraphKernels KF_JOIN(graph_double_, KF_ISA) = {
    .assign = assign_table,
    .multiply = multiply_table,
    .sum = sum_table,
    .add = add_table,
    .largest = largest_table,
    .exp = exp_all,
    .range = range_of,
    .scale = scale_all,
    .divide = divide_all,
};

}  // namespace kernelfields
