#include "word_cache.hpp"

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

using Ids = std::vector<u32>;

// The ids of a word, as different words have them: a pure function, like encoding.
Ids ids_for(const std::string& word, std::size_t most) {
  const u64 hash = hash_bytes(bytes_of(word), word.size());
  Ids ids(1 + hash % most);
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = static_cast<u32>(hash_words(hash, k) & 0xFFFFFF);
  return ids;
}

Ids unpacked(const u32* packed) {
  Ids ids(packed, packed + (packed[0] >> 24));
  ids[0] &= 0xFFFFFF;
  return ids;
}

std::optional<Ids> look_up(const WordCache& cache, const std::string& word) {
  const Exact exact(word);
  if (!cache.works()) return std::nullopt;
  if (word.size() <= ShortKey::kMax) {
    const ShortKey key = short_key(exact.data(), exact.size(), exact.size());
    if (const WordCache::Short* slot = cache.find_short(key, key.hash())) return unpacked(slot->ids);
  }
  if (word.size() <= MediumKey::kMax) {
    const MediumKey key = medium_key(exact.data(), exact.size(), exact.size());
    if (const WordCache::Medium* slot = cache.find_medium(key, key.hash())) return unpacked(slot->ids);
  }
  const WordCache::Words words = cache.find_long(exact.data(), exact.size());
  if (!words.ids) return std::nullopt;
  return Ids(words.ids, words.ids + words.n);
}

std::string word_of(Random& random, std::size_t longest) {
  std::string word;
  for (std::size_t n = random.between(1, longest); n > 0; --n) word.push_back(static_cast<char>(random.below(3) * 120));
  return word;
}

}  // namespace

TEST_CASE("whatever the budget, a cache gives what was put in or nothing, and stays within it") {
  constexpr std::size_t kBudgets[] = {0, 1, 63, 64, 100, 128, 500, 512, 1000, 1023, 1024, 4096, 50'000, 1 << 20, 3 << 20};
  for (const std::size_t budget : kBudgets) {
    CAPTURE(budget);
    WordCache cache(budget);
    Random random(70);
    std::size_t wrong = 0, found = 0;
    for (int round = 0; round < 30'000; ++round) {
      const std::string word = word_of(random, random.one_in(3) ? 60 : 12);
      const Ids ids = ids_for(word, word.size() > 12 ? 20 : 5);
      if (const auto known = look_up(cache, word)) {
        ++found;
        wrong += *known != ids;
        continue;
      }
      const Exact exact(word);
      cache.insert(exact.data(), exact.size(), exact.size(), ids.data(), ids.size());
      if (const auto known = look_up(cache, word)) wrong += *known != ids;
    }
    CHECK(wrong == 0);
    CHECK(cache.bytes() <= budget);
    if (budget >= 4096) CHECK(found > 0);
    if (budget == 0) CHECK(found == 0);
  }
}

TEST_CASE("the newest word is there, and growing keeps the words before it") {
  WordCache cache(16 << 20);
  std::vector<std::string> words;
  for (int k = 0; k < 20'000; ++k) {
    const std::string word = (k % 4 ? "w" : "a word that is long ") + std::to_string(k);
    const Ids ids = ids_for(word, 4);
    cache.insert(bytes_of(word), word.size(), word.size(), ids.data(), ids.size());
    REQUIRE(look_up(cache, word) == ids);
    words.push_back(word);
  }
  std::size_t kept = 0;
  for (const std::string& word : words) {
    const auto known = look_up(cache, word);
    kept += known.has_value();
    if (known) REQUIRE(*known == ids_for(word, 4));
  }
  CHECK(kept > words.size() * 3 / 4);
}

TEST_CASE("what fits no slot is not kept") {
  WordCache cache(1 << 20);
  const Ids many(WordCache::kLongIds + 1, 7);
  const std::string word(20, 'x'), long_word(WordCache::kLongBytes + 1, 'x');
  cache.insert(bytes_of(word), word.size(), word.size(), many.data(), many.size());
  cache.insert(bytes_of(word), word.size(), word.size(), many.data(), 0);
  cache.insert(bytes_of(long_word), long_word.size(), long_word.size(), many.data(), 1);
  CHECK_FALSE(look_up(cache, word));
  CHECK_FALSE(look_up(cache, long_word));
}

TEST_CASE("keys of words are the same however many bytes may be read behind them, and differ where the words do") {
  Random random(71);
  std::string text;
  for (int k = 0; k < 64; ++k) text.push_back(static_cast<char>(random.below(256)));
  for (std::size_t n = 1; n <= MediumKey::kMax; ++n) {
    const std::string word = text.substr(0, n), other = text.substr(0, n - 1) + static_cast<char>(text[n - 1] ^ 1);
    const Exact exact(word);
    const MediumKey key = medium_key(exact.data(), n, n);
    CHECK(key == medium_key(bytes_of(text), n, 64));
    CHECK_FALSE(key == medium_key(bytes_of(other), n, n));
    CHECK_FALSE(key == medium_key(bytes_of(text), n - 1, 64));
    if (n > ShortKey::kMax) continue;
    CHECK(short_key(exact.data(), n, n) == short_key(bytes_of(text), n, 64));
    CHECK(short_key(exact.data(), n, n) == open_short_key(bytes_of(text), n));
    CHECK_FALSE(short_key(exact.data(), n, n) == short_key(bytes_of(other), n, n));
  }
}
