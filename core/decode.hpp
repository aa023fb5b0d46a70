// Ids to bytes.
#pragma once

#include <string>
#include <vector>

#include "text.hpp"

namespace bytepair {

class Decoder {
 public:
  enum Flag : u8 { present = 1, special = 2, marked = 4 };

  // Row i holds text[offsets[i], offsets[i + 1]) and flags[i]; rows without `present` are ids that do not exist.
  Decoder(std::vector<u8> text, std::vector<i64> offsets, std::vector<u8> flags);

  // Appends the bytes. A marked token is followed by a space, unless no ordinary token comes after it.
  // Returns the index of the first id that does not exist, or n.
  template <class Id>
  std::size_t decode(const Id* ids, std::size_t n, bool skip_specials, std::string& out) const {
    std::size_t pending = std::string::npos;  // where the space stands that the last mark asked for
    for (std::size_t i = 0; i < n; ++i) {
      const u64 id = static_cast<u64>(ids[i]);  // a negative id is beyond every row
      if (id >= flags_.size() || !(flags_[id] & present)) return i;
      const u8 flag = flags_[id];
      if (flag & special) {
        if (skip_specials) continue;
      } else {
        pending = std::string::npos;
      }
      out.append(reinterpret_cast<const char*>(text_.data()) + offsets_[id],
                 static_cast<std::size_t>(offsets_[id + 1] - offsets_[id]));
      if (flag & marked) {
        pending = out.size();
        out.push_back(' ');
      }
    }
    if (pending != std::string::npos) out.erase(pending, 1);
    return n;
  }

 private:
  std::vector<u8> text_;
  std::vector<i64> offsets_;
  std::vector<u8> flags_;
};

}  // namespace bytepair
