// Runs a compiled pattern: one table look-up a character, no rescan, no backtracking. The tables come from Python
// (bytepair.pattern), which also explains the machine; they are checked here before they are used.
#pragma once

#include <vector>

#include "cursor.hpp"
#include "text.hpp"

namespace bytepair {

class Automaton {
 public:
  // One step's work on the borders, where it is more than "a pretoken ends before this character". A state is a stack of
  // levels, each a pretoken that may begin at a border which is not certain yet; a level's mark is the number of borders
  // when it began. First, if a level accepts, the borders back to its mark go and this one comes; then marks move.
  struct Move {
    u16 to, from;  // kHere as `from`: the number of borders now
  };
  static constexpr u16 kHere = 0xFFFF;

  struct Tables {
    u32 width = 0;                  // the most levels that a state has
    std::vector<u16> begin;         // the state that a pretoken begins in behind each class; the last begins a text
    std::vector<u16> levels;        // of each state
    std::vector<u16> next, action;  // rows of n_classes + 1, the last column for the end of the text
    // By number: accepting level + 1 or 0, the border's kind, the number of moves, their (to, from). The first is
    // "nothing", the second "level 0 accepts, its mark is here". Kinds: 0 a match's end, 1 a gap's, which goes where
    // the next border is a gap's too, 2 a gap's that stays.
    std::vector<std::vector<u16>> actions;
    std::vector<u8> strong;  // pairs (class before, class behind) between which a text can always be cut in two
  };

  Automaton(ClassTable classes, const Tables& tables);

  // Scans on in s[.., n) and returns how many ends in cursor.ends[0 ..] are certain now; they are handed out by it.
  // Without `last` more text may follow, and 0 means that it is needed; with `last`, that the run is over.
  std::size_t fill(Cursor& cursor, const u8* s, std::size_t n, bool last, std::size_t wanted) const;

  // The same of a text that is all there, each line of it a text of its own with the \n that ends it.
  std::size_t fill_lines(Cursor& cursor, const u8* s, std::size_t n, std::size_t wanted) const;

  // A cursor that goes on at `at`, behind the text s[from, at) of the same run.
  void restart(Cursor& cursor, const u8* s, std::size_t from, std::size_t at) const;

  // The first place in (from, n) where the text s[0, n) can be cut in two, each cut on its own, or n.
  std::size_t safe_cut(const u8* s, std::size_t from, std::size_t n) const;

  const ClassTable& classes() const { return classes_; }

 private:
  // Flags of borders, above their places.
  static constexpr std::size_t kGap = std::size_t{1} << (sizeof(std::size_t) * 8 - 1);
  static constexpr std::size_t kLastGap = kGap >> 1;
  static constexpr int kWorkBits = 14;
  static constexpr u32 kWorkMask = (1u << kWorkBits) - 1;
  static constexpr std::size_t kPairLimit = 1 << 14;  // entries of the table of pairs: it should stay in the first cache

  struct Action {
    int accepts;
    std::size_t flag;
    u32 first_move, end_move;  // in moves_
  };

  bool repeats(const Action& action) const;
  u8 class_before(const u8* s, std::size_t from, std::size_t at) const;

  void build_pairs();
  static void drop_handed(Cursor& cursor);
  std::size_t hand_out(Cursor& cursor, std::size_t certain) const;
  std::size_t act(u32 work, std::size_t here, std::size_t found, Cursor& cursor) const;

  ClassTable classes_;
  u32 stride_, width_;
  std::vector<u32> begin_;  // rows
  std::vector<u8> strong_;
  bool has_gaps_ = false;
  std::vector<Action> actions_;
  std::vector<Move> moves_;
  // Where a state has one level, all borders are certain; mark 0, their number, is not kept up to date there.
  std::vector<bool> one_level_;
  // Offset of the next state's row << 14 | work: 0 nothing, 1 a border and no more to it, else 16 k + 2 for actions_[k],
  // + 1 where the state before has one level, + 4 where the state after has, + 8 where the same class again leads to
  // the same state by the same work, of which only the last then counts.
  std::vector<u32> table_;
  // The same for two ASCII characters at once: row (of this table) << 3 | 4: something more | a border before the second
  // | before the first. Empty where it would be too large.
  std::vector<u32> pairs_;
  u32 pair_shift_ = 0;
  std::vector<u16> pair_row_;  // by the row of table_: a division is too slow
  u8 ascii_[128];
  u16 ascii_first_[128];  // class * (number of classes)
};

}  // namespace bytepair
