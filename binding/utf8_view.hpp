// A str or bytes as the core takes it, without a copy that Python would keep with the str.
#pragma once

#include <nanobind/nanobind.h>

#include "narrow.hpp"

namespace bytepair {

// Made with the lock held; what it is made of must outlive it, and reading it needs no lock.
inline GivenText given_text(nanobind::handle text) {
  PyObject* const object = text.ptr();
  if (PyBytes_Check(object)) return {PyBytes_AS_STRING(object), static_cast<std::size_t>(PyBytes_GET_SIZE(object)), 0};
  if (!PyUnicode_Check(object)) throw nanobind::type_error("expected str or bytes");
  const int width = PyUnicode_IS_ASCII(object) ? 0 : static_cast<int>(PyUnicode_KIND(object));
  return {PyUnicode_DATA(object), static_cast<std::size_t>(PyUnicode_GET_LENGTH(object)), width};
}

// With the lock: UnicodeEncodeError for the lone surrogates that the core met in a str.
[[noreturn]] inline void raise_surrogates(nanobind::handle text) {
  Py_ssize_t n;
  if (PyUnicode_AsUTF8AndSize(text.ptr(), &n)) PyErr_SetString(PyExc_SystemError, "a str had lone surrogates, and has none now");
  throw nanobind::python_error();
}

}  // namespace bytepair
