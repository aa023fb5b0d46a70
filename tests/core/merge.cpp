#include "merge.hpp"

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

using Ids = std::vector<u32>;

std::size_t runs_merged = 0, runs_refused = 0, bytes_merged = 0, linear_merged = 0, linear_refused = 0;

// Merged one after the other, each part by itself, as far as no merge goes over its ends.
Ids merged_apart(const PairTable& pairs, Order order, const Ids& symbols) {
  const Joints joints(pairs);
  Merger merger(pairs, order);
  Ids out, part;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    part.push_back(symbols[i]);
    if (i + 1 < symbols.size() && joints.may_join(symbols[i], symbols[i + 1])) continue;
    part.size() <= Merger::kScanLimit ? merger.merge_by_scan(part) : merger.merge_by_heap(part);
    out.insert(out.end(), part.begin(), part.end());
    part.clear();
  }
  return out;
}

// Token by token; several times, so that what is kept between the calls is used.
void check_linear(const PairTable& pairs, Order order, const Ids& symbols, const Ids& merged) {
  const Linear linear(pairs, order == Order::whole_rank);
  if (!linear.usable()) {
    ++linear_refused;
    return;
  }
  Linear::Scratch scratch;
  Ids out = {7};
  for (int round = 0; round < 2; ++round) {
    out.resize(1);
    const bool done = linear.merge(symbols.data(), symbols.size(), scratch, out);
    (done ? linear_merged : linear_refused) += 1;
    REQUIRE(out[0] == 7);
    REQUIRE(Ids(out.begin() + 1, out.end()) == (done ? merged : Ids{}));
  }
}

// The same as bytes that stand for these symbols.
void check_bytes(const PairTable& pairs, Order order, const Ids& symbols, const Ids& merged) {
  Ids byte_ids(256), out = {7};
  std::string text;
  for (const u32 symbol : symbols) {
    if (symbol > 0xFF) return;
    byte_ids[symbol ^ 0x55] = symbol;
    text.push_back(static_cast<char>(symbol ^ 0x55));
  }
  const Exact exact(text);
  Merger merger(pairs, order);
  if (merger.merge_runs_of(exact.data(), exact.size(), byte_ids.data(), out)) {
    ++bytes_merged;
    REQUIRE(out == merged);
  } else {
    REQUIRE(out == Ids{7});
  }
}

// All ways (the scan of short ones only), and the chooser between them; they must agree.
Ids merged(const PairTable& pairs, Order order, const Ids& symbols) {
  Merger merger(pairs, order);
  Ids scanned = symbols, heaped = symbols, chosen = symbols;
  merger.merge_by_heap(heaped);
  if (symbols.size() <= Merger::kScanLimit)
    merger.merge_by_scan(scanned);
  else
    scanned = heaped;
  merger.merge(chosen);
  for (const Simd* level : levels()) {
    Ids few = symbols;
    if (few.size() <= Merger::kScanLimit) {
      Merger(pairs, order, nullptr, *level).merge_by_scan(few);
      REQUIRE(scanned == few);
    }
  }
  REQUIRE(scanned == heaped);
  REQUIRE(scanned == chosen);
  REQUIRE(scanned == merged_apart(pairs, order, symbols));
  if (!symbols.empty()) {
    check_linear(pairs, order, symbols, scanned);
    Ids by_runs = symbols;
    if (merger.merge_by_runs(by_runs)) {
      ++runs_merged;
      REQUIRE(scanned == by_runs);
    } else {
      ++runs_refused;
      REQUIRE(symbols == by_runs);
    }
    check_bytes(pairs, order, symbols, scanned);
  }
  return scanned;
}

Ids by_ranks(const std::vector<std::string>& tokens, std::string_view text) {
  return merged(Ranks(tokens).table(), Order::one_place, ids_of(text));
}

}  // namespace

TEST_CASE("merging equals its definition, in both orders, on random vocabularies") {
  Random random(50);
  for (int round = 0; round < 4000; ++round) {
    const u32 letters = static_cast<u32>(random.between(1, 3));
    const PairTable table = table_of(random_merges(random, random.below(25), letters, random.one_in(2)));
    const Ids symbols = ids_of(random_word(random, random.one_in(10) ? 200 : 20, static_cast<char>(letters)));
    for (const Order order : {Order::one_place, Order::whole_rank}) {
      Ids plain = symbols;
      merge_plainly(table, order == Order::whole_rank, plain);
      REQUIRE(merged(table, order, symbols) == plain);
    }
  }
}

TEST_CASE("both orders give the same where each part is made before it is used") {
  Random random(51);
  for (int round = 0; round < 4000; ++round) {
    const PairTable table = table_of(random_merges(random, random.below(25), 2, false));
    const Ids symbols = ids_of(random_word(random, 30, 2));
    REQUIRE(merged(table, Order::one_place, symbols) == merged(table, Order::whole_rank, symbols));
  }
}

TEST_CASE("the rank rule equals its definition on random tokens") {
  Random random(52);
  for (int round = 0; round < 2000; ++round) {
    std::map<std::string, bool> seen;
    std::vector<std::string> tokens;
    for (std::size_t n = random.below(20); n > 0; --n) {
      const std::string token = random_word(random, 5, 2);
      if (token.size() > 1 && !std::exchange(seen[token], true)) tokens.push_back(token);
    }
    const PairTable table = Ranks(tokens).table();
    const Ids symbols = ids_of(random_word(random, random.one_in(10) ? 150 : random.one_in(3) ? Merger::kScanLimit : 20, 2));
    Ids plain = symbols;
    merge_plainly(table, false, plain);
    REQUIRE(merged(table, Order::one_place, symbols) == plain);
  }
}

TEST_CASE("abc, with bc before ab before ab+c: the two rules differ") {
  const PairTable merges = table_of({{'b', 'c', 256}, {'a', 'b', 257}, {257, 'c', 258}});
  CHECK(merged(merges, Order::one_place, ids_of("abc")) == Ids{'a', 256});
  CHECK(by_ranks({"bc", "ab", "abc"}, "abc") == Ids{258});
}

TEST_CASE("abacb and abacbb, where greedy and append-only encoders fail") {
  const std::vector<std::string> tokens = {"ab", "cb", "ac", "bb", "cbb", "acbb"};
  CHECK(by_ranks(tokens, "abacb") == Ids{256, 'a', 257});
  CHECK(by_ranks(tokens, "abacbb") == Ids{256, 261});
}

TEST_CASE("aa, aaa, aaaa: five a are aa and aaa") { CHECK(by_ranks({"aa", "aaa", "aaaa"}, "aaaaa") == Ids{256, 257}); }

TEST_CASE("nothing and one symbol stay as they are") {
  const PairTable table = table_of({{'a', 'a', 256}});
  CHECK(merged(table, Order::one_place, {}) == Ids{});
  CHECK(merged(table, Order::whole_rank, {'a'}) == Ids{'a'});
}

TEST_CASE("a pretoken of a million symbols merges to the end") {
  const PairTable table = table_of({{'a', 'a', 256}, {256, 256, 257}, {257, 257, 258}});
  for (const Order order : {Order::one_place, Order::whole_rank}) {
    Ids symbols(1'000'003, 'a');
    Merger(table, order).merge(symbols);
    CHECK(symbols.size() == 125'002);
    CHECK(symbols[0] == 258);
    CHECK(symbols[125'000] == 256);
    CHECK(symbols[125'001] == 'a');
  }
}

TEST_CASE("long runs of few letters merge a run at a time, in both orders and under both rules") {
  Random random(53);
  runs_merged = runs_refused = bytes_merged = 0;
  for (int round = 0; round < 1500; ++round) {
    const u32 letters = static_cast<u32>(random.between(1, 3));
    const PairTable table = table_of(random_merges(random, random.below(25), letters, random.one_in(4)));
    std::string text;
    while (text.size() < 200) text += std::string(random.between(1, random.one_in(3) ? 150 : 40), static_cast<char>('a' + random.below(letters)));
    for (const Order order : {Order::one_place, Order::whole_rank}) {
      Ids plain = ids_of(text);
      merge_plainly(table, order == Order::whole_rank, plain);
      REQUIRE(merged(table, order, ids_of(text)) == plain);
    }
  }
  CHECK(runs_merged > 500);
  CHECK(bytes_merged > 100);
  CHECK(runs_refused > 10);
  // As rank files have them: a token's part may have a higher rank, and its splits overlap.
  const Ranks ranks({"aa", "aaaa", "aaa", "ab", "aab", "bb", "abb", "aaaaaaaa"});
  for (std::size_t n = 60; n < 90; ++n) {
    for (const std::string& text : {std::string(n, 'a'), std::string(n, 'a') + std::string(n, 'b'), "b" + std::string(n, 'a') + "b"}) {
      Ids plain = ids_of(text);
      merge_plainly(ranks.table(), false, plain);
      REQUIRE(merged(ranks.table(), Order::one_place, ids_of(text)) == plain);
    }
  }
}

TEST_CASE("token by token and in parts, with shared ranks, parts made later, and symbols spelled in two ways") {
  Random random(54);
  linear_merged = linear_refused = 0;
  for (int round = 0; round < 4000; ++round) {
    const u32 letters = static_cast<u32>(random.between(1, 4));
    const bool shuffled = random.one_in(2), shared = random.one_in(3), odd = random.one_in(8);
    std::vector<u32> left, right, ids, ranks;
    for (const Merge& merge : random_merges(random, random.below(30), letters, shuffled)) {
      left.push_back(merge.left);
      right.push_back(merge.right);
      // At times an id that is a letter, or another pair's.
      ids.push_back(odd && random.one_in(6) ? (random.one_in(2) ? 'a' : 256 + random.id_below(8)) : merge.id);
      ranks.push_back(shared ? random.id_below(10) : static_cast<u32>(ranks.size()));
    }
    const PairTable table = PairTable::of_merges(left.data(), right.data(), ids.data(), ranks.data(), ids.size());
    Ids symbols = ids_of(random_word(random, random.one_in(10) ? 200 : 30, static_cast<char>(letters)));
    if (random.one_in(10)) symbols[random.below(symbols.size())] = 'z';                 // in no pair
    if (random.one_in(10)) symbols[random.below(symbols.size())] = 256 + random.id_below(9);  // made by a pair
    for (const Order order : {Order::one_place, Order::whole_rank}) {
      Ids plain = symbols;
      merge_plainly(table, order == Order::whole_rank, plain);
      REQUIRE(merged(table, order, symbols) == plain);
    }
  }
  CHECK(linear_merged > 4000);
  CHECK(linear_refused > 500);
}

TEST_CASE("repetitive texts, token by token, under the rank rule with tokens that are part of each other") {
  Random random(55);
  linear_merged = 0;
  for (int round = 0; round < 800; ++round) {
    // The substrings of a few words: many splits of each token, parts with higher ranks.
    std::vector<std::string> words, tokens;
    for (int k = 0; k < 3; ++k) words.push_back(random_word(random, 8, 3));
    std::map<std::string, bool> seen;
    for (std::size_t n = random.below(40); n > 0; --n) {
      const std::string& word = words[random.below(words.size())];
      const std::size_t at = random.below(word.size());
      const std::string token = word.substr(at, random.between(1, 6));
      if (token.size() > 1 && !std::exchange(seen[token], true)) tokens.push_back(token);
    }
    std::string text;
    while (text.size() < 150) text += words[random.below(words.size())];
    const PairTable table = Ranks(tokens).table();
    Ids plain = ids_of(text);
    merge_plainly(table, false, plain);
    REQUIRE(merged(table, Order::one_place, ids_of(text)) == plain);
  }
  CHECK(linear_merged > 1000);
}

TEST_CASE("the tables for long pretokens come when they pay, and change nothing") {
  Random random(56);
  const PairTable table = table_of(random_merges(random, 60, 3, true));
  for (const Order order : {Order::one_place, Order::whole_rank}) {
    LongTables tables(table, order);
    Merger with(table, order, &tables), without(table, order);
    for (int round = 0; round < 30; ++round) {
      std::string text;
      while (text.size() < 10000) text += random_word(random, 200, 3) + (random.one_in(4) ? "z" : "");
      Ids one = ids_of(text), other = one;
      with.merge(one);
      without.merge_by_heap(other);
      REQUIRE(one == other);
    }
    CHECK(tables.joints());
    CHECK((tables.linear() != nullptr) == (order == Order::one_place));
  }
}
