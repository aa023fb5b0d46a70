// Finds special tokens in text: the earliest place, and there the longest name.
#pragma once

#include <string>
#include <vector>

#include "text.hpp"

namespace bytepair {

class Specials {
 public:
  struct Found {
    std::size_t start, length;
    u32 id;  // kNone: nothing found, start == n
  };

  Specials(std::vector<std::string> names, std::vector<u32> ids);

  Found find(const u8* s, std::size_t from, std::size_t n) const;
  // Whether a name may stand across s[at): begin before it and end behind it.
  bool across(const u8* s, std::size_t n, std::size_t at) const;
  // Those names that may stand within a line, which ends with its \n.
  Specials within_lines() const;
  std::size_t longest() const { return longest_; }

 private:
  struct Name {
    std::string text;
    u32 id;
  };
  std::vector<Name> by_first_[256];  // longest first
  int only_first_ = -1;              // the byte that every name starts with, if there is one
  std::size_t longest_ = 0;
};

}  // namespace bytepair
