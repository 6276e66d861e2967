// The tree recursions of one instruction set, as chain.cpp has those of chains.
#include "kernelfields/isa/tree_argmax.hpp"
#include "kernelfields/isa/tree_covariance.hpp"
#include "kernelfields/isa/tree_edges.hpp"
#include "kernelfields/isa/tree_entropy.hpp"
#include "kernelfields/isa/tree_scaled.hpp"

#define KF_JOIN2(a, b) a##b
#define KF_JOIN(a, b) KF_JOIN2(a, b)

namespace kernelfields {

namespace {

template <class S>
void marginals(const TreeBatch<S>& batch, const void* shared, const TreeGroup& group, const MarginalsOut<S>& out,
               double* edge_sum, Arena arena, Outcome* outcome) {
    if (batch.shared) tree_scaled(batch, shared, group, out, edge_sum, arena, outcome);
    else tree_own_edges(batch, group, out, arena, outcome);
}

template <class S>
void messages(const TreeBatch<S>& batch, const void* shared, const TreeGroup& group, double* out, double* log_partition,
              Arena arena, Outcome* outcome) {
    TreeRows<S> rows(batch, group, arena);
    rows.u = out;
    if (batch.shared) upward_shared(rows, *static_cast<const SharedEdges<double>*>(shared), log_partition, outcome);
    else upward_own(rows, log_partition, arena, outcome);
}

}  // namespace

extern const TreeKernels<double> KF_JOIN(tree_double_, KF_ISA);
extern const TreeKernels<float> KF_JOIN(tree_float_, KF_ISA);

const TreeKernels<double> KF_JOIN(tree_double_, KF_ISA) = {
    .marginals = marginals<double>,
    .entropy = tree_entropies<double>,
    .covariance = tree_scaled_covariance<double>,
    .messages = messages<double>,
    .argmax = tree_argmax<double>,
};

const TreeKernels<float> KF_JOIN(tree_float_, KF_ISA) = {
    .marginals = marginals<float>,
    .entropy = tree_entropies<float>,
    .covariance = tree_scaled_covariance<float>,
    .messages = messages<float>,
    .argmax = tree_argmax<float>,
};

}  // namespace kernelfields
