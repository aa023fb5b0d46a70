#include "pairs.hpp"

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

TEST_CASE("a table of merges knows its pairs, by rank and id, and no others") {
  Random random(40);
  constexpr std::size_t kSizes[] = {0, 1, 7, 8, 9, 1000, 20000};
  for (const std::size_t n : kSizes) {
    std::map<std::pair<u32, u32>, Merge> plain;
    std::vector<Merge> merges;
    while (merges.size() < n) {
      const Merge merge{random.id_below(300), random.id_below(300), random.id_below(1 << 21)};
      if (plain.emplace(std::pair(merge.left, merge.right), Merge{0, static_cast<u32>(merges.size()), merge.id}).second)
        merges.push_back(merge);
    }
    const PairTable table = table_of(merges);
    REQUIRE(table.size() == n);
    std::size_t wrong = 0;
    for (u32 left = 0; left < 300; ++left) {
      for (u32 right = 0; right < 300; ++right) {
        const PairTable::Found found = table.find(left, right);
        const auto known = plain.find({left, right});
        if (known == plain.end())
          wrong += found.rank != kNone || found.id != kNone || table.rank(left, right) != kNone;
        else
          wrong += found.rank != known->second.right || found.id != known->second.id;
      }
    }
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("a pair given twice is refused") {
  CHECK(error_of([] { table_of({{1, 2, 3}, {2, 1, 4}, {1, 2, 5}}); }) == ErrorKind::vocabulary);
}

TEST_CASE("ids and ranks that no slot can hold are refused") {
  const u32 most = PairTable::kMaxId, more = most + 1, rank = PairTable::kMaxRank, one = 1;
  const auto kind = [](u32 left, u32 right, u32 id, u32 by) {
    return error_of([&] { PairTable::of_merges(&left, &right, &id, &by, 1); });
  };
  CHECK(kind(most, most, most, 7) == std::nullopt);
  CHECK(kind(more, 1, 1, 7) == ErrorKind::vocabulary);
  CHECK(kind(1, more, 1, 7) == ErrorKind::vocabulary);
  CHECK(kind(1, 1, more, 7) == ErrorKind::vocabulary);
  CHECK(kind(1, 1, 1, rank + 1) == ErrorKind::vocabulary);
  CHECK(PairTable::of_merges(&one, &one, &one, &one, 1).rank(most, most) == kNone);
}

TEST_CASE("merges may share a rank, but it must be one") {
  const std::vector<u32> left = {1, 2}, right = {2, 1}, ids = {3, 4};
  const std::vector<u32> shared = {7, 7}, none = {0, kNone};
  const PairTable table = PairTable::of_merges(left.data(), right.data(), ids.data(), shared.data(), 2);
  CHECK(table.rank(1, 2) == 7);
  CHECK(table.rank(2, 1) == 7);
  CHECK(table.find(1, 2).id == 3);
  CHECK(table.find(2, 1).id == 4);
  CHECK(error_of([&] { PairTable::of_merges(left.data(), right.data(), ids.data(), none.data(), 2); }) ==
        ErrorKind::vocabulary);
}

TEST_CASE("a table of ranks has the split that merging comes to, and merges as one of every split does") {
  Random random(41);
  for (int round = 0; round < 1000; ++round) {
    std::map<std::string, bool> seen;
    std::vector<std::string> tokens;
    for (std::size_t n = random.between(0, 30); n > 0; --n) {
      const std::string token = random_word(random, round % 10 ? 6 : 70, 3);
      if (token.size() > 1 && !std::exchange(seen[token], true)) tokens.push_back(token);
    }
    const PairTable table = Ranks(tokens).table();
    std::map<std::string, u32> by_bytes;
    for (std::size_t i = 0; i < tokens.size(); ++i) by_bytes[tokens[i]] = static_cast<u32>(256 + i);
    for (char c = 'a'; c < 'd'; ++c) by_bytes[std::string(1, c)] = static_cast<u8>(c);
    std::vector<u32> left, right, ids;
    std::map<u32, int> splits;
    for (const auto& [whole, id] : by_bytes) {
      for (std::size_t k = 1; k < whole.size(); ++k) {
        const auto one = by_bytes.find(whole.substr(0, k)), other = by_bytes.find(whole.substr(k));
        if (one == by_bytes.end() || other == by_bytes.end()) continue;
        left.push_back(one->second);
        right.push_back(other->second);
        ids.push_back(id);
        const u32 rank = table.rank(one->second, other->second);
        REQUIRE((rank == kNone || rank == id));
        REQUIRE((rank == kNone || ++splits[id] == 1));
      }
    }
    REQUIRE(table.size() == splits.size());
    const PairTable every = PairTable::of_merges(left.data(), right.data(), ids.data(), ids.data(), ids.size());
    const PairTable found = PairTable::of_every_split(Ranks(tokens).tokens());
    for (std::size_t i = 0; i < ids.size(); ++i) REQUIRE(found.rank(left[i], right[i]) == ids[i]);
    for (int k = 0; k < 20; ++k) {
      std::vector<u32> one = ids_of(random_word(random, 40, 3)), other = one;
      merge_plainly(table, false, one);
      merge_plainly(every, false, other);
      REQUIRE(one == other);
    }
  }
}

TEST_CASE("a packed table of ranks comes back the same, and nothing else passes for one") {
  Random random(42);
  std::map<std::string, bool> seen;
  std::vector<std::string> tokens;
  for (int k = 0; k < 500; ++k) {
    const std::string token = random_word(random, 6, 4);
    if (token.size() > 1 && !std::exchange(seen[token], true)) tokens.push_back(token);
  }
  const PairTable table = Ranks(tokens).table();
  const std::vector<u64> packed = table.packed();
  REQUIRE(packed.size() == table.size());
  const PairTable again = PairTable::of_packed(packed.data(), packed.size());
  CHECK(again.packed() == packed);
  for (const u64 pair : packed) {
    const u32 left = static_cast<u32>(pair >> 43), right = static_cast<u32>(pair >> 22) & PairTable::kMaxId;
    REQUIRE(again.find(left, right).id == table.find(left, right).id);
  }
  const auto refused = [](std::vector<u64> pairs) {
    return error_of([&] { PairTable::of_packed(pairs.data(), pairs.size()); });
  };
  CHECK(refused({}) == std::nullopt);
  CHECK(refused({~u64{0}}) == ErrorKind::vocabulary);
  CHECK(refused({u64{1} << 22 | (PairTable::kMaxId + 1)}) == ErrorKind::vocabulary);
  CHECK(refused({u64{1} << 22 | 5, u64{1} << 22 | 6}) == ErrorKind::vocabulary);
  for (int round = 0; round < 200; ++round) {
    std::vector<u64> damaged = packed;
    damaged[random.below(damaged.size())] ^= u64{1} << random.below(64);
    refused(damaged);  // whether it is or not, a table that was made finds what it holds
  }
  CHECK(error_of([] { table_of({{1, 2, 3}}).packed(); }) == ErrorKind::value);
}

TEST_CASE("two tokens of the same bytes are refused") {
  CHECK(error_of([] { Ranks({"ab", "cd", "ab"}).table(); }) == ErrorKind::vocabulary);
}
