// The tokens of a vocabulary by their bytes.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "text.hpp"

namespace bytepair {

class TokenTable {
 public:
  TokenTable(const TokenTable&) = delete;
  TokenTable& operator=(const TokenTable&) = delete;

  // Token i is text[offsets[i], offsets[i + 1]) with the id ids[i]. Two with the same bytes are refused.
  TokenTable(std::vector<u8> text, std::vector<i64> offsets, std::vector<u32> ids);

  // kNone where there is no such token.
  u32 find(const u8* p, std::size_t n) const {
    if (n > longest_) return kNone;
    const auto found = by_bytes_.find({reinterpret_cast<const char*>(p), n});
    return found == by_bytes_.end() ? kNone : found->second;
  }
  std::size_t size() const { return ids_.size(); }
  std::string_view token(std::size_t i) const {
    return {reinterpret_cast<const char*>(text_.data()) + offsets_[i], static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])};
  }
  u32 id(std::size_t i) const { return ids_[i]; }

 private:
  struct Hash {
    std::size_t operator()(std::string_view s) const {
      return static_cast<std::size_t>(hash_bytes(reinterpret_cast<const u8*>(s.data()), s.size()));
    }
  };

  std::vector<u8> text_;
  std::vector<i64> offsets_;
  std::vector<u32> ids_;
  std::unordered_map<std::string_view, u32, Hash> by_bytes_;  // views into text_
  std::size_t longest_ = 0;
};

}  // namespace bytepair
