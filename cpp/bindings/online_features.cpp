// Python face of online_features.hpp.
#include "kernelfields/online/online_features.hpp"

#include "sparse_rows.hpp"

namespace kernelfields::bindings {
namespace {

// Weights together with the arrays of the rows that they are learnt from.
template <class S> class Learnt {
public:
    Learnt(In<std::int64_t> first, In<std::int32_t> index, std::optional<In<S>> value, std::size_t columns,
           std::size_t labels)
        : first_(first), index_(index), value_(value), weights_(checked(columns, labels), labels) {}

    Out<double> scores(std::size_t from, std::size_t to) const {
        require_range(from, to);
        auto out = make<double>({to - from, weights_.labels()});
        weights_.scores(from, to, out.data());
        return out;
    }
    void add(std::size_t from, std::size_t to, const In<double>& d, double factor, double least) {
        require_change(from, to, d);
        weights_.add(from, to, d.data(), factor, least);
    }
    double collect(std::size_t from, std::size_t to, const In<double>& d) {
        require_change(from, to, d);
        return weights_.collect(from, to, d.data());
    }
    double spread() const {
        require_variance();
        return weights_.spread();
    }
    void add_spread(double alpha, double gamma) {
        require_variance();
        weights_.add_spread(alpha, gamma);
    }
    Out<double> read(Kept kept) const {
        auto out = make<double>({weights_.size()});
        weights_.read(kept, out.data());
        return out;
    }
    void load(const In<double>& from) {
        require_shape(from, "weights", {weights_.size()});
        weights_.load(from.data());
    }
    void load_variance(const In<double>& from) {
        require_shape(from, "variance", {weights_.size()});
        weights_.load_variance(from.data());
    }
    OnlineFeatures<S>& weights() { return weights_; }

private:
    SparseRows<S> checked(std::size_t columns, std::size_t labels) const {
        if (labels == 0) throw std::invalid_argument("labels is 0, expected at least 1.");
        bytes_of(sizeof(S), {columns, labels});
        const auto x = rows_of<S>(first_, index_, value_, columns);
        require_below(index_, "index", columns);
        return x;
    }
    void require_range(std::size_t from, std::size_t to) const {
        if (from > to || to > weights_.rows())
            throw std::invalid_argument("The rows from " + std::to_string(from) + " to " + std::to_string(to) +
                                        " are not among " + std::to_string(weights_.rows()) + ".");
    }
    void require_change(std::size_t from, std::size_t to, const In<double>& d) const {
        require_range(from, to);
        require_shape(d, "change", {to - from, weights_.labels()});
    }
    void require_variance() const {
        if (!weights_.has_variance()) throw std::invalid_argument("There are no variances: call set_variance first.");
    }

    In<std::int64_t> first_;
    In<std::int32_t> index_;
    std::optional<In<S>> value_;
    OnlineFeatures<S> weights_;
};

template <class S> void add_class(nb::module_& m, const char* name) {
    using namespace nb::literals;
    using Class = Learnt<S>;
    const auto keep = [](const char* argument) { return nb::arg(argument).noconvert(); };
    nb::class_<Class>(m, name, "Weights of sparse features that are learnt from a few rows at a time.")
        .def(nb::init<In<std::int64_t>, In<std::int32_t>, std::optional<In<S>>, std::size_t, std::size_t>(),
             keep("first"), keep("index"), keep("value").none(), "columns"_a, "labels"_a)
        .def("scores", &Class::scores, "start"_a, "end"_a)
        .def("add", &Class::add, "start"_a, "end"_a, keep("change"), "factor"_a, "least"_a = 0.0)
        .def("collect", &Class::collect, "start"_a, "end"_a, keep("change"))
        .def(
            "add_collected", [](Class& self, double factor) { self.weights().add_collected(factor); }, "factor"_a)
        .def("spread", &Class::spread)
        .def("add_spread", &Class::add_spread, "alpha"_a, "gamma"_a)
        .def(
            "shrink", [](Class& self, double divisor) { self.weights().shrink(divisor); }, "divisor"_a)
        .def("begin_average", [](Class& self) { self.weights().begin_average(); })
        .def("tick", [](Class& self) { self.weights().tick(); })
        .def(
            "set_variance", [](Class& self, double value) { self.weights().set_variance(value); }, "value"_a)
        .def("load", &Class::load, keep("weights"))
        .def("load_variance", &Class::load_variance, keep("variance"))
        .def("weights", [](const Class& self) { return self.read(Kept::weights); })
        .def("average", [](const Class& self) { return self.read(Kept::average); })
        .def("variance", [](const Class& self) { return self.read(Kept::variance); });
}

}  // namespace

void add_online_features(nb::module_& m) {
    add_class<float>(m, "OnlineFeaturesFloat");
    add_class<double>(m, "OnlineFeaturesDouble");
}

}  // namespace kernelfields::bindings
