// Python face of detour_ascent.hpp on forests.
#include "detour_arrays.hpp"

namespace kernelfields::bindings {

void add_detour_forests(nb::module_& m) {
    using Parents = In<std::int64_t>;
    add_ascent<ForestDetours>(m, "ForestAscent");
    add_classes<float, ForestDetours, Parents>(m, "ForestFeaturesFloat", "ForestExpansionFloat", "parents");
    add_classes<double, ForestDetours, Parents>(m, "ForestFeaturesDouble", "ForestExpansionDouble", "parents");
}

}  // namespace kernelfields::bindings
