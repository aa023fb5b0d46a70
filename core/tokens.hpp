// The tokens of a vocabulary by their bytes: a flat hash table, short tokens in the slots themselves.
#pragma once

#include <string_view>
#include <vector>

#include "text.hpp"

namespace bytepair {

class TokenTable {
 public:
  TokenTable(const TokenTable&) = delete;
  TokenTable& operator=(const TokenTable&) = delete;
  TokenTable(TokenTable&&) = default;

  // Token i is text[offsets[i], offsets[i + 1]) with the id ids[i]. Two with the same bytes are refused.
  TokenTable(std::vector<u8> text, std::vector<i64> offsets, std::vector<u32> ids);

  // kNone where there is no such token.
  u32 find(const u8* p, std::size_t n) const {
    if (n == 0) return empty_;
    if (n <= ShortKey::kMax) {
      const ShortKey key = short_key(p, n, 0);
      return find(key, key.hash());
    }
    return n <= longest_ ? find_long(p, n) : kNone;
  }
  // Of a token that is not empty.
  u32 find(const ShortKey& key, u64 hash) const {
    for (std::size_t i = hash & short_mask_;; i = (i + 1) & short_mask_) {
      if (short_[i].key == key) return short_[i].id;
      if (short_[i].key.high == 0) return kNone;
    }
  }
  // Asks the memory for where find(key, hash) will look.
  void prefetch_short(u64 hash) const { prefetch(&short_[hash & short_mask_]); }
  std::size_t size() const { return ids_.size(); }
  std::string_view token(std::size_t i) const {
    return {reinterpret_cast<const char*>(text_.data()) + offsets_[i], static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])};
  }
  u32 id(std::size_t i) const { return ids_[i]; }

 private:
  struct Short {
    ShortKey key;  // high is 0 where empty
    u32 id;
  };
  struct Long {
    u32 hash, at;  // at: which token, kNone where empty
  };

  u32 find_long(const u8* p, std::size_t n) const;
  ShortKey key_of(std::size_t i) const;  // of a short token
  bool insert(std::size_t i);

  std::vector<u8> text_;
  std::vector<i64> offsets_;
  std::vector<u32> ids_;
  std::vector<Short> short_;
  std::vector<Long> long_;
  std::size_t short_mask_ = 0, long_mask_ = 0, longest_ = 0;
  u32 empty_ = kNone;
};

}  // namespace bytepair
