// Packing: the only part of feature extraction that holds the GIL. PyUnicode_AsUTF8AndSize hands out
// the bytes of an ASCII string as they are, so that nothing but one copy per token is made.
#include "tokens.hpp"

#include <stdexcept>

namespace kernelfields::bindings {
namespace nb = nanobind;
namespace {

// A list or tuple, or a list made of any other sequence.
struct Items {
    nb::object owner;
    PyObject* object;
    bool list;

    explicit Items(PyObject* given) : object(given), list(PyList_Check(given)) {
        if (list || PyTuple_Check(given)) return;
        owner = nb::steal(PySequence_List(given));
        if (!owner.is_valid()) throw nb::python_error();
        object = owner.ptr();
        list = true;
    }
    Py_ssize_t size() const { return list ? PyList_Size(object) : PyTuple_Size(object); }
    PyObject* operator[](Py_ssize_t k) const { return list ? PyList_GetItem(object, k) : PyTuple_GetItem(object, k); }
};

class Packer {
public:
    explicit Packer(const std::vector<std::string>& names) : names_(names) { tokens_.columns.resize(names.size()); }

    void add(PyObject* sentence) {
        const std::int64_t before = tokens_.offsets.back();
        if (PyUnicode_Check(sentence) || PyBytes_Check(sentence)) fail("is one string, expected a list of tokens");
        const std::int64_t added = PyDict_Check(sentence) ? add_columns(sentence) : add_tokens(Items(sentence));
        tokens_.offsets.push_back(before + added);
    }

    Tokens finish() { return std::move(tokens_); }

private:
    std::int64_t add_tokens(const Items& sentence) {
        const Py_ssize_t T = sentence.size();
        for (Py_ssize_t t = 0; t < T; ++t) {
            PyObject* const token = sentence[t];
            if (PyUnicode_Check(token)) {
                if (names_.size() > 1)
                    fail_at(t, "is one string, expected " + std::to_string(names_.size()) + " columns");
                if (!names_.empty()) push(0, token, t);
                continue;
            }
            const bool list = PyList_Check(token);
            if (!list && !PyTuple_Check(token)) fail_at(t, "is neither a string nor a tuple or list of strings");
            const Py_ssize_t width = list ? PyList_Size(token) : PyTuple_Size(token);
            if (static_cast<std::size_t>(width) < names_.size())
                fail_at(t, "has " + std::to_string(width) + " columns, expected " + std::to_string(names_.size()));
            for (std::size_t c = 0; c < names_.size(); ++c) {
                const auto at = static_cast<Py_ssize_t>(c);
                push(c, list ? PyList_GetItem(token, at) : PyTuple_GetItem(token, at), t);
            }
        }
        return T;
    }

    std::int64_t add_columns(PyObject* sentence) {
        Py_ssize_t T = -1;
        for (std::size_t c = 0; c < names_.size(); ++c) {
            PyObject* const column = PyDict_GetItemString(sentence, names_[c].c_str());
            if (!column) fail("has no column " + names_[c]);
            if (PyUnicode_Check(column)) fail("has one string as column " + names_[c] + ", expected a list");
            const nb::object held = nb::borrow(column);
            const Items items(column);
            if (T >= 0 && items.size() != T) fail("has columns of different lengths");
            T = items.size();
            for (Py_ssize_t t = 0; t < T; ++t) push(c, items[t], t);
        }
        if (T < 0) fail("has no column from which to tell its length");
        return T;
    }

    void push(std::size_t c, PyObject* object, Py_ssize_t t) {
        std::string_view text;
        if (!text_of(object, text)) fail_at(t, "has a " + names_[c] + " that is not a string of valid Unicode");
        tokens_.columns[c].push(text);
    }

    [[noreturn]] void fail(const std::string& why) const {
        throw std::invalid_argument("Sentence " + std::to_string(tokens_.sentences()) + " " + why + ".");
    }
    [[noreturn]] void fail_at(Py_ssize_t t, const std::string& why) const {
        fail("is wrong at position " + std::to_string(t) + ": the token " + why);
    }

    const std::vector<std::string>& names_;
    Tokens tokens_;
};

}  // namespace

Tokens pack_tokens(nb::handle sentences, const std::vector<std::string>& columns) {
    if (PyUnicode_Check(sentences.ptr())) throw std::invalid_argument("Expected a list of sentences, not one string.");
    Packer packer(columns);
    const Items items(sentences.ptr());
    for (Py_ssize_t s = 0; s < items.size(); ++s) {
        // Sequences of other types than lists run code of their own, which might drop what is being read.
        const nb::object sentence = nb::borrow(items[s]);
        packer.add(sentence.ptr());
    }
    return packer.finish();
}

}  // namespace kernelfields::bindings
