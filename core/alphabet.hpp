// From a pretoken to its first symbols: bytes or characters, an end-of-word mark, and what to do with the unknown.
#pragma once

#include <vector>

#include "text.hpp"

namespace bytepair {

class Alphabet {
 public:
  enum class Unknown { error, bytes, symbol };

  // One symbol for each byte value. `last` (empty, or 256 long) holds the symbols of a pretoken's last byte where the
  // end-of-word mark is fused; `mark` (or kNone) follows each pretoken where it is a symbol of its own.
  static Alphabet of_bytes(const std::vector<u32>& ids, const std::vector<u32>& last, u32 mark);

  // One symbol for each character. `last_points` are the characters with a fused mark. Under Unknown::bytes `bytes`
  // (256 long) are the symbols of an unseen character's bytes; a fused mark it had is then the symbol `mark`.
  static Alphabet of_characters(const std::vector<u32>& points, const std::vector<u32>& ids,
                                const std::vector<u32>& last_points, const std::vector<u32>& last_ids, bool fused,
                                u32 mark, Unknown unknown, const std::vector<u32>& bytes, u32 unknown_id);

  // The symbols that a file lists, as characters or (`characters` false) as bytes; some bytes may be missing. A unit that
  // ends a pretoken has its own symbols where `last`, one that does not begin it where `continued`: forms[last + 2 *
  // continued] lists them. An unknown unit is the ids of its bytes where `fallback` (empty, or 256 long, kNone where a
  // byte has none) has them all, else `unknown_id`, once for a run of unknown ones with `fuse_unknown`, else an error.
  struct Form {
    std::vector<u32> points, ids;
  };
  static Alphabet of_listed(bool characters, const std::vector<Form>& forms, bool last, bool continued,
                            const std::vector<u32>& fallback, u32 unknown_id, bool fuse_unknown);

  // Replaces `out` by the symbols of the pretoken p[0, n), n > 0. `offset` only serves the error.
  void symbols(const u8* p, std::size_t n, u64 offset, std::vector<u32>& out) const;

  bool is_plain_bytes() const { return plain_bytes_; }
  const u32* byte_ids() const { return bytes_.data(); }

 private:
  class PointMap {
   public:
    PointMap() = default;
    PointMap(const std::vector<u32>& points, const std::vector<u32>& ids);
    u32 find(u32 point) const {
      if (point < 0x80) return ascii_.empty() ? kNone : ascii_[point];
      if (slots_.empty()) return kNone;
      for (std::size_t i = point * 0x9E3779B1u & mask_;; i = (i + 1) & mask_) {
        if (slots_[i].point == point) return slots_[i].id;
        if (slots_[i].point == kNone) return kNone;
      }
    }

   private:
    struct Slot {
      u32 point, id;
    };
    std::vector<u32> ascii_;
    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
  };

  void listed_symbols(const u8* p, std::size_t n, u64 offset, std::vector<u32>& out) const;
  void unknown(const u8* p, u32 length, u32 point, bool marked, u64 offset, std::vector<u32>& out) const;

  bool characters_ = false, fused_ = false, plain_bytes_ = false;
  bool listed_ = false, continued_ = false, fuse_unknown_ = false;
  std::vector<PointMap> forms_;
  std::vector<u32> bytes_, bytes_last_;
  PointMap points_, last_points_;
  u32 mark_ = kNone, unknown_id_ = kNone;
  Unknown unknown_ = Unknown::error;
};

// The characters within pretokens, sorted, and those that end a pretoken, sorted. Pretokens of nothing but class 1 of
// `dropped` (may be null) are left out: the classic scheme's white space.
void collect_characters(const u8* text, const i64* offsets, std::size_t n, const ClassTable* dropped,
                        std::vector<u32>& inner, std::vector<u32>& last);

}  // namespace bytepair
