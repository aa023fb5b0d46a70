// A str or bytes as the core takes it.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>
#include <vector>

#include "errors.hpp"
#include "narrow.hpp"

namespace bytepair {

// Under this many bytes a call takes less time than giving the lock away and getting it back.
inline constexpr std::size_t kLongCall = 16384;

// The bytes of a bytes object, or the UTF-8 of a str, which Python then keeps with it: for what is short, or comes once. A
// str with lone surrogates raises UnicodeEncodeError.
inline std::string_view view(nanobind::handle data) {
  if (PyBytes_Check(data.ptr()))
    return {PyBytes_AS_STRING(data.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(data.ptr()))};
  if (PyUnicode_Check(data.ptr())) {
    Py_ssize_t n;
    const char* p = PyUnicode_AsUTF8AndSize(data.ptr(), &n);
    if (!p) throw nanobind::python_error();
    return {p, static_cast<std::size_t>(n)};
  }
  throw nanobind::type_error("expected str or bytes");
}

inline const u8* bytes_of(std::string_view text) { return reinterpret_cast<const u8*>(text.data()); }

template <class F>
auto without_lock(std::size_t size, F work) {
  if (size < kLongCall) return work();
  const nanobind::gil_scoped_release released;
  return work();
}

// Without a copy that Python would keep with the str. Made with the lock held; what it is made of must outlive it, and
// reading it needs no lock.
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

// Calls work(bytes) with the UTF-8 of a text, without the lock where it is long.
template <class F>
void with_utf8(nanobind::handle text, F work) {
  const GivenText given = given_text(text);
  try {
    without_lock(given.size(), [&] {
      ByteBuffer own;
      work(given.bytes(own));
    });
  } catch (const Surrogates&) {
    raise_surrogates(text);
  }
}

// The same for many, which the core reads when it comes to them.
template <class F>
void with_texts(const nanobind::list& texts, F work) {
  std::vector<GivenText> given;
  std::size_t size = 0;
  for (const nanobind::handle text : texts) size += given.emplace_back(given_text(text)).size();
  try {
    without_lock(size, [&] { work(given); });
  } catch (const Surrogates& error) {
    raise_surrogates(texts[error.document]);
  }
}

}  // namespace bytepair
