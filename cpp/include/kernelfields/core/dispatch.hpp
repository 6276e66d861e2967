// The instruction set in use: the best this processor has, or the one KERNELFIELDS_ISA names.
#pragma once

#include "../emissions/emission_kernels.hpp"
#include "../gram/gram_kernels.hpp"
#include "../spaces/sparse_kernels.hpp"
#include "../structures/assignment_kernels.hpp"
#include "../structures/chain2_kernels.hpp"
#include "../structures/chain_kernels.hpp"
#include "../structures/constituency_kernels.hpp"
#include "../structures/dependency_kernels.hpp"
#include "../structures/grammar_kernels.hpp"
#include "../structures/graph_kernels.hpp"
#include "../structures/message_kernels.hpp"
#include "../structures/segment_kernels.hpp"
#include "../structures/tree_kernels.hpp"

#include <string>
#include <vector>

namespace kernelfields {

enum class Isa { baseline, avx2, avx512 };

Isa current_isa();
std::string isa_name(Isa);
// Names of what this build has and this processor can run, best last.
std::vector<std::string> supported_isas();

template <class S> const ChainKernels<S>& chain_kernels();
template <class S> const Chain2Kernels<S>& chain2_kernels();
template <class S> const GramKernels<S>& gram_kernels();
template <class S> const SparseKernels<S>& sparse_kernels();
template <class S> const TreeKernels<S>& tree_kernels();
const ConstituencyKernels& constituency_kernels();
const AssignmentKernels& assignment_kernels();
const DependencyKernels& dependency_kernels();
const EmissionKernels& emission_kernels();
const GrammarKernels& grammar_kernels();
const GraphKernels& graph_kernels();
const MessageKernels& message_kernels();
const SegmentKernels& segment_kernels();

}  // namespace kernelfields
