// Merges the symbols of one pretoken to the end, by rank.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "joints.hpp"
#include "linear.hpp"
#include "pairs.hpp"
#include "simd.hpp"

namespace bytepair {

enum class Order {
  one_place,    // the lowest rank present, its leftmost place, then look again (the rank rule; and any merge list in
                // which each part is made before it is used: there both orders give the same)
  whole_rank,   // the lowest rank present, all its places from left to right, then look again
};

// What long pretokens need beside the pairs, made when enough of them have come to pay for it; all threads share it.
class LongTables {
 public:
  // So many symbols in long pretokens cost about as much without the tables as the tables do.
  static constexpr std::size_t kJointsPay = 1 << 14, kLinearPays = 1 << 17;

  LongTables(const PairTable& pairs, Order order) : pairs_(pairs), order_(order) {}
  ~LongTables();
  LongTables(const LongTables&) = delete;
  LongTables& operator=(const LongTables&) = delete;

  // Null where it is not made yet, or of no use for this table.
  const Joints* joints() const { return joints_.load(std::memory_order_acquire); }
  const Linear* linear() const {
    const Linear* const made = linear_.load(std::memory_order_acquire);
    return made && made->usable() ? made : nullptr;
  }

  // Tell of a long pretoken to come, and of what is left of it where it could be cut.
  void expect(std::size_t symbols);
  void expect_uncut(std::size_t symbols);

 private:
  const PairTable& pairs_;
  Order order_;
  std::atomic<std::size_t> seen_{0}, uncut_{0};
  // Two threads may both make one, and the second lets its own go: whoever waited for another would wait for ever in the
  // child of a fork() that left the other behind.
  std::atomic<const Joints*> joints_{nullptr};
  std::atomic<const Linear*> linear_{nullptr};
};

class Merger {
 public:
  static constexpr std::size_t kScanLimit = 64;
  static constexpr std::size_t kFewSymbols = 12;  // up to so many a scan beats the linear way

  // Long pretokens fall back on the heap where there are no tables for them.
  Merger(const PairTable& pairs, Order order, LongTables* tables = nullptr, const Simd& level = simd());

  // Symbols in, tokens out, in place. Short ones scan for the lowest rank. Long ones merge a run at a time, or are cut
  // where nothing can join and go token by token; where there are no tables for that, a heap: n log n.
  void merge(std::vector<u32>& symbols);

  // The same of bytes, each of which is the symbol ids[byte]: for those that are few runs of equal ones, a million letters
  // say. Into `out`; false where they are not, or runs cannot be merged as one, and nothing was done.
  bool merge_runs_of(const u8* p, std::size_t n, const u32* ids, std::vector<u32>& out);

  // Of at most kScanLimit symbols, with ranks[i] that of the pair at i: in place, returns how many are left.
  std::size_t merge_short(u32* symbols, u32* ranks, std::size_t n) const;

  // What it keeps for the pretokens to come: it grows with the longest one.
  std::size_t scratch_bytes() const {
    return (ranks_.capacity() + next_.capacity() + previous_.capacity()) * sizeof(u32) +
           (part_.capacity() + tokens_.capacity() + scratch_.symbols.capacity() + scratch_.ranks.capacity()) * sizeof(u32) +
           (heap_.capacity() + batch_.capacity() + scratch_.open.capacity()) * sizeof(u64) + (runs_.capacity() + merged_.capacity()) * sizeof(Run);
  }

  // The ways, for the tests that hold them equal. The scan: of at most kScanLimit symbols. Runs: of equal symbols, each
  // merged as one; false where that is not the order, and nothing was done.
  void merge_by_scan(std::vector<u32>& symbols);
  void merge_by_heap(std::vector<u32>& symbols);
  bool merge_by_runs(std::vector<u32>& symbols);

 private:
  struct Run {
    u32 symbol;
    std::size_t count;
  };
  template <class Unit>
  static bool repeats(const Unit* units, std::size_t n);
  void push(std::vector<Run>& runs, u32 symbol, std::size_t count);
  bool merge_runs(std::vector<u32>& out);
  void merge_in_parts(std::vector<u32>& symbols, const Joints& joints);
  void merge_part(const u32* part, std::size_t n);
  std::size_t merge_whole_ranks(u32* symbols, u32* ranks, std::size_t n) const;

  const PairTable& pairs_;
  Order order_;
  LongTables* tables_;
  std::size_t (*few_)(const PairTable&, u32*, const u32*, std::size_t);  // merge_short(), for an instruction set
  Linear::Scratch scratch_;
  std::vector<u32> part_, tokens_;
  std::vector<u32> ranks_, next_, previous_;
  std::vector<u64> heap_, batch_;
  std::vector<Run> runs_, merged_;
};

}  // namespace bytepair
