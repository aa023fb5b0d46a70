// UTF-8 to code units of one width: what a Python str holds. First what there is, then the units.
#pragma once

#include "text.hpp"

namespace bytepair {

// What the characters of a text need.
enum Kind : u8 { beyond_ascii = 1, beyond_latin1 = 2, beyond_bmp = 4 };

struct Survey {
  std::size_t characters = 0;
  u8 kinds = 0;       // of all of them together
  bool valid = true;  // else the rest means nothing

  void add(const Survey& other) {
    characters += other.characters;
    kinds |= other.kinds;
    valid = valid && other.valid;
  }
};

Survey survey(const u8* s, std::size_t n);

// Writes the characters of s[0, n), which is valid and has none that Unit cannot hold. Unit is u8, u16 or u32.
template <class Unit>
void widen(const u8* s, std::size_t n, Unit* out);

}  // namespace bytepair
