#include "pairs.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "errors.hpp"

namespace bytepair {

void PairTable::resize(std::size_t slots) {
  AlignedArray<u64> old(slots);
  std::swap(old, slots_);
  mask_ = slots - 1;
  shift_ = 64;
  for (std::size_t s = slots; s > 1; s /= 2) --shift_;
  filter_shift_ = std::max(shift_ - 2, 64 - 21);  // four bits a slot, up to 256 KiB
  filter_.assign(std::max<std::size_t>((std::size_t{1} << (64 - filter_shift_)) / 64, 1), 0);
  for (const u64 slot : old) {
    if (slot != 0) put(~slot);
  }
}

// A pair that is not there yet.
void PairTable::put(u64 slot) {
  const u64 hash = spread(slot >> kRankBits), bit = hash >> filter_shift_;
  filter_[bit >> 6] |= u64{1} << (bit & 63);
  std::size_t i = static_cast<std::size_t>(hash >> shift_);
  while (slots_[i] != 0) i = (i + 1) & mask_;
  slots_[i] = ~slot;
}

bool PairTable::insert(u32 left, u32 right, u32 rank) {
  if ((size_ + 1) * 2 > slots_.size()) resize(slots_.size() * 2);
  const u64 key = join(left, right);
  std::size_t i = place(key);
  for (; slots_[i] != 0; i = (i + 1) & mask_) {
    if (~slots_[i] >> kRankBits == key) return false;
  }
  put(key << kRankBits | rank);
  ++size_;
  return true;
}

u32 PairTable::by_slot(u32 left, u32 right) const {
  const u64 key = join(left, right);
  std::size_t i = place(key);
  while (~slots_[i] >> kRankBits != key) i = (i + 1) & mask_;
  return shared_[i];
}

PairTable PairTable::of_merges(const u32* left, const u32* right, const u32* ids, const u32* ranks, std::size_t n) {
  PairTable table;
  std::size_t slots = 16;
  while (slots < 2 * n + 2) slots *= 2;
  table.resize(slots);
  bool shared = false;
  for (std::size_t i = 0; i < n; ++i) {
    const u32 rank = ranks ? ranks[i] : static_cast<u32>(std::min<std::size_t>(i, kNone));
    if (rank > kMaxRank)
      throw Error(ErrorKind::vocabulary, "merge " + std::to_string(i) + " has a rank above " + std::to_string(kMaxRank));
    if (left[i] > kMaxId || right[i] > kMaxId || ids[i] > kMaxId)
      throw Error(ErrorKind::vocabulary, "merge " + std::to_string(i) + " has an id above " + std::to_string(kMaxId));
    if (!table.insert(left[i], right[i], rank))
      throw Error(ErrorKind::vocabulary, "merge " + std::to_string(i) + " is given twice");
    if (table.by_rank_.size() <= rank) table.by_rank_.resize(std::max<std::size_t>(rank + 1, ranks ? 0 : n), kNone);
    shared = shared || table.by_rank_[rank] != kNone;
    table.by_rank_[rank] = ids[i];
  }
  if (shared) {
    table.by_rank_.clear();
    table.shared_.assign(table.slots_.size(), kNone);
    for (std::size_t i = 0; i < n; ++i) {
      const u64 key = join(left[i], right[i]);
      std::size_t at = table.place(key);
      while (~table.slots_[at] >> kRankBits != key) at = (at + 1) & table.mask_;
      table.shared_[at] = ids[i];
    }
  }
  return table;
}

PairTable PairTable::of_packed(const u64* pairs, std::size_t n) {
  PairTable table;
  table.ids_are_ranks_ = true;
  std::size_t slots = 16;
  while (slots < 2 * n + 2) slots *= 2;
  table.resize(slots);
  for (std::size_t i = 0; i < n; ++i) {
    const u64 key = pairs[i] >> kRankBits;
    const u32 rank = static_cast<u32>(pairs[i]) & kRankMask;
    if (rank > kMaxId)
      throw Error(ErrorKind::vocabulary, "pair " + std::to_string(i) + " has a rank above " + std::to_string(kMaxId));
    if (!table.insert(static_cast<u32>(key >> 21), static_cast<u32>(key) & kMaxId, rank))
      throw Error(ErrorKind::vocabulary, "pair " + std::to_string(i) + " is given twice");
  }
  return table;
}

std::vector<u64> PairTable::packed() const {
  if (!ids_are_ranks_) throw Error(ErrorKind::value, "only a table of ranks can be packed");
  std::vector<u64> pairs;
  pairs.reserve(size_);
  for (const u64 turned : slots_) {
    if (turned != 0) pairs.push_back(~turned);
  }
  return pairs;
}

}  // namespace bytepair
