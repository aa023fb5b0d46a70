// Texts that repeat one thing, as have been slow somewhere: for the tests of growth and the benchmark.
#pragma once

#include <string>
#include <vector>

namespace bytepair::test {

struct LongRun {
  std::string begin, piece;
  // At least `size` bytes, and no more than a piece above.
  std::string text(std::size_t size) const {
    std::string out = begin;
    while (out.size() < size) out += piece;
    return out;
  }
};

inline const std::vector<LongRun>& long_runs() {
  static const std::vector<LongRun> all = {
      {"", "a"},  {"", "A"},  {"", "1"},   {"", " "},   {"", "\n"},   {"\n", " "},  {"x\n", "\t"}, {"", "'"},
      {"", "."},  {"", "/"},  {"", "a "},  {"", "ab"},  {"", "'s"},   {"", " \n"},  {".", "\n/"},  {"\"", "a"},
      {"", "\x80"},
      {"\xE3\x81\x82", "B"},  // U+3042
      {"", "\xE3\x81\x82"},
      {"", "\xE3\x80\x80"},   // U+3000
      {"", "\xC2\xA0x"},      // U+00A0
      {"", "\xC2\xBD"},       // U+00BD
      {"", "\xCC\x81"},       // U+0301
  };
  return all;
}

}  // namespace bytepair::test
