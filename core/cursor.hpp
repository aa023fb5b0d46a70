// Where the cutting of one run of text stands. A run is cut on its own: from a special token to the next, or a document.
#pragma once

#include <memory>
#include <vector>

#include "text.hpp"

namespace bytepair {

// What one block of 64 bytes leaves to the next: single bits are about its last byte, masks and places about the next.
struct BlockCarry {
  u64 letter = 0, only_lower = 0, both = 0, number = 0, punct = 0, blank = 0, space = 0, newline = 0, taken = 0, white = 0;
  u64 alone = 0;                     // it ends a punctuation character that takes the word behind it
  u64 alone_next = 0;                // such a character ends there in the next block
  u64 forced_next = 0, inside_next = 0;  // starts behind a contraction; places within one
  unsigned digits = 0;               // of the group of numbers that is open
  unsigned char_bytes = 0;           // of the last character, in the next block
  u8 char_flags = 0;
  std::size_t contraction_end = 0;   // where the last one ended
};

struct Cursor {
  explicit Cursor(std::size_t from = 0) : at(from), scanned(from), fresh(from) {}

  void restart(std::size_t from) {
    at = scanned = fresh = from;
    handed = found = 0;
    finished = blocks_over = false;
    blocks_until = line_end = 0;
    begin = kNone;
    marks.clear();
    carry = BlockCarry{};
  }

  std::size_t at;       // where the next pretoken begins: the last end that was handed out
  std::size_t scanned;  // where the scan goes on
  std::vector<std::size_t> ends;  // of pretokens; the first `handed` were handed out, those from `found` on are room
  std::size_t handed = 0, found = 0;
  bool finished = false;

  // The automaton: the row of its state, and how many ends there were when each of its levels began (none: at its start).
  u32 row = 0;
  std::vector<std::size_t> marks;
  u32 begin = kNone;  // the class of the character before its start, kNone at the start of a text

  // The blocks: where they last began anew, how far they may go (0: not known yet), and what the last one left.
  std::size_t fresh;
  std::size_t blocks_until = 0;
  bool blocks_over = false;
  BlockCarry carry;
  std::unique_ptr<Cursor> aside;  // of the automaton, when it helps out

  std::size_t line_end = 0;  // where each line is a text of its own: the end of the one in hand (0: not known yet)
};

}  // namespace bytepair
