// The recursions of segments for one instruction set, as chain.cpp has those of chains.
#include "kernelfields/isa/segment_marginals.hpp"

#define KF_JOIN2(a, b) a##b
#define KF_JOIN(a, b) KF_JOIN2(a, b)

namespace kernelfields {

extern const SegmentKernels KF_JOIN(segments_double_, KF_ISA);

const SegmentKernels KF_JOIN(segments_double_, KF_ISA) = {
    .sweep = segment_sweep,
    .marginals = segment_marginals,
    .exp = segment_exp,
    .width = kWidth<double>,
};

}  // namespace kernelfields
