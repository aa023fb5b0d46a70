// Cuts text 64 bytes at a time: class masks in, pretoken borders out, by 64-bit arithmetic. For the pattern families that
// most tokenizers use. What a block cannot tell by itself (rare) and the end of the text go to the automaton of the
// same pattern, which is exact everywhere: this file only says what the automaton would say, sooner.
#pragma once

#include "automaton.hpp"
#include "simd.hpp"

namespace bytepair {

enum class Family { gpt2, cl100k, qwen2, o200k, tekken };

// What a class of characters is for a family, as flags. o200k, tekken: a letter that counts as both cases has both, a
// mark has both and kMark. The others: every letter is kLower.
enum Flag : u8 {
  kUpper = 1,
  kLower = 2,
  kNumber = 4,
  kBlank = 8,     // U+0020
  kNewline = 16,  // \r \n
  kWhite = 32,    // other white space
  kQuote = 64,    // the apostrophe
  kSlash = 128,   // "/"
  kMark = 128,    // beyond ASCII
  kHard = 64,     // beyond ASCII: not for the arithmetic
};

class Blocks {
 public:
  // flags[c] are those of the automaton's class c; the apostrophe and the slash are found here.
  Blocks(Family family, const ClassTable& classes, const std::vector<u8>& flags, const Simd& level);

  // As Automaton::fill, with the automaton of the same pattern.
  std::size_t fill(const Automaton& automaton, Cursor& cursor, const u8* s, std::size_t n, bool last,
                   std::size_t wanted) const;
  // As Automaton::fill_lines.
  std::size_t fill_lines(const Automaton& automaton, Cursor& cursor, const u8* s, std::size_t n,
                         std::size_t wanted) const;

 private:
  struct Block;

  template <bool Lines>
  std::size_t fill_any(const Automaton& automaton, Cursor& cursor, const u8* s, std::size_t n, bool last,
                       std::size_t wanted) const;
  template <Family F, bool Lines>
  std::size_t run(const Automaton& automaton, Cursor& cursor, const u8* s, std::size_t n, bool last,
                  std::size_t wanted) const;
  template <Family F, bool Lines>
  bool block(const u8* s, std::size_t n, std::size_t at, BlockCarry& carry, u64& starts) const;
  template <Family F>
  bool beyond_ascii(const u8* p, Block& b) const;
  template <Family F>
  bool beyond_ascii_one_by_one(const u8* s, std::size_t n, std::size_t at, Block& b) const;
  u8 flags_at(const u8* s, std::size_t n, std::size_t i, u32& length) const;
  std::size_t white_tail(const u8* s, std::size_t from, std::size_t n) const;

  Family family_;
  AsciiFlags ascii_;
  std::vector<u16> stage1_;
  std::vector<u8> stage2_;  // flags in the place of classes
  // The same by the bytes of a character, without a branch: of two by its bits; of three by the page that the bits of
  // its first two name, and its last six. What is not covered, and what is no UTF-8, is kHard.
  std::vector<u8> two_bytes_, three_bytes_;
  std::vector<u16> pages_;
  const Simd* level_;
};

}  // namespace bytepair
