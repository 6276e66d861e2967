#include "kernelfields/core/dispatch.hpp"

#include <cstdlib>
#include <optional>
#include <stdexcept>

namespace kernelfields {

extern const AssignmentKernels assignment_double_baseline;
extern const ChainKernels<double> chain_double_baseline;
extern const ChainKernels<float> chain_float_baseline;
extern const Chain2Kernels<double> chain2_double_baseline;
extern const Chain2Kernels<float> chain2_float_baseline;
extern const ConstituencyKernels constituency_double_baseline;
extern const DependencyKernels dependency_double_baseline;
extern const EmissionKernels emissions_double_baseline;
extern const GramKernels<double> gram_double_baseline;
extern const GramKernels<float> gram_float_baseline;
extern const GrammarKernels grammar_double_baseline;
extern const GraphKernels graph_double_baseline;
extern const MessageKernels messages_double_baseline;
extern const SegmentKernels segments_double_baseline;
extern const SparseKernels<double> sparse_double_baseline;
extern const SparseKernels<float> sparse_float_baseline;
extern const TreeKernels<double> tree_double_baseline;
extern const TreeKernels<float> tree_float_baseline;
#ifdef KF_X86
extern const AssignmentKernels assignment_double_avx2, assignment_double_avx512;
extern const ChainKernels<double> chain_double_avx2, chain_double_avx512;
extern const ChainKernels<float> chain_float_avx2, chain_float_avx512;
extern const Chain2Kernels<double> chain2_double_avx2, chain2_double_avx512;
extern const Chain2Kernels<float> chain2_float_avx2, chain2_float_avx512;
extern const ConstituencyKernels constituency_double_avx2, constituency_double_avx512;
extern const DependencyKernels dependency_double_avx2, dependency_double_avx512;
extern const EmissionKernels emissions_double_avx2, emissions_double_avx512;
extern const GramKernels<double> gram_double_avx2, gram_double_avx512;
extern const GramKernels<float> gram_float_avx2, gram_float_avx512;
extern const GrammarKernels grammar_double_avx2, grammar_double_avx512;
extern const GraphKernels graph_double_avx2, graph_double_avx512;
extern const MessageKernels messages_double_avx2, messages_double_avx512;
extern const SegmentKernels segments_double_avx2, segments_double_avx512;
extern const SparseKernels<double> sparse_double_avx2, sparse_double_avx512;
extern const SparseKernels<float> sparse_float_avx2, sparse_float_avx512;
extern const TreeKernels<double> tree_double_avx2, tree_double_avx512;
extern const TreeKernels<float> tree_float_avx2, tree_float_avx512;
#endif

namespace {

constexpr Isa kIsas[] = {Isa::baseline, Isa::avx2, Isa::avx512};

bool compiled(Isa isa) {
#ifdef KF_HAS_AVX512
    if (isa == Isa::avx512) return true;
#endif
#ifdef KF_HAS_AVX2
    if (isa == Isa::avx2) return true;
#endif
#ifdef KF_HAS_BASELINE
    if (isa == Isa::baseline) return true;
#endif
    return false;
}

bool runs_here(Isa isa) {
    if (!compiled(isa)) return false;
#ifdef KF_X86
    if (isa == Isa::avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    if (isa == Isa::avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return isa == Isa::baseline;
}

Isa choose() {
    const char* forced = std::getenv("KERNELFIELDS_ISA");
    std::optional<Isa> best;
    for (Isa isa : kIsas) {
        if (!runs_here(isa)) continue;
        best = isa;
        if (forced && isa_name(isa) == forced) return isa;
    }
    if (forced && *forced)
        throw std::runtime_error(std::string("KERNELFIELDS_ISA=") + forced +
                                 " names no instruction set that this build has and this processor runs.");
    if (!best)
        throw std::runtime_error(
            "The compiled part of kernelfields is for another kind of processor: install it again on this machine.");
    return *best;
}

}  // namespace

std::string isa_name(Isa isa) {
    return isa == Isa::avx512 ? "avx512" : isa == Isa::avx2 ? "avx2" : "baseline";
}

std::vector<std::string> supported_isas() {
    std::vector<std::string> names;
    for (Isa isa : kIsas)
        if (runs_here(isa)) names.push_back(isa_name(isa));
    return names;
}

Isa current_isa() {
    static const Isa isa = choose();
    return isa;
}

#ifdef KF_HAS_AVX512
#define KF_AVX512(table) \
    case Isa::avx512: return table##_avx512;
#else
#define KF_AVX512(table)
#endif
#ifdef KF_HAS_AVX2
#define KF_AVX2(table) \
    case Isa::avx2: return table##_avx2;
#else
#define KF_AVX2(table)
#endif
#ifdef KF_HAS_BASELINE
#define KF_BASELINE(table) \
    case Isa::baseline: return table##_baseline;
#else
#define KF_BASELINE(table)
#endif
// `choose` takes none that is not here.
#define KF_PICK(table)                                                                             \
    switch (current_isa()) { KF_AVX512(table) KF_AVX2(table) KF_BASELINE(table) default : break; } \
    __builtin_unreachable();

template <> const ChainKernels<double>& chain_kernels<double>() {
    KF_PICK(chain_double)
}
template <> const ChainKernels<float>& chain_kernels<float>() {
    KF_PICK(chain_float)
}
template <> const Chain2Kernels<double>& chain2_kernels<double>() {
    KF_PICK(chain2_double)
}
template <> const Chain2Kernels<float>& chain2_kernels<float>() {
    KF_PICK(chain2_float)
}
const ConstituencyKernels& constituency_kernels() {
    KF_PICK(constituency_double)
}
const AssignmentKernels& assignment_kernels() {
    KF_PICK(assignment_double)
}
const DependencyKernels& dependency_kernels() {
    KF_PICK(dependency_double)
}
const EmissionKernels& emission_kernels() {
    KF_PICK(emissions_double)
}
template <> const GramKernels<double>& gram_kernels<double>() {
    KF_PICK(gram_double)
}
template <> const GramKernels<float>& gram_kernels<float>() {
    KF_PICK(gram_float)
}
const GrammarKernels& grammar_kernels() {
    KF_PICK(grammar_double)
}
const GraphKernels& graph_kernels() {
    KF_PICK(graph_double)
}
const MessageKernels& message_kernels() {
    KF_PICK(messages_double)
}
const SegmentKernels& segment_kernels() {
    KF_PICK(segments_double)
}
template <> const SparseKernels<double>& sparse_kernels<double>() {
    KF_PICK(sparse_double)
}
template <> const SparseKernels<float>& sparse_kernels<float>() {
    KF_PICK(sparse_float)
}
template <> const TreeKernels<double>& tree_kernels<double>() {
    KF_PICK(tree_double)
}
template <> const TreeKernels<float>& tree_kernels<float>() {
    KF_PICK(tree_float)
}

}  // namespace kernelfields
