// Ids to bytes: first how many, then all of them, so that the caller can write where they stay.
#pragma once

#include <string>
#include <vector>

#include "text.hpp"

namespace bytepair {

class Decoder {
 public:
  enum Flag : u8 { present = 1, special = 2, marked = 4 };

  // Row i holds text[offsets[i], offsets[i + 1]) and flags[i]; rows without `present` are ids that do not exist.
  Decoder(std::vector<u8> text, const std::vector<i64>& offsets, const std::vector<u8>& flags);

  // Appends the bytes. A marked token is followed by a space, unless no ordinary token comes after it.
  // Returns the index of the first id that does not exist, or n.
  template <class Id>
  std::size_t decode(const Id* ids, std::size_t n, bool skip_specials, std::string& out) const {
    std::size_t bytes = 0;
    const std::size_t bad = measure(ids, n, skip_specials, bytes);
    const std::size_t before = out.size();
    out.resize(before + bytes);
    write(ids, bad, skip_specials, out.data() + before, bytes);
    return bad;
  }

  // How many bytes the ids have, up to the first one that does not exist, whose index (or n) is returned.
  template <class Id>
  std::size_t measure(const Id* ids, std::size_t n, bool skip_specials, std::size_t& bytes) const {
    if (has_marks_) return measure_marked(ids, n, skip_specials, bytes);
    const u32 unwanted = skip_specials ? u32{special} : 0;
    std::size_t total = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const u64 id = static_cast<u64>(ids[i]);  // a negative id is beyond every row
      if (id >= rows_.size() || !(rows_[id].length_and_flags & present)) {
        bytes = total;
        return i;
      }
      const u32 row = rows_[id].length_and_flags;
      total += row & unwanted ? 0 : row >> 3;
    }
    bytes = total;
    return n;
  }

  // Where each token stands in the text s[0, n_text) that the ids are of, counted in characters or in bytes: places[2 i]
  // and places[2 i + 1]. A token within one character has that character's place. The ids exist, their bytes joined are
  // the text, and no token is marked; else false.
  bool places(const u32* ids, std::size_t n, const u8* s, std::size_t n_text, bool characters, i64* places) const;

  // Writes what was measured; all ids exist.
  template <class Id>
  void write(const Id* ids, std::size_t n, bool skip_specials, char* out, std::size_t bytes) const {
    if (has_marks_) return write_marked(ids, n, skip_specials, out, bytes);
    const u32 unwanted = skip_specials ? u32{special} : 0;
    const char* const text = reinterpret_cast<const char*>(text_.data());
    char* const end = out + bytes;
    for (std::size_t i = 0; i < n; ++i) {
      const Row row = rows_[static_cast<std::size_t>(ids[i])];
      if (row.length_and_flags & unwanted) continue;
      const std::size_t length = row.length_and_flags >> 3;
      // Most tokens are short, and sixteen bytes copy as fast as one, where there is room for them.
      if (length <= kCopied && out + kCopied <= end)
        std::memcpy(out, text + row.start, kCopied);
      else
        std::memcpy(out, text + row.start, length);
      out += length;
    }
  }

 private:
  static constexpr std::size_t kCopied = 16;
  struct Row {
    u32 start, length_and_flags;
  };

  template <class Id>
  std::size_t measure_marked(const Id* ids, std::size_t n, bool skip_specials, std::size_t& bytes) const;
  template <class Id>
  void write_marked(const Id* ids, std::size_t n, bool skip_specials, char* out, std::size_t bytes) const;

  std::vector<u8> text_;  // and kCopied bytes behind it
  std::vector<Row> rows_;
  bool has_marks_ = false;
};

// A space stands behind a mark once an ordinary token follows it.
template <class Id>
std::size_t Decoder::measure_marked(const Id* ids, std::size_t n, bool skip_specials, std::size_t& bytes) const {
  bool pending = false;
  bytes = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const u64 id = static_cast<u64>(ids[i]);
    if (id >= rows_.size() || !(rows_[id].length_and_flags & present)) return i;
    const u32 row = rows_[id].length_and_flags;
    if (row & special) {
      if (!skip_specials) bytes += row >> 3;
      continue;
    }
    bytes += (row >> 3) + pending;
    pending = row & marked;
  }
  return n;
}

template <class Id>
void Decoder::write_marked(const Id* ids, std::size_t n, bool skip_specials, char* out, std::size_t bytes) const {
  const char* const text = reinterpret_cast<const char*>(text_.data());
  char* const begin = out;
  std::size_t space = bytes;  // where one stands if an ordinary token follows: before the specials between them
  bool pending = false;
  for (std::size_t i = 0; i < n; ++i) {
    const Row row = rows_[static_cast<std::size_t>(ids[i])];
    const std::size_t length = row.length_and_flags >> 3;
    if (row.length_and_flags & special) {
      if (skip_specials) continue;
    } else {
      if (pending) {
        std::memmove(begin + space + 1, begin + space, static_cast<std::size_t>(out - begin) - space);
        begin[space] = ' ';
        ++out;
      }
      pending = false;
    }
    std::memcpy(out, text + row.start, length);
    out += length;
    if (row.length_and_flags & marked) {
      pending = true;
      space = static_cast<std::size_t>(out - begin);
    }
  }
}

}  // namespace bytepair
