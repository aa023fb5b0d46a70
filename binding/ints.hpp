// Lists of int to ids and back, as fast as Python's objects allow.
#pragma once

#include <nanobind/nanobind.h>

#include "id_buffer.hpp"
#include "text.hpp"

namespace bytepair {

// A new reference to a list of the ids; null and a Python error where there is no memory.
PyObject* list_of(const u32* ids, std::size_t n);

// Appends the ids of a list; what no id can be becomes kNone, which no row has. What is not a whole number raises
// TypeError with its place. Other threads may change the list meanwhile: what is read is what was there.
void read_ids(nanobind::handle list, IdBuffer& ids);

}  // namespace bytepair
