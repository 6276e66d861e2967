// The compiled module: a table of contents.
#include <nanobind/nanobind.h>

namespace kernelfields::bindings {
void add_attributes(nanobind::module_&);
void add_chain(nanobind::module_&);
void add_chain2(nanobind::module_&);
void add_online(nanobind::module_&);
void add_gram(nanobind::module_&);
void add_gram_sparse(nanobind::module_&);
void add_hmm(nanobind::module_&);
void add_sparse(nanobind::module_&);
void add_features(nanobind::module_&);
void add_linear_chain(nanobind::module_&);
void add_linear_tagger(nanobind::module_&);
void add_tree(nanobind::module_&);
}  // namespace kernelfields::bindings

NB_MODULE(_core, m) {
    m.doc() = "Inference for ragged batches of structures. Private: use kernelfields.structures.";
    kernelfields::bindings::add_attributes(m);
    kernelfields::bindings::add_chain(m);
    kernelfields::bindings::add_chain2(m);
    kernelfields::bindings::add_online(m);
    kernelfields::bindings::add_gram(m);
    kernelfields::bindings::add_gram_sparse(m);
    kernelfields::bindings::add_hmm(m);
    kernelfields::bindings::add_sparse(m);
    kernelfields::bindings::add_features(m);
    kernelfields::bindings::add_linear_chain(m);
    kernelfields::bindings::add_linear_tagger(m);
    kernelfields::bindings::add_tree(m);
}
