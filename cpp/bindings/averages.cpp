#include "kernelfields/graphs/averages.hpp"
#include "kernelfields/graphs/chebyshev.hpp"
#include "sparse_rows.hpp"

#include <nanobind/stl/tuple.h>

namespace kernelfields::bindings {
namespace {

using Numbers = nb::ndarray<double, nb::c_contig, nb::device::cpu>;

// A graph, checked once and kept between products: to look at every neighbour costs as much as a product.
class NeighbourRows {
public:
    NeighbourRows(In<std::int64_t> first, In<std::int32_t> index, std::optional<In<double>> value)
        : first_(first), index_(index), value_(value), rows_(rows_of<double>(first, index, value, vertices_of(first))) {
        require_below(index, "index", rows_.columns);
    }

    // Columns of an array that has a row per vertex.
    template <class T> std::size_t columns_of(const nb::ndarray<T, nb::c_contig, nb::device::cpu>& array,
                                              const char* name) const {
        if (array.ndim() != 2 || array.shape(0) != rows_.rows || array.shape(1) == 0)
            throw std::invalid_argument(std::string(name) + " must have one row per vertex, and columns.");
        return array.shape(1);
    }

    // How far f was from its averages: at most, relative to what is there; the least sum, and how many rows are empty.
    std::tuple<double, double, double, std::size_t> sweep(In<double> scale, In<std::int64_t> vertex,
                                                          In<std::int32_t> label, In<double> amount, In<double> f,
                                                          Numbers out, double share) const {
        const std::size_t columns = same_columns(f, out);
        const LabelSources sources = sources_of(scale, vertex, label, amount, columns);
        nb::gil_scoped_release release;
        const SweepChange change = sweep_averages(rows_, scale.data(), sources, f.data(), columns, share, out.data());
        return {change.absolute, change.relative, change.least, change.empty};
    }

    void mix(In<double> scale, In<std::int64_t> vertex, In<std::int32_t> label, In<double> amount, In<double> f,
             Numbers out, double share) const {
        const std::size_t columns = same_columns(f, out);
        const LabelSources sources = sources_of(scale, vertex, label, amount, columns);
        nb::gil_scoped_release release;
        mix_averages(rows_, scale.data(), sources, f.data(), columns, share, out.data());
    }

    Out<double> less_average(In<double> scale, In<double> metric, In<double> p, Numbers out) const {
        const std::size_t columns = same_columns(p, out);
        require_shape(scale, "scale", {rows_.rows});
        require_shape(metric, "metric", {rows_.rows});
        auto curvature = make<double>({columns});
        nb::gil_scoped_release release;
        less_averages(rows_, scale.data(), metric.data(), p.data(), columns, out.data(), curvature.data());
        return curvature;
    }

    Out<double> step(In<double> metric, In<double> step, In<double> p, In<double> w, Numbers f, Numbers z) const {
        const std::size_t columns = same_columns(p, f);
        require_shape(metric, "metric", {rows_.rows});
        require_shape(step, "step", {columns});
        if (same_columns(p, z) != columns || columns_of(w, "w") != columns)
            throw std::invalid_argument("z and w must have as many columns as p.");
        auto size = make<double>({columns});
        nb::gil_scoped_release release;
        conjugate_step(rows_.rows, columns, metric.data(), step.data(), p.data(), w.data(), f.data(), z.data(),
                       size.data());
        return size;
    }

    void direction(In<double> share, In<double> z, Numbers p) const {
        const std::size_t columns = same_columns(z, p);
        require_shape(share, "share", {columns});
        nb::gil_scoped_release release;
        conjugate_direction(rows_.rows, columns, share.data(), z.data(), p.data());
    }

    void chebyshev(In<double> shift, In<double> now, Numbers before) const {
        const std::size_t columns = same_columns(now, before);
        require_shape(shift, "shift", {rows_.rows});
        nb::gil_scoped_release release;
        chebyshev_step(rows_, shift.data(), now.data(), columns, before.data());
    }

private:
    LabelSources sources_of(const In<double>& scale, const In<std::int64_t>& vertex, const In<std::int32_t>& label,
                            const In<double>& amount, std::size_t columns) const {
        const std::size_t count = length_of(vertex, "vertex");
        require_shape(scale, "scale", {rows_.rows});
        require_shape(amount, "amount", {count});
        require_shape(label, "label", {count});
        require_below(label, "label", columns);
        for (std::size_t k = 0; k < count; ++k)
            if (vertex.data()[k] < (k ? vertex.data()[k - 1] : 0) ||
                static_cast<std::size_t>(vertex.data()[k]) >= rows_.rows)
                throw std::invalid_argument("vertex must hold vertices that never fall.");
        return {count, vertex.data(), label.data(), amount.data()};
    }

    std::size_t same_columns(const In<double>& in, const Numbers& out) const {
        const std::size_t columns = columns_of(in, "in");
        if (columns_of(out, "out") != columns) throw std::invalid_argument("Arrays of different size.");
        if (in.data() == out.data()) throw std::invalid_argument("in and out must be two arrays.");
        return columns;
    }

    static std::size_t vertices_of(const In<std::int64_t>& first) {
        const std::size_t count = length_of(first, "first");
        if (count == 0) throw std::invalid_argument("first is empty.");
        return count - 1;
    }

    In<std::int64_t> first_;  // they keep the arrays alive
    In<std::int32_t> index_;
    std::optional<In<double>> value_;
    SparseRows<double> rows_;
};

}  // namespace

void add_averages(nb::module_& m) {
    const auto keep = [](const char* name) { return nb::arg(name).noconvert(); };
    nb::class_<NeighbourRows>(m, "NeighbourRows")
        .def(nb::init<In<std::int64_t>, In<std::int32_t>, std::optional<In<double>>>(), keep("first"), keep("index"),
             keep("value").none())
        .def("sweep", &NeighbourRows::sweep, keep("scale"), keep("vertex"), keep("label"), keep("amount"), keep("f"),
             keep("out"), nb::arg("share"))
        .def("mix", &NeighbourRows::mix, keep("scale"), keep("vertex"), keep("label"), keep("amount"), keep("f"),
             keep("out"), nb::arg("share"))
        .def("less_average", &NeighbourRows::less_average, keep("scale"), keep("metric"), keep("p"), keep("out"))
        .def("step", &NeighbourRows::step, keep("metric"), keep("step"), keep("p"), keep("w"), keep("f"), keep("z"))
        .def("direction", &NeighbourRows::direction, keep("share"), keep("z"), keep("p"))
        .def("chebyshev", &NeighbourRows::chebyshev, keep("shift"), keep("now"), keep("before"));
}

}  // namespace kernelfields::bindings
