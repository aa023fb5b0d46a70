#include "tokens.hpp"

#include <algorithm>
#include <string>

#include "errors.hpp"

namespace bytepair {

TokenTable::TokenTable(std::vector<u8> text, std::vector<i64> offsets, std::vector<u32> ids)
    : text_(std::move(text)), offsets_(std::move(offsets)), ids_(std::move(ids)) {
  bool sound = offsets_.size() == ids_.size() + 1 && offsets_.front() == 0 &&
               offsets_.back() == static_cast<i64>(text_.size());
  for (std::size_t i = 0; sound && i + 1 < offsets_.size(); ++i) sound = offsets_[i] <= offsets_[i + 1];
  if (!sound) throw Error(ErrorKind::vocabulary, "tokens: the offsets do not describe the text");
  by_bytes_.reserve(ids_.size() * 2);
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (!by_bytes_.emplace(token(i), ids_[i]).second)
      throw Error(ErrorKind::vocabulary, "token " + std::to_string(ids_[i]) + " has the bytes of another token");
    longest_ = std::max(longest_, token(i).size());
  }
}

}  // namespace bytepair
