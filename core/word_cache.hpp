// What a thread has learned: pretoken -> ids. Bounded in bytes; when full, the newer replaces the older. It holds only
// what encoding gave, so it can never change a result.
//
// Two tables, made for little memory to be touched: short words packed into cache lines, a cell of 16 bytes each where
// they have at most seven bytes and two ids, else two cells; medium ones, a line each. Ids that fit in neither, and long
// words with theirs, stand in a log that goes round: a table's slot says where.
#pragma once

#include "aligned.hpp"
#include "text.hpp"

namespace bytepair {

// A short key as cells hold it: what has at most seven bytes is one word. The length stays in the first one's top byte.
struct CellKey {
  u64 first, second;  // second: 0 where one is enough
  explicit CellKey(const ShortKey& key)
      : first(key.high | (key.high >> 59 ? 0 : key.low)), second(key.high >> 59 ? key.low : 0) {}
  bool takes_two() const { return first >> 59 & 1; }  // a length of eight or more
};

class WordCache {
 public:
  static constexpr std::size_t kOneCellIds = 2, kShortIds = 4, kMediumIds = 8;
  static constexpr std::size_t kLongest = 4096;  // bytes; of longer ones merging itself is most of the work

  // Ids as a slot holds them: their number in the top byte of the first (ids stay under 2^24), or kInLog there, and their
  // number and place in the log.
  static constexpr u32 kInLog = 0xFF;
  struct Words {
    const u32* ids = nullptr;  // nullptr: not known. The first's top byte is not of the id
    std::size_t n = 0;
  };

  explicit WordCache(std::size_t bytes);

  // Whether it may hold anything.
  bool works() const { return line_limit_ != 0; }

  // The line where a short word is sought first; `hash` is its key's.
  const u32* line(u64 hash) const { return &lines_[(hash & line_mask_) * kLine]; }
  // Its ids where they stand in that line in the usual form, else nullptr, and find_short() knows. Sixteen bytes may be
  // read there. No branch depends on the word: which form it has, and which cell, nobody could predict.
  static const u32* find_in_line(const u32* line, const CellKey& key) {
    const std::size_t cell = std::size_t{first_of(line, 1) == key.first} + 2 * std::size_t{first_of(line, 2) == key.first} +
                             3 * std::size_t{first_of(line, 3) == key.first};
    const u32* const at = line + kCell * (cell & 3);
    const u64 two = key.first >> 59 & 1;
    const u64 differs = (first_of(at, 0) ^ key.first) | ((second_of(at) ^ key.second) & (u64{0} - two));
    const u32* const ids = at + kCell * two;
    return differs == 0 && *ids >> 24 <= kShortIds ? ids : nullptr;
  }
  void prefetch_wide(u64 hash) const { prefetch(&medium_[hash & medium_mask_]); }

  // Of up to ShortKey::kMax bytes, of up to MediumKey::kMax, and of any number.
  Words find_short(const ShortKey& key, u64 hash) const;
  Words find_medium(const MediumKey& key, u64 hash) const;
  Words find_long(const u8* p, std::size_t n, u64 hash) const;
  static u64 long_hash(const u8* p, std::size_t n) { return hash_bytes(p, n); }

  // Remembers a pretoken where it fits; each is given its key, as above.
  void insert_short(const ShortKey& key, u64 hash, const u32* ids, std::size_t n_ids);
  void insert_medium(const MediumKey& key, u64 hash, const u32* ids, std::size_t n_ids);
  void insert_long(const u8* p, std::size_t n, u64 hash, const u32* ids, std::size_t n_ids);

  std::size_t bytes() const {
    return lines_.size() * sizeof(u32) + medium_.size() * sizeof(Medium) + log_.size() * sizeof(u32);
  }

 private:
  // A cell: two ids or the second half of a key, then a key's first half. Where the key takes two cells its ids fill the
  // next one, whose place of a key then has a top byte of zero, as no key has.
  static constexpr std::size_t kCell = 4, kLine = 16;  // of 32 bits
  struct alignas(64) Medium {
    MediumKey key;
    u32 ids[kMediumIds];
  };
  static_assert(sizeof(Medium) == 64);

  static u64 first_of(const u32* line, std::size_t cell) {
    u64 first;
    std::memcpy(&first, line + kCell * cell + 2, sizeof first);
    return first;
  }
  static u64 second_of(const u32* at) {
    u64 second;
    std::memcpy(&second, at, sizeof second);
    return second;
  }
  static ShortKey key_at(const u32* at);
  static std::size_t size_at(const u32* at);
  static std::size_t used_of(const u32* line);
  static bool fits(const u32* ids, std::size_t n_ids) { return n_ids != 0 && ids[0] >> 24 == 0; }
  // A long word's key: no text of 31 bytes has such a length.
  static MediumKey key_of_long(const u8* p, std::size_t n, u64 hash) { return {{hash, load64(p), n, u64{0xFF} << 56}}; }
  u64 place_in_log(const u32* ids, std::size_t n_ids, const u8* p, std::size_t n);
  bool fill(u32* slot, std::size_t room, const u32* ids, std::size_t n_ids, const u8* p, std::size_t n);
  Words words_at(const u32* slot) const;
  const u32* short_slot(const CellKey& key, u64 hash) const;  // with room for kShortIds, unless in one cell
  const Medium* medium_slot(const MediumKey& key, u64 hash) const;
  void put_cells(const u32* entry, std::size_t size, u64 hash);
  void put_medium(const Medium& word, u64 hash);
  void grow_lines();
  void grow_medium();

  AlignedArray<u32> lines_;      // a full line spills into the next ones
  AlignedArray<Medium> medium_;  // a taken slot spills into the next ones
  AlignedArray<u32> log_;
  u64 written_ = 0;  // to the log, ever: what is further back than its size is gone
  std::size_t line_mask_ = 0, medium_mask_ = 0;
  std::size_t cells_used_ = 0, medium_used_ = 0;
  std::size_t line_limit_, medium_limit_, log_limit_;  // in lines, slots and ids
};

}  // namespace bytepair
