#include "kernelfields/graphs/kd_tree.hpp"
#include "arrays.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <limits>

namespace kernelfields::bindings {
namespace {

using Found = std::tuple<Out<std::int32_t>, Out<double>>;

Found nearest_among(In<double> points, std::optional<In<double>> others, std::size_t k) {
    if (points.ndim() != 2 || points.shape(1) == 0) throw std::invalid_argument("points must have columns.");
    const std::size_t size = points.shape(0), dimensions = points.shape(1);
    if (size > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
        throw std::invalid_argument("There are more points than 32 bits can number.");
    if (others && (others->ndim() != 2 || others->shape(1) != dimensions))
        throw std::invalid_argument("others must have as many columns as points.");
    if (k == 0 || k > size - (others || size == 0 ? 0 : 1))
        throw std::invalid_argument("k must be at least 1, and at most the number of points that can be found.");
    const std::size_t count = others ? others->shape(0) : size;
    auto index = make<std::int32_t>({count, k});
    auto distance = make<double>({count, k});
    nb::gil_scoped_release release;
    nearest_points(points.data(), size, dimensions, others ? others->data() : nullptr, count, k, index.data(),
                   distance.data());
    return {index, distance};
}

}  // namespace

void add_kd_tree(nb::module_& m) {
    m.def("nearest_among", &nearest_among, nb::arg("points").noconvert(), nb::arg("others").noconvert().none(),
          nb::arg("k"),
          "The k nearest points to each of the others, or of the points themselves, by number, and their distances.");
}

}  // namespace kernelfields::bindings
