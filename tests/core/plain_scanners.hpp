// The patterns of gpt2 and cl100k as one would write them by hand: plain scalar scanners, the twin of automaton and
// blocks in the tests, and what the benchmark measures these against.
#pragma once

#include "tables.hpp"

namespace bytepair::test {

class PlainScanner {
 public:
  static constexpr u8 kOther = 0, kLetter = 1, kNumber = 2, kSpace = 3;

  // The pattern only says which characters are letters, numbers and white space.
  explicit PlainScanner(const Pattern& pattern) : classes_(classes_of(pattern)) {
    for (u32 c = 0; c < 256; ++c) ascii_[c] = c < 0x80 ? classes_.of(c) : kNotAscii;
  }

  u8 class_of(u32 code_point) const { return classes_.of(code_point); }

  // '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s
  // The end of the pretoken that begins at p < n.
  std::size_t cl100k(const u8* s, std::size_t p, std::size_t n) const {
    const u8 first = s[p];
    u32 length, behind;
    const u8 c = at(s, p, n, length);
    if (c == kLetter) return run(s, p + length, n, kLetter);
    if (c == kNumber) {
      std::size_t end = p + length;
      for (int more = 0; more < 2 && end < n && at(s, end, n, length) == kNumber; ++more) end += length;
      return end;
    }
    if (first == '\'') {
      if (const std::size_t end = folded_contraction(s, p, n)) return end;
    }
    const std::size_t q = p + length;
    if (q == n) return n;
    const bool ends_line = first == '\n' || first == '\r';
    const u8 next = at(s, q, n, behind);
    if (next == kLetter && !ends_line) return run(s, q + behind, n, kLetter);
    if (c == kOther || (first == ' ' && next == kOther)) {
      std::size_t end = c == kOther ? run(s, q, n, kOther) : run(s, q + behind, n, kOther);
      while (end < n && (s[end] == '\n' || s[end] == '\r')) ++end;
      return end;
    }
    std::size_t end = p, last = p, line = 0;
    while (end < n && at(s, end, n, length) == kSpace) {
      last = end;
      end += length;
      if (s[last] == '\n' || s[last] == '\r') line = end;
    }
    if (end == n) return n;
    return line ? line : last > p ? last : end;
  }

  // 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
  std::size_t gpt2(const u8* s, std::size_t p, std::size_t n) const {
    const u8 first = s[p];
    if (first == '\'' && p + 1 < n) {
      const u8 a = s[p + 1];
      if (a == 's' || a == 't' || a == 'm' || a == 'd') return p + 2;
      if (p + 2 < n) {
        const u8 b = s[p + 2];
        if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return p + 3;
      }
    }
    const std::size_t q = p + (first == ' ');
    u32 length;
    if (q < n) {
      const u8 c = at(s, q, n, length);
      if (c != kSpace) return run(s, q + length, n, c);
    }
    std::size_t last = p, end = p;
    while (end < n && at(s, end, n, length) == kSpace) {
      last = end;
      end += length;
    }
    return end == n || last == p ? end : last;
  }

 private:
  static constexpr u8 kNotAscii = 4;

  static ClassTable classes_of(const Pattern& pattern) {
    std::vector<u8> stage2 = pattern.classes.stage2();
    for (u8& c : stage2) {
      const u8 flags = pattern.flags[c];
      c = flags & (kUpper | kLower)             ? kLetter
          : flags & bytepair::kNumber           ? kNumber
          : flags & (kWhite | kBlank | kNewline) ? kSpace
                                                : kOther;
    }
    return ClassTable(pattern.classes.stage1(), std::move(stage2), 4);
  }

  u8 at(const u8* s, std::size_t i, std::size_t n, u32& length) const {
    const u8 c = ascii_[s[i]];
    if (c != kNotAscii) {
      length = 1;
      return c;
    }
    return classes_.of(decode_utf8(s, i, n, length));
  }
  std::size_t run(const u8* s, std::size_t i, std::size_t n, u8 wanted) const {
    u32 length;
    for (; i < n && at(s, i, n, length) == wanted; i += length) {}
    return i;
  }
  // What (?i:'[sdmt]|'ll|'ve|'re) takes at p, or 0. U+017F, the long s, folds to s.
  static std::size_t folded_contraction(const u8* s, std::size_t p, std::size_t n) {
    if (p + 1 == n) return 0;
    const u8 a = s[p + 1] | 0x20;
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return p + 2;
    if (p + 2 == n) return 0;
    const u8 b = s[p + 2] | 0x20;
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return p + 3;
    return s[p + 1] == 0xC5 && s[p + 2] == 0xBF ? p + 3 : 0;
  }

  ClassTable classes_;
  u8 ascii_[256];
};

}  // namespace bytepair::test
