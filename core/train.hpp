// Learns merges from counted words: the most frequent pair, again and again. A merge costs what it touches.
//
// Why a lazy heap is exact here: all places of a pair are born in the step that makes the younger of its two symbols.
// From then on its count only falls and its first place only moves right, so an entry of the heap that is out of date
// stands too early, never too late; when it comes up it is corrected and put back.
#pragma once

#include <optional>
#include <queue>
#include <vector>

#include "alphabet.hpp"

namespace bytepair {

class Trainer {
 public:
  struct Merge {
    u32 left, right;
    i64 count;         // of the pair when it won
    i64 tied;          // pairs with that count, itself included
    i64 length_after;  // of the corpus in tokens
    u32 examples[3];   // the first words it was merged in; kNone where there are fewer
  };
  struct Best {
    u32 left, right;
    i64 count;
  };

  // Words text[offsets[i], offsets[i + 1]) with counts[i] > 0, in order of their first places; those of nothing but
  // class 1 of `dropped` (may be null) are left out. Symbols are numbered 0 .. n_symbols - 1 by the alphabet, merges go
  // on from there.
  Trainer(const u8* text, const i64* offsets, const i64* counts, std::size_t n_words, const ClassTable* dropped,
          const Alphabet& alphabet, u32 n_symbols, i64 min_count);

  // Learns until there are `wanted` merges in all, no pair is frequent enough, or the time is over. Returns how many
  // there are.
  std::size_t run(std::size_t wanted, double seconds);

  bool exhausted() const { return exhausted_; }
  const std::vector<Merge>& merges() const { return merges_; }
  i64 length_before() const { return length_before_; }
  // How often each symbol stands in the corpus now.
  std::vector<i64> frequencies() const;
  // The pair that would win now if no count were too low: by count, then by first place.
  std::optional<Best> best_left() const;

 private:
  static constexpr u32 kGap = kNone;       // between words
  static constexpr u32 kInside = kNone - 1;  // a cell within a token, neither its first nor its last

  struct Pair {
    u32 left, right;
    i64 count;
    std::size_t first, end;  // its places, ascending, in places_; those before `first` are gone
  };
  struct Candidate {
    i64 count;
    u32 place, pair;
    bool operator<(const Candidate& other) const {  // "worse than"
      return count != other.count ? count < other.count : place > other.place;
    }
  };
  // What one merge does to the pairs of one neighbouring symbol.
  struct Touched {
    i64 lost_left = 0, lost_right = 0;     // (symbol, left part), (right part, symbol)
    i64 gained_left = 0, gained_right = 0;  // (symbol, new), (new, symbol)
    std::size_t places_left = 0, places_right = 0;
    std::size_t at_left = 0, at_right = 0;  // where their next place goes in places_
    bool listed = false;
  };

  void build_pairs();
  u32 find_pair(u32 left, u32 right) const;
  void grow_index();
  i64& pairs_with(i64 count);
  bool next_candidate(Candidate& best);
  void apply(u32 pair_index);
  bool alive(const Pair& pair, u32 place) const {
    return cells_[place] == pair.left && cells_[place + length_[pair.left]] == pair.right;
  }
  void settle(u32 left, u32 right, i64 lost);
  void add_pair(u32 left, u32 right, i64 count, std::size_t first, std::size_t end);
  void count_change(i64 from, i64 to);
  Touched& touch(u32 symbol);

  // The corpus: a token fills as many cells as it has first symbols; its first and its last cell hold it.
  std::vector<u32> cells_, word_of_;
  std::vector<i64> counts_;
  std::vector<u32> length_;  // of each symbol, in cells
  i64 length_before_ = 0, length_now_ = 0;
  i64 min_count_;
  u32 n_symbols_;
  bool exhausted_ = false;

  std::vector<Pair> pairs_;
  std::vector<u32> places_;
  std::vector<std::pair<u64, u32>> index_;  // open addressing: pair -> its place in pairs_
  std::size_t index_mask_ = 0;
  std::priority_queue<Candidate> heap_;
  std::vector<i64> few_;                       // how many pairs have a count of so and so much, small counts
  std::vector<std::pair<i64, i64>> many_;      // the same for large counts, open addressing
  std::size_t many_used_ = 0;

  std::vector<Merge> merges_;
  std::vector<Touched> touched_;
  std::vector<u32> touched_list_;
  std::vector<std::pair<u32, u32>> born_left_, born_right_;  // (neighbour, place)
};

}  // namespace bytepair
