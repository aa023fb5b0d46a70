#include "count.hpp"

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

struct Line {
  std::string text;
  i64 count;
  bool operator==(const Line& other) const { return text == other.text && count == other.count; }
};

std::vector<Line> lines(const Counter& counter) {
  const Counter::Words words = counter.words();
  std::vector<Line> out;
  for (std::size_t i = 0; i < words.counts.size(); ++i)
    out.push_back({std::string(words.text.begin() + words.offsets[i], words.text.begin() + words.offsets[i + 1]), words.counts[i]});
  return out;
}

// Words in order of their first places, specials cut out, each run between them cut on its own.
std::vector<Line> count_plainly(const Splitter& splitter, const Specials* specials, const std::vector<std::string>& documents) {
  std::vector<Line> out;
  for (const std::string& document : documents) {
    for (std::size_t at = 0; at < document.size();) {
      const u8* s = bytes_of(document);
      const Specials::Found found =
          specials ? specials->find(s, at, document.size()) : Specials::Found{document.size(), 0, kNone};
      const std::size_t from = at;
      for (const std::size_t end : cut(splitter, s + from, found.start - from)) {
        const std::string word = document.substr(at, from + end - at);
        std::size_t k = 0;
        while (k < out.size() && out[k].text != word) ++k;
        if (k == out.size()) out.push_back({word, 0});
        ++out[k].count;
        at = from + end;
      }
      at = found.start + found.length;
    }
  }
  return out;
}

void feed_in_pieces(Counter& counter, Random& random, const std::string& text, u64 document) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t n = random.between(0, std::min<std::size_t>(text.size() - at, random.one_in(4) ? 30 : 4));
    const Exact piece(text.substr(at, n));
    counter.feed(piece.data(), piece.size(), document, false, 0);
    at += n;
  }
  counter.feed(nullptr, 0, document, true, 0);
  REQUIRE(counter.pending() == 0);
}

}  // namespace

TEST_CASE("counting equals its definition, fed whole or in pieces of any size, with and without specials") {
  Random random(90);
  // One name is the start of another, one is longer than most pretokens.
  const Specials specials({"'s", "ll", "ll<s>", "<a name of many bytes>"}, {1, 2, 3, 4});
  const Splitter splitters[] = {gpt2_splitter(), runs_splitter(), pattern_named("o200k").splitter()};
  for (int round = 0; round < 3000; ++round) {
    const Splitter& splitter = splitters[random.below(3)];
    const bool with_specials = random.one_in(2);
    const std::optional<Specials> given = with_specials ? std::optional(specials) : std::nullopt;
    std::vector<std::string> documents;
    for (std::size_t n = random.between(1, 3); n > 0; --n) {
      std::string text = tricky_text(random, random.below(25));
      if (random.one_in(3)) text.insert(random.below(text.size() + 1), "ll<s>");
      if (random.one_in(3)) text.insert(random.below(text.size() + 1), "<a name of many bytes>");
      documents.push_back(text);
    }
    Counter whole(splitter, given), pieces(splitter, given);
    for (std::size_t d = 0; d < documents.size(); ++d) {
      const Exact exact(documents[d]);
      whole.feed(exact.data(), exact.size(), d, true, 0);
      feed_in_pieces(pieces, random, documents[d], d);
    }
    const std::vector<Line> plain = count_plainly(splitter, with_specials ? &specials : nullptr, documents);
    REQUIRE(lines(whole) == plain);
    REQUIRE(lines(pieces) == plain);
    REQUIRE(whole.n_pretokens() == pieces.n_pretokens());
    REQUIRE(whole.n_words() == plain.size());
  }
}

TEST_CASE("merging counters gives the same in any order") {
  Random random(91);
  const Splitter splitter = gpt2_splitter();
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> documents;
    for (int d = 0; d < 6; ++d) documents.push_back(tricky_text(random, random.below(40)));
    std::vector<Counter> parts;
    for (int k = 0; k < 3; ++k) parts.emplace_back(splitter, std::nullopt);
    for (std::size_t d = 0; d < documents.size(); ++d) {
      const Exact exact(documents[d]);
      parts[random.below(parts.size())].feed(exact.data(), exact.size(), d, true, 0);
    }
    const std::vector<Line> plain = count_plainly(splitter, nullptr, documents);
    for (const auto& order : std::vector<std::vector<std::size_t>>{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}) {
      Counter all(splitter, std::nullopt);
      for (const std::size_t k : order) all.merge(parts[k]);
      REQUIRE(lines(all) == plain);
    }
  }
}

TEST_CASE("many distinct words, short and long, through every growth") {
  Counter counter(runs_splitter(), std::nullopt);
  std::string text;
  for (int k = 0; k < 20'000; ++k)
    text += (k % 3 ? "w" : "a-word-of-more-than-fifteen-bytes-") + std::to_string(k % 15'000) + " ";
  counter.feed(bytes_of(text), text.size(), 0, true, 0);
  const std::vector<Line> all = lines(counter);
  REQUIRE(all.size() == 15'001);
  std::map<std::string, i64> counts;
  for (const Line& line : all) counts[line.text] = line.count;
  CHECK(counts["a-word-of-more-than-fifteen-bytes-0"] == 2);
  CHECK(counts["a-word-of-more-than-fifteen-bytes-14997"] == 1);
  CHECK(counts["w4999"] == 2);
  CHECK(counts["w14999"] == 1);
  CHECK(counts[" "] == 20'000);
  CHECK(counter.n_pretokens() == 40'000);
}

TEST_CASE("pretokens that come from outside must ascend and lie in the text") {
  const std::string text = "abcab";
  const auto fed = [&](const std::vector<i64>& ends) {
    Counter counter(std::nullopt, std::nullopt);
    counter.feed_ends(bytes_of(text), text.size(), ends.data(), ends.size(), 0, 0);
    return lines(counter);
  };
  CHECK(fed({2, 3, 5}) == std::vector<Line>{{"ab", 2}, {"c", 1}});
  for (const std::vector<i64>& bad : std::vector<std::vector<i64>>{{0}, {2, 2}, {3, 2}, {6}, {-1}})
    CHECK(error_of([&] { fed(bad); }) == ErrorKind::value);
}

TEST_CASE("a first place is the smallest, whatever the order of feeding") {
  Counter counter(std::nullopt, std::nullopt);
  const std::vector<i64> one = {1};
  counter.feed_ends(bytes_of("b"), 1, one.data(), 1, 5, 100);
  counter.feed_ends(bytes_of("a"), 1, one.data(), 1, 5, 99);
  counter.feed_ends(bytes_of("c"), 1, one.data(), 1, 4, 1000);
  CHECK(lines(counter) == std::vector<Line>{{"c", 1}, {"a", 1}, {"b", 1}});
  counter.feed_ends(bytes_of("b"), 1, one.data(), 1, 5, 98);
  CHECK(lines(counter) == std::vector<Line>{{"c", 1}, {"b", 2}, {"a", 1}});
  counter.feed_ends(bytes_of("b"), 1, one.data(), 1, 0, 0);
  CHECK(lines(counter) == std::vector<Line>{{"b", 3}, {"c", 1}, {"a", 1}});
}

TEST_CASE("a document must end before the next begins, and a splitter is needed to feed text") {
  Counter counter(gpt2_splitter(), std::nullopt);
  counter.feed(bytes_of("ab"), 2, 0, false, 0);
  CHECK(counter.pending() == 2);
  CHECK(error_of([&] { counter.feed(bytes_of("ab"), 2, 1, true, 0); }) == ErrorKind::value);
  Counter no_splitter(std::nullopt, std::nullopt);
  CHECK(error_of([&] { no_splitter.feed(bytes_of("ab"), 2, 0, true, 0); }) == ErrorKind::value);
}
