// The chain recursions of one instruction set. Compiled once for each (CMakeLists.txt), KF_ISA
// naming the table.
#include "kernelfields/isa/chain_allowed.hpp"
#include "kernelfields/isa/chain_argmax.hpp"
#include "kernelfields/isa/chain_covariance.hpp"
#include "kernelfields/isa/chain_edges.hpp"
#include "kernelfields/isa/chain_entropy.hpp"
#include "kernelfields/isa/chain_lanes.hpp"
#include "kernelfields/isa/chain_lanes_argmax.hpp"
#include "kernelfields/isa/chain_log.hpp"
#include "kernelfields/isa/chain_log_covariance.hpp"
#include "kernelfields/isa/chain_scaled.hpp"

#define KF_JOIN2(a, b) a##b
#define KF_JOIN(a, b) KF_JOIN2(a, b)

namespace kernelfields {

extern const ChainKernels<double> KF_JOIN(chain_double_, KF_ISA);
extern const ChainKernels<float> KF_JOIN(chain_float_, KF_ISA);

const ChainKernels<double> KF_JOIN(chain_double_, KF_ISA) = {
    .narrow_width = kWidth<double>,
    .double_width = kWidth<double>,
    .lanes = kLanes<double>,
    .lane_bytes = lane_bytes<double>,
    .prepare_edges_narrow = nullptr,
    .prepare_edges_double = prepare_edges<double, double>,
    .tilt_edges = tilt_edges<double>,
    .prepare_max_edges = prepare_max_edges<double>,
    .marginals_shared = {nullptr, scaled_marginals<double, double>, log_marginals<double>},
    .marginals_per_edge = {nullptr, edge_marginals<double, double>, log_marginals<double>},
    .marginals_lanes = lane_marginals<double>,
    .marginals_allowed = allowed_marginals<double>,
    .allowed_bytes = allowed_bytes<double>,
    .covariance = {scaled_covariance<double>, log_covariance<double>},
    .argmax_shared = argmax_shared<double>,
    .argmax_lanes = lane_argmax<double>,
    .argmax_per_edge = argmax_per_edge<double>,
    .log_messages = log_messages<double>,
    .entropy = chain_entropy<double>,
};

const ChainKernels<float> KF_JOIN(chain_float_, KF_ISA) = {
    .narrow_width = kWidth<float>,
    .double_width = kWidth<double>,
    .lanes = kLanes<float>,
    .lane_bytes = lane_bytes<float>,
    .prepare_edges_narrow = prepare_edges<float, float>,
    .prepare_edges_double = prepare_edges<float, double>,
    .tilt_edges = tilt_edges<float>,
    .prepare_max_edges = prepare_max_edges<float>,
    .marginals_shared = {scaled_marginals<float, float>, scaled_marginals<float, double>, log_marginals<float>},
    .marginals_per_edge = {edge_marginals<float, float>, edge_marginals<float, double>, log_marginals<float>},
    .marginals_lanes = lane_marginals<float>,
    .marginals_allowed = allowed_marginals<float>,
    .allowed_bytes = allowed_bytes<float>,
    .covariance = {scaled_covariance<float>, log_covariance<float>},
    .argmax_shared = argmax_shared<float>,
    .argmax_lanes = lane_argmax<float>,
    .argmax_per_edge = argmax_per_edge<float>,
    .log_messages = log_messages<float>,
    .entropy = chain_entropy<float>,
};

}  // namespace kernelfields
