// Merges the symbols of one pretoken to the end, by rank.
#pragma once

#include <vector>

#include "pairs.hpp"

namespace bytepair {

enum class Order {
  one_place,    // the lowest rank present, its leftmost place, then look again (the rank rule; and any merge list in
                // which each part is made before it is used: there both orders give the same)
  whole_rank,   // the lowest rank present, all its places from left to right, then look again
};

class Merger {
 public:
  static constexpr std::size_t kScanLimit = 64;

  Merger(const PairTable& pairs, Order order) : pairs_(pairs), order_(order) {}

  // Symbols in, tokens out, in place. Short ones scan for the lowest rank; long ones keep a heap: n log n.
  void merge(std::vector<u32>& symbols);

  // Of at most kScanLimit symbols, with ranks[i] that of the pair at i: in place, returns how many are left.
  std::size_t merge_short(u32* symbols, u32* ranks, std::size_t n) const;

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
  static bool repeats(const std::vector<u32>& symbols);
  std::size_t merge_whole_ranks(u32* symbols, u32* ranks, std::size_t n) const;

  const PairTable& pairs_;
  Order order_;
  std::vector<u32> ranks_, next_, previous_;
  std::vector<u64> heap_, batch_;
  std::vector<Run> runs_, merged_;
};

}  // namespace bytepair
