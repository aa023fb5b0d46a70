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

Ids ids_of(const WordCache::Words& words) {
  Ids ids(words.ids, words.ids + words.n);
  ids[0] &= 0xFFFFFF;
  return ids;
}

u64 hash_of(const std::string& word) {
  const Exact exact(word);
  if (word.size() <= ShortKey::kMax) return short_key(exact.data(), word.size(), word.size()).hash();
  if (word.size() <= MediumKey::kMax) return medium_key(exact.data(), word.size(), word.size()).hash();
  return WordCache::long_hash(exact.data(), word.size());
}

std::optional<Ids> look_up(const WordCache& cache, const std::string& word) {
  const Exact exact(word);
  if (!cache.works()) return std::nullopt;
  const u64 hash = hash_of(word);
  WordCache::Words words;
  if (word.size() <= ShortKey::kMax) {
    const ShortKey key = short_key(exact.data(), exact.size(), exact.size());
    words = cache.find_short(key, hash);
    // What stands where it is sought first, in the usual form, is what the whole search finds.
    if (const u32* ids = WordCache::find_in_line(cache.line(hash), CellKey(key))) REQUIRE(ids == words.ids);
  } else if (word.size() <= MediumKey::kMax) {
    words = cache.find_medium(medium_key(exact.data(), exact.size(), exact.size()), hash);
  } else {
    words = cache.find_long(exact.data(), exact.size(), hash);
  }
  if (!words.ids) return std::nullopt;
  return ids_of(words);
}

void insert(WordCache& cache, const std::string& word, const Ids& ids) {
  const Exact exact(word);
  const u8* const p = exact.data();
  const std::size_t n = word.size();
  const u64 hash = hash_of(word);
  if (n <= ShortKey::kMax)
    cache.insert_short(short_key(p, n, n), hash, ids.data(), ids.size());
  else if (n <= MediumKey::kMax)
    cache.insert_medium(medium_key(p, n, n), hash, ids.data(), ids.size());
  else
    cache.insert_long(p, n, hash, ids.data(), ids.size());
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
      const std::string word = word_of(random, random.one_in(50) ? 500 : random.one_in(3) ? 60 : 12);
      const Ids ids = ids_for(word, word.size() > 12 ? 20 : 5);
      if (const auto known = look_up(cache, word)) {
        ++found;
        wrong += *known != ids;
        continue;
      }
      insert(cache, word, ids);
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
    const std::string word = std::string(k % 4 ? "w" : k % 8 ? "a word that is long " : "a word that is still longer than that ") + std::to_string(k);
    const Ids ids = ids_for(word, 12);
    insert(cache, word, ids);
    REQUIRE(look_up(cache, word) == ids);
    words.push_back(word);
  }
  std::size_t kept = 0;
  for (const std::string& word : words) {
    const auto known = look_up(cache, word);
    kept += known.has_value();
    if (known) REQUIRE(*known == ids_for(word, 12));
  }
  CHECK(kept > words.size() * 95 / 100);  // a crowded place may lose some while a table grows
}

TEST_CASE("what fits nowhere is not kept") {
  WordCache cache(1 << 20);
  const std::string word(20, 'x'), too_long(WordCache::kLongest + 1, 'x');
  for (const std::string& each : {std::string("x"), word, too_long}) {
    insert(cache, each, {});
    insert(cache, each, {1u << 24, 7});
    CHECK_FALSE(look_up(cache, each));
  }
  insert(cache, too_long, {7});
  CHECK_FALSE(look_up(cache, too_long));
  insert(cache, std::string(WordCache::kLongest, 'x'), Ids(WordCache::kLongest, 7));
  CHECK(look_up(cache, std::string(WordCache::kLongest, 'x')));
}

TEST_CASE("ids that the log has written over are forgotten, and can be learned again") {
  WordCache cache(8192);
  const std::string word = "few", wide(20, 'x'), long_word(40, 'x');
  const Ids many(16, 7);
  for (int round = 0; round < 50; ++round) {
    for (const std::string& each : {word, wide, long_word}) {
      insert(cache, each, many);
      REQUIRE(look_up(cache, each) == many);
    }
    for (int k = 0; k < 20; ++k) insert(cache, "other" + std::to_string(k), Ids(100, 9));
    for (const std::string& each : {word, wide, long_word}) CHECK_FALSE(look_up(cache, each));
  }
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
