// Merges a long pretoken in one pass: the tokens one after the other, stepping back where no token fits.
//
// Two facts make it exact, for any table. (1) Of a merged text, each token alone merges to itself, and each two
// neighbours alone merge to themselves: no merge goes over the outer ends of such a stretch, and the order of ranks and
// places, cut down to the stretch, is the stretch's own order. (2) Tokens of which each alone, and each two neighbours,
// merge to themselves are the merged text: the first merge over a border would, by the same reason, be one when the
// two tokens beside it merge alone. So there is one such sequence for each prefix of the text, and it is found by taking
// the longest token that may stand behind the last one, then the shorter ones; a prefix that cannot go on is marked
// and never tried again, which keeps the work linear. (The method of GitHub's `bpe` crate; the proof here asks less.)
//
// Whether two tokens stay apart is seen by undoing their merges from the border outwards, the latest first: they do
// not if at some time the two symbols beside the border merge before either changes. That takes tokens whose parts
// are made before them. The rare ones whose parts come later, in unordered lists, are merged beside their neighbour
// instead. The order that takes all places of a rank at once is the same order where every part of every pair is made
// before it and no two pairs share a rank; else it has no such table.
#pragma once

#include <vector>

#include "pairs.hpp"

namespace bytepair {

class Linear {
 public:
  Linear(const PairTable& pairs, bool whole_rank);

  // Whether the table's symbols are each made of one sequence of atoms, and the order is one that this serves.
  bool usable() const { return usable_; }

  struct Scratch {
    std::vector<u64> open;  // a bit for each place: whether a token may end there
    std::vector<u32> symbols, ranks;
  };

  // Appends the tokens of symbols[0, n); false, and nothing done, where one of them is no atom of the table.
  bool merge(const u32* symbols, std::size_t n, Scratch& scratch, std::vector<u32>& out) const;

 private:
  struct Parts {
    u32 left = kNone, right = kNone;  // the two symbols that it was at last
    u32 time = 0;                     // when they merged, from 1; 0: an atom
    u32 shorter = kNone;              // the longest token that this one begins with
  };
  struct Found {
    u32 left, right, rank, made;
  };
  // The tree of tokens while it grows.
  struct Growing {
    std::vector<u32> above, token;  // of a node: its parent, and the token that ends there
    std::vector<u32> node;          // of a token: where it ends
  };

  bool spelled_one_way(const std::vector<Found>& found);
  bool in_order(const std::vector<Found>& found) const;
  void find_tokens(const std::vector<Found>& found);
  u32 add(Growing& tree, u32 node, u32 symbol);
  void grow();
  std::size_t place(u64 key) const { return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ull) >> shift_); }
  u32 child(u32 node, u32 symbol) const {
    const u64 key = static_cast<u64>(node) << 21 | symbol;
    for (std::size_t i = place(key);; i = (i + 1) & mask_) {
      if (slots_[i] >> kNodeBits == key) return static_cast<u32>(slots_[i]) & kMaxNode;
      if (slots_[i] == kEmpty) return kNone;
    }
  }
  u32 longest(const u32* symbols, std::size_t n) const;
  bool apart(u32 left, u32 right, u32 limit) const;
  bool apart_by_merging(u32 left, u32 right, Scratch& scratch) const;
  void merge_alone(Scratch& scratch) const;
  void spell(u32 id, std::vector<u32>& out) const;
  bool is_regular(u32 id) const { return irregular_.empty() || !irregular_[id]; }

  static constexpr int kNodeBits = 21;
  static constexpr u32 kMaxNode = (1u << kNodeBits) - 1;
  static constexpr u64 kEmpty = ~u64{0};
  static constexpr u32 kLongest = 1u << 16;  // the atoms of a symbol, or the table is not usable

  const PairTable& pairs_;
  bool usable_ = false;
  std::vector<Parts> parts_;
  std::vector<u32> lengths_;     // in atoms
  std::vector<u32> roots_;       // of an atom: its node; kNone of others
  std::vector<bool> irregular_;  // tokens with a part made later; empty where there is none
  std::vector<u64> slots_;       // (node, symbol) << 21 | node
  std::vector<u32> longest_;     // of a node: the longest token on the way to it
  std::size_t mask_ = 0, used_ = 0;
  int shift_ = 64;
};

}  // namespace bytepair
