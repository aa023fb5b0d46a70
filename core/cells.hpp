// How short words and their ids stand in a line of the word cache, and looking many up: the innermost loop of encoding.
#pragma once

#include "simd.hpp"

namespace bytepair {

// A line is four cells of two 64-bit words. An entry of one cell: the key's first word, then two ids. One of two cells:
// both words of the key, then four ids. An id is 32 bits with a top byte of zero, but for an entry's first, which has
// their number there; so a cell's second word tells which it is.
inline constexpr std::size_t kCell = 4, kLine = 16;  // of 32 bits
inline constexpr std::size_t kOneCellIds = 2, kTwoCellIds = 4;
// Either word of a cell.
inline u64 cell_word(const u32* at) { return load64(reinterpret_cast<const u8*>(at)); }

// Lines in which a word may stand, from the one of its hash on: in the first that had room for two cells, or before.
inline constexpr u64 kLines = 8;

// A word of at most 15 bytes as cells hold it. Of at most seven: its bytes with the length above them, and a mark, which
// is left out where one cell is enough. Else its first eight bytes, and the rest with the length above them.
struct CellKey {
  static constexpr u64 kMark = u64{0x10} << 56;
  u64 first, second;

  CellKey() = default;
  constexpr CellKey(u64 a, u64 b) : first(a), second(b) {}
  explicit CellKey(const ShortKey& key)
      : CellKey(key.high >> 59 ? CellKey{key.low, key.high} : CellKey{key.low | key.high, kMark}) {}
  bool operator==(const CellKey& other) const { return first == other.first && second == other.second; }
  bool is_one_word() const { return second == kMark; }
  // What stands in the second word's place where the ids are in the log: a look-up that does not go there finds nothing.
  static constexpr u64 kLogged = u64{0x20} << 56;
};

// A wider word of at most MediumKey::kMax bytes has a line of its own.
inline constexpr std::size_t kWideIds = 8;
struct alignas(64) WideSlot {
  MediumKey key;
  u32 ids[kWideIds];
};
static_assert(sizeof(WideSlot) == 64);

// In a slot or an entry, instead of the number of ids: they are in the log, ids[1] of them, at the place that the next two
// make.
inline constexpr u32 kInLog = 0xFF;

// What a word cache holds, as look-ups see it. Sizes are powers of two.
struct CellTables {
  const u32* lines;  // behind them, and behind the log, 16 bytes may be read
  u64 line_mask;
  const WideSlot* wide;
  u64 wide_mask;
  const u32* log;
  u64 log_size, written;  // written: to the log, ever; what is further back than its size is gone

  // Null where they are gone.
  const u32* ids_in_log(const u32* slot) const {
    const u64 place = static_cast<u64>(slot[3]) << 32 | slot[2];
    return written - place > log_size ? nullptr : log + (place & (log_size - 1));
  }
};

// Words that are looked up together.
struct WordBatch {
  static constexpr std::size_t kWords = 1024;
  std::size_t size = 0, n_wide = 0;
  CellKey keys[kWords];     // of more than ShortKey::kMax bytes: wide_key()
  u64 places[kWords];       // of the lines where they are sought, in bytes
  u32 numbers[kWords];      // of the wide words among all, and of others that one asks for
  MediumKey wide[kWords];   // the keys of wide words, as far as they have one
  u64 wide_hashes[kWords];

  // Words whose ids are known, though no table has them: where they begin among own_ids, plus one, with their number before
  // them. 0: none of these.
  const u32* own_ids = nullptr;  // null: there are no such words, and own[] has nothing
  u32 own[kWords];

  // The key of a wide word: which one it is, and whether it is too long to be in a WideSlot.
  static constexpr u64 kWide = ~u64{0}, kTooLong = u64{1} << 32;
  static constexpr CellKey wide_key(u64 which, bool too_long) { return {kWide, which | (too_long ? kTooLong : 0)}; }
  u64 wide_hash(std::size_t j) const { return wide_hashes[static_cast<u32>(keys[j].second)]; }
};

struct CellLevel {
  u64 (*hash)(const CellKey& key);

  // The keys and places of the batch.size words that lie one behind the other from s[start] on and end at ends[0 ..]; 16
  // bytes may be read of each. Asks the memory for their lines. Of wide words only the numbers.
  void (*keys)(const u8* s, std::size_t start, const std::size_t* ends, const CellTables& tables, WordBatch& batch);

  // Both go on from word `from` up to the first that is not found, or to the last, and return where they stopped. One
  // writes the ids behind each other at `out`, where `room` of them have place; the other counts them. They also stop
  // where less than kWideIds have place for each word to come and one more.
  std::size_t (*copy)(const CellTables& tables, const WordBatch& batch, std::size_t from, u32*& out, std::size_t room);
  std::size_t (*count)(const CellTables& tables, const WordBatch& batch, std::size_t from, u64& out, std::size_t room);

  // Where the ids of one short word are, from line to line of kLines as far as it may stand; null: nowhere.
  const u32* (*find)(const CellTables& tables, const CellKey& key, u64 hash);
  // How many of a line's cells have something: they stand side by side from its beginning.
  std::size_t (*used)(const u32* line);

  // Words that are not in the first line where they are sought: how many, and their numbers. Most of them: one that begins
  // as a word does that is there may be left out. Room for batch.size.
  std::size_t (*missing)(const CellTables& tables, const WordBatch& batch, u32* numbers);
};

// The one for an instruction set.
const CellLevel& cell_level(const Simd& level);

}  // namespace bytepair
