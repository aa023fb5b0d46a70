// What several threads have learned, told to each other: a log of words and their ids, which goes round. A word that one of
// them merged need not be merged by the others, who read the log when they have time and put it into their own caches.
//
// Nobody waits. A slot has a version, odd while it is written; who reads one that changes under the eyes has read nothing,
// and who would write one that is being written lets it be. All words of a slot are atomic, so that no read is a race; on
// common processors that costs nothing.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "text.hpp"

namespace bytepair {

class SharedWords {
 public:
  static constexpr std::size_t kIds = 6;

  struct Word {
    MediumKey key;
    std::size_t n = 0;
    u32 ids[kIds];
    unsigned writer = 0;
  };

  explicit SharedWords(std::size_t bytes);

  // Of at most kIds ids, each under 2^24. Writers are told apart by their number modulo kWriters.
  static constexpr unsigned kWriters = 32;
  void add(const MediumKey& key, const u32* ids, std::size_t n, unsigned writer);
  // The next word from place `at` on, which moves behind it; false where there is none yet. What was written over is left
  // out.
  bool next(u64& at, Word& word) const;

  std::size_t bytes() const { return slots_ ? (mask_ + 1) * sizeof(Slot) : 0; }

 private:
  // For how many later words one that is being written is waited for.
  static constexpr u64 kPatience = 64;

  struct alignas(64) Slot {
    std::atomic<u64> version{0};            // 2 at + 1 while the word of place `at` is written, then 2 at + 2
    std::array<std::atomic<u64>, 7> words{};  // four of the key, three of ids; above the first id their number and writer
  };
  static_assert(sizeof(Slot) == 64);

  std::unique_ptr<Slot[]> slots_;
  std::size_t mask_ = 0;
  std::atomic<u64> added_{0};
};

}  // namespace bytepair
