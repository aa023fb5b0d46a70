// A method of a Python class whose plainest call never enters Python: `tok.encode(text)`, with no other argument.
//
// direct_method(function, slot, way) makes a descriptor that looks like the Python function and gives every call to it,
// except those that have nothing but a str or bytes, on an object whose slot holds a Direct. What that call cannot do,
// such as a text with lone surrogates, goes to the function as well, which says what is wrong.
#pragma once

#include <nanobind/nanobind.h>

#include "encode.hpp"

namespace bytepair {

// What encodes the texts of one tokenizer; both are kept alive.
struct Direct {
  Direct(nanobind::object encoder_object, nanobind::object specials_object);
  nanobind::object encoder_kept, specials_kept;
  const Encoder* encoder;
  const Specials* specials;  // may be null
};

void add_direct(nanobind::module_& m);

}  // namespace bytepair
