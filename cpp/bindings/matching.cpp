#include "kernelfields/structures/matching.hpp"

#include "kernelfields/structures/bethe_matching.hpp"
#include "kernelfields/structures/link_flow.hpp"
#include "pairwise.hpp"

namespace kernelfields::bindings {
namespace {

using Numbers = In<std::int64_t>;

template <class S> PairBatch<S> batch_of(const In<S>& pair, const Numbers& offsets, const Numbers& shapes) {
    require_offsets(offsets, "offsets", length_of(pair, "pair"));
    const std::size_t items = offsets.shape(0) - 1;
    require_shape(shapes, "shapes", {items, 2});
    for (std::size_t s = 0; s < items; ++s) {
        const std::int64_t m = shapes.data()[2 * s], n = shapes.data()[2 * s + 1];
        const std::int64_t pairs = offsets.data()[s + 1] - offsets.data()[s];
        // Division, since a product of two large numbers would not fit.
        const bool right = m >= 0 && n >= 0 && (m == 0 || n == 0 ? pairs == 0 : pairs % n == 0 && pairs / n == m);
        if (!right) throw std::invalid_argument("shapes are not those of the pairs of item " + std::to_string(s) + ".");
    }
    return {items, offsets.data(), shapes.data(), pair.data()};
}

template <class S> Labelled argmax(In<S> pair, Numbers offsets, Numbers shapes, bool complete) {
    const PairBatch<S> batch = batch_of(pair, offsets, shapes);
    auto output = make<std::int32_t>({pair.shape(0)});
    auto value = make<double>({batch.items});
    {
        nb::gil_scoped_release release;
        matching_argmax(batch, complete, output.data(), value.data());
    }
    return {output, value};
}

template <class S> Labelled kbest(In<S> pair, Numbers offsets, Numbers shapes, bool complete, std::size_t k) {
    const PairBatch<S> batch = batch_of(pair, offsets, shapes);
    auto output = make<std::int32_t>({k, pair.shape(0)});
    auto value = make<double>({batch.items, k});
    {
        nb::gil_scoped_release release;
        matching_kbest(batch, complete, k, output.data(), value.data());
    }
    return {output, value};
}

// Bethe's log-sums, beliefs (none if they are not asked for), largest changes in the last iteration, iterations.
template <class S>
std::tuple<Out<double>, Out<S>, Out<double>, Out<std::int64_t>> bethe(In<S> pair, Numbers offsets, Numbers shapes,
                                                                      bool complete, bool with_beliefs,
                                                                      std::size_t max_iter, double tol) {
    const PairBatch<S> batch = batch_of(pair, offsets, shapes);
    auto value = make<double>({batch.items}), change = make<double>({batch.items});
    auto iterations = make<std::int64_t>({batch.items});
    auto belief = make<S>({with_beliefs ? pair.shape(0) : 0});
    {
        nb::gil_scoped_release release;
        bethe_matching(batch, complete, {max_iter, tol},
                       {value.data(), change.data(), iterations.data(), with_beliefs ? belief.data() : nullptr});
    }
    return {value, belief, change, iterations};
}

template <class S> Labelled links(In<S> pair, Numbers offsets, Numbers shapes, In<S> fertility) {
    const PairBatch<S> batch = batch_of(pair, offsets, shapes);
    std::size_t vertices = 0;
    for (std::size_t s = 0; s < batch.items; ++s) vertices += batch.rows(s) + batch.columns(s);
    if (fertility.ndim() != 2 || fertility.shape(1) < 2)
        throw std::invalid_argument("fertility has shape " + shape_of(fertility) + ", expected two columns at least.");
    require_shape(fertility, "fertility", {vertices, fertility.shape(1)});
    auto output = make<std::int32_t>({pair.shape(0)});
    auto value = make<double>({batch.items});
    {
        nb::gil_scoped_release release;
        links_argmax(batch, fertility.shape(1) - 1, fertility.data(), output.data(), value.data());
    }
    return {output, value};
}

template <class S> void add_functions(nb::module_& m) {
    using namespace nb::literals;
    const auto p = nb::arg("pair").noconvert(), o = nb::arg("offsets").noconvert(), s = nb::arg("shapes").noconvert();
    m.def("matching_argmax", &argmax<S>, p, o, s, "complete"_a);
    m.def("matching_kbest", &kbest<S>, p, o, s, "complete"_a, "k"_a);
    m.def("matching_bethe", &bethe<S>, p, o, s, "complete"_a, "with_beliefs"_a, "max_iter"_a, "tol"_a);
    m.def("links_argmax", &links<S>, p, o, s, nb::arg("fertility").noconvert());
}

}  // namespace

void add_matching(nb::module_& m) {
    add_functions<double>(m);
    add_functions<float>(m);
}

}  // namespace kernelfields::bindings
