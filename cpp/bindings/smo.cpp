#include "kernelfields/solvers/smo.hpp"
#include "arrays.hpp"

#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

namespace kernelfields::bindings {
namespace {

using Solved = std::tuple<Out<double>, Out<double>, std::size_t, double, double>;

Solved margin_smo(In<double> gram, In<double> labels, In<double> low, In<double> high, In<double> coef,
                  In<double> scores, double tolerance, std::size_t limit) {
    const std::size_t N = length_of(labels, "labels");
    require_shape(gram, "gram", {N, N});
    require_shape(low, "low", {N});
    require_shape(high, "high", {N});
    require_shape(coef, "coef", {N});
    require_shape(scores, "scores", {N});
    auto solution = make<double>({N});
    auto image = make<double>({N});
    std::copy_n(coef.data(), N, solution.data());
    std::copy_n(scores.data(), N, image.data());
    MarginEnd end;
    {
        nb::gil_scoped_release release;
        const MarginDual problem{N, gram.data(), labels.data(), low.data(), high.data(), solution.data(), image.data()};
        end = smo(problem, tolerance, limit);
    }
    return {solution, image, end.steps, end.most, end.least};
}

}  // namespace

void add_smo(nb::module_& m) {
    m.def("margin_smo", &margin_smo, nb::arg("gram"), nb::arg("labels"), nb::arg("low"), nb::arg("high"),
          nb::arg("coef"), nb::arg("scores"), nb::arg("tolerance"), nb::arg("limit"),
          "Coefficients and scores after at most `limit` steps of SMO, their number, and the two ends of slopes.");
}

}  // namespace kernelfields::bindings
