#include "shared_words.hpp"

namespace bytepair {

SharedWords::SharedWords(std::size_t bytes) {
  std::size_t slots = 1;
  while (slots * 2 * sizeof(Slot) <= bytes) slots *= 2;
  if (slots * sizeof(Slot) > bytes) return;
  slots_ = std::make_unique<Slot[]>(slots);
  mask_ = slots - 1;
}

std::size_t SharedWords::find(const MediumKey& key, u32* ids) const {
  if (!slots_) return 0;
  const Slot& slot = slots_[key.hash() & mask_];
  const u64 version = slot.version.load(std::memory_order_acquire);
  if (version & 1) return 0;
  for (std::size_t k = 0; k < 4; ++k) {
    if (slot.words[k].load(std::memory_order_acquire) != key.word[k]) return 0;
  }
  u64 packed[3];
  for (std::size_t k = 0; k < 3; ++k) packed[k] = slot.words[4 + k].load(std::memory_order_acquire);
  // A word that a later writer stored was read with what came before it: that its version is odd, or another.
  if (slot.version.load(std::memory_order_relaxed) != version) return 0;
  std::memcpy(ids, packed, sizeof packed);
  const std::size_t n = ids[0] >> 24;
  ids[0] &= 0xFFFFFF;
  return n;
}

void SharedWords::insert(const MediumKey& key, const u32* ids, std::size_t n) {
  if (!slots_) return;
  Slot& slot = slots_[key.hash() & mask_];
  u64 version = slot.version.load(std::memory_order_relaxed);
  if (version & 1 || !slot.version.compare_exchange_strong(version, version + 1, std::memory_order_acquire)) return;
  u32 numbers[kIds] = {};
  std::memcpy(numbers, ids, n * sizeof(u32));
  numbers[0] |= static_cast<u32>(n) << 24;
  u64 packed[3];
  std::memcpy(packed, numbers, sizeof packed);
  for (std::size_t k = 0; k < 4; ++k) slot.words[k].store(key.word[k], std::memory_order_release);
  for (std::size_t k = 0; k < 3; ++k) slot.words[4 + k].store(packed[k], std::memory_order_release);
  slot.version.store(version + 2, std::memory_order_release);
}

}  // namespace bytepair
