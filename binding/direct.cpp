#include "direct.hpp"

#include <nanobind/stl/string.h>
#include <structmember.h>

#include <string>

#include "errors.hpp"
#include "ints.hpp"
#include "texts.hpp"

namespace nb = nanobind;

namespace bytepair {

Direct::Direct(nb::object encoder_object, nb::object specials_object)
    : encoder_kept(std::move(encoder_object)),
      specials_kept(std::move(specials_object)),
      encoder(nb::cast<const Encoder*>(encoder_kept)),
      specials(specials_kept.is_none() ? nullptr : nb::cast<const Specials*>(specials_kept)) {}

namespace {

PyTypeObject* direct_type = nullptr;

// Texts up to this long are done here: they are too short to give the lock away for.
constexpr std::size_t kLongest = 8192;

// The UTF-8 of a short text, without asking for memory.
class Utf8 {
 public:
  // false: the text is too long for here, or has lone surrogates.
  bool read(PyObject* text) {
    const GivenText given = given_text(text);
    if (given.size() > (given.is_bytes() ? kLongest : kCharacters)) return false;
    try {
      bytes_ = given.bytes(own_);
    } catch (const Surrogates&) {
      return false;
    }
    return true;
  }
  const u8* data() const { return reinterpret_cast<const u8*>(bytes_.data()); }
  std::size_t size() const { return bytes_.size(); }

 private:
  static constexpr std::size_t kCharacters = 512;

  u8 own_[narrow_room<u32>(kCharacters)];
  std::string_view bytes_;
};

PyObject* encode(const Direct& direct, const Utf8& text) {
  const Encoder::Lease state(*direct.encoder);
  IdBuffer& ids = (*state).ids;
  ids.clear();
  direct.encoder->encode(text.data(), text.size(), direct.specials, *state, ids);
  return list_of(ids.data(), ids.size());
}

PyObject* count(const Direct& direct, const Utf8& text) {
  const Encoder::Lease state(*direct.encoder);
  return PyLong_FromUnsignedLongLong(direct.encoder->count(text.data(), text.size(), direct.specials, *state));
}

using Way = PyObject* (*)(const Direct&, const Utf8&);

struct DirectMethod {
  PyObject_HEAD
  vectorcallfunc call;
  PyObject* function;
  PyObject* slot;  // the member descriptor of the class that has the objects
  Way way;
};

DirectMethod* cast(PyObject* self) { return reinterpret_cast<DirectMethod*>(self); }

// What the object's slot holds, borrowed: it is set once, to what the object's own dict holds too.
const Direct* direct_of(const DirectMethod* method, PyObject* object) {
  const auto* const slot = reinterpret_cast<PyMemberDescrObject*>(method->slot);
  if (!PyObject_TypeCheck(object, PyDescr_TYPE(slot))) return nullptr;
  auto* const place = reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + slot->d_member->offset);
#ifdef Py_GIL_DISABLED
  auto* const held = static_cast<PyObject*>(_Py_atomic_load_ptr_acquire(place));
#else
  PyObject* const held = *place;
#endif
  return held && Py_IS_TYPE(held, direct_type) ? nb::inst_ptr<Direct>(nb::handle(held)) : nullptr;
}

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  const DirectMethod* const method = cast(self);
  if (PyVectorcall_NARGS(flags) == 2 && !names) {
    PyObject* const text = arguments[1];
    if (PyUnicode_Check(text) || PyBytes_Check(text)) {
      const Direct* const direct = direct_of(method, arguments[0]);
      Utf8 bytes;
      if (direct && bytes.read(text)) {
        try {
          return method->way(*direct, bytes);
        } catch (...) {
          // An unknown character, say: the function meets it again, and tells it as Python tells errors.
        }
      }
    }
  }
  return PyObject_Vectorcall(method->function, arguments, flags, names);
}

PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  if (!object || object == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, object);
}

// It looks like its function; only what Python itself does with it is its own.
PyObject* attribute(PyObject* self, PyObject* name) {
  for (const char* own : {"__class__", "__get__", "__call__", "__reduce__", "__reduce_ex__"}) {
    if (PyUnicode_CompareWithASCIIString(name, own) == 0) return PyObject_GenericGetAttr(self, name);
  }
  if (PyUnicode_CompareWithASCIIString(name, "__wrapped__") == 0) return Py_NewRef(cast(self)->function);
  return PyObject_GetAttr(cast(self)->function, name);
}

PyObject* show(PyObject* self) { return PyObject_Repr(cast(self)->function); }

// Pickled and copied by its name, as functions are.
PyObject* reduce(PyObject* self, PyObject*) { return PyObject_GetAttrString(cast(self)->function, "__qualname__"); }

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(cast(self)->function);
  Py_VISIT(cast(self)->slot);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(cast(self)->function);
  Py_CLEAR(cast(self)->slot);
  return 0;
}

void destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(DirectMethod, call), READONLY, nullptr}, {}};
PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {}};
PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
                       {Py_tp_getattro, reinterpret_cast<void*>(attribute)},
                       {Py_tp_repr, reinterpret_cast<void*>(show)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                       {Py_tp_members, members},
                       {Py_tp_methods, methods},
                       {0, nullptr}};
PyType_Spec spec = {"bytepair._core.DirectMethod", sizeof(DirectMethod), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                        Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                    slots};

PyTypeObject* method_type = nullptr;

nb::object direct_method(nb::object function, nb::object slot, const std::string& way) {
  if (!Py_IS_TYPE(slot.ptr(), &PyMemberDescr_Type) ||
      reinterpret_cast<PyMemberDescrObject*>(slot.ptr())->d_member->type != T_OBJECT_EX)
    throw nb::type_error("a direct method needs the slot of a class");
  auto* const made = PyObject_GC_New(DirectMethod, method_type);
  if (!made) throw nb::python_error();
  made->call = call;
  made->function = function.release().ptr();
  made->slot = slot.release().ptr();
  made->way = way == "count" ? count : encode;
  PyObject_GC_Track(made);
  return nb::steal(reinterpret_cast<PyObject*>(made));
}

}  // namespace

void add_direct(nb::module_& m) {
  const nb::object type =
      nb::class_<Direct>(m, "Direct")
          .def(nb::init<nb::object, nb::object>(), nb::arg("encoder"), nb::arg("specials").none());
  direct_type = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
  method_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!method_type) throw nb::python_error();
  m.def("direct_method", &direct_method, nb::arg("function"), nb::arg("slot"), nb::arg("way"));
}

}  // namespace bytepair
