// Dictionaries, lists and sets of attributes, read as python-crfsuite's ItemSequence reads them.
#pragma once

#include "kernelfields/features/attributes.hpp"
#include "tokens.hpp"

#include <nanobind/nanobind.h>

#include <cmath>
#include <string>

namespace kernelfields::bindings {

namespace nb = nanobind;

// The features of one sequence, read once: rows of numbers that stand for names of its own.
struct ItemRows {
    StringPool names;
    AttributeRows rows;
};

// One walk through sentences. `learn` decides whether new attributes get a number or are dropped, `zeros`
// whether values of zero are kept.
class AttributeReader {
public:
    AttributeReader(StringPool& pool, bool learn, bool zeros) : pool_(pool), learn_(learn), zeros_(zeros) {}

    // The first row of another sequence; rows go where the last ones did.
    void sentence(nb::handle items) {
        if (nb::isinstance<ItemRows>(items)) copy(nb::cast<const ItemRows&>(items));
        else if (PyList_Check(items.ptr())) list(items.ptr());
        else collection(items);
        offsets.push_back(static_cast<std::int64_t>(rows.indptr.size() - 1));
        ++sentence_;
        position_ = 0;
    }

    AttributeRows rows;
    std::vector<std::int64_t> offsets{0};

private:
    void copy(const ItemRows& from) {
        for (std::size_t row = 0, k = 0; row + 1 < from.rows.indptr.size(); ++row) {
            for (; k < static_cast<std::size_t>(from.rows.indptr[row + 1]); ++k)
                if (from.rows.values[k] != 0 || zeros_)
                    push(from.names[static_cast<std::size_t>(from.rows.indices[k])], from.rows.values[k]);
            rows.end_row();
        }
    }

    // Its length is asked for anew each time: reading an item may run code that shortens the list.
    void list(PyObject* items) {
        for (Py_ssize_t t = 0; t < PyList_Size(items); ++t) item(nb::borrow(PyList_GetItem(items, t)));
    }

    void collection(nb::handle items) {
        if (PyUnicode_Check(items.ptr()) || PyDict_Check(items.ptr()))
            throw std::invalid_argument("Sentence " + std::to_string(sentence_) +
                                        " must be a list with the features of each token.");
        for (nb::handle each : items) item(each);
    }

    void item(nb::handle item) {
        name_.clear();
        if (PyUnicode_Check(item.ptr())) fail("is one string; expected a dictionary, or a list of strings");
        read(item);
        rows.end_row();
        ++position_;
    }

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
        if (!iterable(item.ptr())) fail("has features that are neither a dictionary nor a list or set of strings");
        for (nb::handle name : item) {
            append(name.ptr());
            push(name_, 1.0);
            name_.resize(prefix);
        }
    }

    // The usual kinds first: asking for an attribute takes as long as reading three names.
    static bool iterable(PyObject* item) {
        return PyList_Check(item) || PyTuple_Check(item) || PyAnySet_Check(item) ||
               PyObject_HasAttrString(item, "__iter__");
    }

    void read_value(nb::handle value) {
        if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr())) {
            name_ += ':';
            append(value.ptr());
            push(name_, 1.0);
        } else if (PyBool_Check(value.ptr())) {
            if (value.ptr() == Py_True || zeros_) push(name_, value.ptr() == Py_True);
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
        if (number != 0 || zeros_) push(name_, number);
    }

    void append(PyObject* text) {
        std::string_view bytes;
        if (!text_of(text, bytes) && !encoded_text_of(text, bytes))
            fail("has a name or value that is not a string of valid Unicode");
        name_ += bytes;
    }

    void push(std::string_view name, double value) {
        const std::int32_t attribute = learn_ ? pool_.add(name) : pool_.find(name);
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

}  // namespace kernelfields::bindings
