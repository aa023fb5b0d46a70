// What a thread has learned: pretoken -> ids. Bounded in bytes; when full, the newer replaces the older. It holds only
// what encoding gave, so it can never change a result.
//
// Two tables, made for little memory to be touched: short words packed into cache lines, a cell of 16 bytes each where
// they have at most seven bytes and two ids, else two cells; medium ones, a line each. Ids that fit in neither, and long
// words with theirs, stand in a log that goes round: a table's slot says where.
#pragma once

#include "cells.hpp"
#include "reserved.hpp"

namespace bytepair {

class WordCache {
 public:
  static constexpr std::size_t kLongest = 4096;  // bytes; of longer ones merging itself is most of the work

  // Ids as a slot holds them: their number in the top byte of the first (ids stay under 2^24), or kInLog there, and their
  // number and place in the log.
  static constexpr u32 kInLog = 0xFF;
  struct Words {
    const u32* ids = nullptr;  // nullptr: not known. The first's top byte is not of the id
    std::size_t n = 0;
  };

  WordCache(std::size_t bytes, const CellLevel& level);

  // Whether it has at least half the lines that it will ever have.
  bool is_large() const { return 2 * n_lines() >= line_limit_; }
  // Whether it may hold anything.
  bool works() const { return line_limit_ != 0; }

  // The keys and hashes of the words of a batch, and looking them up, as CellLevel has it. 32 bytes may be read of each.
  void keys(const u8* s, std::size_t start, const std::size_t* ends, WordBatch& batch) const;
  std::size_t copy(const WordBatch& batch, std::size_t from, u32*& out, std::size_t room) const {
    return level_->copy(tables(), batch, from, out, room);
  }
  std::size_t count(const WordBatch& batch, std::size_t from, u64& out) const {
    return level_->count(tables(), batch, from, out, 0);
  }
  std::size_t missing(const WordBatch& batch, u32* numbers) const { return level_->missing(tables(), batch, numbers); }
  u64 hash(const CellKey& key) const { return level_->hash(key); }
  // Asks the memory for where a word of this hash is sought.
  void ask_for(u64 hash, bool is_short) const {
    if (is_short)
      prefetch(&lines_[(hash & line_mask_) * kLine]);
    else
      prefetch(&wide_[hash & wide_mask_]);
  }

  // Of up to ShortKey::kMax bytes, of up to MediumKey::kMax, and of any number.
  Words find_short(const CellKey& key, u64 hash) const;
  Words find_medium(const MediumKey& key, u64 hash) const;
  Words find_long(const u8* p, std::size_t n, u64 hash) const;
  static u64 long_hash(const u8* p, std::size_t n) { return hash_bytes(p, n); }

  // Remembers a pretoken where it fits; each is given its key, as above.
  void insert_short(const CellKey& key, u64 hash, const u32* ids, std::size_t n_ids);
  // The same of a word that was just not found.
  void add_short(const CellKey& key, u64 hash, const u32* ids, std::size_t n_ids);
  void insert_medium(const MediumKey& key, u64 hash, const u32* ids, std::size_t n_ids);
  void insert_long(const u8* p, std::size_t n, u64 hash, const u32* ids, std::size_t n_ids);

  std::size_t bytes() const {
    return lines_.size() * sizeof(u32) + wide_.size() * sizeof(WideSlot) + log_.size() * sizeof(u32);
  }

 private:
  CellTables tables() const {
    return {lines_.begin(), line_mask_, wide_.begin(), wide_mask_, log_.begin(), log_.size(), written_};
  }
  static CellKey key_at(const u32* at);
  static std::size_t size_at(const u32* at);
  static bool fits(const u32* ids, std::size_t n_ids) { return n_ids != 0 && ids[0] >> 24 == 0; }
  // A long word's key: no text of 31 bytes has such a length.
  static MediumKey key_of_long(const u8* p, std::size_t n, u64 hash) { return {{hash, load64(p), n, u64{0xFF} << 56}}; }
  u64 place_in_log(const u32* ids, std::size_t n_ids, const u8* p, std::size_t n);
  bool fill(u32* slot, std::size_t room, const u32* ids, std::size_t n_ids, const u8* p, std::size_t n);
  Words words_at(const u32* slot) const;
  const WideSlot* slot_of(const MediumKey& key, u64 hash) const;
  void put_cells(const u32* entry, std::size_t size, u64 hash);
  void put_wide(const WideSlot& word, u64 hash);
  void grow_lines(std::size_t lines);
  void grow_wide(std::size_t slots);

  std::size_t n_lines() const { return line_mask_ + 1; }

  const CellLevel* level_;
  Reserved<u32> lines_;       // a full line spills into the next ones
  Reserved<WideSlot> wide_;   // a taken slot spills into the next ones
  Reserved<u32> log_;
  u64 written_ = 0;  // to the log, ever: what is further back than its size is gone
  std::size_t line_mask_ = 0, wide_mask_ = 0;
  std::size_t cells_used_ = 0, wide_used_ = 0;
  std::size_t line_limit_, wide_limit_, log_limit_;  // in lines, slots and ids
};

}  // namespace bytepair
