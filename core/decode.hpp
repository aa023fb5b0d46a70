// Ids to bytes, and what these are as text. In one pass from a table with a slot for each token; its plain twin measures
// first and then writes, and is what a vocabulary with end-of-word marks needs.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "byte_buffer.hpp"
#include "id_buffer.hpp"
#include "text.hpp"
#include "utf8.hpp"

namespace bytepair {

class Decoder {
 public:
  enum Flag : u8 { present = 1, special = 2, marked = 4 };

  // The bytes of many rows, and what they are as text.
  struct Batch {
    struct Row {
      std::size_t buffer, start, size;
      Survey text;
    };
    std::vector<ByteBuffer> buffers;
    std::vector<Row> rows;
    std::size_t bad_row = 0, bad_place = 0;  // of the first id that does not exist; no such row if there is none

    const u8* bytes(const Row& row) const { return buffers[row.buffer].data() + row.start; }
  };

  // Row i holds text[offsets[i], offsets[i + 1]) and flags[i]; rows without `present` are ids that do not exist.
  Decoder(std::vector<u8> text, const std::vector<i64>& offsets, const std::vector<u8>& flags);

  // Appends the bytes, and tells what they are as text. A marked token is followed by a space, unless no ordinary token
  // comes after it. Returns the index of the first id that does not exist, or n.
  template <class Id>
  std::size_t decode(const Id* ids, std::size_t n, bool skip_specials, ByteBuffer& out, Survey& text) const;

  // Many rows of ids; row i is ids[offsets[i], offsets[i + 1]).
  Batch decode_rows(const u32* ids, const i64* offsets, std::size_t n_rows, bool skip_specials, unsigned threads) const;

  // Space that calls work in: leased, so that one after the other takes what is there, and threads each their own.
  struct Scratch {
    IdBuffer ids;
    ByteBuffer bytes;
  };
  class Lease {
   public:
    explicit Lease(const Decoder& decoder) : decoder_(decoder), scratch_(decoder.spare_.exchange(nullptr)) {
      if (!scratch_) scratch_ = new Scratch();
    }
    ~Lease() {
      scratch_->ids.clear();
      scratch_->bytes.clear();
      if (scratch_->bytes.capacity() > kKept || scratch_->ids.capacity() > kKept / sizeof(u32))
        delete scratch_;
      else
        delete decoder_.spare_.exchange(scratch_);
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Scratch& operator*() const { return *scratch_; }

   private:
    const Decoder& decoder_;
    Scratch* scratch_;
  };
  ~Decoder() { delete spare_.load(); }

  // Whether tokens have end-of-word marks, so that there is more in the text than their bytes.
  bool has_marks() const { return has_marks_; }
  // In which character of the text, which is valid and has no marks, each of the ids begins.
  template <class Id>
  void starts(const Id* ids, std::size_t n, const ByteBuffer& text, u32* starts) const;

  // The plain twin: appends the bytes, and returns the index of the first id that does not exist, or n.
  template <class Id>
  std::size_t decode_plainly(const Id* ids, std::size_t n, bool skip_specials, std::string& out) const {
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
  // A token, in as much memory as one load takes. Most have few bytes and nothing special about them; of the others
  // `rows_` tells. One that is no UTF-8 on its own has no characters and no kinds: what its bytes are is found out
  // together with those of its neighbours.
  struct Slot {
    u8 text[13];
    u8 characters;
    u8 traits;  // the kinds of its characters, and these
    u8 length;
  };
  static constexpr u8 kBroken = 8, kElsewhere = 16, kAlways = 32;
  static_assert(sizeof(Slot) == kCopied);

  template <class Id>
  std::size_t measure_marked(const Id* ids, std::size_t n, bool skip_specials, std::size_t& bytes) const;
  template <class Id>
  void write_marked(const Id* ids, std::size_t n, bool skip_specials, char* out, std::size_t bytes) const;

  std::vector<u8> text_;  // and kCopied bytes behind it
  std::vector<Row> rows_;
  std::vector<Slot> slots_;
  bool has_marks_ = false;
  static constexpr std::size_t kKept = 2 << 20;  // bytes; what a larger call took is given back
  mutable std::atomic<Scratch*> spare_{nullptr};
};

template <class Id>
std::size_t Decoder::decode(const Id* ids, std::size_t n, bool skip_specials, ByteBuffer& out, Survey& text) const {
  if (has_marks_) {
    std::size_t bytes = 0;
    const std::size_t bad = measure_marked(ids, n, skip_specials, bytes);
    if (bad < n || bytes == 0) return bad;
    u8* const to = out.room(bytes);
    write_marked(ids, n, skip_specials, reinterpret_cast<char*>(to), bytes);
    out.end_at(to + bytes);
    text.add(survey(to, bytes));
    return n;
  }
  constexpr std::size_t kAtOnce = 64, kNowhere = static_cast<std::size_t>(-1);
  const Slot* const slots = slots_.data();
  const u64 n_slots = slots_.size();
  const u8* const all = text_.data();
  std::size_t characters = 0;
  u32 traits = 0;
  // Where the tokens in hand began that are no UTF-8 on their own; the token before them, and the one after, are.
  std::size_t broken_at = kNowhere;
  u32 attention = kBroken | kElsewhere;  // the traits that need more than a copy: after a broken token, any
  const auto close = [&](const u8* end) {
    text.add(survey(out.data() + broken_at, static_cast<std::size_t>(end - out.data()) - broken_at));
    broken_at = kNowhere;
    attention = kBroken | kElsewhere;
  };
  std::size_t i = 0;
  while (i < n) {
    const std::size_t stop = n - i > kAtOnce ? i + kAtOnce : n;
    u8* to = out.room(kCopied * (kAtOnce + 1));
    for (; i < stop; ++i) {
      const u64 id = static_cast<u64>(ids[i]);  // a negative id is beyond every row
      if (id >= n_slots) {
        out.end_at(to);
        return i;
      }
      const Slot& slot = slots[id];
      std::memcpy(to, &slot, sizeof slot);
      if ((slot.traits | kAlways) & attention) {
        if (slot.traits & kElsewhere) {
          const Row row = rows_[static_cast<std::size_t>(id)];
          if (!(row.length_and_flags & present)) {
            out.end_at(to);
            return i;
          }
          if (skip_specials && (row.length_and_flags & special)) continue;
          if (broken_at != kNowhere && !(slot.traits & kBroken)) close(to);
          const std::size_t length = row.length_and_flags >> 3;
          out.end_at(to);
          to = out.room(length + kCopied * (kAtOnce + 1));
          std::memcpy(to, all + row.start, length);
          if (slot.traits & kBroken) {
            if (broken_at == kNowhere) broken_at = static_cast<std::size_t>(to - out.data());
            attention |= kAlways;
          } else {
            u32 many;
            std::memcpy(&many, slot.text, sizeof many);
            characters += many;
            traits |= slot.traits;
          }
          to += length;
          continue;
        }
        if (slot.traits & kBroken) {
          if (broken_at == kNowhere) broken_at = static_cast<std::size_t>(to - out.data());
          attention |= kAlways;
        } else {
          close(to);
        }
      }
      to += slot.length;
      characters += slot.characters;
      traits |= slot.traits;
    }
    out.end_at(to);
  }
  if (broken_at != kNowhere) close(out.data() + out.size());
  text.characters += characters;
  text.kinds |= static_cast<u8>(traits & (beyond_ascii | beyond_latin1 | beyond_bmp));
  return n;
}

template <class Id>
void Decoder::starts(const Id* ids, std::size_t n, const ByteBuffer& text, u32* starts) const {
  const u8* const s = text.data();
  std::size_t at = 0, seen = 0;
  u32 begun = 0;  // characters that begin in s[0, seen)
  for (std::size_t i = 0; i < n; ++i) {
    for (; seen < at; ++seen) begun += (s[seen] & 0xC0) != 0x80;
    const bool within = at < text.size() && (s[at] & 0xC0) == 0x80;
    starts[i] = begun - within;
    at += rows_[static_cast<std::size_t>(ids[i])].length_and_flags >> 3;
  }
}

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
