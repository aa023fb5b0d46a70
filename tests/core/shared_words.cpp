#include "shared_words.hpp"

#include <thread>
#include <vector>

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

MediumKey key_of(const std::string& text) { return medium_key(bytes_of(text), text.size(), 0); }

}  // namespace

TEST_CASE("what was shared is found, and nothing else") {
  SharedWords words(1 << 16);
  CHECK(words.bytes() == 1 << 16);
  u32 ids[SharedWords::kIds];
  CHECK(words.find(key_of("ab"), ids) == 0);
  const u32 given[] = {0xFFFFFF, 2, 3, 4, 5, 6};
  for (std::size_t n = 1; n <= SharedWords::kIds; ++n) {
    const std::string text(n, 'x');
    words.insert(key_of(text), given, n);
    REQUIRE(words.find(key_of(text), ids) == n);
    CHECK(std::equal(given, given + n, ids));
  }
  CHECK(words.find(key_of("xy"), ids) == 0);
}

TEST_CASE("without room nothing is kept") {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{63}}) {
    SharedWords words(bytes);
    CHECK(words.bytes() == 0);
    const u32 id = 1;
    u32 ids[SharedWords::kIds];
    words.insert(key_of("a"), &id, 1);
    CHECK(words.find(key_of("a"), ids) == 0);
  }
}

TEST_CASE("threads that write the same few slots never read half of a word") {
  SharedWords words(256);  // four slots
  std::atomic<std::size_t> wrong{0}, right{0};
  std::vector<std::thread> threads;
  for (u32 t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (u32 round = 0; round < 20'000; ++round) {
        const u32 number = (round * 7 + t) % 64;
        const MediumKey key = key_of("word " + std::to_string(number) + std::string(number % 20, '.'));
        u32 ids[SharedWords::kIds];
        const std::size_t n = words.find(key, ids);
        if (n != 0) {
          ++right;
          for (std::size_t k = 0; k < n; ++k) wrong += ids[k] != number + k;
          wrong += n != number % SharedWords::kIds + 1;
        }
        const u32 mine[] = {number, number + 1, number + 2, number + 3, number + 4, number + 5};
        words.insert(key, mine, number % SharedWords::kIds + 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(right > 0);
}
