// A loop over blocks of equal work that is run again and again over the same arrays: every thread keeps to one stretch
// of the blocks, so that what it wrote the last time is still in its own cache. Cores need not share one: handing out
// blocks as threads become free made two cores slower than one.
#pragma once

#include "parallel.hpp"

namespace kernelfields {

// body(block) for every block; it must not throw.
template <class Body> void for_each_block_by_stretches(std::size_t blocks, int threads, Body body) {
    const auto count = static_cast<std::ptrdiff_t>(blocks);
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
#endif
    for (std::ptrdiff_t block = 0; block < count; ++block) body(static_cast<std::size_t>(block));
    (void)threads;
}

}  // namespace kernelfields
