// Which two neighbouring symbols merge, with what rank, into what: a flat hash table of eight bytes a slot.
#pragma once

#include <vector>

#include "aligned.hpp"
#include "tokens.hpp"

namespace bytepair {

class PairTable {
 public:
  static constexpr u32 kMaxId = (1u << 21) - 1;    // of a symbol
  static constexpr u32 kMaxRank = (1u << 22) - 2;  // a slot holds two ids and a rank

  struct Found {
    u32 rank = kNone, id = kNone;
  };

  PairTable() { resize(16); }

  // Arrays of equal length. The rank of a merge is ranks[i], or where `ranks` is null its position; several merges may
  // have one rank. A pair given twice is refused.
  static PairTable of_merges(const u32* left, const u32* right, const u32* ids, const u32* ranks, std::size_t n);

  // The rank rule: any two tokens whose concatenation is a token merge, and the token's id is the rank. Of the ways to
  // split a token it has the one that merging single bytes can come to, if there is one.
  static PairTable of_ranks(const TokenTable& tokens);

  // The rank rule with every way to split a token: what merging comes to where some merges are left out (dropout).
  static PairTable of_every_split(const TokenTable& tokens);

  // A table of ranks again from what packed() gave, which is far less work than finding every split of every token.
  // Nothing is believed: a pair that no table of ranks could hold, or one given twice, is refused.
  static PairTable of_packed(const u64* pairs, std::size_t n);

  // The pairs of a table of ranks, left << 43 | right << 22 | rank each, in the order of their slots: so they go back
  // into a table from its one end to the other.
  std::vector<u64> packed() const;

  // kNone where the two do not merge.
  u32 rank(u32 left, u32 right) const {
    const u64 key = join(left, right), hash = spread(key);
    const u64 bit = hash >> filter_shift_;
    if (!(filter_[bit >> 6] >> (bit & 63) & 1)) return kNone;
    for (std::size_t i = static_cast<std::size_t>(hash >> shift_);; i = (i + 1) & mask_) {
      const u64 slot = ~slots_[i];
      if (slot == kEmpty) return kNone;  // before the key: its upper bits are those of a pair of the highest ids
      if (slot >> kRankBits == key) return static_cast<u32>(slot) & kRankMask;
    }
  }
  // What two symbols of this rank make.
  u32 made(u32 left, u32 right, u32 rank) const {
    if (ids_are_ranks_) return rank;
    return by_rank_.empty() ? by_slot(left, right) : by_rank_[rank];
  }
  Found find(u32 left, u32 right) const {
    const u32 found = rank(left, right);
    return found == kNone ? Found{} : Found{found, made(left, right, found)};
  }
  std::size_t size() const { return size_; }
  // Whether this is the table of ranks of these tokens, and each of them is what its bytes merge to, which begin as
  // byte_ids: of one that is not, no pair was found.
  bool reaches_all(const TokenTable& tokens, const u32* byte_ids) const;

  // What a look-up reads, as it lies in memory. No slots where what a pair makes stands beside its slot.
  struct View {
    const u64* filter;
    const u64* slots;
    const u32* by_rank;  // null: a rank is the id
    u64 mask;
    int filter_shift, shift;
  };
  View view() const {
    return {filter_.data(), shared_.empty() ? slots_.begin() : nullptr, ids_are_ranks_ ? nullptr : by_rank_.data(), mask_, filter_shift_, shift_};
  }
  static constexpr int kRankBits = 22;
  static constexpr u32 kRankMask = (1u << kRankBits) - 1;
  static constexpr u64 kSpread = 0x9E3779B97F4A7C15ull;

  // Every pair, in no order: visit(left, right, rank, made).
  template <class Visit>
  void each(Visit visit) const {
    for (const u64 turned : slots_) {
      if (turned == 0) continue;
      const u64 key = ~turned >> kRankBits;
      const u32 left = static_cast<u32>(key >> 21), right = static_cast<u32>(key) & kMaxId;
      const u32 rank = static_cast<u32>(~turned) & kRankMask;
      visit(left, right, rank, made(left, right, rank));
    }
  }

 private:
  static constexpr u64 kEmpty = ~u64{0};  // never a slot: no rank is kRankMask

  static u64 join(u32 left, u32 right) { return static_cast<u64>(left) << 21 | right; }
  static u64 spread(u64 key) { return key * kSpread; }
  std::size_t place(u64 key) const { return static_cast<std::size_t>(spread(key) >> shift_); }
  bool insert(u32 left, u32 right, u32 rank);
  void put(u64 slot);
  void resize(std::size_t slots);
  u32 by_slot(u32 left, u32 right) const;

  // A bit for each pair, where most that do not merge have none: small enough for the near caches, which the slots of a
  // large vocabulary are not.
  std::vector<u64> filter_;
  int filter_shift_ = 0;
  AlignedArray<u64> slots_;  // each with its bits turned over, so that an empty one is zero
  std::vector<u32> by_rank_;  // the id that each rank makes, where no two share one
  std::vector<u32> shared_;   // else the id of each slot
  std::size_t mask_ = 0, size_ = 0;
  int shift_ = 60;
  bool ids_are_ranks_ = false;
};

}  // namespace bytepair
