// The sparse products of one instruction set, as chain.cpp.
#include "kernelfields/isa/sparse_products.hpp"

#define KF_JOIN2(a, b) a##b
#define KF_JOIN(a, b) KF_JOIN2(a, b)

namespace kernelfields {

extern const SparseKernels<double> KF_JOIN(sparse_double_, KF_ISA);
extern const SparseKernels<float> KF_JOIN(sparse_float_, KF_ISA);

const SparseKernels<double> KF_JOIN(sparse_double_, KF_ISA) = {kWidth<double>, add_products<double>,
                                                               add_transposed<double>};
const SparseKernels<float> KF_JOIN(sparse_float_, KF_ISA) = {kWidth<float>, add_products<float>, add_transposed<float>};

}  // namespace kernelfields
