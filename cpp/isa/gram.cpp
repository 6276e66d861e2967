// The Gram products of one instruction set, as chain.cpp.
#include "kernelfields/isa/gram_counts.hpp"
#include "kernelfields/isa/gram_products.hpp"
#include "kernelfields/isa/gram_transform.hpp"
#include "kernelfields/isa/row_losses.hpp"

#define KF_JOIN2(a, b) a##b
#define KF_JOIN(a, b) KF_JOIN2(a, b)

namespace kernelfields {

extern const GramKernels<double> KF_JOIN(gram_double_, KF_ISA);
extern const GramKernels<float> KF_JOIN(gram_float_, KF_ISA);

const GramKernels<double> KF_JOIN(gram_double_, KF_ISA) = {
    kWidth<double>,          add_row_products<double>, add_gathered_products<double>, add_column_products<double>,
    add_scaled_rows<double>, count_bits<double>,       sum_numbers<double>,           gaussian<double>,
    polynomial<double>,      differentiate_rows,
};
const GramKernels<float> KF_JOIN(gram_float_, KF_ISA) = {
    kWidth<float>,          add_row_products<float>, add_gathered_products<float>, add_column_products<float>,
    add_scaled_rows<float>, count_bits<float>,       sum_numbers<float>,           gaussian<float>,
    polynomial<float>,      differentiate_rows,
};

}  // namespace kernelfields
