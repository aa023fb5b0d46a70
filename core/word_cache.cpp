#include "word_cache.hpp"

#include <algorithm>

namespace bytepair {

namespace {

std::size_t power_of_two_up_to(std::size_t n) {
  std::size_t p = 1;
  while (p * 2 <= n) p *= 2;
  return n == 0 ? 0 : p;
}

// Small tables grow in great steps: each costs as much as filling them.
std::size_t next_size(std::size_t size, std::size_t limit) { return std::min(size < 16384 ? 4 * size : 2 * size, limit); }

// Lines in which a short word may stand, from the one of its hash on.
constexpr u64 kLines = 8;
// Slots in which a wide one may stand.
constexpr u64 kSlots = 8;

constexpr u64 kNowhere = ~u64{0};
// Added to the length in the key of a short word that has more ids than one cell holds, though its key would fit.
constexpr u64 kWide = u64{0x10} << 56;

}  // namespace

// A table begins with its smallest size at once, so that a look-up needs no test for an empty one.
WordCache::WordCache(std::size_t bytes)
    : line_limit_(power_of_two_up_to(bytes / 2 / 64)),
      medium_limit_(power_of_two_up_to(bytes / 4 / sizeof(Medium))),
      log_limit_(power_of_two_up_to(bytes / 4 / sizeof(u32))) {
  if (line_limit_ < 2 || medium_limit_ < 2) {
    line_limit_ = medium_limit_ = log_limit_ = 0;
    return;
  }
  const std::size_t lines = std::min<std::size_t>(256, line_limit_);
  lines_ = AlignedArray<u32>(lines * kLine);
  medium_ = AlignedArray<Medium>(std::min<std::size_t>(64, medium_limit_));
  line_mask_ = lines - 1;
  medium_mask_ = medium_.size() - 1;
}

WordCache::Words WordCache::words_at(const u32* slot) const {
  if (!slot) return {};
  if (slot[0] >> 24 != kInLog) return {slot, slot[0] >> 24};
  const u64 place = static_cast<u64>(slot[3]) << 32 | slot[2];
  if (written_ - place > log_.size()) return {};  // written over
  return {&log_[place & (log_.size() - 1)], slot[1]};
}

ShortKey WordCache::key_at(const u32* at) {
  const u64 first = first_of(at, 0), length = first >> 56 & 0xF;
  if (length >= 8) return {second_of(at), first};
  return {first & ~(u64{0xFF} << 56), length << 56};
}

// Of the entry that begins there; of all entries of a line, which stand side by side.
std::size_t WordCache::size_at(const u32* at) { return first_of(at, 0) >> 59 ? 2 * kCell : kCell; }

std::size_t WordCache::used_of(const u32* line) {
  std::size_t used = 0;
  while (used < kLine && first_of(line + used, 0) != 0) used += size_at(line + used);
  return used;
}

// From line to line as far as put_cells() went: to the first that has room for it, whichever form it has.
const u32* WordCache::short_slot(const CellKey& key, u64 hash) const {
  for (u64 which = hash; which < hash + kLines; ++which) {
    const u32* const cells = line(which);
    std::size_t at = 0;
    for (; at < kLine && first_of(cells + at, 0) != 0; at += size_at(cells + at)) {
      const u64 first = first_of(cells + at, 0);
      if (key.takes_two() ? first == key.first && second_of(cells + at) == key.second : first == (key.first | kWide))
        return cells + at + kCell;
      if (!key.takes_two() && first == key.first) return cells + at;
    }
    if (at + 2 * kCell <= kLine) break;
  }
  return nullptr;
}

const WordCache::Medium* WordCache::medium_slot(const MediumKey& key, u64 hash) const {
  for (u64 which = hash; which < hash + kSlots; ++which) {
    const Medium& slot = medium_[which & medium_mask_];
    if (slot.key == key) return &slot;
    if (slot.key.word[3] == 0) break;
  }
  return nullptr;
}

WordCache::Words WordCache::find_short(const ShortKey& key, u64 hash) const { return words_at(short_slot(CellKey(key), hash)); }

WordCache::Words WordCache::find_medium(const MediumKey& key, u64 hash) const {
  const Medium* const slot = medium_slot(key, hash);
  return slot ? words_at(slot->ids) : Words{};
}

WordCache::Words WordCache::find_long(const u8* p, std::size_t n, u64 hash) const {
  if (n > kLongest) return {};
  const Medium* const slot = medium_slot(key_of_long(p, n, hash), hash);
  const Words words = slot ? words_at(slot->ids) : Words{};
  return words.ids && std::memcmp(words.ids + words.n, p, n) == 0 ? words : Words{};
}

// Puts ids, and a long word's bytes behind them, into the log: in one piece, over what is oldest. Returns where; kNowhere
// if it is too long.
u64 WordCache::place_in_log(const u32* ids, std::size_t n_ids, const u8* p, std::size_t n) {
  const std::size_t size = n_ids + (n + 3) / 4;
  if (size > log_limit_ / 4) return kNowhere;
  while (log_.size() < log_limit_ && written_ + size > log_.size()) {
    // It has not gone round yet: every place stays where it is.
    AlignedArray<u32> larger(log_.empty() ? std::min<std::size_t>(1024, log_limit_) : next_size(log_.size(), log_limit_));
    if (written_) std::memcpy(&larger[0], &log_[0], written_ * sizeof(u32));
    std::swap(larger, log_);
  }
  const std::size_t mask = log_.size() - 1;
  if ((written_ & mask) + size > log_.size()) written_ += log_.size() - (written_ & mask);
  u32* const to = &log_[written_ & mask];
  std::memcpy(to, ids, n_ids * sizeof(u32));
  if (n) std::memcpy(to + n_ids, p, n);
  const u64 place = written_;
  written_ += size;
  return place;
}

// Writes a slot with room for so many ids; a long word (n > 0) is always in the log. False where it does not fit there.
bool WordCache::fill(u32* slot, std::size_t room, const u32* ids, std::size_t n_ids, const u8* p, std::size_t n) {
  if (n == 0 && n_ids <= room) {
    std::memcpy(slot, ids, n_ids * sizeof(u32));
    slot[0] |= static_cast<u32>(n_ids) << 24;
    return true;
  }
  const u64 place = place_in_log(ids, n_ids, p, n);
  slot[0] = kInLog << 24;
  slot[1] = static_cast<u32>(n_ids);
  slot[2] = static_cast<u32>(place);
  slot[3] = static_cast<u32>(place >> 32);
  return place != kNowhere;
}

void WordCache::insert_short(const ShortKey& key, u64 hash, const u32* ids, std::size_t n_ids) {
  if (!works() || !fits(ids, n_ids)) return;
  const CellKey cells(key);
  const bool one = !cells.takes_two() && n_ids <= kOneCellIds;
  u32 entry[2 * kCell] = {};
  if (!fill(entry + (one ? 0 : kCell), one ? kOneCellIds : kShortIds, ids, n_ids, nullptr, 0)) return;
  // One that is there has lost its ids from the log, which only an entry of two cells has there.
  if (const u32* known = short_slot(cells, hash)) {
    if (!one) std::memcpy(&lines_[static_cast<std::size_t>(known - lines_.begin())], entry + kCell, kCell * sizeof(u32));
    return;
  }
  const u64 first = one || cells.takes_two() ? cells.first : cells.first | kWide;
  if (!one) std::memcpy(entry, &cells.second, sizeof cells.second);
  std::memcpy(entry + 2, &first, sizeof first);
  if (line_mask_ + 1 < line_limit_ && cells_used_ * 2 > (line_mask_ + 1) * (kLine / kCell)) grow_lines();
  put_cells(entry, one ? kCell : 2 * kCell, hash);
}

// Into the first line with room for it. The oldest entry of a line comes first: where no line has room, the oldest go.
void WordCache::put_cells(const u32* entry, std::size_t size, u64 hash) {
  cells_used_ += size / kCell;
  for (u64 which = hash; which < hash + kLines; ++which) {
    u32* const to = &lines_[(which & line_mask_) * kLine];
    const std::size_t used = used_of(to);
    if (used + size > kLine) continue;
    std::memcpy(to + used, entry, size * sizeof(u32));
    return;
  }
  u32* const to = &lines_[(hash & line_mask_) * kLine];
  std::size_t used = used_of(to), gone = 0;
  while (used - gone + size > kLine) gone += size_at(to + gone);
  used -= gone;
  std::memmove(to, to + gone, used * sizeof(u32));
  std::fill(to + used, to + kLine, 0u);
  std::memcpy(to + used, entry, size * sizeof(u32));
  cells_used_ -= gone / kCell;
}

void WordCache::grow_lines() {
  const std::size_t lines = next_size(line_mask_ + 1, line_limit_);
  AlignedArray<u32> old(lines * kLine);
  std::swap(old, lines_);
  line_mask_ = lines - 1;
  cells_used_ = 0;
  for (std::size_t from = 0; from < old.size(); from += kLine) {
    for (std::size_t at = from; at < from + used_of(&old[from]); at += size_at(&old[at]))
      put_cells(&old[at], size_at(&old[at]), key_at(&old[at]).hash());
  }
}

void WordCache::insert_medium(const MediumKey& key, u64 hash, const u32* ids, std::size_t n_ids) {
  if (!works() || !fits(ids, n_ids)) return;
  Medium word{key, {}};
  if (fill(word.ids, kMediumIds, ids, n_ids, nullptr, 0)) put_medium(word, hash);
}

void WordCache::insert_long(const u8* p, std::size_t n, u64 hash, const u32* ids, std::size_t n_ids) {
  if (!works() || n > kLongest || !fits(ids, n_ids)) return;
  Medium word{key_of_long(p, n, hash), {}};
  if (fill(word.ids, 0, ids, n_ids, p, n)) put_medium(word, hash);
}

void WordCache::put_medium(const Medium& word, u64 hash) {
  if (medium_.size() < medium_limit_ && medium_used_ * 2 > medium_.size()) grow_medium();
  for (u64 which = hash; which < hash + kSlots; ++which) {
    Medium& slot = medium_[which & medium_mask_];
    const bool empty = slot.key.word[3] == 0;
    if (!empty && !(slot.key == word.key)) continue;
    slot = word;
    medium_used_ += empty;
    return;
  }
  // All taken: the newest comes first, the last one goes.
  for (u64 which = hash + kSlots - 1; which > hash; --which) medium_[which & medium_mask_] = medium_[(which - 1) & medium_mask_];
  medium_[hash & medium_mask_] = word;
}

void WordCache::grow_medium() {
  AlignedArray<Medium> old(next_size(medium_.size(), medium_limit_));
  std::swap(old, medium_);
  medium_mask_ = medium_.size() - 1;
  medium_used_ = 0;
  for (const Medium& slot : old) {
    const bool is_long = slot.key.word[3] >> 56 == 0xFF;
    if (slot.key.word[3] != 0) put_medium(slot, is_long ? slot.key.word[0] : slot.key.hash());
  }
}

}  // namespace bytepair
