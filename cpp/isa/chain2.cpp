// The recursions of second-order chains for one instruction set, as chain.cpp has those of chains.
#include "kernelfields/isa/chain2_scaled.hpp"

#define KF_JOIN2(a, b) a##b
#define KF_JOIN(a, b) KF_JOIN2(a, b)

namespace kernelfields {

extern const Chain2Kernels<double> KF_JOIN(chain2_double_, KF_ISA);
extern const Chain2Kernels<float> KF_JOIN(chain2_float_, KF_ISA);

const Chain2Kernels<double> KF_JOIN(chain2_double_, KF_ISA) = {
    .width = kWidth<double>,
    .prepare = prepare_triples<double>,
    .bytes = chain2_bytes,
    .marginals = chain2_marginals_of<double>,
};

const Chain2Kernels<float> KF_JOIN(chain2_float_, KF_ISA) = {
    .width = kWidth<double>,
    .prepare = prepare_triples<float>,
    .bytes = chain2_bytes,
    .marginals = chain2_marginals_of<float>,
};

}  // namespace kernelfields
