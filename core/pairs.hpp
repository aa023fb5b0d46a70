// Which two neighbouring symbols merge, with what rank, into what: a flat hash table.
#pragma once

#include <vector>

#include "tokens.hpp"

namespace bytepair {

class PairTable {
 public:
  struct Slot {
    u64 key;
    u32 rank, id;
  };

  PairTable() { resize(16); }

  // Arrays of equal length. The rank of a merge is ranks[i], or where `ranks` is null its position; several merges may
  // have one rank. A pair given twice is refused.
  static PairTable of_merges(const u32* left, const u32* right, const u32* ids, const u32* ranks, std::size_t n);

  // The rank rule: any two tokens whose concatenation is a token merge, and the token's id is the rank.
  static PairTable of_ranks(const TokenTable& tokens);

  // nullptr where the two do not merge.
  const Slot* find(u32 left, u32 right) const {
    const u64 key = join(left, right);
    for (std::size_t i = place(key);; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.key == key) return &slot;
      if (slot.key == kEmpty) return nullptr;
    }
  }
  u32 rank(u32 left, u32 right) const {
    const Slot* slot = find(left, right);
    return slot ? slot->rank : kNone;
  }
  std::size_t size() const { return size_; }

 private:
  static constexpr u64 kEmpty = ~u64{0};  // never a pair: ids stay under 2^24

  static u64 join(u32 left, u32 right) { return static_cast<u64>(left) << 32 | right; }
  std::size_t place(u64 key) const { return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ull) >> shift_); }
  bool insert(u32 left, u32 right, u32 rank, u32 id);
  void resize(std::size_t slots);

  std::vector<Slot> slots_;
  std::size_t mask_ = 0, size_ = 0;
  int shift_ = 60;
};

}  // namespace bytepair
