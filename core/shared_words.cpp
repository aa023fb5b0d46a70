#include "shared_words.hpp"

namespace bytepair {

SharedWords::SharedWords(std::size_t bytes) {
  std::size_t slots = 1;
  while (slots * 2 * sizeof(Slot) <= bytes) slots *= 2;
  if (slots * sizeof(Slot) > bytes) return;
  slots_ = std::make_unique<Slot[]>(slots);
  mask_ = slots - 1;
}

void SharedWords::add(const MediumKey& key, const u32* ids, std::size_t n, unsigned writer) {
  if (!slots_) return;
  const u64 at = added_.fetch_add(1, std::memory_order_acq_rel);
  Slot& slot = slots_[at & mask_];
  u64 version = slot.version.load(std::memory_order_relaxed);
  // It may be that of a place a round before, or after: this thread may have slept.
  if (version & 1 || version > 2 * at) return;
  if (!slot.version.compare_exchange_strong(version, 2 * at + 1, std::memory_order_acquire)) return;
  u32 numbers[kIds] = {};
  std::memcpy(numbers, ids, n * sizeof(u32));
  numbers[0] |= static_cast<u32>(n | writer % kWriters << 3) << 24;
  u64 packed[3];
  std::memcpy(packed, numbers, sizeof packed);
  for (std::size_t k = 0; k < 4; ++k) slot.words[k].store(key.word[k], std::memory_order_release);
  for (std::size_t k = 0; k < 3; ++k) slot.words[4 + k].store(packed[k], std::memory_order_release);
  slot.version.store(2 * at + 2, std::memory_order_release);
}

bool SharedWords::next(u64& at, Word& word) const {
  if (!slots_) return false;
  const u64 added = added_.load(std::memory_order_acquire);
  if (added > mask_ + 1 && at < added - mask_ - 1) at = added - mask_ - 1;
  for (; at < added; ++at) {
    const Slot& slot = slots_[at & mask_];
    const u64 version = slot.version.load(std::memory_order_acquire);
    if (version < 2 * at + 2 && added - at <= kPatience) return false;
    if (version != 2 * at + 2) continue;
    for (std::size_t k = 0; k < 4; ++k) word.key.word[k] = slot.words[k].load(std::memory_order_acquire);
    u64 packed[3];
    for (std::size_t k = 0; k < 3; ++k) packed[k] = slot.words[4 + k].load(std::memory_order_acquire);
    // A word that a later writer stored was read with what came before it: that its version is odd, or another.
    if (slot.version.load(std::memory_order_relaxed) != version) continue;
    std::memcpy(word.ids, packed, sizeof packed);
    word.n = word.ids[0] >> 24 & 7;
    word.writer = word.ids[0] >> 27;
    word.ids[0] &= 0xFFFFFF;
    ++at;
    return true;
  }
  return false;
}

}  // namespace bytepair
