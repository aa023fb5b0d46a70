#include "shared_words.hpp"

#include <thread>
#include <vector>

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

MediumKey key_of(const std::string& text) { return medium_key(bytes_of(text), text.size(), 0); }

}  // namespace

TEST_CASE("what one thread tells, others hear in order, as far as the log goes") {
  SharedWords words(1 << 12);  // 64 slots
  CHECK(words.bytes() == 1 << 12);
  SharedWords::Word word;
  u64 heard = 0;
  CHECK_FALSE(words.next(heard, word));
  const u32 given[] = {0xFFFFFF, 2, 3, 4, 5, 6};
  for (std::size_t n = 1; n <= SharedWords::kIds; ++n) words.add(key_of(std::string(n, 'x')), given, n, static_cast<unsigned>(n + 30));
  for (std::size_t n = 1; n <= SharedWords::kIds; ++n) {
    REQUIRE(words.next(heard, word));
    CHECK(word.key == key_of(std::string(n, 'x')));
    CHECK(word.writer == (n + 30) % SharedWords::kWriters);
    REQUIRE(word.n == n);
    CHECK(std::equal(given, given + n, word.ids));
  }
  CHECK_FALSE(words.next(heard, word));
  for (u32 k = 0; k < 200; ++k) words.add(key_of("word " + std::to_string(k)), &k, 1, 0);
  for (u32 k = 200 - 64; k < 200; ++k) {
    REQUIRE(words.next(heard, word));
    CHECK(word.ids[0] == k);
  }
  CHECK_FALSE(words.next(heard, word));
}

TEST_CASE("without room nothing is told") {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{63}}) {
    SharedWords words(bytes);
    CHECK(words.bytes() == 0);
    const u32 id = 1;
    words.add(key_of("a"), &id, 1, 0);
    SharedWords::Word word;
    u64 heard = 0;
    CHECK_FALSE(words.next(heard, word));
  }
}

TEST_CASE("threads that write the same few slots never read half of a word") {
  SharedWords words(256);  // four slots
  std::atomic<std::size_t> wrong{0}, right{0};
  std::vector<std::thread> threads;
  for (u32 t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      u64 heard = 0;
      for (u32 round = 0; round < 20'000; ++round) {
        SharedWords::Word word;
        if (words.next(heard, word)) {
          ++right;
          const u32 number = word.ids[0];
          wrong += !(word.key == key_of("word " + std::to_string(number) + std::string(number % 20, '.')));
          wrong += word.n != number % SharedWords::kIds + 1;
          for (u32 k = 0; k < word.n; ++k) wrong += word.ids[k] != number + k;
        }
        const u32 number = (round * 7 + t) % 64;
        const u32 mine[] = {number, number + 1, number + 2, number + 3, number + 4, number + 5};
        words.add(key_of("word " + std::to_string(number) + std::string(number % 20, '.')), mine, number % SharedWords::kIds + 1, t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(right > 0);
}
