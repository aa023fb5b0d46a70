// What a thread has learned: pretoken -> ids. Bounded in bytes; when full, the newer replaces the older. It holds only
// what encoding gave, so it can never change a result.
//
// Three tables, by what fits: short words of few ids, two to a cache line; medium ones, a line each; long ones, two
// lines each. Non-Latin words are medium more often than not.
#pragma once

#include "aligned.hpp"
#include "text.hpp"

namespace bytepair {

class WordCache {
 public:
  static constexpr std::size_t kShortIds = 4;
  static constexpr std::size_t kMediumIds = 8;
  static constexpr std::size_t kLongBytes = 54;
  static constexpr std::size_t kLongIds = 16;

  // The first of the ids has their number in its top byte (ids stay under 2^24).
  struct alignas(32) Short {
    ShortKey key;
    u32 ids[kShortIds];
  };
  struct alignas(64) Medium {
    MediumKey key;
    u32 ids[kMediumIds];
  };
  struct Words {
    const u32* ids = nullptr;  // nullptr: not known
    std::size_t n = 0;
  };

  explicit WordCache(std::size_t bytes);

  // Whether it may hold anything.
  bool works() const { return short_limit_ != 0; }

  // The two slots where a short word is sought first; `hash` is its key's.
  const Short* bucket(u64 hash) const { return &short_[(hash & short_mask_) * 2]; }
  const Medium* medium(u64 hash) const { return &medium_[hash & medium_mask_]; }

  // Looks everywhere that insert() may have put it.
  const Short* find_short(const ShortKey& key, u64 hash) const;
  const Medium* find_medium(const MediumKey& key, u64 hash) const;
  Words find_long(const u8* p, std::size_t n) const;

  // Remembers it where it fits; the pretoken is p[0, n), with `room` readable bytes at p.
  void insert(const u8* p, std::size_t n, std::size_t room, const u32* ids, std::size_t n_ids);

  std::size_t bytes() const {
    return short_.size() * sizeof(Short) + medium_.size() * sizeof(Medium) + long_.size() * sizeof(Long);
  }

 private:
  struct Long {
    u64 hash;  // 0: empty
    u8 length, n_ids;
    u8 text[kLongBytes];
    u32 ids[kLongIds];
  };
  static_assert(sizeof(Short) == 32 && sizeof(Medium) == 64 && sizeof(Long) == 128);

  static u64 long_hash(const u8* p, std::size_t n) { return hash_bytes(p, n) | 1; }
  void insert_short(const Short& word);
  void insert_medium(const Medium& word);
  void insert_long(const Long& word);

  AlignedArray<Short> short_;    // buckets of two; a full one spills into the next
  AlignedArray<Medium> medium_;  // a taken slot spills into the next
  AlignedArray<Long> long_;
  std::size_t short_mask_ = 0, medium_mask_ = 0, long_mask_ = 0;
  std::size_t short_used_ = 0, medium_used_ = 0, long_used_ = 0;
  std::size_t short_limit_, medium_limit_, long_limit_;  // in slots
};

}  // namespace bytepair
