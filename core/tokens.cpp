#include "tokens.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "errors.hpp"

namespace bytepair {

TokenTable::TokenTable(std::vector<u8> text, std::vector<i64> offsets, std::vector<u32> ids, bool later)
    : text_(std::move(text)), offsets_(std::move(offsets)), ids_(std::move(ids)) {
  bool sound = offsets_.size() == ids_.size() + 1 && offsets_.front() == 0 &&
               offsets_.back() == static_cast<i64>(text_.size()) && ids_.size() < kNone;
  for (std::size_t i = 0; sound && i + 1 < offsets_.size(); ++i) sound = offsets_[i] <= offsets_[i + 1];
  if (!sound) throw Error(ErrorKind::vocabulary, "tokens: the offsets do not describe the text");
  for (std::size_t i = ids_.size(); i-- > 0;) {
    const std::size_t length = token(i).size();
    n_short_ += length <= ShortKey::kMax;
    longest_ = std::max(longest_, length);
    if (length == 0) empty_ = ids_[i];
  }
  if (!later) build(true);
}

void TokenTable::build(bool refuse) const {
  const auto slots = [](std::size_t n) {
    std::size_t size = 16;
    while (size < 2 * n + 2) size *= 2;
    return size;
  };
  short_ = AlignedArray<Short>(slots(n_short_));
  short_mask_ = short_.size() - 1;
  long_.assign(slots(ids_.size() - n_short_), Long{0, kNone});
  long_mask_ = long_.size() - 1;
  // A slot is fetched from memory long before it is needed: the tables are larger than the caches near the processor.
  constexpr std::size_t kAhead = 16;
  bool empty = false;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (i + kAhead < ids_.size() && token(i + kAhead).size() <= ShortKey::kMax)
      prefetch(&short_[key_of(i + kAhead).hash() & short_mask_]);
    const bool again = token(i).empty() ? std::exchange(empty, true) : !insert(i);
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
      new (&short_) AlignedArray<Short>();
      new (&long_) std::vector<Long>();
    }
    if (!ready_.load(std::memory_order_relaxed)) build(false);
    return false;
  }
  id = kNone;
  if (n > longest_) return true;
  const i64* const offsets = offsets_.data();
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (offsets[i + 1] - offsets[i] == static_cast<i64>(n) && std::memcmp(text_.data() + offsets[i], p, n) == 0) {
      id = ids_[i];
      break;
    }
  }
  return true;
}

ShortKey TokenTable::key_of(std::size_t i) const {
  const std::size_t start = static_cast<std::size_t>(offsets_[i]);
  return short_key(text_.data() + start, token(i).size(), text_.size() - start);
}

bool TokenTable::insert(std::size_t i) const {
  const std::string_view text = token(i);
  const u8* const p = reinterpret_cast<const u8*>(text.data());
  if (text.size() <= ShortKey::kMax) {
    const ShortKey key = key_of(i);
    std::size_t at = key.hash() & short_mask_;
    for (; short_[at].key.high != 0; at = (at + 1) & short_mask_) {
      if (short_[at].key == key) return false;
    }
    short_[at] = {key, ids_[i]};
    return true;
  }
  const u64 hash = hash_bytes(p, text.size());
  std::size_t at = hash & long_mask_;
  for (; long_[at].at != kNone; at = (at + 1) & long_mask_) {
    if (long_[at].hash == static_cast<u32>(hash >> 32) && token(long_[at].at) == text) return false;
  }
  long_[at] = {static_cast<u32>(hash >> 32), static_cast<u32>(i)};
  return true;
}

u32 TokenTable::find_long(const u8* p, std::size_t n) const {
  const u64 hash = hash_bytes(p, n);
  for (std::size_t at = hash & long_mask_; long_[at].at != kNone; at = (at + 1) & long_mask_) {
    if (long_[at].hash != static_cast<u32>(hash >> 32)) continue;
    const std::string_view text = token(long_[at].at);
    if (text.size() == n && std::memcmp(text.data(), p, n) == 0) return ids_[long_[at].at];
  }
  return kNone;
}

}  // namespace bytepair
