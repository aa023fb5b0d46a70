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

TEST_CASE("by line is what each line counted alone gives, whole or in pieces, with every family and with specials") {
  Random random(92);
  const Specials specials({"'s", "ll", "ll<s>", "x\ny", "b\n"}, {1, 2, 3, 4, 5});
  std::vector<Splitter> splitters = {gpt2_splitter(), runs_splitter()};
  for (const char* name : {"gpt2", "cl100k", "qwen2", "o200k", "tekken"}) splitters.push_back(pattern_named(name).splitter());
  for (int round = 0; round < 6000; ++round) {
    const Splitter& splitter = splitters[random.below(splitters.size())];
    const std::optional<Specials> given = random.one_in(2) ? std::optional(specials) : std::nullopt;
    std::string text;
    // Long ones, since blocks begin at 64 bytes; line ends of all kinds, and what goes on over them elsewhere.
    for (std::size_t n = random.between(1, 30); n > 0; --n) {
      text += tricky_text(random, random.below(random.one_in(4) ? 80 : 6));
      static const char* const ends[] = {"\n", "\n", "\r\n", "\n\n", " \n", "\n ", "!\n", ".\n/", "x\ny", "b\n", "\r", "  \n  ", "'\ns", "\n\r\n", "'s\n"};
      text += ends[random.below(std::size(ends))];
    }
    std::vector<std::string> documents;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t hit = text.find('\n', at), end = hit == std::string::npos ? text.size() : hit + 1;
      documents.push_back(text.substr(at, end - at));
      at = end;
    }
    const std::vector<Line> plain = count_plainly(splitter, given ? &*given : nullptr, documents);
    Counter whole(splitter, given), pieces(splitter, given);
    const Exact exact(text);
    whole.feed(exact.data(), exact.size(), 0, true, 0, true);
    REQUIRE(lines(whole) == plain);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t n = random.between(0, std::min<std::size_t>(text.size() - at, random.one_in(3) ? 300 : 9));
      const Exact piece(text.substr(at, n));
      pieces.feed(piece.data(), piece.size(), 0, false, 0, true);
      at += n;
    }
    pieces.feed(nullptr, 0, 0, true, 0, true);
    REQUIRE(pieces.pending() == 0);
    REQUIRE(lines(pieces) == plain);
    const Counter::Words a = whole.words(), b = pieces.words();
    REQUIRE(a.documents == b.documents);
    REQUIRE(a.places == b.places);
    for (std::size_t i = 0; i < a.counts.size(); ++i) {  // a place is that in the whole text
      const auto from = a.text.begin() + a.offsets[i], to = a.text.begin() + a.offsets[i + 1];
      REQUIRE(std::equal(from, to, bytes_of(text) + a.places[i]));
    }
  }
}

TEST_CASE("words that were counted elsewhere are added, and in the order of their bytes they ascend") {
  Random random(93);
  const Splitter splitter = gpt2_splitter();
  for (int round = 0; round < 300; ++round) {
    Counter whole(splitter, std::nullopt), sum(splitter, std::nullopt), part(splitter, std::nullopt);
    for (u64 d = 0; d < 4; ++d) {
      std::string text = tricky_text(random, random.below(60));
      if (random.one_in(2)) text += " a-word-that-is-longer-than-thirty-one-bytes-in-all" + std::to_string(random.below(3));
      const Exact exact(text);
      const u64 document = 3 - d;  // backwards: each comes before those that were counted
      whole.feed(exact.data(), exact.size(), document, true, 0);
      part.clear();
      part.feed(exact.data(), exact.size(), document, true, 0);
      const Counter::Words w = part.words(random.one_in(2));
      sum.add_words(w.text.data(), w.offsets.data(), w.counts.data(), w.documents.data(), w.places.data(), w.counts.size());
    }
    const Counter::Words a = whole.words(), b = sum.words(), sorted = sum.words(true, 2);
    REQUIRE(a.text == b.text);
    REQUIRE(a.counts == b.counts);
    REQUIRE(a.documents == b.documents);
    REQUIRE(a.places == b.places);
    std::string last;
    for (std::size_t i = 0; i < sorted.counts.size(); ++i) {
      REQUIRE(sorted.counts[i] >= 2);
      const std::string word(sorted.text.begin() + sorted.offsets[i], sorted.text.begin() + sorted.offsets[i + 1]);
      REQUIRE(last < word);
      last = word;
    }
  }
}

TEST_CASE("words of one place come in the order of their bytes; counts that cannot be added are refused") {
  const auto counter = [](std::vector<std::pair<std::string, i64>> words, i64 document, i64 place) {
    Counter made(std::nullopt, std::nullopt);
    for (const auto& [word, count] : words) {
      const i64 offsets[] = {0, static_cast<i64>(word.size())};
      made.add_words(bytes_of(word), offsets, &count, &document, &place, 1);
    }
    return made;
  };
  CHECK(lines(counter({{"b", 1}, {"a", 1}, {"ab", 2}}, 3, 7)) == std::vector<Line>{{"a", 1}, {"ab", 2}, {"b", 1}});
  const i64 huge = i64{1} << 62;
  CHECK(lines(counter({{"b", huge}, {"b", huge - 1}}, i64{1} << 62, i64{1} << 62)) == std::vector<Line>{{"b", 2 * (huge - 1) + 1}});
  CHECK(error_of([&] { counter({{"b", huge}, {"b", huge}}, 0, 0); }) == ErrorKind::training);
  CHECK(error_of([&] { counter({{"b", 0}}, 0, 0); }) == ErrorKind::value);
  CHECK(error_of([&] { counter({{"b", 1}}, -1, 0); }) == ErrorKind::value);
  CHECK(error_of([&] { counter({{"", 1}}, 0, 0); }) == ErrorKind::value);
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
