// What several threads have learned together: a second cache behind each thread's own. A word that one of them merged
// need not be merged by the others.
//
// Nobody waits. A slot has a version, odd while it is written; who reads one that changes under the eyes has found
// nothing, and who would write one that is being written lets it be. All words of a slot are atomic, so that no read is
// a race; on common processors that costs nothing.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "word_cache.hpp"

namespace bytepair {

class SharedWords {
 public:
  static constexpr std::size_t kIds = 6;

  explicit SharedWords(std::size_t bytes);

  // The ids of a pretoken of at most MediumKey::kMax bytes: their number, 0 where it is not known.
  std::size_t find(const MediumKey& key, u32* ids) const;
  void prefetch_word(const MediumKey& key) const {
    if (slots_) prefetch(&slots_[key.hash() & mask_]);
  }
  // Of at most kIds ids, each under 2^24.
  void insert(const MediumKey& key, const u32* ids, std::size_t n);

  std::size_t bytes() const { return slots_ ? (mask_ + 1) * sizeof(Slot) : 0; }

 private:
  struct alignas(64) Slot {
    std::atomic<u64> version{0};
    std::array<std::atomic<u64>, 7> words{};  // four of the key, three of ids; the first id has their number above it
  };
  static_assert(sizeof(Slot) == 64);

  std::unique_ptr<Slot[]> slots_;
  std::size_t mask_ = 0;
};

}  // namespace bytepair
