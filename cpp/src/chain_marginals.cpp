#include "kernelfields/structures/chain_marginals.hpp"

namespace kernelfields {

template void chain_marginals(const ChainBatch<float>&, const MarginalsOut<float>&, double*, Rounded, int);
template void chain_marginals(const ChainBatch<double>&, const MarginalsOut<double>&, double*, Rounded, int);

}  // namespace kernelfields
