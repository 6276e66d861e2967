// The compiled module: a table of contents.
#include "kernelfields/core/memory.hpp"

#include <nanobind/nanobind.h>

#include <exception>
#include <stdexcept>

namespace kernelfields::bindings {
void add_attributes(nanobind::module_&);
void add_averages(nanobind::module_&);
void add_belief_propagation(nanobind::module_&);
void add_brown(nanobind::module_&);
void add_chain(nanobind::module_&);
void add_chain2(nanobind::module_&);
void add_checksum(nanobind::module_&);
void add_constituency(nanobind::module_&);
void add_dependency(nanobind::module_&);
void add_detour_ascent(nanobind::module_&);
void add_detour_forests(nanobind::module_&);
void add_exponentiated_ascent(nanobind::module_&);
void add_online(nanobind::module_&);
void add_online_features(nanobind::module_&);
void add_gram(nanobind::module_&);
void add_gram_sparse(nanobind::module_&);
void add_grammar(nanobind::module_&);
void add_graph(nanobind::module_&);
void add_hmm(nanobind::module_&);
void add_kd_tree(nanobind::module_&);
void add_siblings(nanobind::module_&);
void add_smo(nanobind::module_&);
void add_segments(nanobind::module_&);
void add_sparse(nanobind::module_&);
void add_factor_graph(nanobind::module_&);
void add_features(nanobind::module_&);
void add_dense_rows(nanobind::module_&);
void add_linear_chain(nanobind::module_&);
void add_linear_tagger(nanobind::module_&);
void add_matching(nanobind::module_&);
void add_tree(nanobind::module_&);
}  // namespace kernelfields::bindings

namespace {

// Memory that cannot be had is said in a sentence; the library's own exceptions only name a C++ function.
void translate(const std::exception_ptr& failure, void*) {
    const char* const plain = "There is not enough memory: use fewer or shorter sequences, or fewer labels.";
    try {
        std::rethrow_exception(failure);
    } catch (const kernelfields::MemoryShortage& shortage) {
        PyErr_SetString(PyExc_MemoryError, shortage.what());
    } catch (const std::bad_alloc&) {
        PyErr_SetString(PyExc_MemoryError, plain);
    } catch (const std::length_error&) {
        PyErr_SetString(PyExc_MemoryError, plain);
    }
}

}  // namespace

NB_MODULE(_core, m) {
#ifdef NDEBUG
    // A model that a cache of the program holds at its end is no leak of ours; builds for debugging still say so.
    nanobind::set_leak_warnings(false);
#endif
    nanobind::register_exception_translator(translate);
    m.doc() = "Inference for ragged batches of structures. Private: use kernelfields.structures.";
    kernelfields::bindings::add_attributes(m);
    kernelfields::bindings::add_averages(m);
    kernelfields::bindings::add_belief_propagation(m);
    kernelfields::bindings::add_brown(m);
    kernelfields::bindings::add_chain(m);
    kernelfields::bindings::add_chain2(m);
    kernelfields::bindings::add_checksum(m);
    kernelfields::bindings::add_constituency(m);
    kernelfields::bindings::add_dependency(m);
    kernelfields::bindings::add_detour_ascent(m);
    kernelfields::bindings::add_detour_forests(m);
    kernelfields::bindings::add_exponentiated_ascent(m);
    kernelfields::bindings::add_online(m);
    kernelfields::bindings::add_online_features(m);
    kernelfields::bindings::add_gram(m);
    kernelfields::bindings::add_gram_sparse(m);
    kernelfields::bindings::add_grammar(m);
    kernelfields::bindings::add_graph(m);
    kernelfields::bindings::add_hmm(m);
    kernelfields::bindings::add_kd_tree(m);
    kernelfields::bindings::add_siblings(m);
    kernelfields::bindings::add_smo(m);
    kernelfields::bindings::add_segments(m);
    kernelfields::bindings::add_sparse(m);
    kernelfields::bindings::add_factor_graph(m);
    kernelfields::bindings::add_features(m);
    kernelfields::bindings::add_dense_rows(m);
    kernelfields::bindings::add_linear_chain(m);
    kernelfields::bindings::add_linear_tagger(m);
    kernelfields::bindings::add_matching(m);
    kernelfields::bindings::add_tree(m);
}
