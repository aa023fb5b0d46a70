#include "encode.hpp"

#include <thread>

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

using Ids = std::vector<u32>;
constexpr std::size_t kBudgets[] = {0, 4096, 8192, 100'000, 1 << 22};

Ids ids_in(const IdBuffer& buffer) { return {buffer.data(), buffer.data() + buffer.size()}; }

std::vector<Merge> some_merges() {
  // Common pairs of the pieces that tricky_text is made of, and merges of those.
  return {{'l', 'l', 256},   {' ', 'a', 257}, {'s', 't', 258}, {'\'', 's', 259}, {' ', ' ', 260}, {0xE3, 0x81, 261},
          {261, 0x82, 262},  {'a', 'e', 263}, {257, 258, 264}, {'1', '2', 265},  {265, 265, 266}, {260, 260, 267},
          {0xF0, 0x9D, 268}, {268, 0x90, 269}};
}

std::shared_ptr<const PairTable> pairs_of(const std::vector<Merge>& merges) {
  return std::make_shared<const PairTable>(table_of(merges));
}

Encoder encoder(std::size_t cache_bytes, const std::vector<Merge>& merges = some_merges(),
                Order order = Order::one_place) {
  return Encoder(plain_bytes(), pairs_of(merges), order, nullptr, gpt2_splitter(), std::nullopt, cache_bytes);
}

// No cache, no specials: cut, then merge each pretoken as the definition says.
Ids encode_plainly(const std::vector<Merge>& merges, bool all_places, const std::string& text) {
  const PairTable table = table_of(merges);
  static const Splitter splitter = gpt2_splitter();
  Ids out;
  std::size_t at = 0;
  for (const std::size_t end : cut(splitter, bytes_of(text), text.size())) {
    Ids ids = ids_of(text.substr(at, end - at));
    merge_plainly(table, all_places, ids);
    out.insert(out.end(), ids.begin(), ids.end());
    at = end;
  }
  return out;
}

Ids encoded(const Encoder& encoder, std::string_view text, const Specials* specials = nullptr) {
  const Exact exact(text);
  const Encoder::Lease state(encoder);
  IdBuffer out;
  encoder.encode(exact.data(), exact.size(), specials, *state, out);
  CHECK(encoder.count(exact.data(), exact.size(), specials, *state) == out.size());
  return ids_in(out);
}

}  // namespace

TEST_CASE("encoding equals its definition with every cache, cold and warm") {
  for (const std::size_t budget : kBudgets) {
    CAPTURE(budget);
    const Encoder one = encoder(budget);
    Random random(80);
    for (int round = 0; round < 1500; ++round) {
      const std::string text = tricky_text(random, random.between(0, 30));
      const Ids plain = encode_plainly(some_merges(), false, text);
      REQUIRE(encoded(one, text) == plain);
      REQUIRE(encoded(one, text) == plain);
    }
    CHECK(one.cached_bytes() <= budget);
  }
}

TEST_CASE("words that never come again, and some that do, have their ids whatever the cache keeps of them") {
  for (const std::size_t budget : {std::size_t{0}, std::size_t{4096}, std::size_t{100'000}, std::size_t{8} << 20}) {
    CAPTURE(budget);
    const Encoder one = encoder(budget);
    Random random(87);
    for (int round = 0; round < 8; ++round) {
      std::string text;
      for (int k = 0; k < 4000; ++k) {
        text += random.one_in(8) ? " all" : " ";
        for (std::size_t n = random.between(5, random.one_in(20) ? 70 : 28); n > 0; --n) text += "lstvre'"[random.below(7)];
      }
      const Ids plain = encode_plainly(some_merges(), false, text);
      REQUIRE(encoded(one, text) == plain);
      REQUIRE(encoded(one, text) == plain);
    }
    CHECK(one.cached_bytes() <= budget);
  }
}

TEST_CASE("an unordered merge list keeps its owner's reading through the cache") {
  const std::vector<Merge> merges = {{256, 's', 258}, {'l', 'l', 256}, {'l', 256, 259}};
  const Encoder one = encoder(8192, merges, Order::whole_rank);
  Random random(81);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (std::size_t n = random.below(12); n > 0; --n) text += "ls "[random.below(3)];
    REQUIRE(encoded(one, text) == encode_plainly(merges, true, text));
  }
}

TEST_CASE("specials become their ids, and cut the text") {
  const Specials specials({"<s>", "<s>ll"}, {1000, 1001});
  const Encoder one = encoder(8192);
  CHECK(encoded(one, "ll<s>ll<s>l", &specials) == Ids{256, 1001, 1000, 'l'});
  CHECK(encoded(one, "<s>", &specials) == Ids{1000});
  CHECK(encoded(one, "<s>", nullptr) == Ids{'<', 's', '>'});
  CHECK(encoded(one, "a  <s>", &specials) == Ids{'a', 260, 1000});
  CHECK(encoded(one, "a  <t>", &specials) == encode_plainly(some_merges(), false, "a  <t>"));
}

TEST_CASE("count() lets go of the ids as it goes") {
  const Encoder one = encoder(4096);
  Random random(82);
  encoded(one, tricky_text(random, 50'000));
}

TEST_CASE("pretokens that come from outside must ascend and fill the text") {
  const Encoder one(plain_bytes(), pairs_of(some_merges()), Order::one_place, nullptr, std::nullopt, std::nullopt, 4096);
  const std::string text = "all ll";
  const auto with_ends = [&](const std::vector<i64>& ends) {
    const Encoder::Lease state(one);
    IdBuffer out;
    one.encode_ends(bytes_of(text), text.size(), ends.data(), ends.size(), *state, out);
    return ids_in(out);
  };
  CHECK(with_ends({3, 6}) == Ids{'a', 256, ' ', 256});
  CHECK(with_ends({2, 3, 6}) == Ids{'a', 'l', 'l', ' ', 256});
  for (const std::vector<i64>& bad : std::vector<std::vector<i64>>{{}, {3}, {3, 7}, {3, 3, 6}, {4, 3, 6}, {0, 6}, {-1, 6}})
    CHECK(error_of([&] { with_ends(bad); }) == ErrorKind::value);
  CHECK(error_of([&] { encoded(one, text); }) == ErrorKind::value);
}

TEST_CASE("a batch equals its documents one by one, on any number of threads") {
  Random random(83);
  std::vector<std::string> texts;
  for (int k = 0; k < 300; ++k) texts.push_back(tricky_text(random, random.one_in(20) ? 3000 : random.below(200)));
  texts.push_back("");
  const std::vector<GivenText> documents(texts.begin(), texts.end());
  const Specials specials({"'ll", ".!"}, {1000, 1001});
  const Encoder reference = encoder(0);
  Ids plain;
  std::vector<i64> plain_counts;
  for (const std::string& text : texts) {
    const Ids ids = encoded(reference, text, &specials);
    plain.insert(plain.end(), ids.begin(), ids.end());
    plain_counts.push_back(static_cast<i64>(ids.size()));
  }
  for (const std::size_t budget : kBudgets) {
    const Encoder one = encoder(budget);
    for (unsigned threads = 0; threads <= 4; ++threads) {
      IdBuffer out;
      std::vector<i64> counts;
      one.encode_batch(documents, &specials, threads, out, counts);
      REQUIRE(ids_in(out) == plain);
      REQUIRE(counts == plain_counts);
      REQUIRE(one.cached_bytes() <= budget);
    }
  }
  IdBuffer out;
  std::vector<i64> counts(7);
  reference.encode_batch({}, nullptr, 4, out, counts);
  CHECK(out.size() == 0);
  CHECK(counts.empty());
}

TEST_CASE("threads of the caller share one encoder, and its budget") {
  const std::size_t budget = 1 << 20;
  const Encoder one = encoder(budget);
  Random random(84);
  const std::string text = tricky_text(random, 3000);
  const Ids plain = encode_plainly(some_merges(), false, text);
  std::vector<Ids> results(8);
  std::vector<std::thread> threads;
  for (Ids& result : results) {
    threads.emplace_back([&one, &text, &result] {
      const Encoder::Lease state(one);
      IdBuffer out;
      for (int round = 0; round < 5; ++round) {
        out.clear();
        one.encode(bytes_of(text), text.size(), nullptr, *state, out);
      }
      result = ids_in(out);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Ids& result : results) CHECK(result == plain);
  CHECK(one.cached_bytes() <= budget);
}

TEST_CASE("an unknown character says in which document it stands, the first one on any number of threads") {
  const Alphabet alphabet = Alphabet::of_characters({'a', ' '}, {0, 1}, {}, {}, false, kNone, Alphabet::Unknown::error, {}, kNone);
  const Encoder one(alphabet, pairs_of({{0, 0, 2}}), Order::one_place, nullptr, gpt2_splitter(), std::nullopt, 4096);
  std::vector<std::string> texts(400, std::string(1000, 'a'));
  texts[150] = "aa " + utf8(0xE9);
  texts[399] = "b";
  const std::vector<GivenText> documents(texts.begin(), texts.end());
  for (unsigned threads = 1; threads <= 4; ++threads) {
    IdBuffer out;
    std::vector<i64> counts;
    try {
      one.encode_batch(documents, nullptr, threads, out, counts);
      FAIL("no error");
    } catch (const UnknownCharacter& error) {
      CHECK(error.document == 150);
      CHECK(error.code_point == 0xE9);
      CHECK(error.offset == 3);
    }
  }
}

TEST_CASE("the classic scheme leaves white space out, and nothing else") {
  std::vector<u32> ids(256);
  for (u32 b = 0; b < 256; ++b) ids[b] = b;
  const Encoder one(Alphabet::of_bytes(ids, {}, 300), pairs_of({{'l', 300, 301}}), Order::one_place, nullptr, runs_splitter(),
                    space_classes(), 4096);
  for (int round = 0; round < 2; ++round)
    CHECK(encoded(one, " al \n\tl  " + utf8(0x3000)) == Ids{'a', 301, 301});
  CHECK(encoded(one, " \n").empty());
}

TEST_CASE("a pretoken of a megabyte encodes in one piece") {
  const Encoder one = encoder(4096);
  const Ids ids = encoded(one, std::string(1 << 20, 'l'));
  CHECK(ids == Ids(1 << 19, 256));
  CHECK(one.scratch_bytes() <= 1 << 20);
}

TEST_CASE("a pretoken that is a whole token is that token, whatever the merges say, cold and warm") {
  // No merges lead to "lll" or to the 21 bytes of the long one; " a" is reached by a merge with another id.
  std::vector<u8> text;
  std::vector<i64> offsets = {0};
  for (const std::string token : {"lll", "an-impossibly-long-one", " a", "."}) {
    text.insert(text.end(), token.begin(), token.end());
    offsets.push_back(static_cast<i64>(text.size()));
  }
  const auto whole = std::make_shared<const TokenTable>(text, offsets, Ids{900, 901, 902, 903});
  for (const std::size_t budget : kBudgets) {
    const Encoder one(plain_bytes(), pairs_of(some_merges()), Order::one_place, whole, runs_splitter(), std::nullopt, budget);
    for (int round = 0; round < 2; ++round) {
      CHECK(encoded(one, "lll ll\nan-impossibly-long-one . a") == Ids{900, ' ', 256, '\n', 901, ' ', 903, ' ', 'a'});
      CHECK(encoded(one, "llll") == Ids{256, 256});
    }
  }
}

TEST_CASE("a whole token comes first where its bytes become other symbols than the ranks begin with") {
  const std::vector<u8> text = {'a', 'b', 'a', 'b'};
  const auto whole = std::make_shared<const TokenTable>(text, std::vector<i64>{0, 1, 2, 4}, Ids{'a', 'b', 500});
  const auto pairs = std::make_shared<const PairTable>(PairTable::of_ranks(*whole));
  std::vector<u32> ids(256);
  for (u32 b = 0; b < 256; ++b) ids[b] = b;
  const auto with = [&](Alphabet alphabet) {
    return encoded(Encoder(std::move(alphabet), pairs, Order::one_place, whole, runs_splitter(), std::nullopt, 4096), "ab b");
  };
  CHECK(with(plain_bytes()) == Ids{500, ' ', 'b'});
  CHECK(with(Alphabet::of_bytes(ids, {}, 300)) == Ids{500, ' ', 300, 'b'});  // a mark of its own
  ids['b'] = 7;
  CHECK(with(Alphabet::of_bytes(ids, {}, kNone)) == Ids{500, ' ', 'b'});
}

TEST_CASE("a text fed in pieces has the ids of the whole") {
  Random random(85);
  const Specials specials({"'ll", "<s>"}, {1000, 1001});
  const Encoder one = encoder(8192);
  for (int round = 0; round < 500; ++round) {
    std::string text = tricky_text(random, random.below(80));
    if (random.one_in(2)) text.insert(random.below(text.size() + 1), "<s>");
    const Specials* given = random.one_in(2) ? &specials : nullptr;
    Stream stream;
    IdBuffer out;
    for (std::size_t at = 0; at < text.size();) {
      const Exact piece(text.substr(at, random.between(1, 9)));
      const Encoder::Lease state(one);
      one.feed(stream, piece.data(), piece.size(), false, given, *state, out);
      at += piece.size();
    }
    const Encoder::Lease state(one);
    one.feed(stream, nullptr, 0, true, given, *state, out);
    REQUIRE(ids_in(out) == encoded(one, text, given));
  }
}
