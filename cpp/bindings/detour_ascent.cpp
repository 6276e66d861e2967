// Python face of detour_ascent.hpp on chains.
#include "detour_arrays.hpp"

namespace kernelfields::bindings {

void add_detour_ascent(nb::module_& m) {
    add_ascent<ChainDetours>(m, "DetourAscent");
    add_classes<float, ChainDetours>(m, "DetourFeaturesFloat", "DetourExpansionFloat");
    add_classes<double, ChainDetours>(m, "DetourFeaturesDouble", "DetourExpansionDouble");
}

}  // namespace kernelfields::bindings
