// Where a long pretoken may be cut before it is merged: between two symbols that no merge ever joins.
//
// Each merge joins two symbols at one place, its joint: what the left one ends with and what the right one begins with.
// Spelled out in atoms (symbols that no pair makes) a merged symbol keeps its ends, so a place whose two atoms are the
// joint of no pair stays a border, whatever was merged before. Merging both sides apart then is merging the whole: the
// order of ranks and places, cut down to one side, is that side's own order. This holds for any table, in both orders.
#pragma once

#include <vector>

#include "pairs.hpp"

namespace bytepair {

class Joints {
 public:
  explicit Joints(const PairTable& pairs);

  // Whether a merge may ever go over the place between these neighbours.
  bool may_join(u32 left, u32 right) const {
    if (left >= ends_.size() || right >= ends_.size()) return !sound_;
    const u32 at = (ends_[left].last * last_factor_ + ends_[right].first * first_factor_) >> shift_;
    return bits_[at >> 6] >> (at & 63) & 1;
  }

 private:
  struct Ends {
    u32 first = 0, last = 0;  // atoms, numbered from 1; 0: in no pair
  };

  std::vector<Ends> ends_;
  std::vector<u64> bits_;
  u32 last_factor_ = 257, first_factor_ = 1;
  int shift_ = 0;
  bool sound_ = true;
};

}  // namespace bytepair
