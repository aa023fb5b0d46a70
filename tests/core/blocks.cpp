#include "blocks.hpp"

#include "lexer.hpp"
#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

// A pattern of a family: its automaton alone, and with the blocks of each level.
struct Known {
  const Pattern* pattern;
  Splitter plain;
  std::vector<Splitter> blocks;
};

const std::vector<Known>& families() {
  static const std::vector<Known> all = [] {
    std::vector<Known> out;
    for (const Pattern& pattern : patterns()) {
      if (!pattern.family) continue;
      Known known{&pattern, Splitter(pattern.automaton()), {}};
      for (const Simd* level : levels()) known.blocks.push_back(pattern.splitter(*level));
      out.push_back(std::move(known));
    }
    return out;
  }();
  return all;
}

void same_everywhere(const std::string& text, std::size_t wanted = 512) {
  CAPTURE(text);
  const Exact exact(text);
  for (const Known& family : families()) {
    CAPTURE(family.pattern->name);
    const std::vector<std::size_t> plain = cut(family.plain, exact);
    for (std::size_t k = 0; k < family.blocks.size(); ++k) {
      CAPTURE(levels()[k]->name);
      REQUIRE(cut(family.blocks[k], exact, wanted) == plain);
    }
  }
}

const std::string kFiller = "The quick brown fox jumps over the lazy dog, and it's 1234 times as quick as the other one was. ";

}  // namespace

TEST_CASE("the presets that have a family are these") {
  std::vector<std::string> names;
  for (const Known& family : families()) names.push_back(family.pattern->name);
  CHECK(names == std::vector<std::string>{"gpt2", "r50k", "p50k", "al1", "cl100k", "o200k", "llama3", "qwen2", "tekken"});
}

TEST_CASE("blocks of every level equal the automaton on random text") {
  Random random(110);
  for (int round = 0; round < 2500; ++round) {
    constexpr std::size_t kLongest[] = {70, 200, 300, 700};
    same_everywhere(random_text(random, kLongest[random.below(4)]), random.one_in(3) ? random.between(1, 60) : 512);
  }
}

TEST_CASE("blocks of every level equal the automaton on pieces that meet in every way") {
  Random random(111);
  for (int round = 0; round < 1500; ++round) same_everywhere(tricky_text(random, random.between(30, 200)));
}

TEST_CASE("blocks equal the automaton at every length up to 300 and at every alignment") {
  Random random(112);
  for (std::size_t n = 0; n <= 300; ++n) {
    std::string text;
    while (text.size() < n) text += random.one_in(3) ? random_text(random, 80) : kFiller.substr(random.below(80));
    text.resize(n);
    same_everywhere(text);
  }
  // The buffer begins at any address: the text is the same.
  std::string text = kFiller + "x\n\n  \n  y" + kFiller + utf8(0x3042) + "BB's" + kFiller;
  for (std::size_t shift = 0; shift < 64; ++shift) {
    const std::string buffer = std::string(shift, '#') + text;
    for (const Known& family : families()) {
      const std::vector<std::size_t> plain = cut(family.plain, bytes_of(text), text.size());
      for (const Splitter& blocks : family.blocks) REQUIRE(cut(blocks, bytes_of(buffer) + shift, text.size()) == plain);
    }
  }
}

TEST_CASE("what a block cannot tell by itself, at every place of a block") {
  const std::vector<std::string> hard = {
      utf8(0xA0), utf8(0x3000), utf8(0x2003) + " ", "x " + utf8(0xA0) + "y", "\n" + utf8(0x3000) + "\n",  // white space
      utf8(0xBD), "1" + utf8(0x663) + "2345", utf8(0xB2) + utf8(0xB2) + utf8(0xB2) + utf8(0xB2),           // numbers
      utf8(0x301), "." + utf8(0x301) + "a", "e" + utf8(0x301) + "X", " " + utf8(0x301) + "b",              // marks
      "'" + utf8(0x17F), "a'" + utf8(0x17F) + "b", "'\xC5", "X'LLa", "x's't", "''s", "'S'", "a'll'ves",    // contractions
      utf8(0x3042) + "BBBB", utf8(0x3042) + "BBBBb", utf8(0x1C5) + "A" + utf8(0x2B0) + "A", "aB" + utf8(0x5D0) + "C",
      ".\n/\n/x", "./\r\n//", "!\n\n x", ".\n  \n  x", "/'s/",                                              // line ends
      " \n \n  a", "\n\n\t\t\tx", "\r\n\r\n   ", "   \t\t\n", "a\n" + std::string(70, ' ') + "b", "a\n" + std::string(70, ' ') + "\nb",
      "1234567", "12" + utf8(0xFF11) + "4", "12345678901234567890", "\xF0\x9F", "\xE3\x81", "\xFF\xFE", "\xC3", utf8(0x1F44D) + "ok",
      "\xED\xA0\x80" "ab", " \xED\xBF\xBFx", "\xE0\x80\x80" "ab", "\xE0\x9F\xBFx", "\xC1\xBFx", "\xC0\x80x",      // no UTF-8
      "\xF0\x80\x80\x80x", "\xF4\x90\x80\x80x", "\xF8\x88\x80\x80\x80x", "\xE3\x81x", "\xE3x", "\xC3x", "\x81x",
      utf8(0x2019) + "s", utf8(0x2019) + utf8(0x2019) + "word", " " + utf8(0x201C) + "Word", utf8(0xE9) + "A", "AB" + utf8(0xE9)};
  for (const std::string& piece : hard) {
    CAPTURE(piece);
    for (std::size_t place = 50; place < 80; ++place) {
      for (const char filler : {'a', 'B', '1', ' ', '.', '\n'})
        same_everywhere(std::string(place, filler) + piece + kFiller + kFiller);
      std::string text = kFiller + kFiller;
      text.insert(place, piece);
      same_everywhere(text);
      same_everywhere(text.substr(0, place + piece.size()));
    }
  }
}

TEST_CASE("runs over many blocks, of one character and of two") {
  const std::vector<std::string> pieces = {"a", "A", "1", " ", "\n", "\r", ".", "/", "'", "\t", utf8(0xE9), utf8(0x3042), utf8(0x3000),
                                           utf8(0xBD), utf8(0x301), utf8(0x1F44D), "\x80", "\xE3"};
  for (const std::string& first : pieces) {
    for (const std::string& second : pieces) {
      for (const std::size_t n : {63u, 64u, 65u, 130u}) {
        std::string text;
        for (std::size_t k = 0; k < n; ++k) text += first;
        for (std::size_t k = 0; k < n; ++k) text += second;
        same_everywhere(text + "a b" + first);
      }
    }
  }
}

TEST_CASE("flags that do not fit the classes are refused") {
  const Pattern& pattern = pattern_named("gpt2");
  std::vector<u8> flags = pattern.flags;
  flags.push_back(0);
  CHECK(error_of([&] { Blocks(*pattern.family, pattern.classes, flags, simd()); }) == ErrorKind::value);
  CHECK(error_of([&] { Blocks(*pattern.family, pattern.classes, {}, simd()); }) == ErrorKind::value);
}
