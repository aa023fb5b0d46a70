#include "split.hpp"

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

struct Character {
  u32 point;
  u8 kind;
  std::size_t end;
};

std::vector<Character> characters_of(const ClassTable& classes, const Exact& text) {
  std::vector<Character> out;
  u32 length = 0;
  for (std::size_t i = 0; i < text.size(); i += length) {
    const u32 point = decode_utf8(text.data(), i, text.size(), length);
    out.push_back({point, classes.of(point), i + length});
  }
  return out;
}

// How many characters from `from` on the regex takes: its alternatives in their order, each repeat at its longest first.
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
std::size_t match_gpt2(const std::vector<Character>& text, std::size_t from) {
  const auto literal = [&](std::string_view wanted) {
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      if (from + k >= text.size() || text[from + k].point != static_cast<u8>(wanted[k])) return false;
    }
    return true;
  };
  for (const std::string_view contraction : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (literal(contraction)) return contraction.size();
  }
  const auto repeat = [&](std::size_t at, u8 kind) {
    std::size_t n = 0;
    while (at + n < text.size() && text[at + n].kind == kind) ++n;
    return n;
  };
  for (const u8 kind : {kLetter, kNumber, kOther}) {
    for (const std::size_t blank : {std::size_t{1}, std::size_t{0}}) {
      if (blank == 1 && text[from].point != ' ') continue;
      if (const std::size_t n = repeat(from + blank, kind)) return blank + n;
    }
  }
  const std::size_t longest = repeat(from, kSpace);
  for (std::size_t n = longest; n > 0; --n) {
    if (from + n == text.size() || text[from + n].kind == kSpace) return n;
  }
  return longest;
}

std::vector<std::size_t> split_plainly(Scanner scanner, const ClassTable& classes, const Exact& text) {
  const std::vector<Character> all = characters_of(classes, text);
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t n = 1;
    if (scanner == Scanner::gpt2)
      n = match_gpt2(all, i);
    else
      while (i + n < all.size() && all[i + n].kind == all[i].kind) ++n;
    i += n;
    ends.push_back(all[i - 1].end);
  }
  return ends;
}

std::vector<std::size_t> split(const Splitter& splitter, const Exact& text) {
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = splitter.next(text.data(), at, text.size());
    REQUIRE(end > at);
    REQUIRE(end <= text.size());
    ends.push_back(at = end);
  }
  return ends;
}

}  // namespace

TEST_CASE("the gpt2 scanner equals its regex, transcribed with backtracking") {
  const ClassTable classes = gpt2_classes();
  const Splitter splitter = gpt2_splitter();
  Random random(10);
  for (int round = 0; round < 20000; ++round) {
    const std::string text = tricky_text(random, random.between(1, 12));
    CAPTURE(text);
    const Exact exact(text);
    REQUIRE(split(splitter, exact) == split_plainly(Scanner::gpt2, classes, exact));
  }
}

TEST_CASE("the runs scanner gives maximal runs of one class") {
  const ClassTable classes = space_classes();
  const Splitter splitter = runs_splitter();
  Random random(11);
  for (int round = 0; round < 5000; ++round) {
    const Exact text(tricky_text(random, random.between(1, 12)));
    REQUIRE(split(splitter, text) == split_plainly(Scanner::runs, classes, text));
  }
}

TEST_CASE("the scanner of no pattern takes the whole text") {
  const Exact text("a b\nc");
  CHECK(split(Splitter(Scanner::none, std::nullopt), text) == std::vector<std::size_t>{5});
}

TEST_CASE("a pretoken that ends kLookAhead bytes before the end is certain, whatever follows") {
  Random random(12);
  for (const Splitter& splitter : {gpt2_splitter(), runs_splitter()}) {
    for (int round = 0; round < 5000; ++round) {
      const std::string seen = tricky_text(random, random.between(1, 12));
      const Exact part(seen), whole(seen + tricky_text(random, random.between(1, 6)));
      for (std::size_t at = 0; at < part.size();) {
        const std::size_t end = splitter.next(part.data(), at, part.size());
        if (end + Splitter::kLookAhead > part.size()) break;
        REQUIRE(splitter.next(whole.data(), at, whole.size()) == end);
        at = end;
      }
    }
  }
}

TEST_CASE("long runs of one character are cut in one go") {
  const Splitter splitter = gpt2_splitter();
  for (const char c : {'a', '^', ' ', '\n', '\''}) {
    const Exact text(std::string(1 << 20, c));
    CHECK(splitter.next(text.data(), 0, text.size()) == text.size());
  }
}

TEST_CASE("a class table of another scanner is refused") {
  CHECK(error_of([] { Splitter(Scanner::gpt2, std::nullopt); }) == ErrorKind::value);
  CHECK(error_of([] { Splitter(Scanner::gpt2, space_classes()); }) == ErrorKind::value);
  CHECK(error_of([] { Splitter(Scanner::runs, gpt2_classes()); }) == ErrorKind::value);
  CHECK(error_of([] { Splitter(Scanner::none, space_classes()); }) == ErrorKind::value);
}
