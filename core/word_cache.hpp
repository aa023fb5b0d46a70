// What a thread has learned: pretoken -> ids. Bounded in bytes; when full, the newer replaces the older. It holds only
// what encoding gave, so it can never change a result.
//
// Three tables, by what fits: short words of few ids, two to a cache line; medium ones, a line each; long ones, two
// lines each. Non-Latin words are medium more often than not.
#pragma once

#include "aligned.hpp"
#include "text.hpp"

namespace bytepair {

// A pretoken of at most 31 bytes as four words: its bytes, and its length in the top byte. Never zero.
struct MediumKey {
  static constexpr std::size_t kMax = 31;
  u64 word[4];
  bool operator==(const MediumKey& other) const {
    return ((word[0] ^ other.word[0]) | (word[1] ^ other.word[1]) | (word[2] ^ other.word[2]) |
            (word[3] ^ other.word[3])) == 0;
  }
  u64 hash() const { return hash_words(word[0] ^ (word[2] << 23 | word[2] >> 41), word[1] ^ (word[3] << 31 | word[3] >> 33)); }
};

// `room` bytes may be read at p; where it is 32 or more the loads need no bound.
inline MediumKey medium_key(const u8* p, std::size_t n, std::size_t room) {
  MediumKey key{{0, 0, 0, 0}};
  if (room >= 32) {
    std::memcpy(key.word, p, 32);
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t from = 8 * k;
      key.word[k] &= n >= from + 8 ? ~u64{0} : n > from ? (u64{1} << (8 * (n - from))) - 1 : 0;
    }
  } else {
    std::memcpy(key.word, p, n);
  }
  key.word[3] |= static_cast<u64>(n) << 56;
  return key;
}

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
