#include "split.hpp"

#include "errors.hpp"

namespace bytepair {

Splitter::Splitter(Scanner scanner, std::optional<ClassTable> classes)
    : scanner_(scanner), classes_(std::move(classes)) {
  const u32 wanted = scanner_ == Scanner::gpt2 ? 4 : scanner_ == Scanner::runs ? 2 : 0;
  const u32 given = classes_ ? classes_->n_classes() : 0;
  if (given != wanted) throw Error(ErrorKind::value, "splitter: the class table does not fit the scanner");
}

std::size_t Splitter::next_gpt2(const u8* s, std::size_t p, std::size_t n) const {
  constexpr u8 kSpace = 3;
  const ClassTable& classes = *classes_;
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
    const u8 c = classes.at(s, q, n, length);
    if (c != kSpace) return classes.run(s, q + length, n, c);
  }
  std::size_t last = p, end = p;
  while (end < n && classes.at(s, end, n, length) == kSpace) {
    last = end;
    end += length;
  }
  return end == n || last == p ? end : last;
}

}  // namespace bytepair
