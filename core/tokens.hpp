// The tokens of a vocabulary by their bytes: a flat hash table of four bytes a slot, which stays in the near caches.
#pragma once

#include <atomic>
#include <string_view>
#include <vector>

#include "aligned.hpp"
#include "fork.hpp"
#include "text.hpp"

namespace bytepair {

class TokenTable {
 public:
  TokenTable(const TokenTable&) = delete;
  TokenTable& operator=(const TokenTable&) = delete;

  // Token i is text[offsets[i], offsets[i + 1]) with the id ids[i]. Two with the same bytes are refused; `later` leaves
  // that, and the table, until more than a few are looked for: of two then only the first is found. A process that
  // encodes one line needs no table of 200,000 tokens.
  TokenTable(std::vector<u8> text, const std::vector<i64>& offsets, std::vector<u32> ids, bool later = false);

  // kNone where there is no such token.
  u32 find(const u8* p, std::size_t n) const {
    if (n == 0) return empty_;
    if (!ready_.load(std::memory_order_acquire)) {
      u32 id;
      if (find_early(p, n, id)) return id;
    }
    if (n <= ShortKey::kMax) {
      const ShortKey key = short_key(p, n, 0);
      return find(key, key.hash());
    }
    return n <= longest_ ? find_long(p, n) : kNone;
  }
  // Of a token that is not empty.
  u32 find(const ShortKey& key, u64 hash) const {
    if (!ready_.load(std::memory_order_acquire)) {
      u8 bytes[sizeof key];
      std::memcpy(bytes, &key, sizeof key);
      u32 id;
      if (find_early(bytes, static_cast<std::size_t>(key.high >> 56), id)) return id;
    }
    const std::size_t n = static_cast<std::size_t>(key.high >> 56);
    for (std::size_t at = hash & mask_; slots_[at] != 0; at = (at + 1) & mask_) {
      const std::size_t i = (slots_[at] & kIndex) - 1;
      if (slots_[at] >> kIndexBits == tag(hash) && length(i) == n && open_short_key(&text_[offsets_[i]], n) == key) return ids_[i];
    }
    return kNone;
  }
  // Asks the memory for where find(key, hash) will look.
  void prefetch_short(u64 hash) const {
    if (ready_.load(std::memory_order_acquire)) prefetch(&slots_[hash & mask_]);
  }
  std::size_t size() const { return ids_.size(); }
  std::string_view token(std::size_t i) const {
    return {reinterpret_cast<const char*>(text_.data()) + offsets_[i], length(i)};
  }
  u32 id(std::size_t i) const { return ids_[i]; }

 private:
  // A slot: which token, from 1 on, and above it bits of the hash that its place does not show. 0 where it is empty.
  static constexpr int kIndexBits = 22;
  static constexpr u32 kIndex = (1u << kIndexBits) - 1;
  static u32 tag(u64 hash) { return static_cast<u32>(hash >> (32 + kIndexBits)); }

  std::size_t length(std::size_t i) const { return offsets_[i + 1] - offsets_[i]; }
  u64 hash_of(std::size_t i) const;
  u32 find_long(const u8* p, std::size_t n) const;
  void build(bool refuse) const;
  bool insert(std::size_t i) const;
  bool find_early(const u8* p, std::size_t n, u32& id) const;

  static constexpr unsigned kEarly = 24;  // that are looked for without a table

  std::vector<u8> text_;  // and some bytes that may be read behind it
  std::vector<u32> offsets_, ids_;
  std::size_t longest_ = 0;
  u32 empty_ = kNone;

  // What build() makes.
  mutable AlignedArray<u32> slots_;
  mutable std::size_t mask_ = 0;
  mutable std::atomic<bool> ready_{false};
  mutable std::atomic<unsigned> early_{0};
  mutable ForkLock lock_;
};

}  // namespace bytepair
