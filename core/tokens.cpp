#include "tokens.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "errors.hpp"

namespace bytepair {

TokenTable::TokenTable(std::vector<u8> text, const std::vector<i64>& offsets, std::vector<u32> ids, bool later)
    : text_(std::move(text)), ids_(std::move(ids)) {
  bool sound = offsets.size() == ids_.size() + 1 && offsets.front() == 0 &&
               offsets.back() == static_cast<i64>(text_.size()) && ids_.size() < kIndex && text_.size() < kNone;
  for (std::size_t i = 0; sound && i + 1 < offsets.size(); ++i) sound = offsets[i] <= offsets[i + 1];
  if (!sound) throw Error(ErrorKind::vocabulary, "tokens: the offsets do not describe the text");
  offsets_.assign(offsets.begin(), offsets.end());
  text_.resize(text_.size() + 16);
  for (std::size_t i = ids_.size(); i-- > 0;) {
    longest_ = std::max(longest_, length(i));
    if (length(i) == 0) empty_ = ids_[i];
  }
  if (!later) build(true);
}

void TokenTable::build(bool refuse) const {
  std::size_t size = 16;
  while (size < 2 * ids_.size() + 2) size *= 2;
  slots_ = AlignedArray<u32>(size);
  mask_ = size - 1;
  bool empty = false;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const bool again = length(i) == 0 ? std::exchange(empty, true) : !insert(i);
    if (again && refuse)
      throw Error(ErrorKind::vocabulary, "token " + std::to_string(ids_[i]) + " has the bytes of another token");
  }
  ready_.store(true, std::memory_order_release);
}

// Looks through all tokens, a few times; then makes the table, and returns false: look there.
bool TokenTable::find_early(const u8* p, std::size_t n, u32& id) const {
  if (early_.fetch_add(1, std::memory_order_relaxed) >= kEarly) {
    const ForkGuard guard(lock_);
    if (guard.left_behind) {  // another thread was making it, and is not here
      new (&slots_) AlignedArray<u32>();
    }
    if (!ready_.load(std::memory_order_relaxed)) build(false);
    return false;
  }
  id = kNone;
  if (n > longest_) return true;
  const u32* const offsets = offsets_.data();
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (offsets[i + 1] - offsets[i] == n && std::memcmp(text_.data() + offsets[i], p, n) == 0) {
      id = ids_[i];
      break;
    }
  }
  return true;
}

u64 TokenTable::hash_of(std::size_t i) const {
  const u8* const p = &text_[offsets_[i]];
  return length(i) <= ShortKey::kMax ? open_short_key(p, length(i)).hash() : hash_bytes(p, length(i));
}

bool TokenTable::insert(std::size_t i) const {
  const u64 hash = hash_of(i);
  std::size_t at = hash & mask_;
  for (; slots_[at] != 0; at = (at + 1) & mask_) {
    if (slots_[at] >> kIndexBits == tag(hash) && token((slots_[at] & kIndex) - 1) == token(i)) return false;
  }
  slots_[at] = tag(hash) << kIndexBits | static_cast<u32>(i + 1);
  return true;
}

u32 TokenTable::find_long(const u8* p, std::size_t n) const {
  const u64 hash = hash_bytes(p, n);
  for (std::size_t at = hash & mask_; slots_[at] != 0; at = (at + 1) & mask_) {
    const std::size_t i = (slots_[at] & kIndex) - 1;
    if (slots_[at] >> kIndexBits == tag(hash) && length(i) == n && std::memcmp(&text_[offsets_[i]], p, n) == 0) return ids_[i];
  }
  return kNone;
}

}  // namespace bytepair
