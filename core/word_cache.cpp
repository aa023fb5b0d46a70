#include "word_cache.hpp"

#include <algorithm>

namespace bytepair {

namespace {

std::size_t power_of_two_up_to(std::size_t n) {
  std::size_t p = 1;
  while (p * 2 <= n) p *= 2;
  return n == 0 ? 0 : p;
}

}  // namespace

// A table begins with its smallest size at once, so that a look-up needs no test for an empty one.
WordCache::WordCache(std::size_t bytes)
    : short_limit_(power_of_two_up_to(bytes / 2 / sizeof(Short))),
      medium_limit_(power_of_two_up_to(bytes / 4 / sizeof(Medium))),
      long_limit_(power_of_two_up_to(bytes / 4 / sizeof(Long))) {
  if (short_limit_ < 4 || medium_limit_ < 2 || long_limit_ < 1) {
    short_limit_ = medium_limit_ = long_limit_ = 0;
    return;
  }
  short_ = AlignedArray<Short>(std::min<std::size_t>(512, short_limit_));
  medium_ = AlignedArray<Medium>(std::min<std::size_t>(64, medium_limit_));
  short_mask_ = short_.size() / 2 - 1;
  medium_mask_ = medium_.size() - 1;
}

const WordCache::Short* WordCache::find_short(const ShortKey& key, u64 hash) const {
  for (u64 at = hash; at < hash + 2; ++at) {
    const Short* slots = bucket(at);
    if (slots[0].key == key) return slots;
    if (slots[1].key == key) return slots + 1;
  }
  return nullptr;
}

const WordCache::Medium* WordCache::find_medium(const MediumKey& key, u64 hash) const {
  for (u64 at = hash; at < hash + 2; ++at) {
    if (medium(at)->key == key) return medium(at);
  }
  return nullptr;
}

WordCache::Words WordCache::find_long(const u8* p, std::size_t n) const {
  if (long_.empty() || n > kLongBytes) return {};
  const u64 hash = long_hash(p, n);
  const Long& slot = long_[(hash >> 8) & long_mask_];
  if (slot.hash != hash || slot.length != n || std::memcmp(slot.text, p, n) != 0) return {};
  return {slot.ids, slot.n_ids};
}

void WordCache::insert(const u8* p, std::size_t n, std::size_t room, const u32* ids, std::size_t n_ids) {
  if (n_ids == 0 || ids[0] >> 24 || !works()) return;
  if (n <= ShortKey::kMax && n_ids <= kShortIds) {
    if (short_.size() < short_limit_ && short_used_ * 4 >= short_.size()) {
      short_used_ = 0;
      AlignedArray<Short> old(std::min(short_.size() * 2, short_limit_));
      std::swap(old, short_);
      short_mask_ = short_.size() / 2 - 1;
      for (const Short& slot : old) {
        if (slot.key.high != 0) insert_short(slot);
      }
    }
    Short word{short_key(p, n, room), {}};
    std::memcpy(word.ids, ids, n_ids * sizeof(u32));
    word.ids[0] |= static_cast<u32>(n_ids) << 24;
    insert_short(word);
  } else if (n <= MediumKey::kMax && n_ids <= kMediumIds) {
    if (medium_.size() < medium_limit_ && medium_used_ * 4 >= medium_.size()) {
      medium_used_ = 0;
      AlignedArray<Medium> old(std::min(medium_.size() * 2, medium_limit_));
      std::swap(old, medium_);
      medium_mask_ = medium_.size() - 1;
      for (const Medium& slot : old) {
        if (slot.key.word[3] != 0) insert_medium(slot);
      }
    }
    Medium word{medium_key(p, n, room), {}};
    std::memcpy(word.ids, ids, n_ids * sizeof(u32));
    word.ids[0] |= static_cast<u32>(n_ids) << 24;
    insert_medium(word);
  } else if (n <= kLongBytes && n_ids <= kLongIds) {
    if (long_.size() < long_limit_ && long_used_ * 2 >= long_.size()) {
      long_used_ = 0;
      AlignedArray<Long> old(long_.empty() ? std::min<std::size_t>(64, long_limit_) : std::min(long_.size() * 4, long_limit_));
      std::swap(old, long_);
      long_mask_ = long_.size() - 1;
      for (const Long& slot : old) {
        if (slot.hash != 0) insert_long(slot);
      }
    }
    Long word{long_hash(p, n), static_cast<u8>(n), static_cast<u8>(n_ids), {}, {}};
    std::memcpy(word.text, p, n);
    std::memcpy(word.ids, ids, n_ids * sizeof(u32));
    insert_long(word);
  }
}

// The newest stands first in its bucket; of two buckets that are full the older of the second goes.
void WordCache::insert_short(const Short& word) {
  const u64 hash = word.key.hash();
  Short* first = &short_[(hash & short_mask_) * 2];
  Short* next = &short_[((hash + 1) & short_mask_) * 2];
  for (Short* slot : {first, first + 1, next, next + 1}) {
    if (slot->key.high != 0) continue;
    *slot = word;
    ++short_used_;
    return;
  }
  next[1] = next[0];
  next[0] = first[1];
  first[1] = first[0];
  first[0] = word;
}

void WordCache::insert_medium(const Medium& word) {
  const u64 hash = word.key.hash();
  Medium* first = &medium_[hash & medium_mask_];
  Medium* next = &medium_[(hash + 1) & medium_mask_];
  for (Medium* slot : {first, next}) {
    if (slot->key.word[3] != 0) continue;
    *slot = word;
    ++medium_used_;
    return;
  }
  *next = *first;
  *first = word;
}

void WordCache::insert_long(const Long& word) {
  Long& slot = long_[(word.hash >> 8) & long_mask_];
  if (slot.hash == 0) ++long_used_;
  slot = word;
}

}  // namespace bytepair
