#include "word_cache.hpp"

#include <algorithm>
#include <utility>

namespace bytepair {

namespace {

std::size_t power_of_two_up_to(std::size_t n) {
  std::size_t p = 1;
  while (p * 2 <= n) p *= 2;
  return n == 0 ? 0 : p;
}

// Small tables grow in great steps: each costs as much as filling them.
std::size_t next_size(std::size_t size, std::size_t limit) { return std::min(size < 16384 ? 4 * size : 2 * size, limit); }

// Slots in which a wide one may stand.
constexpr u64 kSlots = 8;

constexpr u64 kNowhere = ~u64{0};

}  // namespace

// A table begins with its smallest size at once, so that a look-up needs no test for an empty one.
WordCache::WordCache(std::size_t bytes, const CellLevel& level)
    : level_(&level),
      line_limit_(power_of_two_up_to(bytes / 2 / 64)),
      wide_limit_(power_of_two_up_to(bytes / 4 / sizeof(WideSlot))),
      log_limit_(power_of_two_up_to(bytes / 4 / sizeof(u32))) {
  if (line_limit_ < 2 || wide_limit_ < 2) {
    line_limit_ = wide_limit_ = log_limit_ = 0;
    return;
  }
  lines_ = Reserved<u32>(line_limit_ * kLine);
  wide_ = Reserved<WideSlot>(wide_limit_);
  log_ = Reserved<u32>(log_limit_);
  grow_lines(std::min<std::size_t>(256, line_limit_));
  grow_wide(std::min<std::size_t>(64, wide_limit_));
}

void WordCache::keys(const u8* s, std::size_t start, const std::size_t* ends, WordBatch& batch) const {
  level_->keys(s, start, ends, tables(), batch);
  for (std::size_t m = 0; m < batch.n_wide; ++m) {
    const std::size_t j = batch.numbers[m], at = j == 0 ? start : ends[j - 1], length = ends[j] - at;
    if (length <= MediumKey::kMax) {
      batch.wide[m] = medium_key(s + at, length, 32);
      batch.wide_hashes[m] = batch.wide[m].hash();
    } else {
      batch.wide_hashes[m] = length <= kLongest ? long_hash(s + at, length) : 0;
    }
    batch.keys[j] = WordBatch::wide_key(m, length > MediumKey::kMax);
    ask_for(batch.wide_hashes[m], false);
  }
}

WordCache::Words WordCache::words_at(const u32* slot) const {
  if (!slot) return {};
  if (slot[0] >> 24 != kInLog) return {slot, slot[0] >> 24};
  const u32* const ids = tables().ids_in_log(slot);
  return {ids, ids ? slot[1] : 0};
}

// Of the entry that begins there.
CellKey WordCache::key_at(const u32* at) {
  const u64 second = cell_word(at + 2);
  return {cell_word(at), second >> 56 == 0 ? CellKey::kMark : second & ~CellKey::kLogged};
}

std::size_t WordCache::size_at(const u32* at) { return cell_word(at + 2) >> 56 == 0 ? kCell : 2 * kCell; }

const WideSlot* WordCache::slot_of(const MediumKey& key, u64 hash) const {
  for (u64 which = hash; which < hash + kSlots; ++which) {
    const WideSlot& slot = wide_[which & wide_mask_];
    if (slot.key == key) return &slot;
    if (slot.key.word[3] == 0) break;
  }
  return nullptr;
}

WordCache::Words WordCache::find_short(const CellKey& key, u64 hash) const {
  return words_at(level_->find(tables(), key, hash));
}

WordCache::Words WordCache::find_medium(const MediumKey& key, u64 hash) const {
  const WideSlot* const slot = slot_of(key, hash);
  return slot ? words_at(slot->ids) : Words{};
}

WordCache::Words WordCache::find_long(const u8* p, std::size_t n, u64 hash) const {
  if (n > kLongest) return {};
  const WideSlot* const slot = slot_of(key_of_long(p, n, hash), hash);
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
    log_.grow(log_.empty() ? std::min<std::size_t>(1024, log_limit_) : next_size(log_.size(), log_limit_));
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

void WordCache::insert_short(const CellKey& key, u64 hash, const u32* ids, std::size_t n_ids) {
  if (!works() || !fits(ids, n_ids)) return;
  const u32* const known = level_->find(tables(), key, hash);
  if (!known) return add_short(key, hash, ids, n_ids);
  // One that is there has lost its ids from the log, which only an entry of two cells has there.
  u32* const to = &lines_[static_cast<std::size_t>(known - lines_.begin())];
  u32 slot[kTwoCellIds] = {};
  if (*to >> 24 == kInLog && fill(slot, kTwoCellIds, ids, n_ids, nullptr, 0)) std::memcpy(to, slot, sizeof slot);
}

void WordCache::add_short(const CellKey& key, u64 hash, const u32* ids, std::size_t n_ids) {
  if (!works() || !fits(ids, n_ids)) return;
  const bool one = key.is_one_word() && n_ids <= kOneCellIds;
  u32 entry[2 * kCell] = {};
  if (!fill(entry + (one ? 2 : kCell), one ? kOneCellIds : kTwoCellIds, ids, n_ids, nullptr, 0)) return;
  std::memcpy(entry, &key.first, sizeof key.first);
  const u64 second = key.second | (entry[kCell] >> 24 == kInLog ? CellKey::kLogged : 0);
  if (!one) std::memcpy(entry + 2, &second, sizeof second);
  if (cells_used_ * 8 > 3 * n_lines() * (kLine / kCell) && n_lines() < line_limit_) grow_lines(next_size(n_lines(), line_limit_));
  put_cells(entry, one ? kCell : 2 * kCell, hash);
}

// Into the first line with room for it. The oldest entry of a line comes first: where no line has room, the oldest go.
void WordCache::put_cells(const u32* entry, std::size_t size, u64 hash) {
  cells_used_ += size / kCell;
  for (u64 which = hash; which < hash + kLines; ++which) {
    u32* const to = &lines_[(which & line_mask_) * kLine];
    const std::size_t used = level_->used(to) * kCell;
    if (used + size > kLine) continue;
    std::memcpy(to + used, entry, size * sizeof(u32));
    return;
  }
  u32* const to = &lines_[(hash & line_mask_) * kLine];
  std::size_t used = level_->used(to) * kCell, gone = 0;
  while (used - gone + size > kLine) gone += size_at(to + gone);
  used -= gone;
  std::memmove(to, to + gone, used * sizeof(u32));
  std::fill(to + used, to + kLine, 0u);
  std::memcpy(to + used, entry, size * sizeof(u32));
  cells_used_ -= gone / kCell;
}

// Line after line is taken out and put where it belongs now, which may be a line that is still to come: from there it is
// taken out once more.
void WordCache::grow_lines(std::size_t lines) {
  const std::size_t old_lines = lines_.empty() ? 0 : n_lines();
  lines_.grow(lines * kLine);
  line_mask_ = lines - 1;
  for (std::size_t i = 0; i < old_lines; ++i) {
    alignas(64) u32 taken[kLine];
    u32* const line = &lines_[i * kLine];
    std::memcpy(taken, line, sizeof taken);
    std::fill(line, line + kLine, 0u);
    const std::size_t end = level_->used(taken) * kCell;
    cells_used_ -= end / kCell;
    for (std::size_t at = 0; at < end; at += size_at(taken + at))
      put_cells(taken + at, size_at(taken + at), level_->hash(key_at(taken + at)));
  }
}

void WordCache::insert_medium(const MediumKey& key, u64 hash, const u32* ids, std::size_t n_ids) {
  if (!works() || !fits(ids, n_ids)) return;
  WideSlot word{key, {}};
  if (fill(word.ids, kWideIds, ids, n_ids, nullptr, 0)) put_wide(word, hash);
}

void WordCache::insert_long(const u8* p, std::size_t n, u64 hash, const u32* ids, std::size_t n_ids) {
  if (!works() || n > kLongest || !fits(ids, n_ids)) return;
  WideSlot word{key_of_long(p, n, hash), {}};
  if (fill(word.ids, 0, ids, n_ids, p, n)) put_wide(word, hash);
}

void WordCache::put_wide(const WideSlot& word, u64 hash) {
  if (wide_.size() < wide_limit_ && wide_used_ * 2 > wide_.size()) grow_wide(next_size(wide_.size(), wide_limit_));
  for (u64 which = hash; which < hash + kSlots; ++which) {
    WideSlot& slot = wide_[which & wide_mask_];
    const bool empty = slot.key.word[3] == 0;
    if (!empty && !(slot.key == word.key)) continue;
    slot = word;
    wide_used_ += empty;
    return;
  }
  // All taken: the newest comes first, the last one goes.
  for (u64 which = hash + kSlots - 1; which > hash; --which) wide_[which & wide_mask_] = wide_[(which - 1) & wide_mask_];
  wide_[hash & wide_mask_] = word;
}

void WordCache::grow_wide(std::size_t slots) {
  const std::size_t old_slots = wide_.size();
  wide_.grow(slots);
  wide_mask_ = slots - 1;
  for (std::size_t i = 0; i < old_slots; ++i) {
    const WideSlot slot = std::exchange(wide_[i], WideSlot{});
    if (slot.key.word[3] == 0) continue;
    --wide_used_;
    const bool is_long = slot.key.word[3] >> 56 == 0xFF;
    put_wide(slot, is_long ? slot.key.word[0] : slot.key.hash());
  }
}

}  // namespace bytepair
