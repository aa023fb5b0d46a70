// Sixteen words merged side by side, a step of each at a time: one step waits for the memory once, not sixteen times, and
// has no branch that depends on a word. For the instruction sets that can gather; merge_short() is the twin.
#pragma once

#include "pairs.hpp"
#include "simd.hpp"

namespace bytepair {

class Lanes {
 public:
  static constexpr std::size_t kWords = 16, kSymbols = 32;  // at a time; of one word

  // Whether this level can, with this table.
  static bool work(const Simd& level, const PairTable& pairs);

  // `first_ranks` of two neighbouring bytes, 65536 of them; both arrays are kept by the caller.
  Lanes(const PairTable& pairs, const u32* byte_ids, const u32* first_ranks)
      : pairs_(pairs.view()), byte_ids_(byte_ids), first_ranks_(first_ranks) {}

  // Adds a word of 1 to kSymbols bytes, of at most kWords.
  void add(const u8* p, std::size_t n);
  // The lowest rank first, its leftmost place, until nothing merges.
  void merge();
  // Then the tokens of a word, into `ids`; returns how many.
  std::size_t tokens(std::size_t word, u32* ids) const;
  void clear() { words_ = 0; rows_ = 0; }

 private:
  PairTable::View pairs_;
  const u32* byte_ids_;
  const u32* first_ranks_;
  std::size_t words_ = 0, rows_ = 0;  // rows that have a pair
  // Row k: the k-th symbol of each word, and the pair that begins there, as merge_short() has them.
  alignas(64) u32 symbols_[kSymbols * kWords];
  alignas(64) i32 ranks_[kSymbols * kWords];
  alignas(64) u32 alive_[kWords];  // bit k: the k-th symbol is there
};

}  // namespace bytepair
