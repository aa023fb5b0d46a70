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
  Merger(const PairTable& pairs, Order order) : pairs_(pairs), order_(order) {}

  // Symbols in, tokens out, in place. Short ones scan for the lowest rank; long ones keep a heap: n log n.
  void merge(std::vector<u32>& symbols);

  // The two ways, for the tests that hold them equal.
  void merge_by_scan(std::vector<u32>& symbols);
  void merge_by_heap(std::vector<u32>& symbols);

 private:
  static constexpr std::size_t kScanLimit = 64;

  const PairTable& pairs_;
  Order order_;
  std::vector<u32> ranks_, next_, previous_;
  std::vector<u64> heap_, batch_;
};

}  // namespace bytepair
