// The Python face of the core: one to five lines a method. Arguments are checked in Python (bytepair._engine's callers)
// and again in the core; what only matters to Python, such as the lock, is dealt with here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "count.hpp"
#include "decode.hpp"
#include "direct.hpp"
#include "dropout.hpp"
#include "encode.hpp"
#include "errors.hpp"
#include "ints.hpp"
#include "texts.hpp"
#include "train.hpp"
#include "workers.hpp"

namespace nb = nanobind;
using namespace bytepair;

namespace {

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

nb::list to_list(const u32* ids, std::size_t n) {
  PyObject* const list = list_of(ids, n);
  if (!list) throw nb::python_error();
  return nb::steal<nb::list>(list);
}

Out<u32> to_array(IdBuffer& ids) {
  const std::size_t n = ids.size();
  u32* data = ids.release();
  return Out<u32>(data, {n}, nb::capsule(data, [](void* p) noexcept { std::free(p); }));
}

template <class T>
Out<T> to_array(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Out<T>(kept->data(), {kept->size()}, owner);
}

template <class T>
std::vector<T> to_vector(const In<T>& array) {
  return std::vector<T>(array.data(), array.data() + array.size());
}

nb::bytes to_bytes(const std::vector<u8>& text) { return nb::bytes(text.data(), text.size()); }

template <class T>
std::vector<T> unpack(const nb::bytes& packed) {
  std::vector<T> out(packed.size() / sizeof(T));
  std::memcpy(out.data(), packed.c_str(), out.size() * sizeof(T));
  return out;
}

// Offsets come from Python next to the text that they cut.
std::size_t check_offsets(const In<i64>& offsets, std::string_view text) {
  const i64* o = offsets.data();
  const std::size_t n = offsets.size();
  bool sound = n > 0 && o[0] == 0 && o[n - 1] == static_cast<i64>(text.size());
  for (std::size_t i = 0; sound && i + 1 < n; ++i) sound = o[i] <= o[i + 1];
  if (!sound) throw Error(ErrorKind::value, "the offsets do not describe the text");
  return n - 1;
}

Family family_named(const std::string& name) {
  if (name == "gpt2") return Family::gpt2;
  if (name == "cl100k") return Family::cl100k;
  if (name == "qwen2") return Family::qwen2;
  if (name == "o200k") return Family::o200k;
  if (name == "tekken") return Family::tekken;
  throw Error(ErrorKind::value, "no family is named " + name);
}

Ties ties_named(const std::string& name) {
  if (name == "first") return Ties::first;
  if (name == "smallest") return Ties::smallest;
  if (name == "greatest") return Ties::greatest;
  throw Error(ErrorKind::value, "no way to break ties is named " + name);
}

Alphabet::Unknown unknown_named(const std::string& name) {
  if (name == "error") return Alphabet::Unknown::error;
  if (name == "bytes") return Alphabet::Unknown::bytes;
  return Alphabet::Unknown::symbol;
}

// The one place where errors of the core become Python's.
void raise_in_python(const std::exception_ptr& thrown, void*) {
  const auto raise = [](const char* name, const char* message) {
    const nb::object type = nb::module_::import_("bytepair.errors").attr(name);
    PyErr_SetString(type.ptr(), message);
  };
  try {
    std::rethrow_exception(thrown);
  } catch (const UnknownCharacter& e) {
    const nb::object document = e.document == UnknownCharacter::kNoDocument ? nb::none() : nb::cast(e.document);
    const nb::object error =
        nb::module_::import_("bytepair.errors").attr("unknown_character")(e.code_point, e.offset, document);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  } catch (const Error& e) {
    switch (e.kind()) {
      case ErrorKind::vocabulary:
        return raise("VocabularyError", e.what());
      case ErrorKind::unknown_token:
        return raise("UnknownTokenError", e.what());
      case ErrorKind::training:
        return raise("TrainingError", e.what());
      case ErrorKind::value:
        return raise("BytepairError", e.what());
    }
  }
}

using Errors = std::optional<std::string>;

// Room for a str of bytes, which fill() writes, or for bytes where no error handler is named. Bytes that are no UTF-8
// are left to Python and its handlers, and the str is whole at once.
nb::object room_for(const u8* bytes, std::size_t n, const Survey& text, const Errors& errors) {
  const auto length = static_cast<Py_ssize_t>(n);
  const Py_UCS4 highest = text.kinds & beyond_bmp      ? 0x10FFFF
                          : text.kinds & beyond_latin1 ? 0xFFFF
                          : text.kinds                 ? 0xFF
                                                       : 0x7F;
  PyObject* const made =
      !errors       ? PyBytes_FromStringAndSize(nullptr, length)
      : !text.valid ? PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(bytes), length, errors->c_str())
                    : PyUnicode_New(static_cast<Py_ssize_t>(text.characters), highest);
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

// Nobody else knows of the object yet, so that this needs no lock.
void fill(nb::handle object, const u8* bytes, std::size_t n, const Survey& text, const Errors& errors) {
  if (n == 0 || (errors && !text.valid)) return;
  PyObject* const to = object.ptr();
  if (!errors)
    std::memcpy(PyBytes_AS_STRING(to), bytes, n);
  else if (text.kinds == 0)
    std::memcpy(PyUnicode_DATA(to), bytes, n);
  else if (PyUnicode_KIND(to) == PyUnicode_1BYTE_KIND)
    widen(bytes, n, PyUnicode_1BYTE_DATA(to));
  else if (PyUnicode_KIND(to) == PyUnicode_2BYTE_KIND)
    widen(bytes, n, PyUnicode_2BYTE_DATA(to));
  else
    widen(bytes, n, PyUnicode_4BYTE_DATA(to));
}

// Where an id stands that does not exist: the caller names it.
[[noreturn]] void raise_unknown(std::size_t row, std::size_t place) {
  PyErr_SetObject(PyExc_IndexError, nb::make_tuple(row, place).ptr());
  throw nb::python_error();
}

template <class Id>
nb::object decode(const Decoder& decoder, const Id* ids, std::size_t n, bool skip_specials, const Errors& errors,
                  Decoder::Scratch& scratch) {
  Survey text;
  const std::size_t bad =
      without_lock(4 * n, [&] { return decoder.decode(ids, n, skip_specials, scratch.bytes, text); });
  if (bad < n) raise_unknown(0, bad);
  const u8* const bytes = scratch.bytes.data();
  const std::size_t size = scratch.bytes.size();
  nb::object made = room_for(bytes, size, text, errors);
  without_lock(size, [&] { fill(made, bytes, size, text, errors); });
  return made;
}

nb::object decode_list(const Decoder& decoder, const nb::list& list, bool skip_specials, const Errors& errors) {
  const Decoder::Lease scratch(decoder);
  read_ids(list, (*scratch).ids);
  return decode(decoder, (*scratch).ids.data(), (*scratch).ids.size(), skip_specials, errors, *scratch);
}

nb::object decode_array(const Decoder& decoder, const nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>& ids,
                        bool skip_specials, const Errors& errors) {
  const Decoder::Lease scratch(decoder);
  const auto as = [&]<class Id>(Id) {
    return decode(decoder, static_cast<const Id*>(ids.data()), ids.size(), skip_specials, errors, *scratch);
  };
  const nb::dlpack::dtype type = ids.dtype();
  if (type == nb::dtype<u32>()) return as(u32{});
  if (type == nb::dtype<i64>()) return as(i64{});
  if (type == nb::dtype<std::int32_t>()) return as(std::int32_t{});
  if (type == nb::dtype<u64>()) return as(u64{});
  if (type == nb::dtype<u16>()) return as(u16{});
  if (type == nb::dtype<std::int16_t>()) return as(std::int16_t{});
  if (type == nb::dtype<u8>()) return as(u8{});
  if (type == nb::dtype<std::int8_t>()) return as(std::int8_t{});
  throw nb::type_error("expected a flat array of integers");
}

nb::list decode_rows(const Decoder& decoder, const u32* ids, const i64* offsets, std::size_t n_rows, bool skip_specials,
                     const Errors& errors, unsigned threads) {
  const auto total = static_cast<std::size_t>(offsets[n_rows] - offsets[0]);
  const Decoder::Batch batch =
      without_lock(4 * total, [&] { return decoder.decode_rows(ids, offsets, n_rows, skip_specials, threads); });
  if (batch.bad_row < n_rows) raise_unknown(batch.bad_row, batch.bad_place);
  std::vector<nb::object> made;
  made.reserve(n_rows);
  for (const Decoder::Batch::Row& row : batch.rows)
    made.push_back(room_for(batch.bytes(row), row.size, row.text, errors));
  without_lock(4 * total, [&] {
    const std::size_t shares = std::min<std::size_t>(n_rows, 8 * std::size_t{threads});
    const unsigned useful = total < 65536 ? 1 : threads;
    run_in_parallel(shares, useful, [&](std::size_t k) {
      for (std::size_t i = n_rows * k / shares; i < n_rows * (k + 1) / shares; ++i) {
        const Decoder::Batch::Row& row = batch.rows[i];
        fill(made[i], batch.bytes(row), row.size, row.text, errors);
      }
    });
  });
  nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(n_rows)));
  if (!list.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < n_rows; ++i) PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), made[i].release().ptr());
  return nb::borrow<nb::list>(list);
}

// The offsets of rows that someone else brings.
std::size_t check_rows(const In<i64>& offsets, std::size_t n) {
  const i64* const o = offsets.data();
  bool sound = offsets.size() > 0 && o[0] >= 0 && o[offsets.size() - 1] <= static_cast<i64>(n);
  for (std::size_t i = 0; sound && i + 1 < offsets.size(); ++i) sound = o[i] <= o[i + 1];
  if (!sound) throw Error(ErrorKind::value, "the offsets do not describe the rows");
  return offsets.size() - 1;
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of bytepair. Private: bytepair._engine is its door.";
  nb::set_leak_warnings(false);
  nb::register_exception_translator(raise_in_python);

  nb::class_<ClassTable>(m, "ClassTable")
      .def("__init__", [](ClassTable* self, const nb::bytes& stage1, const nb::bytes& stage2, u32 n_classes) {
        new (self) ClassTable(unpack<u16>(stage1), unpack<u8>(stage2), n_classes);
      }, nb::arg("stage1"), nb::arg("stage2"), nb::arg("n_classes"))
      .def("covers", [](const ClassTable& self, const nb::bytes& data, u8 wanted) {
        const std::string_view text = view(data);
        return self.run(bytes_of(text), 0, text.size(), wanted) == text.size();
      }, nb::arg("data"), nb::arg("wanted"));

  nb::class_<Specials>(m, "Specials")
      .def("__init__", [](Specials* self, const std::vector<nb::bytes>& names, const std::vector<u32>& ids) {
        std::vector<std::string> texts;
        for (const nb::bytes& name : names) texts.emplace_back(name.c_str(), name.size());
        new (self) Specials(std::move(texts), ids);
      }, nb::arg("names"), nb::arg("ids"))
      .def("find", [](const Specials& self, nb::handle data, std::size_t start) {
        const std::string_view text = view(data);
        const auto found = self.find(bytes_of(text), std::min(start, text.size()), text.size());
        return std::make_tuple(found.start, found.length, found.id == kNone ? i64{-1} : i64{found.id});
      }, nb::arg("data"), nb::arg("start"));

  nb::class_<Splitter>(m, "Splitter")
      .def("__init__", [](Splitter* self, const ClassTable& classes, u32 width, const nb::bytes& begin,
                          const nb::bytes& levels, const nb::bytes& next, const nb::bytes& action,
                          const std::vector<std::vector<u16>>& actions, const nb::bytes& strong,
                          const std::optional<std::string>& family, const std::vector<u8>& flags,
                          const std::optional<std::string>& level) {
        Automaton automaton(classes, {width, unpack<u16>(begin), unpack<u16>(levels), unpack<u16>(next),
                                      unpack<u16>(action), actions, unpack<u8>(strong)});
        if (!family || (!level && !blocks_pay())) {
          new (self) Splitter(std::move(automaton));
          return;
        }
        const Simd* named = level ? simd_named(*level) : &simd();
        if (!named) throw Error(ErrorKind::value, "this machine does not have " + *level);
        new (self) Splitter(std::move(automaton), family_named(*family), flags, *named);
      }, nb::arg("classes"), nb::arg("width"), nb::arg("begin"), nb::arg("levels"), nb::arg("next"),
         nb::arg("action"), nb::arg("actions"), nb::arg("strong"), nb::arg("family").none(), nb::arg("flags"),
         nb::arg("level").none())
      .def("ends", [](const Splitter& self, nb::handle data) {
        const std::string_view text = view(data);
        std::vector<i64> ends;
        without_lock(text.size(), [&] {
          ends.reserve(text.size() / 4 + 16);
          Cursor cursor;
          while (const std::size_t k = self.fill(cursor, bytes_of(text), text.size(), true))
            ends.insert(ends.end(), cursor.ends.begin(), cursor.ends.begin() + static_cast<std::ptrdiff_t>(k));
        });
        return to_array(std::move(ends));
      }, nb::arg("data"))
      .def("safe_cut", [](const Splitter& self, const nb::bytes& data, std::size_t start, const Specials* specials) {
        const std::string_view text = view(data);
        return self.safe_cut(bytes_of(text), std::min(start, text.size()), text.size(), specials);
      }, nb::arg("data"), nb::arg("start"), nb::arg("specials").none());

  m.def("simd_level", [] { return std::string(simd().name); });
  m.def("checksum", [](const In<u8>& data) { return hash_bytes(data.data(), data.size()); }, nb::arg("data"));

  nb::class_<Alphabet>(m, "Alphabet")
      .def_static("of_bytes", &Alphabet::of_bytes, nb::arg("ids"), nb::arg("last"), nb::arg("mark"))
      .def_static("of_characters", [](const std::vector<u32>& points, const std::vector<u32>& ids,
                                      const std::vector<u32>& last_points, const std::vector<u32>& last_ids,
                                      bool fused, u32 mark, const std::string& unknown, const std::vector<u32>& bytes,
                                      u32 unknown_id) {
        return Alphabet::of_characters(points, ids, last_points, last_ids, fused, mark, unknown_named(unknown), bytes,
                                       unknown_id);
      }, nb::arg("points"), nb::arg("ids"), nb::arg("last_points"), nb::arg("last_ids"), nb::arg("fused"),
         nb::arg("mark"), nb::arg("unknown"), nb::arg("bytes"), nb::arg("unknown_id"))
      .def_static("of_listed", [](bool characters, const std::vector<std::vector<u32>>& points,
                                  const std::vector<std::vector<u32>>& ids, bool last, bool continued,
                                  const std::vector<u32>& fallback, u32 unknown_id, bool fuse_unknown) {
        if (points.size() != ids.size()) throw Error(ErrorKind::vocabulary, "alphabet: four forms are needed");
        std::vector<Alphabet::Form> forms;
        for (std::size_t k = 0; k < points.size(); ++k) forms.push_back({points[k], ids[k]});
        return Alphabet::of_listed(characters, forms, last, continued, fallback, unknown_id, fuse_unknown);
      }, nb::arg("characters"), nb::arg("points"), nb::arg("ids"), nb::arg("last"), nb::arg("continued"),
         nb::arg("fallback"), nb::arg("unknown_id"), nb::arg("fuse_unknown"))
      .def("symbols", [](const Alphabet& self, const nb::bytes& pretoken, const ClassTable* dropped) {
        const std::string_view text = view(pretoken);
        std::vector<u32> symbols;
        if (!text.empty() && !(dropped && dropped->run(bytes_of(text), 0, text.size(), 1) == text.size()))
          self.symbols(bytes_of(text), text.size(), 0, symbols);
        return to_list(symbols.data(), symbols.size());
      }, nb::arg("pretoken"), nb::arg("dropped").none());

  nb::class_<TokenTable>(m, "TokenTable")
      .def("__init__", [](TokenTable* self, const nb::bytes& text, const In<i64>& offsets, const In<u32>& ids,
                          bool later) {
        new (self) TokenTable(unpack<u8>(text), to_vector(offsets), to_vector(ids), later);
      }, nb::arg("text"), nb::arg("offsets"), nb::arg("ids"), nb::arg("later") = false);

  nb::class_<PairTable>(m, "PairTable")
      .def_static("of_merges", [](const In<u32>& left, const In<u32>& right, const In<u32>& ids,
                                  const std::optional<In<u32>>& ranks) {
        if (left.size() != right.size() || left.size() != ids.size() || (ranks && ranks->size() != left.size()))
          throw Error(ErrorKind::vocabulary, "merges: the columns differ in length");
        return PairTable::of_merges(left.data(), right.data(), ids.data(), ranks ? ranks->data() : nullptr, left.size());
      }, nb::arg("left"), nb::arg("right"), nb::arg("ids"), nb::arg("ranks") = nb::none())
      .def_static("of_ranks", &PairTable::of_ranks, nb::arg("tokens"))
      .def_static("of_every_split", &PairTable::of_every_split, nb::arg("tokens"))
      .def_static("of_packed", [](const In<u64>& pairs) {
        return PairTable::of_packed(pairs.data(), pairs.size());
      }, nb::arg("pairs"))
      .def("packed", [](const PairTable& self) {
        const std::vector<u64> pairs = self.packed();
        return nb::bytes(pairs.data(), pairs.size() * sizeof(u64));
      })
      .def("__len__", &PairTable::size);

  nb::class_<Stream>(m, "Stream").def(nb::init<>()).def_prop_ro("pending", &Stream::pending);

  nb::class_<Encoder>(m, "Encoder")
      .def("__init__", [](Encoder* self, const Alphabet& alphabet, std::shared_ptr<PairTable> pairs, bool whole_rank,
                          std::shared_ptr<TokenTable> whole, std::optional<Splitter> splitter,
                          std::optional<ClassTable> dropped, std::size_t cache_bytes) {
        new (self) Encoder(alphabet, std::move(pairs), whole_rank ? Order::whole_rank : Order::one_place,
                           std::move(whole), std::move(splitter), std::move(dropped), cache_bytes);
      }, nb::arg("alphabet"), nb::arg("pairs"), nb::arg("whole_rank"), nb::arg("whole").none(),
         nb::arg("splitter").none(), nb::arg("dropped").none(), nb::arg("cache_bytes"))
      .def("encode", [](const Encoder& self, nb::handle data, const Specials* specials) {
        const Encoder::Lease state(self);
        IdBuffer own;
        bool is_short = false;
        with_utf8(data, [&](std::string_view text) {
          is_short = text.size() < Encoder::kShortText;
          IdBuffer& ids = is_short ? (*state).ids : own;
          ids.clear();
          self.encode(bytes_of(text), text.size(), specials, *state, ids);
        });
        const IdBuffer& ids = is_short ? (*state).ids : own;
        return to_list(ids.data(), ids.size());
      }, nb::arg("data"), nb::arg("specials").none())
      .def("encode_array", [](const Encoder& self, nb::handle data, const Specials* specials) {
        const Encoder::Lease state(self);
        IdBuffer ids;
        with_utf8(data, [&](std::string_view text) {
          ids.reserve(Encoder::likely_ids(text.size()));
          self.encode(bytes_of(text), text.size(), specials, *state, ids);
        });
        return to_array(ids);
      }, nb::arg("data"), nb::arg("specials").none())
      .def("encode_ends", [](const Encoder& self, nb::handle data, const In<i64>& ends) {
        const std::string_view text = view(data);
        const Encoder::Lease state(self);
        IdBuffer ids;
        without_lock(text.size(), [&] {
          self.encode_ends(bytes_of(text), text.size(), ends.data(), ends.size(), *state, ids);
        });
        return to_array(ids);
      }, nb::arg("data"), nb::arg("ends"))
      .def("count", [](const Encoder& self, nb::handle data, const Specials* specials) {
        const Encoder::Lease state(self);
        u64 total = 0;
        with_utf8(data, [&](std::string_view text) { total = self.count(bytes_of(text), text.size(), specials, *state); });
        return total;
      }, nb::arg("data"), nb::arg("specials").none())
      .def("encode_batch", [](const Encoder& self, const nb::list& texts, const Specials* specials, unsigned threads) {
        IdBuffer ids;
        std::vector<i64> counts;
        with_texts(texts, [&](const auto& documents) { self.encode_batch(documents, specials, threads, ids, counts); });
        return nb::make_tuple(to_array(ids), to_array(std::move(counts)));
      }, nb::arg("texts"), nb::arg("specials").none(), nb::arg("threads"))
      .def("encode_rows", [](const Encoder& self, const In<u8>& data, const In<i64>& offsets, const Specials* specials,
                             unsigned threads) {
        const std::size_t n = offsets.size();
        const i64* const o = offsets.data();
        bool sound = n > 0 && o[0] >= 0 && o[n - 1] <= static_cast<i64>(data.size());
        for (std::size_t i = 0; sound && i + 1 < n; ++i) sound = o[i] <= o[i + 1];
        if (!sound) throw Error(ErrorKind::value, "the offsets do not describe the text");
        std::vector<GivenText> documents;
        const char* const text = reinterpret_cast<const char*>(data.data());
        for (std::size_t i = 0; i + 1 < n; ++i) documents.emplace_back(std::string_view(text + o[i], static_cast<std::size_t>(o[i + 1] - o[i])));
        IdBuffer ids;
        std::vector<i64> counts;
        without_lock(data.size(), [&] { self.encode_batch(documents, specials, threads, ids, counts); });
        return nb::make_tuple(to_array(ids), to_array(std::move(counts)));
      }, nb::arg("data"), nb::arg("offsets"), nb::arg("specials").none(), nb::arg("threads"))
      .def("feed", [](const Encoder& self, Stream& stream, nb::handle piece, bool last, const Specials* specials) {
        const std::string_view text = view(piece);
        const Encoder::Lease state(self);
        IdBuffer ids;
        without_lock(text.size(), [&] { self.feed(stream, bytes_of(text), text.size(), last, specials, *state, ids); });
        return to_list(ids.data(), ids.size());
      }, nb::arg("stream"), nb::arg("piece"), nb::arg("last"), nb::arg("specials").none())
      .def("cache_bytes", &Encoder::cached_bytes)
      .def("scratch_bytes", &Encoder::scratch_bytes);

  nb::class_<DropoutEncoder>(m, "DropoutEncoder")
      .def("__init__", [](DropoutEncoder* self, const Alphabet& alphabet, const PairTable& pairs, bool whole_rank,
                          std::optional<Splitter> splitter, std::optional<ClassTable> dropped) {
        new (self) DropoutEncoder(alphabet, pairs, whole_rank ? Order::whole_rank : Order::one_place,
                                  std::move(splitter), std::move(dropped));
      }, nb::arg("alphabet"), nb::arg("pairs"), nb::arg("whole_rank"), nb::arg("splitter").none(),
         nb::arg("dropped").none())
      .def("encode", [](const DropoutEncoder& self, nb::handle data, const Specials* specials, u64 seed, u64 threshold,
                        u64 offset) {
        const std::string_view text = view(data);
        IdBuffer ids;
        without_lock(text.size(), [&] {
          self.encode(bytes_of(text), text.size(), specials, {seed, threshold}, offset, ids);
        });
        return to_array(ids);
      }, nb::arg("data"), nb::arg("specials").none(), nb::arg("seed"), nb::arg("threshold"), nb::arg("offset"))
      .def("encode_ends", [](const DropoutEncoder& self, nb::handle data, const In<i64>& ends, u64 seed, u64 threshold,
                             u64 offset) {
        const std::string_view text = view(data);
        IdBuffer ids;
        without_lock(text.size(), [&] {
          self.encode_ends(bytes_of(text), text.size(), ends.data(), ends.size(), {seed, threshold}, offset, ids);
        });
        return to_array(ids);
      }, nb::arg("data"), nb::arg("ends"), nb::arg("seed"), nb::arg("threshold"), nb::arg("offset"))
      .def("encode_batch", [](const DropoutEncoder& self, const nb::list& texts, const Specials* specials,
                              unsigned threads, u64 seed, u64 threshold) {
        IdBuffer ids;
        std::vector<i64> counts;
        with_texts(texts, [&](const auto& documents) {
          self.encode_batch(documents, specials, threads, {seed, threshold}, ids, counts);
        });
        return nb::make_tuple(to_array(ids), to_array(std::move(counts)));
      }, nb::arg("texts"), nb::arg("specials").none(), nb::arg("threads"), nb::arg("seed"), nb::arg("threshold"))
      .def("feed", [](const DropoutEncoder& self, Stream& stream, nb::handle piece, bool last, const Specials* specials,
                      u64 seed, u64 threshold) {
        const std::string_view text = view(piece);
        IdBuffer ids;
        without_lock(text.size(), [&] {
          self.feed(stream, bytes_of(text), text.size(), last, specials, {seed, threshold}, ids);
        });
        return to_list(ids.data(), ids.size());
      }, nb::arg("stream"), nb::arg("piece"), nb::arg("last"), nb::arg("specials").none(), nb::arg("seed"),
         nb::arg("threshold"));

  nb::class_<Decoder>(m, "Decoder")
      .def("__init__", [](Decoder* self, const nb::bytes& text, const In<i64>& offsets, const nb::bytes& flags) {
        new (self) Decoder(unpack<u8>(text), to_vector(offsets), unpack<u8>(flags));
      }, nb::arg("text"), nb::arg("offsets"), nb::arg("flags"))
      .def("decode", &decode_list, nb::arg("ids"), nb::arg("skip_specials"), nb::arg("errors").none() = nb::none())
      .def("decode_array", &decode_array, nb::arg("ids"), nb::arg("skip_specials"), nb::arg("errors").none() = nb::none())
      .def("decode_rows", [](const Decoder& self, const In<u32>& ids, const In<i64>& offsets, bool skip_specials,
                             const Errors& errors, unsigned threads) {
        const std::size_t n_rows = check_rows(offsets, ids.size());
        return decode_rows(self, ids.data(), offsets.data(), n_rows, skip_specials, errors, threads);
      }, nb::arg("ids"), nb::arg("offsets"), nb::arg("skip_specials"), nb::arg("errors").none(), nb::arg("threads"))
      .def("decode_lists", [](const Decoder& self, const std::vector<nb::list>& rows, bool skip_specials,
                              const Errors& errors, unsigned threads) {
        IdBuffer ids;
        std::vector<i64> offsets{0};
        for (const nb::list& row : rows) {
          read_ids(row, ids);
          offsets.push_back(static_cast<i64>(ids.size()));
        }
        return decode_rows(self, ids.data(), offsets.data(), rows.size(), skip_specials, errors, threads);
      }, nb::arg("rows"), nb::arg("skip_specials"), nb::arg("errors").none(), nb::arg("threads"))
      .def("starts", [](const Decoder& self, const nb::list& list) -> nb::object {
        IdBuffer ids;
        read_ids(list, ids);
        ByteBuffer bytes;
        Survey text;
        const std::size_t bad = self.decode(ids.data(), ids.size(), false, bytes, text);
        if (bad < ids.size()) raise_unknown(0, bad);
        if (!text.valid || self.has_marks()) return nb::none();
        std::vector<u32> starts(ids.size());
        self.starts(ids.data(), ids.size(), bytes, starts.data());
        const nb::object made = room_for(bytes.data(), bytes.size(), text, "strict");
        fill(made, bytes.data(), bytes.size(), text, "strict");
        return nb::make_tuple(made, to_list(starts.data(), starts.size()));
      }, nb::arg("ids"))
      .def("places", [](const Decoder& self, const In<u32>& ids, nb::handle data, bool characters) {
        const std::string_view text = view(data);
        std::vector<i64> places(2 * ids.size());
        const bool sound = without_lock(text.size(), [&] {
          return self.places(ids.data(), ids.size(), bytes_of(text), text.size(), characters, places.data());
        });
        if (!sound) throw Error(ErrorKind::value, "decoder: the ids are not those of the text");
        nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(ids.size())));
        if (!list.is_valid()) throw nb::python_error();
        for (std::size_t i = 0; i < ids.size(); ++i) {
          const nb::object place = nb::make_tuple(places[2 * i], places[2 * i + 1]);
          PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), place.inc_ref().ptr());
        }
        return nb::borrow<nb::list>(list);
      }, nb::arg("ids"), nb::arg("data"), nb::arg("characters"));

  nb::class_<Counter>(m, "Counter")
      .def("__init__", [](Counter* self, std::optional<Splitter> splitter, std::optional<Specials> specials) {
        new (self) Counter(std::move(splitter), std::move(specials));
      }, nb::arg("splitter").none(), nb::arg("specials").none())
      .def("feed", [](Counter& self, nb::handle data, u64 document, bool last, u64 offset, bool by_line) {
        const std::string_view text = view(data);
        without_lock(text.size(), [&] { self.feed(bytes_of(text), text.size(), document, last, offset, by_line); });
      }, nb::arg("data"), nb::arg("document"), nb::arg("last"), nb::arg("offset") = 0, nb::arg("by_line") = false)
      .def("feed_ends", [](Counter& self, nb::handle data, const In<i64>& ends, u64 document, u64 offset) {
        const std::string_view text = view(data);
        without_lock(text.size(), [&] {
          self.feed_ends(bytes_of(text), text.size(), ends.data(), ends.size(), document, offset);
        });
      }, nb::arg("data"), nb::arg("ends"), nb::arg("document"), nb::arg("offset"))
      .def("add_words", [](Counter& self, const nb::bytes& text, const In<i64>& offsets, const In<i64>& counts,
                           const In<i64>& documents, const In<i64>& places) {
        const std::string_view all = view(text);
        const std::size_t n = check_offsets(offsets, all);
        if (n != counts.size() || n != documents.size() || n != places.size())
          throw Error(ErrorKind::value, "counter: the columns differ in length");
        without_lock(all.size(), [&] {
          self.add_words(bytes_of(all), offsets.data(), counts.data(), documents.data(), places.data(), n);
        });
      }, nb::arg("text"), nb::arg("offsets"), nb::arg("counts"), nb::arg("documents"), nb::arg("places"))
      .def("merge", &Counter::merge, nb::arg("other"), nb::call_guard<nb::gil_scoped_release>())
      .def("clear", &Counter::clear)
      .def("words", [](const Counter& self) {
        Counter::Words words = self.words();
        return nb::make_tuple(to_bytes(words.text), to_array(std::move(words.offsets)),
                              to_array(std::move(words.counts)));
      })
      .def("table", [](const Counter& self, bool by_text, i64 min_count) {
        Counter::Words words = without_lock(kLongCall, [&] { return self.words(by_text, min_count); });
        return nb::make_tuple(to_bytes(words.text), to_array(std::move(words.offsets)),
                              to_array(std::move(words.counts)), to_array(std::move(words.documents)),
                              to_array(std::move(words.places)));
      }, nb::arg("by_text") = false, nb::arg("min_count") = 1)
      .def_prop_ro("bytes", &Counter::bytes)
      .def_prop_ro("n_pretokens", &Counter::n_pretokens)
      .def_prop_ro("pending", &Counter::pending)
      .def_prop_ro("n_words", &Counter::n_words);

  m.def("lists", [](const In<u32>& ids, const In<i64>& offsets) {
    const std::size_t n_rows = check_rows(offsets, ids.size());
    nb::object rows = nb::steal(PyList_New(static_cast<Py_ssize_t>(n_rows)));
    if (!rows.is_valid()) throw nb::python_error();
    for (std::size_t i = 0; i < n_rows; ++i) {
      const i64* const o = offsets.data() + i;
      PyObject* const row = list_of(ids.data() + o[0], static_cast<std::size_t>(o[1] - o[0]));
      if (!row) throw nb::python_error();
      PyList_SET_ITEM(rows.ptr(), static_cast<Py_ssize_t>(i), row);
    }
    return nb::borrow<nb::list>(rows);
  }, nb::arg("ids"), nb::arg("offsets"));

  add_direct(m);
  m.def("gather_words", [](const nb::bytes& text, const In<i64>& offsets, const In<i64>& order) {
    const std::string_view all = view(text);
    const std::size_t n = check_offsets(offsets, all);
    std::vector<u8> out;
    std::vector<i64> ends;
    without_lock(all.size(), [&] { gather_words(bytes_of(all), offsets.data(), n, order.data(), order.size(), out, ends); });
    return nb::make_tuple(to_bytes(out), to_array(std::move(ends)));
  }, nb::arg("text"), nb::arg("offsets"), nb::arg("order"));

  m.def("collect_characters", [](const nb::bytes& text, const In<i64>& offsets, const ClassTable* dropped) {
    const std::string_view all = view(text);
    std::vector<u32> inner, last;
    collect_characters(bytes_of(all), offsets.data(), check_offsets(offsets, all), dropped, inner, last);
    return nb::make_tuple(to_array(std::move(inner)), to_array(std::move(last)));
  }, nb::arg("text"), nb::arg("offsets"), nb::arg("dropped").none());

  nb::class_<Trainer>(m, "Trainer")
      .def("__init__", [](Trainer* self, const nb::bytes& text, const In<i64>& offsets, const In<i64>& counts,
                          const ClassTable* dropped, const Alphabet& alphabet, u32 n_symbols, i64 min_count,
                          const std::string& ties, const std::vector<u32>& numbers,
                          const std::vector<nb::bytes>& texts, std::optional<u32> max_length, const PairTable* given,
                          bool whole_rank, const std::vector<u32>& lengths) {
        const std::string_view all = view(text);
        if (check_offsets(offsets, all) != counts.size())
          throw Error(ErrorKind::training, "words and counts differ in number");
        Trainer::Options options{min_count, ties_named(ties), numbers, {}, max_length.value_or(kNone), given,
                                 whole_rank ? Order::whole_rank : Order::one_place, lengths};
        for (const nb::bytes& symbol : texts) options.texts.emplace_back(symbol.c_str(), symbol.size());
        const nb::gil_scoped_release released;
        new (self) Trainer(bytes_of(all), offsets.data(), counts.data(), counts.size(), dropped, alphabet, n_symbols,
                           options);
      }, nb::arg("text"), nb::arg("offsets"), nb::arg("counts"), nb::arg("dropped").none(), nb::arg("alphabet"),
         nb::arg("n_symbols"), nb::arg("min_count"), nb::arg("ties") = "first",
         nb::arg("numbers") = std::vector<u32>(), nb::arg("texts") = std::vector<nb::bytes>(),
         nb::arg("max_length") = nb::none(), nb::arg("given").none() = nb::none(), nb::arg("whole_rank") = false,
         nb::arg("lengths") = std::vector<u32>())
      .def("run", &Trainer::run, nb::arg("wanted"), nb::arg("seconds"), nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("exhausted", &Trainer::exhausted)
      .def_prop_ro("length_before", &Trainer::length_before)
      .def("merges", [](const Trainer& self) {
        std::vector<u32> left, right, examples;
        std::vector<i64> counts, tied, lengths;
        for (const Trainer::Merge& merge : self.merges()) {
          left.push_back(merge.left);
          right.push_back(merge.right);
          counts.push_back(merge.count);
          tied.push_back(merge.tied);
          lengths.push_back(merge.length_after);
          examples.insert(examples.end(), merge.examples, merge.examples + 3);
        }
        return nb::make_tuple(to_array(std::move(left)), to_array(std::move(right)), to_array(std::move(counts)),
                              to_array(std::move(tied)), to_array(std::move(lengths)), to_array(std::move(examples)));
      })
      .def("frequencies", [](const Trainer& self) { return to_array(self.frequencies()); })
      .def("best_left", [](Trainer& self) -> std::optional<std::tuple<u32, u32, i64>> {
        const auto best = self.best_left();
        if (!best) return std::nullopt;
        return std::make_tuple(best->left, best->right, best->count);
      });
}
