// Items of one sequence to labels in one call: no arrays are made on the way.
#include "kernelfields/spaces/linear_tagger.hpp"

#include "arrays.hpp"
#include "attribute_reader.hpp"

#include <nanobind/stl/vector.h>

namespace kernelfields::bindings {
namespace {

using Names = nb::typed<nb::list, nb::str>;
using Labels = nb::typed<nb::tuple, nb::str, nb::ellipsis>;

void require_pairs(const In<std::int32_t>& first, const In<std::int32_t>& label, std::size_t attributes,
                   std::size_t labels) {
    require_shape(first, "first", {attributes + 1});
    bool rising = first.data()[0] == 0 && static_cast<std::size_t>(first.data()[attributes]) == label.size();
    for (std::size_t a = 0; a < attributes; ++a) rising = rising && first.data()[a] <= first.data()[a + 1];
    if (!rising) throw std::invalid_argument("first must rise from 0 to the number of weights.");
    for (std::size_t p = 0; p < label.size(); ++p)
        if (label.data()[p] < 0 || static_cast<std::size_t>(label.data()[p]) >= labels)
            throw std::invalid_argument("label holds " + std::to_string(label.data()[p]) + ", expected 0 to " +
                                        std::to_string(labels) + " (exclusive).");
}

// A call runs from start to end without another Python thread in between, unless items have code of their own
// (dictionaries and strings do not): threads may share a tagger if they use `tag` alone.
class AttributeTagger {
public:
    AttributeTagger(StringPool& pool, nb::tuple names, In<std::int32_t> first, In<std::int32_t> label,
                    In<double> weight, In<double> ends, In<double> transitions)
        : pool_(pool),
          names_(names),
          arrays_{first, label},
          numbers_{weight, ends, transitions},
          tagger_({names.size(), first.data(), label.data(), weight.data(), ends.data(), transitions.data()}) {}

    static void require(const StringPool& pool, const nb::tuple& names, const In<std::int32_t>& first,
                        const In<std::int32_t>& label, const In<double>& weight, const In<double>& ends,
                        const In<double>& transitions) {
        if (names.size() == 0) throw std::invalid_argument("There are no labels.");
        require_shape(ends, "ends", {3, names.size()});
        require_shape(transitions, "transitions", {names.size(), names.size()});
        require_shape(weight, "weight", {label.size()});
        require_pairs(first, label, pool.size(), names.size());
    }

    std::size_t length() const { return tagger_.length(); }

    void set(nb::handle items) {
        AttributeReader reader(pool_, false, false);
        reader.rows = std::move(spare_);
        reader.rows.clear();
        reader.sentence(items);
        tagger_.set(reader.rows);
        spare_ = std::move(reader.rows);
    }

    // None where there is no best labelling; value() then says why.
    std::optional<Names> tag(nb::handle items) {
        if (!items.is_none()) set(items);
        const auto labels = tagger_.best();
        if (!std::isfinite(tagger_.value())) return std::nullopt;
        Names result;
        for (const std::int32_t label : labels) result.append(names_[static_cast<std::size_t>(label)]);
        return result;
    }

    double value() const { return tagger_.value(); }

    double score(const std::vector<std::int32_t>& labels) {
        if (labels.size() != length()) throw std::invalid_argument("There must be one label per position.");
        for (const std::int32_t label : labels)
            if (label < 0 || static_cast<std::size_t>(label) >= names_.size())
                throw std::invalid_argument("There is no label " + std::to_string(label) + ".");
        return tagger_.score(labels.data());
    }

    double log_partition() { return tagger_.log_partition(); }

    double marginal(std::size_t label, std::size_t position) {
        if (position >= length() || label >= names_.size()) throw std::invalid_argument("There is no such position.");
        return tagger_.marginal(position, label);
    }

private:
    StringPool& pool_;
    nb::tuple names_;
    In<std::int32_t> arrays_[2];
    In<double> numbers_[3];
    LinearTagger tagger_;
    AttributeRows spare_;  // memory that the next call uses
};

}  // namespace

void add_linear_tagger(nb::module_& m) {
    using namespace nb::literals;
    const auto keep = [](const char* name) { return nb::arg(name).noconvert(); };
    nb::class_<AttributeTagger>(m, "AttributeTagger", "Labels one sequence of items after the other.")
        .def(
            "__init__",
            [](AttributeTagger* self, StringPool& pool, Labels names, In<std::int32_t> first, In<std::int32_t> label,
               In<double> weight, In<double> ends, In<double> transitions) {
                AttributeTagger::require(pool, names, first, label, weight, ends, transitions);
                new (self) AttributeTagger(pool, names, first, label, weight, ends, transitions);
            },
            "pool"_a, "names"_a, keep("first"), keep("label"), keep("weight"), keep("ends"), keep("transitions"),
            nb::keep_alive<1, 2>())
        .def("__len__", &AttributeTagger::length)
        .def("set", &AttributeTagger::set, "items"_a)
        .def("tag", &AttributeTagger::tag, "items"_a.none() = nb::none())
        .def_prop_ro("value", &AttributeTagger::value)
        .def("score", &AttributeTagger::score, "labels"_a)
        .def("log_partition", &AttributeTagger::log_partition)
        .def("marginal", &AttributeTagger::marginal, "label"_a, "position"_a);
}

}  // namespace kernelfields::bindings
