#include "tokens.hpp"

#include <atomic>
#include <thread>

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

TEST_CASE("a table of tokens knows its tokens by their bytes, and no others") {
  Random random(130);
  std::map<std::string, u32> plain;
  std::vector<u8> text;
  std::vector<i64> offsets = {0};
  std::vector<u32> ids;
  while (ids.size() < 500) {
    const std::string token = random_word(random, 8, 4);
    if (!plain.emplace(token, static_cast<u32>(3 * ids.size())).second) continue;
    text.insert(text.end(), token.begin(), token.end());
    offsets.push_back(static_cast<i64>(text.size()));
    ids.push_back(static_cast<u32>(3 * ids.size()));
  }
  const TokenTable table(text, offsets, ids);
  REQUIRE(table.size() == 500);
  for (int round = 0; round < 5000; ++round) {
    const std::string token = random_word(random, 10, 4);
    const auto known = plain.find(token);
    REQUIRE(table.find(bytes_of(token), token.size()) == (known == plain.end() ? kNone : known->second));
  }
  for (std::size_t i = 0; i < table.size(); ++i) REQUIRE(plain.at(std::string(table.token(i))) == table.id(i));
  CHECK(table.find(bytes_of(""), 0) == kNone);
}

TEST_CASE("no tokens, and the empty token") {
  CHECK(TokenTable({}, {0}, {}).find(bytes_of("a"), 1) == kNone);
  CHECK(TokenTable({'a'}, {0, 0, 1}, {7, 8}).find(bytes_of("a"), 0) == 7);
}

TEST_CASE("tokens that do not fit together are refused") {
  const auto kind = [](const std::vector<i64>& offsets, const std::vector<u32>& ids) {
    return error_of([&] { TokenTable({'a', 'b', 'a'}, offsets, ids); });
  };
  CHECK(kind({0, 1, 3}, {0, 1}) == std::nullopt);
  CHECK(kind({0, 1, 2, 3}, {0, 1, 2}) == ErrorKind::vocabulary);  // the same bytes twice
  CHECK(kind({}, {}) == ErrorKind::vocabulary);
  CHECK(kind({0, 3}, {}) == ErrorKind::vocabulary);
  CHECK(kind({1, 3}, {0}) == ErrorKind::vocabulary);
  CHECK(kind({0, 2}, {0}) == ErrorKind::vocabulary);
  CHECK(kind({0, 4}, {0}) == ErrorKind::vocabulary);
  CHECK(kind({0, 2, 1, 3}, {0, 1, 2}) == ErrorKind::vocabulary);
  CHECK(kind({0, -1, 3}, {0, 1}) == ErrorKind::vocabulary);
}

TEST_CASE("a table that is made later finds the same, before and after it is made, from any number of threads") {
  std::vector<u8> text;
  std::vector<i64> offsets = {0};
  std::vector<u32> ids;
  std::vector<std::string> tokens;
  for (u32 k = 0; k < 500; ++k) tokens.push_back(std::string(k % 40, static_cast<char>('a' + k % 26)) + std::to_string(k));
  for (const std::string& token : tokens) {
    text.insert(text.end(), token.begin(), token.end());
    offsets.push_back(static_cast<i64>(text.size()));
    ids.push_back(static_cast<u32>(7 * ids.size()));
  }
  for (int round = 0; round < 20; ++round) {
    const TokenTable table(text, offsets, ids, true);
    std::atomic<std::size_t> wrong{0};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t k = t; k < tokens.size(); k += 3) {
          const std::string& token = tokens[k];
          wrong += table.find(bytes_of(token), token.size()) != 7 * k;
          wrong += table.find(bytes_of(token), token.size() - 1) == 7 * k;
          if (token.size() <= ShortKey::kMax) {
            const ShortKey key = short_key(bytes_of(token), token.size(), 0);
            wrong += table.find(key, key.hash()) != 7 * k;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("of two tokens with the same bytes a table that is made later finds the first") {
  const std::vector<u8> text = {'a', 'b', 'a', 'b', 'c'};
  CHECK(error_of([&] { TokenTable(text, {0, 2, 4, 5}, {1, 2, 3}); }) == ErrorKind::vocabulary);
  const TokenTable table(text, {0, 2, 4, 5}, {1, 2, 3}, true);
  for (int round = 0; round < 60; ++round) {
    REQUIRE(table.find(text.data(), 2) == 1);
    REQUIRE(table.find(text.data() + 4, 1) == 3);
    REQUIRE(table.find(text.data(), 0) == kNone);
    REQUIRE(table.find(text.data(), 3) == kNone);
  }
}
