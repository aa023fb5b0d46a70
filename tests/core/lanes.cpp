#include "lanes.hpp"

#include "merge.hpp"
#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

using Ids = std::vector<u32>;

// Merges of a few letters and of what they make, in an order that no training would give.
PairTable random_pairs(Random& random, bool ids_are_ranks, std::size_t n) {
  std::vector<u32> left, right, ids;
  std::vector<u64> packed;
  std::map<std::pair<u32, u32>, bool> seen;
  u32 next = 300;
  for (std::size_t k = 0; k < n; ++k) {
    const auto some = [&] { return random.one_in(2) ? 'a' + random.id_below(4) : 300 + random.id_below(next - 299); };
    const u32 a = some(), b = some();
    if (a >= next || b >= next || std::exchange(seen[{a, b}], true)) continue;
    left.push_back(a);
    right.push_back(b);
    ids.push_back(random.one_in(5) ? 'a' + random.id_below(4) : next);
    packed.push_back(static_cast<u64>(a) << 43 | static_cast<u64>(b) << 22 | next);
    ++next;
  }
  if (ids_are_ranks) return PairTable::of_packed(packed.data(), packed.size());
  return PairTable::of_merges(left.data(), right.data(), ids.data(), nullptr, ids.size());
}

}  // namespace

TEST_CASE("words that merge side by side come to what each comes to alone") {
  std::size_t levels_that_can = 0;
  for (const Simd* level : levels()) {
    Random random(90);
    for (int round = 0; round < 60; ++round) {
      const PairTable pairs = random_pairs(random, round % 2 == 0, 1 + random.below(400));
      if (!Lanes::work(*level, pairs)) continue;
      ++levels_that_can;
      Ids byte_ids(256), first_ranks(65536);
      for (u32 b = 0; b < 256; ++b) byte_ids[b] = b;
      for (u32 a = 0; a < 256; ++a) {
        for (u32 b = 0; b < 256; ++b) first_ranks[a << 8 | b] = pairs.rank(a, b);
      }
      Lanes lanes(pairs, byte_ids.data(), first_ranks.data());
      Merger merger(pairs, Order::one_place);
      for (int time = 0; time < 20; ++time) {
        lanes.clear();
        std::vector<std::string> words(random.between(1, Lanes::kWords));
        const std::size_t longest = random.one_in(3) ? Lanes::kSymbols : random.between(1, 12);
        for (std::string& word : words) {
          for (std::size_t n = random.between(1, longest); n > 0; --n) word.push_back(static_cast<char>('a' + random.below(5)));
          const Exact exact(word);
          lanes.add(exact.data(), exact.size());
        }
        lanes.merge();
        for (std::size_t w = 0; w < words.size(); ++w) {
          Ids alone(words[w].begin(), words[w].end()), beside(Lanes::kSymbols);
          merger.merge_by_scan(alone);
          beside.resize(lanes.tokens(w, beside.data()));
          REQUIRE(beside == alone);
        }
      }
    }
  }
  MESSAGE("tables that were tried: " << levels_that_can);
}

TEST_CASE("merges that share ranks are left to the other way") {
  const u32 left[] = {1, 2}, right[] = {2, 3}, ids[] = {4, 5}, ranks[] = {0, 0};
  const PairTable pairs = PairTable::of_merges(left, right, ids, ranks, 2);
  for (const Simd* level : levels()) CHECK_FALSE(Lanes::work(*level, pairs));
}
