#include "ints.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace nb = nanobind;

namespace bytepair {

namespace {

// The int objects of ids lie in one table of ours, each made once and never freed: a list of a million ids then costs a
// million pointers that are computed, not a million objects that are made, or looked up. They are copies of ints that
// Python made, with the count of references that the int 1 has: from Python 3.12 on that marks it as immortal, and
// nobody writes to it again, on free-threaded Python neither; before, it is a count like any other, of which one is ours.
#if defined(Py_TRACE_REFS) || PYLONG_BITS_IN_DIGIT != 30
constexpr bool kHasTable = false;
#else
constexpr bool kHasTable = true;
#endif
constexpr std::size_t kInts = 1 << 18, kPage = 64;
#if PY_VERSION_HEX >= 0x030C0000
constexpr bool kCounted = false;
#else
constexpr bool kCounted = true;
#endif

class Ints {
 public:
  // Null where the memory is not there, or where ints are not laid out as this was compiled for.
  Ints() {
    if (!kHasTable || !Py_IS_TYPE(one_, &PyLong_Type)) return;
    const auto size = static_cast<std::size_t>(PyLong_Type.tp_basicsize + PyLong_Type.tp_itemsize);
    if (size > sizeof(PyLongObject) || PyLong_Type.tp_itemsize != sizeof(digit)) return;
    table_ = static_cast<PyLongObject*>(std::calloc(kInts, sizeof(PyLongObject)));
  }

  bool works() const { return table_ != nullptr; }
  PyObject* at(u32 id) const { return reinterpret_cast<PyObject*>(table_ + id); }
  // false and a Python error: no memory.
  bool has(u32 id) { return ready_[id / kPage].load(std::memory_order_acquire) || fill(id / kPage); }

 private:
  bool fill(std::size_t page) {
#ifdef Py_GIL_DISABLED
    const std::lock_guard<std::mutex> lock(mutex_);
    if (ready_[page].load(std::memory_order_relaxed)) return true;
#endif
    for (std::size_t i = page * kPage; i < (page + 1) * kPage; ++i) {
      PyObject* const made = PyLong_FromSize_t(i);
      if (!made) return false;
      // Free-threaded Python's header names the thread that owns an object: that of the int 1 is nobody's.
      std::memcpy(table_ + i, made, static_cast<std::size_t>(PyLong_Type.tp_basicsize + PyLong_Type.tp_itemsize));
      std::memcpy(table_ + i, one_, sizeof(PyObject));
      Py_DECREF(made);
    }
    ready_[page].store(1, std::memory_order_release);
    return true;
  }

  PyObject* const one_ = PyLong_FromLong(1);
  PyLongObject* table_ = nullptr;
  std::atomic<u8> ready_[kInts / kPage]{};
  [[maybe_unused]] std::mutex mutex_;
};

Ints& ints() {
  static Ints* const made = new Ints();  // never taken down: lists that outlive the module hold what is in it
  return *made;
}

PyObject* new_reference(PyObject* of) {
  if (kCounted) Py_INCREF(of);
  return of;
}

// The value of an int object of one digit that is not negative, or kNone.
u32 small_value(PyObject* id) {
#if PYLONG_BITS_IN_DIGIT != 30
  (void)id;
  return kNone;
#elif PY_VERSION_HEX >= 0x030C0000
  const auto* const number = reinterpret_cast<PyLongObject*>(id);
  if (!PyUnstable_Long_IsCompact(number)) return kNone;
  const Py_ssize_t value = PyUnstable_Long_CompactValue(number);
  return value < 0 ? kNone : static_cast<u32>(value);
#else
  const Py_ssize_t size = Py_SIZE(id);
  return size == 1 ? reinterpret_cast<PyLongObject*>(id)->ob_digit[0] : size == 0 ? 0 : kNone;
#endif
}

// Any other object as an id; it is ours, for it may have an __index__ that changes the list.
u32 other_value(const nb::object& id, std::size_t place) {
  const auto refuse = [&] {
    const std::string type = Py_TYPE(id.ptr())->tp_name;
    throw nb::type_error(("ids[" + std::to_string(place) + "] is a " + type + "; an id is a whole number").c_str());
  };
  if (PyBool_Check(id.ptr()) || !PyIndex_Check(id.ptr())) refuse();
  const nb::object number = nb::steal(PyNumber_Index(id.ptr()));
  if (!number.is_valid()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    refuse();
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  return overflow || value < 0 || value >= static_cast<long long>(kNone) ? kNone : static_cast<u32>(value);
}

}  // namespace

PyObject* list_of(const u32* ids, std::size_t n) {
  constexpr std::size_t kAhead = 16;
  PyObject* const list = PyList_New(static_cast<Py_ssize_t>(n));
  if (!list) return nullptr;
  Ints& table = ints();
  const bool shared = table.works();
  if (kCounted && shared) {
    for (std::size_t i = 0; i < n && i < kAhead; ++i) prefetch(table.at(ids[i] & (kInts - 1)));
  }
  for (std::size_t i = 0; i < n; ++i) {
    PyObject* id;
    if (shared && ids[i] < kInts) {
      if (kCounted && i + kAhead < n) prefetch(table.at(ids[i + kAhead] & (kInts - 1)));
      id = table.has(ids[i]) ? new_reference(table.at(ids[i])) : nullptr;
    } else {
      id = PyLong_FromUnsignedLong(ids[i]);
    }
    if (!id) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), id);
  }
  return list;
}

void read_ids(nb::handle list, IdBuffer& ids) {
  const nb::ft_object_guard guard(list);
  const auto size = [&] { return static_cast<std::size_t>(PyList_GET_SIZE(list.ptr())); };
  const std::size_t n = size();
  u32* const to = ids.room(n);
  std::size_t i = 0;
  for (; i < n && i < size(); ++i) {
    PyObject* const id = PyList_GET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i));
    const u32 value = PyLong_CheckExact(id) ? small_value(id) : kNone;
    to[i] = value != kNone ? value : other_value(nb::borrow(id), i);
  }
  ids.add(i);
}

}  // namespace bytepair
