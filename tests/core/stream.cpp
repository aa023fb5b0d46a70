#include "stream.hpp"

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

struct Piece {
  std::string text;
  u32 id;  // kNone: a pretoken
  bool operator==(const Piece& other) const { return text == other.text && id == other.id; }
};
using Pieces = std::vector<Piece>;

const std::vector<std::string> kNames = {"<s>", "<s>ll", "'s", "<|end of the text|>", "\n\n", utf8(0x3042) + "<"};

Specials specials() { return Specials(kNames, {0, 1, 2, 3, 4, 5}); }

// Runs between special tokens, each cut on its own.
Pieces cut_whole(const Splitter& splitter, const Specials* names, const std::string& text) {
  Pieces out;
  for (std::size_t at = 0; at < text.size();) {
    const Specials::Found found =
        names ? names->find(bytes_of(text), at, text.size()) : Specials::Found{text.size(), 0, kNone};
    const std::string run = text.substr(at, found.start - at);
    std::size_t start = 0;
    for (const std::size_t end : cut(splitter, bytes_of(run), run.size())) {
      out.push_back({run.substr(start, end - start), kNone});
      start = end;
    }
    if (found.id != kNone) out.push_back({kNames[found.id], found.id});
    at = found.start + found.length;
  }
  return out;
}

struct Fed {
  const Splitter& splitter;
  const Specials* names;
  Stream stream;
  Pieces pieces;
  std::size_t out = 0;  // bytes

  void feed(const std::string& piece, bool last) {
    const Exact exact(piece);
    stream.feed(
        splitter, names, exact.data(), exact.size(), last,
        [&](const u8* s, std::size_t n, std::size_t start, const std::size_t* ends, std::size_t k) {
          for (std::size_t i = 0; i < k; ++i) {
            const std::size_t end = ends[i];
            REQUIRE(start < end);
            REQUIRE(end <= n);
            REQUIRE(stream.offset() + start == out);
            pieces.push_back({std::string(s + start, s + end), kNone});
            out += end - start;
            start = end;
          }
        },
        [&](u32 id) {
          pieces.push_back({kNames[id], id});
          out += kNames[id].size();
        });
  }
};

std::string text_with_names(Random& random, std::size_t longest, bool with_names) {
  std::string text = random_text(random, longest);
  for (std::size_t k = with_names ? random.below(6) : 0; k > 0; --k)
    text.insert(random.below(text.size() + 1), kNames[random.below(kNames.size())]);
  return text;
}

void same_in_pieces(Random& random, const Splitter& splitter, const Specials* names, const std::string& text, std::size_t longest_piece) {
  const Pieces whole = cut_whole(splitter, names, text);
  Fed fed{splitter, names, {}, {}, 0};
  for (int round = 0; round < 2; ++round) {  // after the end, the stream is as new
    fed.pieces.clear();
    fed.out = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t n = std::min(random.between(random.one_in(20) ? 0 : 1, longest_piece), text.size() - at);
      fed.feed(text.substr(at, n), false);
      at += n;
      REQUIRE(fed.out + fed.stream.pending() == at);
    }
    fed.feed("", true);
    REQUIRE(fed.pieces == whole);
    REQUIRE(fed.stream.pending() == 0);
    REQUIRE(fed.stream.offset() == 0);
  }
}

}  // namespace

TEST_CASE("a text in pieces of any size gives what the whole text gives, for every pattern") {
  Random random(120);
  const Specials names = specials();
  for (const Pattern& pattern : patterns()) {
    CAPTURE(pattern.name);
    const Splitter splitter = pattern.splitter();
    for (int round = 0; round < 60; ++round) {
      const bool with_names = random.one_in(2);
      const std::string text = text_with_names(random, random.one_in(6) ? 800 : 80, with_names);
      CAPTURE(text);
      constexpr std::size_t kLongest[] = {1, 2, 5, 70, 300};
      same_in_pieces(random, splitter, with_names ? &names : nullptr, text, kLongest[random.below(5)]);
    }
  }
}

TEST_CASE("a special token across the border of two pieces, at every place") {
  Random random(121);
  const Specials names = specials();
  for (const char* name : {"gpt2", "cl100k", "o200k", "(?<=a)b+|[ab]", "deepseek-v3"}) {
    const Splitter splitter = pattern_named(name).splitter();
    const std::string text = "it's <s>ll <s>a\n\n\n  <|end of the text|>'s" + utf8(0x3042) + "<s" + utf8(0x3042) + "<s> <|end of th";
    const Pieces whole = cut_whole(splitter, &names, text);
    for (std::size_t at = 0; at <= text.size(); ++at) {
      Fed fed{splitter, &names, {}, {}, 0};
      fed.feed(text.substr(0, at), false);
      fed.feed(text.substr(at), true);
      REQUIRE(fed.pieces == whole);
    }
  }
}

TEST_CASE("long pretokens in small pieces, and large pieces") {
  Random random(122);
  const Specials names = specials();
  for (const char* name : {"gpt2", "cl100k", "o200k", "deepseek-v3", "whitespace", "a*b|a", "[a-z]+"}) {
    CAPTURE(name);
    const Splitter splitter = pattern_named(name).splitter();
    std::string text;
    while (text.size() < 30'000) {
      text += text_with_names(random, 3000, true);
      if (random.one_in(3)) text += std::string(random.below(5000), "a \n1.\x80"[random.below(6)]);
    }
    same_in_pieces(random, splitter, &names, text, 7);
    same_in_pieces(random, splitter, &names, text, 20'000);
    same_in_pieces(random, splitter, nullptr, text, 100'000);
  }
}

TEST_CASE("what is certain is handed out, and what waits is no more than it must be") {
  const Splitter splitter = pattern_named("cl100k").splitter();
  Fed fed{splitter, nullptr, {}, {}, 0};
  const std::string line = "def f(x): return x + 1\n";
  for (int k = 0; k < 1000; ++k) {
    fed.feed(line, false);
    REQUIRE(fed.stream.pending() <= 2 * line.size());
  }
}
