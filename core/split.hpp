// Cuts text into pretokens with the hand-written scanners. The patterns themselves live in Python (bytepair.pattern).
#pragma once

#include <optional>

#include "text.hpp"

namespace bytepair {

enum class Scanner {
  gpt2,  // 's|'t|'re|'ve|'m|'ll|'d| ?LETTER+| ?NUMBER+| ?OTHER+|\s+(?!\S)|\s+ over classes 0 other, 1 letter, 2 number, 3 space
  runs,  // maximal runs of one class
  none,  // the whole text
};

class Splitter {
 public:
  // A pretoken that ends at least this many bytes before the end of what has been seen is certain: no text that may
  // follow changes it. (An end is decided by the character after it, by the two bytes after an apostrophe, or by the
  // last character of a run of white space: four bytes each at the most.)
  static constexpr std::size_t kLookAhead = 8;

  Splitter(Scanner scanner, std::optional<ClassTable> classes);

  // The end of the pretoken that starts at s[p], p < n.
  std::size_t next(const u8* s, std::size_t p, std::size_t n) const {
    switch (scanner_) {
      case Scanner::gpt2:
        return next_gpt2(s, p, n);
      case Scanner::runs: {
        u32 length;
        const u8 c = classes_->at(s, p, n, length);
        return classes_->run(s, p + length, n, c);
      }
      default:
        return n;
    }
  }

  Scanner scanner() const { return scanner_; }

 private:
  std::size_t next_gpt2(const u8* s, std::size_t p, std::size_t n) const;

  Scanner scanner_;
  std::optional<ClassTable> classes_;
};

}  // namespace bytepair
