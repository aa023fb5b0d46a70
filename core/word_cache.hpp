// What a thread has learned: pretoken -> ids. Bounded in bytes; when full, the newer replaces the older. It holds only
// what encoding gave, so it can never change a result.
#pragma once

#include <vector>

#include "text.hpp"

namespace bytepair {

class WordCache {
 public:
  static constexpr std::size_t kShortIds = 4;    // a short pretoken's ids that fit its slot
  static constexpr std::size_t kLongBytes = 54;  // a longer one, or one of more ids, fits the second table up to here
  static constexpr std::size_t kLongIds = 16;

  struct Words {
    const u32* ids = nullptr;  // nullptr: not known
    std::size_t n = 0;
  };

  explicit WordCache(std::size_t bytes);

  // 32 bytes: the key, and up to four ids, the first one with their number in its top byte (ids stay under 2^24).
  struct alignas(32) Slot {
    ShortKey key;
    u32 ids[kShortIds];
  };
  const Slot* find_short(const ShortKey& key) const {
    if (short_.empty()) return nullptr;
    const Slot* bucket = &short_[(key.hash() & short_mask_) * 2];
    if (bucket[0].key == key) return bucket;
    if (bucket[1].key == key) return bucket + 1;
    return nullptr;
  }
  Words find_long(const u8* p, std::size_t n) const;
  // Remembers it where it fits; the pretoken is p[0, n), with `room` readable bytes at p.
  void insert(const u8* p, std::size_t n, std::size_t room, const u32* ids, std::size_t n_ids);

  std::size_t bytes() const { return short_.size() * sizeof(Slot) + long_.size() * sizeof(LongSlot); }

 private:
  struct LongSlot {
    u64 hash;  // 0: empty
    u8 length, n_ids;
    u8 text[kLongBytes];
    u32 ids[kLongIds];
  };
  static_assert(sizeof(LongSlot) == 128);

  static u64 long_hash(const u8* p, std::size_t n) { return hash_bytes(p, n) | 1; }
  void insert_short(const Slot& slot);
  void grow_short();
  void grow_long();

  std::vector<Slot> short_;  // buckets of two
  std::vector<LongSlot> long_;
  std::size_t short_mask_ = 0, long_mask_ = 0;
  std::size_t short_used_ = 0, long_used_ = 0;
  std::size_t short_limit_, long_limit_;  // in slots
};

}  // namespace bytepair
