#include "dropout.hpp"

#include <algorithm>

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

using Ids = std::vector<u32>;

constexpr u64 kOne = u64{1} << 53;

// The definition: all places, sorted anew in each step.
Ids dropped_plainly(const PairTable& pairs, bool whole_rank, Ids symbols, Draws draws, u64 threshold) {
  for (;;) {
    std::vector<std::pair<u32, std::size_t>> places;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const u32 rank = pairs.rank(symbols[i], symbols[i + 1]);
      if (rank != kNone) places.push_back({rank, i});
    }
    std::sort(places.begin(), places.end());
    std::vector<std::size_t> merging;
    u32 rank = kNone;
    for (const auto& [place_rank, i] : places) {
      if (!merging.empty() && (!whole_rank || place_rank != rank)) break;
      if (!merging.empty() && merging.back() + 1 == i) continue;
      if (draws.next() < threshold) continue;
      merging.push_back(i);
      rank = place_rank;
    }
    if (merging.empty()) return symbols;
    Ids next;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      const bool here = std::find(merging.begin(), merging.end(), i) != merging.end();
      next.push_back(here ? pairs.made(symbols[i], symbols[i + 1], rank) : symbols[i]);
      i += here;
    }
    symbols = next;
  }
}

}  // namespace

TEST_CASE("merging with dropout equals its definition, by scan and by heap, in both orders") {
  Random random(90);
  for (int round = 0; round < 3000; ++round) {
    const u32 letters = static_cast<u32>(random.between(1, 3));
    const PairTable table = table_of(random_merges(random, random.below(25), letters, random.one_in(2)));
    const Ids symbols = ids_of(random_word(random, random.one_in(10) ? 150 : 20, static_cast<char>(letters)));
    const u64 threshold = random.one_in(8) ? kOne : random.next() >> 11;
    const u64 seed = random.next(), offset = random.below(1000);
    for (const Order order : {Order::one_place, Order::whole_rank}) {
      DropoutMerger merger(table, order);
      Ids scanned = symbols, heaped = symbols, chosen = symbols;
      merger.merge_by_scan(scanned, Draws(seed, offset), threshold);
      merger.merge_by_heap(heaped, Draws(seed, offset), threshold);
      merger.merge(chosen, Draws(seed, offset), threshold);
      const Ids plain = dropped_plainly(table, order == Order::whole_rank, symbols, Draws(seed, offset), threshold);
      REQUIRE(scanned == plain);
      REQUIRE(heaped == plain);
      REQUIRE(chosen == plain);
    }
  }
}

TEST_CASE("a threshold of nothing is merging as ever, and one of all is no merge") {
  Random random(91);
  for (int round = 0; round < 1000; ++round) {
    const PairTable table = table_of(random_merges(random, random.below(25), 2, random.one_in(2)));
    const Ids symbols = ids_of(random_word(random, random.one_in(10) ? 150 : 20, 2));
    for (const Order order : {Order::one_place, Order::whole_rank}) {
      Ids none = symbols, all = symbols, merged = symbols;
      DropoutMerger merger(table, order);
      merger.merge(none, Draws(random.next(), 7), 0);
      merger.merge(all, Draws(random.next(), 7), kOne);
      Merger(table, order).merge(merged);
      REQUIRE(none == merged);
      REQUIRE(all == symbols);
    }
  }
}

TEST_CASE("a batch is its documents one by one, for any number of threads, and a stream is its text") {
  Random random(92);
  const PairTable table = table_of(random_merges(random, 30, 3, false));
  std::vector<u32> bytes(256);
  for (u32 b = 0; b < 256; ++b) bytes[b] = b;
  const DropoutEncoder encoder(Alphabet::of_bytes(bytes, {}, kNone), table, Order::one_place, gpt2_splitter(), {});
  std::vector<std::string> texts;
  for (int i = 0; i < 40; ++i) {
    std::string text;
    for (std::size_t n = random.below(2000); n > 0; --n) text += random_word(random, 6, 3) + ' ';
    texts.push_back(text);
  }
  const std::vector<GivenText> documents(texts.begin(), texts.end());
  const Dropout dropout{~u64{3}, kOne / 5};
  Ids singly;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    IdBuffer ids, streamed;
    const Dropout own{dropout.seed + i, dropout.threshold};
    const u8* const s = bytes_of(texts[i]);
    encoder.encode(s, texts[i].size(), nullptr, own, 0, ids);
    Stream stream;
    std::size_t at = 0;
    while (at < texts[i].size()) {
      const std::size_t size = std::min(texts[i].size() - at, random.between(1, 700));
      encoder.feed(stream, s + at, size, at + size == texts[i].size(), nullptr, own, streamed);
      at += size;
    }
    const Ids alone(ids.data(), ids.data() + ids.size());
    REQUIRE(alone == Ids(streamed.data(), streamed.data() + streamed.size()));
    singly.insert(singly.end(), alone.begin(), alone.end());
  }
  for (const unsigned threads : {1u, 2u, 8u}) {
    IdBuffer out;
    std::vector<i64> counts;
    encoder.encode_batch(documents, nullptr, threads, dropout, out, counts);
    REQUIRE(Ids(out.data(), out.data() + out.size()) == singly);
  }
}
