// Learns merges from counted words: the most frequent pair, again and again. A merge costs what it touches.
//
// All places of a pair are born in the step that makes the younger of its two symbols. From then on its count only falls
// and its first place only moves right. So pairs can wait in buckets by count, each in one: what is out of date stands
// in a bucket too high, never too low, and is put where it belongs when that bucket's turn comes. Only within the bucket
// whose turn it is are pairs ordered, by what the convention says of ties.
#pragma once

#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "alphabet.hpp"
#include "merge.hpp"
#include "place_arena.hpp"

namespace bytepair {

// Which of two equally frequent pairs wins.
enum class Ties {
  first,     // the one whose first place comes first
  smallest,  // the one with the smallest (left, right), as numbers that are given
  greatest,  // the one with the greatest (left, right), as texts
};

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
  struct Options {
    i64 min_count = 2;
    Ties ties = Ties::first;
    // Of each symbol, unless ties go by first places: its number, under n_symbols. Merges are numbered on from there.
    std::vector<u32> numbers;
    // Of each symbol, with Ties::greatest: its text. Merges have that of their parts. Of equal texts the smallest number
    // wins.
    std::vector<std::string> texts;
    u32 max_length = kNone;  // of a merge, in first symbols
    // What is merged before training starts, and how many first symbols each symbol stands for then.
    const PairTable* given = nullptr;
    Order given_order = Order::one_place;
    std::vector<u32> lengths;
  };

  // Words text[offsets[i], offsets[i + 1]) with counts[i] > 0, in order of their first places; those of nothing but
  // class 1 of `dropped` (may be null) are left out. Symbols are numbered 0 .. n_symbols - 1 by the alphabet, merges go
  // on from there. The symbol n_symbols is none: what the alphabet does not have, which no merge crosses.
  Trainer(const u8* text, const i64* offsets, const i64* counts, std::size_t n_words, const ClassTable* dropped,
          const Alphabet& alphabet, u32 n_symbols, const Options& options);

  // Learns until there are `wanted` merges in all, no pair is frequent enough, or the time is over. Returns how many
  // there are.
  std::size_t run(std::size_t wanted, double seconds);

  bool exhausted() const { return exhausted_; }
  const std::vector<Merge>& merges() const { return merges_; }
  i64 length_before() const { return length_before_; }
  // How often each symbol stands in the corpus now.
  std::vector<i64> frequencies() const;
  // The pair that would win now if no count were too low.
  std::optional<Best> best_left();

 private:
  static constexpr u32 kGap = kNone;         // before and behind words, and what no merge crosses
  static constexpr u32 kInside = kNone - 1;  // a cell within a token, neither its first nor its last
  static constexpr u32 kLongWord = 64;       // cells; where longer ones are is looked up
  static constexpr u32 kLarge = 1u << 31;     // a weight from here on is a place in large_counts_

  // A token fills as many cells as it has first symbols; its first and its last cell hold it. A gap's weight is the
  // number of the word behind it.
  struct Cell {
    u32 symbol, weight;
  };
  struct Pair {
    u32 left, right;
    i64 count;
    u32* places;  // ascending; some are gone
    u32 n_places;
    u32 next;  // in its bucket
  };
  struct Entry {
    u64 key;  // the lowest comes first; with Ties::greatest equal keys need a second look
    u32 pair;
  };
  // What one merge does to the pairs of one neighbouring symbol: (symbol, new) and (new, symbol).
  struct Touched {
    u32 symbol, n_left = 0, n_right = 0;
    i64 gained_left = 0, gained_right = 0;
    u32 *places_left = nullptr, *places_right = nullptr;
  };
  struct Born {
    u32 touched, place;
  };

  struct LongWord {
    u32 gap, end;  // the cell before it, and the one behind it
  };

  void build_cells(const u8* text, const i64* offsets, const i64* counts, std::size_t n_words,
                   const ClassTable* dropped, const Alphabet& alphabet, const Options& options);
  void build_pairs();
  i64 count_at(u32 place) const {
    const u32 weight = cells_[place].weight;
    return weight < kLarge ? weight : large_counts_[weight - kLarge];
  }
  u32 word_at(u32 place, u32& end) const;
  bool alive(const Pair& pair, u32 place) const {
    return cells_[place].symbol == pair.left && cells_[place + length_[pair.left]].symbol == pair.right;
  }

  void index_pair(u32 pair);
  u32 find_pair(u32 left, u32 right) const;
  void prefetch_index(u32 left, u32 right) const;
  void add_pair(u32 left, u32 right, i64 count, u32* places, u32 n_places);
  void settle(u32 left, u32 right, i64 lost);

  void file(u32 pair);
  bool open_bucket();
  u32 next_pair();
  u64 key_of(const Pair& pair) const;
  u64 key_of(u32 left, u32 right) const;
  u32 number(u32 symbol) const { return symbol < n_symbols_ ? numbers_[symbol] : symbol; }
  bool later(const Entry& a, const Entry& b) const;
  bool wins(u32 left, u32 right, u32 other_left, u32 other_right) const;
  void push(Entry entry);

  void apply(u32 pair_index);
  u32 touch(u32 symbol);

  std::vector<Cell> cells_;
  std::vector<i64> large_counts_;
  std::vector<LongWord> long_words_;
  std::vector<u32> length_;  // of each symbol, in cells
  std::vector<u32> numbers_;
  std::vector<u8> texts_;  // those of all symbols, with Ties::greatest
  std::vector<std::size_t> text_ends_;
  i64 length_before_ = 0, length_now_ = 0;
  i64 min_count_;
  u32 n_symbols_, max_length_;
  Ties ties_;
  bool exhausted_ = false;

  std::vector<Pair> pairs_;
  PlaceArena arena_;
  std::vector<u64> index_;  // open addressing: a part of the hash, and a place in pairs_ that is not kNone
  std::size_t index_mask_ = 0;

  std::vector<u32> buckets_;  // pairs by count, small counts
  std::size_t bucket_ = 0;    // none above has any
  std::priority_queue<std::pair<i64, u32>> above_;  // pairs of large counts
  i64 open_count_ = 0;        // of the pairs whose turn it is
  i64 open_pairs_ = 0;        // how many have it
  std::vector<Entry> open_;   // a heap

  std::vector<Merge> merges_;
  std::vector<u32> touched_at_;  // of each symbol, its place in touched_, or kNone
  std::vector<Touched> touched_;
  std::vector<Born> born_left_, born_right_;
};

}  // namespace bytepair
