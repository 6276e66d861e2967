// Pools of attributes, and the rows that sentences become.
#include "kernelfields/features/attributes.hpp"

#include "arrays.hpp"
#include "attribute_reader.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

namespace kernelfields::bindings {
namespace {

using Sparse = std::tuple<Out<std::int64_t>, Out<std::int32_t>, Out<double>, Out<std::int64_t>>;

template <class T> Out<T> array_of(const std::vector<T>& from) {
    auto out = make<T>({from.size()});
    std::copy(from.begin(), from.end(), out.data());
    return out;
}

Sparse arrays_of(const AttributeReader& reader) {
    return {array_of(reader.rows.indptr), array_of(reader.rows.indices), array_of(reader.rows.values),
            array_of(reader.offsets)};
}

Sparse fit(StringPool& pool, nb::object sentences, std::int64_t min_count, bool by_frequency) {
    StringPool all;
    AttributeReader reader(all, true, false);
    for (nb::handle sentence : sentences) reader.sentence(sentence);
    const auto numbers = choose_attributes(reader.rows, all.size(), min_count, by_frequency);
    reader.rows.renumber(numbers);
    reader.rows.sum_duplicates();
    pool = chosen_strings(all, numbers);
    return arrays_of(reader);
}

// Like `read`, but attributes that are new get the next numbers, and zeros are kept.
Sparse grow(StringPool& pool, nb::object sentences) {
    AttributeReader reader(pool, true, true);
    for (nb::handle sentence : sentences) reader.sentence(sentence);
    return arrays_of(reader);
}

Sparse read(StringPool& pool, nb::object sentences) {
    AttributeReader reader(pool, false, false);
    for (nb::handle sentence : sentences) reader.sentence(sentence);
    reader.rows.sum_duplicates();
    return arrays_of(reader);
}

// Names and values by position; where an item has a name twice, the last value.
nb::typed<nb::list, nb::typed<nb::dict, nb::str, double>> dictionaries_of(const ItemRows& items) {
    nb::list result;
    for (std::size_t row = 0, k = 0; row + 1 < items.rows.indptr.size(); ++row) {
        nb::dict item;
        for (; k < static_cast<std::size_t>(items.rows.indptr[row + 1]); ++k) {
            const std::string_view name = items.names[static_cast<std::size_t>(items.rows.indices[k])];
            item[nb::str(name.data(), name.size())] = items.rows.values[k];
        }
        result.append(item);
    }
    return result;
}

// Row by row, names and their values.
using ItemState = std::vector<std::vector<std::pair<std::string, double>>>;

ItemState state_of(const ItemRows& items) {
    ItemState state;
    for (std::size_t row = 0, k = 0; row + 1 < items.rows.indptr.size(); ++row) {
        state.emplace_back();
        for (; k < static_cast<std::size_t>(items.rows.indptr[row + 1]); ++k)
            state.back().emplace_back(items.names[static_cast<std::size_t>(items.rows.indices[k])],
                                      items.rows.values[k]);
    }
    return state;
}

ItemRows items_of_state(const ItemState& state) {
    ItemRows items;
    for (const auto& row : state) {
        for (const auto& [name, value] : row) items.rows.push(items.names.add(name), value);
        items.rows.end_row();
    }
    return items;
}

}  // namespace

void add_attributes(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<StringPool>(m, "AttributePool", "Names of attributes, numbered.")
        .def(nb::init<>())
        .def(
            "__init__",
            [](StringPool* self, const std::vector<std::string>& names) {
                new (self) StringPool();
                for (const std::string& name : names) self->add(name);
                if (self->size() == names.size()) return;
                self->~StringPool();
                throw std::invalid_argument("A name occurs twice.");
            },
            "names"_a)
        .def("__len__", &StringPool::size)
        .def("names",
             [](const StringPool& pool) {
                 std::vector<std::string> names;
                 for (std::size_t id = 0; id < pool.size(); ++id) names.emplace_back(pool[id]);
                 return names;
             })
        .def("fit", &fit, "sentences"_a, "min_count"_a, "by_frequency"_a)
        .def("grow", &grow, "sentences"_a)
        .def("read", &read, "sentences"_a);
    nb::class_<ItemRows>(m, "ItemRows", "The features of a sequence, read once; pools take it as a sentence.")
        .def(
            "__init__",
            [](ItemRows* self, nb::object items) {
                new (self) ItemRows();
                try {
                    AttributeReader reader(self->names, true, true);
                    reader.sentence(items);
                    self->rows = std::move(reader.rows);
                } catch (...) {
                    self->~ItemRows();
                    throw;
                }
            },
            "items"_a)
        .def("__len__", [](const ItemRows& items) { return items.rows.indptr.size() - 1; })
        .def("__getstate__", &state_of)
        .def("__setstate__", [](ItemRows* self, const ItemState& state) { new (self) ItemRows(items_of_state(state)); })
        .def("items", &dictionaries_of);
}

}  // namespace kernelfields::bindings
