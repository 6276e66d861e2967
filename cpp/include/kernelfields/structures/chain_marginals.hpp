// chain_marginals, which several bindings call, compiled once.
#pragma once

#include "chain.hpp"

namespace kernelfields {

extern template void chain_marginals(const ChainBatch<float>&, const MarginalsOut<float>&, double*, Rounded, int);
extern template void chain_marginals(const ChainBatch<double>&, const MarginalsOut<double>&, double*, Rounded, int);

}  // namespace kernelfields
