// Python sentences to packed columns of tokens.
#pragma once

#include "kernelfields/features/templates.hpp"

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace kernelfields::bindings {

// Reads sentences (lists of strings, of tuples or lists of strings, or dictionaries of columns).
Tokens pack_tokens(nanobind::handle sentences, const std::vector<std::string>& columns);

// The UTF-8 bytes of a str, which live as long as it does; false if it is none, or holds surrogates.
inline bool text_of(PyObject* object, std::string_view& text) {
    if (!PyUnicode_Check(object)) return false;
    Py_ssize_t size = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(object, &size);
    if (!bytes) {
        PyErr_Clear();
        return false;
    }
    text = {bytes, static_cast<std::size_t>(size)};
    return true;
}

// The same of bytes that hold UTF-8.
inline bool encoded_text_of(PyObject* object, std::string_view& text) {
    if (!PyBytes_Check(object)) return false;
    char* bytes = nullptr;
    Py_ssize_t size = 0;
    PyBytes_AsStringAndSize(object, &bytes, &size);
    text = {bytes, static_cast<std::size_t>(size)};
    PyObject* const decoded = PyUnicode_DecodeUTF8(bytes, size, "strict");
    if (!decoded) PyErr_Clear();
    Py_XDECREF(decoded);
    return decoded != nullptr;
}

}  // namespace kernelfields::bindings
