// The sparse products of one instruction set, as chain.cpp.
#include "kernelfields/isa/dot_products.hpp"
#include "kernelfields/isa/linear_rows.hpp"
#include "kernelfields/isa/sparse_changes.hpp"
#include "kernelfields/isa/sparse_products.hpp"

#define KF_JOIN2(a, b) a##b
#define KF_JOIN(a, b) KF_JOIN2(a, b)

namespace kernelfields {

extern const SparseKernels<double> KF_JOIN(sparse_double_, KF_ISA);
extern const SparseKernels<float> KF_JOIN(sparse_float_, KF_ISA);

namespace {
template <class S>
constexpr SparseKernels<S> kKernels = {kWidth<S>,         add_products<S>,  mix_products<S>,
                                       add_transposed<S>, linear_scores<S>, linear_transposed<S>,
                                       change_rows<S>,    dot_product<S>,   add_multiple<S>};
}
const SparseKernels<double> KF_JOIN(sparse_double_, KF_ISA) = kKernels<double>;
const SparseKernels<float> KF_JOIN(sparse_float_, KF_ISA) = kKernels<float>;

}  // namespace kernelfields
