// Cuts text into pretokens: a pattern's automaton, sped up by 64-byte blocks where its family is known.
#pragma once

#include <optional>

#include "automaton.hpp"
#include "blocks.hpp"
#include "specials.hpp"

namespace bytepair {

class Splitter {
 public:
  explicit Splitter(Automaton automaton) : automaton_(std::move(automaton)) {}
  Splitter(Automaton automaton, Family family, const std::vector<u8>& flags, const Simd& level)
      : automaton_(std::move(automaton)), blocks_(std::in_place, family, automaton_.classes(), flags, level) {}

  // The next ends of pretokens of the run s[cursor's start, n): how many in cursor.ends[0 ..]; 0 at the end of the run
  // or, without `last`, where more text is needed. `wanted` is a hint.
  std::size_t fill(Cursor& cursor, const u8* s, std::size_t n, bool last, std::size_t wanted = 1024) const {
    return blocks_ ? blocks_->fill(automaton_, cursor, s, n, last, wanted)
                   : automaton_.fill(cursor, s, n, last, wanted);
  }

  // The same of a text that is all there and whose lines are cut each on its own, with the \n that ends it.
  std::size_t fill_lines(Cursor& cursor, const u8* s, std::size_t n, std::size_t wanted = 1024) const {
    return blocks_ ? blocks_->fill_lines(automaton_, cursor, s, n, wanted)
                   : automaton_.fill_lines(cursor, s, n, wanted);
  }

  void restart(Cursor& cursor, const u8* s, std::size_t from, std::size_t at) const {
    automaton_.restart(cursor, s, from, at);
  }
  // The first place in (from, n) where s[0, n) can be cut in two, each cut on its own, and not across the name of a
  // special token; n where there is none.
  std::size_t safe_cut(const u8* s, std::size_t from, std::size_t n, const Specials* specials) const {
    std::size_t at = automaton_.safe_cut(s, from, n);
    while (at < n && specials && specials->across(s, n, at)) at = automaton_.safe_cut(s, at, n);
    return at;
  }

 private:
  Automaton automaton_;
  std::optional<Blocks> blocks_;
};

}  // namespace bytepair
