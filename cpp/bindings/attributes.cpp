// Dictionaries, lists and sets of attributes, read as python-crfsuite's ItemSequence reads them.
#include "kernelfields/attributes.hpp"

#include "arrays.hpp"
#include "tokens.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <tuple>

namespace kernelfields::bindings {
namespace {

using Sparse = std::tuple<Out<std::int64_t>, Out<std::int32_t>, Out<double>, Out<std::int64_t>>;

// One walk through sentences. `learn` decides whether new attributes get a number or are dropped, `zeros`
// whether values of zero are kept.
class Reader {
public:
    Reader(StringPool& pool, bool learn, bool zeros = false) : pool_(pool), learn_(learn), zeros_(zeros) {}

    void sentence(nb::handle items) {
        if (PyUnicode_Check(items.ptr()) || PyDict_Check(items.ptr()))
            throw std::invalid_argument("Sentence " + std::to_string(sentence_) +
                                        " must be a list with the features of each token.");
        for (nb::handle item : items) {
            name_.clear();
            if (PyUnicode_Check(item.ptr())) fail("is one string; expected a dictionary, or a list of strings");
            read(item);
            rows.end_row();
            ++position_;
        }
        offsets.push_back(static_cast<std::int64_t>(rows.indptr.size() - 1));
        ++sentence_;
        position_ = 0;
    }

    AttributeRows rows;
    std::vector<std::int64_t> offsets{0};

private:
    // A dictionary, or any collection of names; what was appended to name_ before is their prefix.
    void read(nb::handle item) {
        const std::size_t prefix = name_.size();
        if (PyDict_Check(item.ptr())) {
            Py_ssize_t at = 0;
            PyObject *key, *value;
            const Py_ssize_t size = PyDict_Size(item.ptr());
            while (PyDict_Next(item.ptr(), &at, &key, &value)) {
                append(key);
                read_value(nb::borrow(value));
                name_.resize(prefix);
                if (PyDict_Size(item.ptr()) != size) fail("changes while it is read");
            }
            return;
        }
        if (!PyObject_HasAttrString(item.ptr(), "__iter__"))
            fail("has features that are neither a dictionary nor a list or set of strings");
        for (nb::handle name : item) {
            append(name.ptr());
            push(1.0);
            name_.resize(prefix);
        }
    }

    void read_value(nb::handle value) {
        if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr())) {
            name_ += ':';
            append(value.ptr());
            push(1.0);
        } else if (PyDict_Check(value.ptr()) || PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) ||
                   PyAnySet_Check(value.ptr())) {
            name_ += ':';
            if (++depth_ > 100) fail("has features nested more than 100 times");
            read(value);
            --depth_;
        } else {
            number(value);
        }
    }

    void number(nb::handle value) {
        const double number = PyFloat_AsDouble(value.ptr());
        if (number == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            fail("has the feature '" + name_ + "' with a value that is no string, number or collection");
        }
        if (!std::isfinite(number)) fail("has the feature '" + name_ + "' with a value of NaN or infinity");
        if (number != 0 || zeros_) push(number);
    }

    void append(PyObject* text) {
        std::string_view bytes;
        if (!text_of(text, bytes) && !encoded_text_of(text, bytes))
            fail("has a name or value that is not a string of valid Unicode");
        name_ += bytes;
    }

    void push(double value) {
        const std::int32_t attribute = learn_ ? pool_.add(name_) : pool_.find(name_);
        if (attribute != none) rows.push(attribute, value);
    }

    [[noreturn]] void fail(const std::string& why) const {
        throw std::invalid_argument("Sentence " + std::to_string(sentence_) + ", position " +
                                    std::to_string(position_) + ": the token " + why + ".");
    }

    StringPool& pool_;
    bool learn_, zeros_;
    std::string name_;
    std::size_t sentence_ = 0, position_ = 0;
    int depth_ = 0;
};

template <class T> Out<T> array_of(const std::vector<T>& from) {
    auto out = make<T>({from.size()});
    std::copy(from.begin(), from.end(), out.data());
    return out;
}

Sparse arrays_of(const Reader& reader) {
    return {array_of(reader.rows.indptr), array_of(reader.rows.indices), array_of(reader.rows.values),
            array_of(reader.offsets)};
}

Sparse fit(StringPool& pool, nb::object sentences, std::int64_t min_count, bool by_frequency) {
    StringPool all;
    Reader reader(all, true);
    for (nb::handle sentence : sentences) reader.sentence(sentence);
    const auto numbers = choose_attributes(reader.rows, all.size(), min_count, by_frequency);
    reader.rows.renumber(numbers);
    pool = chosen_strings(all, numbers);
    return arrays_of(reader);
}

// Like `read`, but attributes that are new get the next numbers, and zeros are kept.
Sparse grow(StringPool& pool, nb::object sentences) {
    Reader reader(pool, true, true);
    for (nb::handle sentence : sentences) reader.sentence(sentence);
    return arrays_of(reader);
}

Sparse read(StringPool& pool, nb::object sentences) {
    Reader reader(pool, false);
    for (nb::handle sentence : sentences) reader.sentence(sentence);
    return arrays_of(reader);
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
}

}  // namespace kernelfields::bindings
