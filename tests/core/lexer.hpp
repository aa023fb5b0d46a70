// The plain twin of the automaton: a lexer that cuts one pretoken off the front of the text, then begins anew behind it;
// stage after stage where a pattern has several. It reads on to the last accept and back, so it is slow on some texts.
#pragma once

#include "tables.hpp"

namespace bytepair::test {

// Appends the ends of what one stage cuts s[from, to) into, taken as a text of its own.
inline void lex_stage(const LexerStage& stage, const u8* s, std::size_t from, std::size_t to, std::vector<std::size_t>& ends) {
  const u32 width = stage.classes.n_classes() + 1;
  u32 before = stage.classes.n_classes();
  bool behind_gap = false;
  for (std::size_t start = from; start < to;) {
    std::size_t state = stage.begin[before], accepted = start, i = start;
    u8 kind = 0;
    u32 last = before, class_at_accept = before;
    for (;;) {
      u32 length = 0;
      const u32 c = i < to ? stage.classes.at(s, i, to, length) : width - 1;
      const std::size_t cell = state * width + c;
      if (stage.kind[cell]) {
        kind = stage.kind[cell];
        accepted = i;
        class_at_accept = last;
      }
      if (i == to || stage.next[cell] == LexerStage::kDead) break;
      state = stage.next[cell];
      last = c;
      i += length;
    }
    if (accepted == start) throw std::logic_error("the lexer accepts nothing");
    const bool is_gap = kind == 2;
    if (is_gap && behind_gap) ends.pop_back();  // neighbouring gaps are one pretoken
    behind_gap = is_gap;
    ends.push_back(accepted);
    start = accepted;
    before = class_at_accept;
  }
}

inline std::vector<std::size_t> lex(const Pattern& pattern, const u8* s, std::size_t n) {
  std::vector<std::size_t> pieces;
  if (n > 0) pieces.push_back(n);
  for (const LexerStage& stage : pattern.stages) {
    std::vector<std::size_t> ends;
    std::size_t from = 0;
    for (const std::size_t to : pieces) {
      lex_stage(stage, s, from, to, ends);
      from = to;
    }
    pieces.swap(ends);
  }
  return pieces;
}

}  // namespace bytepair::test
