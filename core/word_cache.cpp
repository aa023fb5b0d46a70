#include "word_cache.hpp"

namespace bytepair {

namespace {

constexpr std::size_t kFirstSlots = 1024;

std::size_t power_of_two_up_to(std::size_t n) {
  std::size_t p = 1;
  while (p * 2 <= n) p *= 2;
  return n == 0 ? 0 : p;
}

}  // namespace

WordCache::WordCache(std::size_t bytes)
    : short_limit_(power_of_two_up_to(bytes / 4 * 3 / sizeof(Slot))),
      long_limit_(power_of_two_up_to(bytes / 4 / sizeof(LongSlot))) {
  if (short_limit_ < 2) short_limit_ = 0;
}

WordCache::Words WordCache::find_long(const u8* p, std::size_t n) const {
  if (long_.empty() || n > kLongBytes) return {};
  const u64 hash = long_hash(p, n);
  const LongSlot& slot = long_[(hash >> 8) & long_mask_];
  if (slot.hash != hash || slot.length != n || std::memcmp(slot.text, p, n) != 0) return {};
  return {slot.ids, slot.n_ids};
}

void WordCache::insert(const u8* p, std::size_t n, std::size_t room, const u32* ids, std::size_t n_ids) {
  if (n_ids == 0) return;
  if (n <= ShortKey::kMax && n_ids <= kShortIds) {
    if (short_limit_ == 0) return;
    if (short_.size() < short_limit_ && short_used_ * 2 >= short_.size()) grow_short();
    Slot slot{short_key(p, n, room), {}};
    std::memcpy(slot.ids, ids, n_ids * sizeof(u32));
    slot.ids[0] |= static_cast<u32>(n_ids) << 24;
    insert_short(slot);
  } else if (n <= kLongBytes && n_ids <= kLongIds) {
    if (long_limit_ == 0) return;
    if (long_.size() < long_limit_ && long_used_ * 2 >= long_.size()) grow_long();
    const u64 hash = long_hash(p, n);
    LongSlot& slot = long_[(hash >> 8) & long_mask_];
    if (slot.hash == 0) ++long_used_;
    slot.hash = hash;
    slot.length = static_cast<u8>(n);
    slot.n_ids = static_cast<u8>(n_ids);
    std::memcpy(slot.text, p, n);
    std::memcpy(slot.ids, ids, n_ids * sizeof(u32));
  }
}

// The newest stands first in its bucket; a third one pushes the older out.
void WordCache::insert_short(const Slot& slot) {
  Slot* bucket = &short_[(slot.key.hash() & short_mask_) * 2];
  if (bucket[0].key.high == 0) {
    bucket[0] = slot;
    ++short_used_;
    return;
  }
  if (bucket[1].key.high == 0) ++short_used_;
  bucket[1] = bucket[0];
  bucket[0] = slot;
}

void WordCache::grow_short() {
  std::size_t size = short_.empty() ? kFirstSlots : short_.size() * 2;
  if (size > short_limit_) size = short_limit_;
  std::vector<Slot> old(size, Slot{{0, 0}, {}});
  old.swap(short_);
  short_mask_ = size / 2 - 1;
  short_used_ = 0;
  for (const Slot& slot : old) {
    if (slot.key.high != 0) insert_short(slot);
  }
}

void WordCache::grow_long() {
  std::size_t size = long_.empty() ? kFirstSlots / 4 : long_.size() * 2;
  if (size > long_limit_) size = long_limit_;
  std::vector<LongSlot> old(size, LongSlot{});
  old.swap(long_);
  long_mask_ = size - 1;
  long_used_ = 0;
  for (const LongSlot& slot : old) {
    if (slot.hash == 0) continue;
    LongSlot& to = long_[(slot.hash >> 8) & long_mask_];
    if (to.hash == 0) ++long_used_;
    to = slot;
  }
}

}  // namespace bytepair
