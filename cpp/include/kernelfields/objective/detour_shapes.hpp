// What structures an ascent in shares of detours knows: which parts these have, and how they are found and packed.
#pragma once

#include "detour_packing.hpp"
#include "detour_search.hpp"

namespace kernelfields {

struct ChainDetours {
    using Batch = ChainRuns;
    using Packing = ChainPacking;
    template <class S> using Search = ChainSearch<S>;
};

// The same of forests.
struct ForestDetours {
    using Batch = ForestPatches;
    using Packing = ForestPacking;
    template <class S> using Search = ForestSearch<S>;
};

}  // namespace kernelfields
