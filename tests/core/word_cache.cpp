#include "word_cache.hpp"

#include <memory>

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

const CellLevel& best() { return cell_level(*levels().back()); }

CellKey cell_key(const Exact& word) { return CellKey(short_key(word.data(), word.size(), word.size())); }

u64 hash_of(const WordCache& cache, const Exact& word) {
  if (word.size() <= ShortKey::kMax) return cache.hash(cell_key(word));
  if (word.size() <= MediumKey::kMax) return medium_key(word.data(), word.size(), word.size()).hash();
  return WordCache::long_hash(word.data(), word.size());
}

std::optional<Ids> look_up(const WordCache& cache, const std::string& word) {
  const Exact exact(word);
  if (!cache.works()) return std::nullopt;
  const u64 hash = hash_of(cache, exact);
  WordCache::Words words;
  if (word.size() <= ShortKey::kMax)
    words = cache.find_short(cell_key(exact), hash);
  else if (word.size() <= MediumKey::kMax)
    words = cache.find_medium(medium_key(exact.data(), exact.size(), exact.size()), hash);
  else
    words = cache.find_long(exact.data(), exact.size(), hash);
  if (!words.ids) return std::nullopt;
  return ids_of(words);
}

void insert(WordCache& cache, const std::string& word, const Ids& ids) {
  const Exact exact(word);
  const u8* const p = exact.data();
  const std::size_t n = word.size();
  const u64 hash = hash_of(cache, exact);
  if (n <= ShortKey::kMax)
    cache.insert_short(cell_key(exact), hash, ids.data(), ids.size());
  else if (n <= MediumKey::kMax)
    cache.insert_medium(medium_key(p, n, n), hash, ids.data(), ids.size());
  else
    cache.insert_long(p, n, hash, ids.data(), ids.size());
}

// What many look-ups together find, with little room and with much, has to be what each finds alone.
void check_batch(const WordCache& cache, const std::vector<std::string>& words) {
  std::string text;
  std::vector<std::size_t> ends;
  for (const std::string& word : words) ends.push_back((text += word).size());
  const Exact exact(text + std::string(32, 'x'));
  const auto batch = std::make_unique<WordBatch>();
  batch->size = words.size();
  cache.keys(exact.data(), 0, ends.data(), *batch);
  for (std::size_t j = 0; j < words.size(); ++j) {
    if (words[j].size() <= ShortKey::kMax) REQUIRE(batch->keys[j] == cell_key(Exact(words[j])));
    if (words[j].size() > ShortKey::kMax) REQUIRE(batch->wide_hash(j) == (words[j].size() <= WordCache::kLongest ? hash_of(cache, Exact(words[j])) : 0));
  }
  std::vector<u32> numbers(words.size());
  const std::size_t n_missing = cache.missing(*batch, numbers.data());
  for (std::size_t m = 0; m < n_missing; ++m) REQUIRE(numbers[m] < words.size());
  constexpr std::size_t kMore[] = {0, 200};
  for (const std::size_t more : kMore) {
    for (std::size_t from = 0; from <= words.size();) {
      const std::size_t room = kWideIds * (words.size() - from + 1) + more;
      Ids ids(room);
      ids.shrink_to_fit();
      u32* out = ids.data();
      const std::size_t to = cache.copy(*batch, from, out, room);
      ids.resize(static_cast<std::size_t>(out - ids.data()));
      u64 counted = 5;
      REQUIRE(cache.count(*batch, from, counted) >= to);
      Ids wanted;
      for (std::size_t j = from; j < to; ++j) {
        const auto known = look_up(cache, words[j]);
        REQUIRE(known);
        wanted.insert(wanted.end(), known->begin(), known->end());
      }
      REQUIRE(ids == wanted);
      if (to < words.size() && more && words[to].size() <= ShortKey::kMax) {
        const auto known = look_up(cache, words[to]);
        REQUIRE((!known || known->size() > 8));
      }
      from = to + 1;
    }
  }
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
    for (const Simd* level : levels()) {
    WordCache cache(budget, cell_level(*level));
    Random random(70);
    std::size_t wrong = 0, found = 0;
    std::vector<std::string> last;
    for (int round = 0; round < 20'000; ++round) {
      const std::string word = word_of(random, random.one_in(50) ? 500 : random.one_in(3) ? 60 : 12);
      const Ids ids = ids_for(word, word.size() > 12 ? 20 : 5);
      last.push_back(word);
      if (last.size() == 200) {
        if (cache.works()) check_batch(cache, last);
        last.clear();
      }
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
}

TEST_CASE("the newest word is there, and growing keeps the words before it") {
  WordCache cache(16 << 20, best());
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

TEST_CASE("a budget that is more than there are addresses is a cache that grows by copies") {
  for (const Simd* level : levels()) {
    WordCache cache(std::size_t{1} << 62, cell_level(*level));
    std::vector<std::string> words;
    for (int k = 0; k < 3000; ++k) {
      const std::string word = std::string(k % 3 ? "w" : "a word that is long ") + std::to_string(k);
      insert(cache, word, ids_for(word, 12));
      words.push_back(word);
      REQUIRE(look_up(cache, word) == ids_for(word, 12));
      if (words.size() == 200) {
        check_batch(cache, words);
        words.clear();
      }
    }
  }
}

TEST_CASE("what fits nowhere is not kept") {
  WordCache cache(1 << 20, best());
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
  WordCache cache(8192, best());
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

TEST_CASE("a new cache misses every word") {
  for (const Simd* level : levels()) {
    WordCache cache(1 << 20, cell_level(*level));
    const std::string text = "a few words";
    const std::size_t ends[] = {1, 5, 11};
    const Exact exact(text + std::string(32, 'x'));
    const auto batch = std::make_unique<WordBatch>();
    batch->size = 3;
    cache.keys(exact.data(), 0, ends, *batch);
    u32 numbers[3];
    REQUIRE(cache.missing(*batch, numbers) == 3);
    for (u32 k = 0; k < 3; ++k) CHECK(numbers[k] == k);
    insert(cache, " few", {7});
    REQUIRE(cache.missing(*batch, numbers) == 2);
    CHECK(numbers[1] == 2);
  }
}

TEST_CASE("a word of control characters is not taken for the length of a shorter one") {
  // Its first eight bytes are what one cell has of a word of three bytes: they and their length.
  for (const Simd* level : levels()) {
    WordCache cache(1 << 20, cell_level(*level));
    const std::string word = "abc", other = word + std::string(4, '\0') + std::string(1, '\3') + "tail";
    insert(cache, word, {7});
    CHECK_FALSE(look_up(cache, other));
    check_batch(cache, {other, word, other});
    insert(cache, other, {8, 9});
    CHECK(look_up(cache, other) == Ids{8, 9});
    CHECK(look_up(cache, word) == Ids{7});
    check_batch(cache, {other, word, other});
    for (const int byte : {0, 255}) {
      const std::string same(12, static_cast<char>(byte));
      CHECK_FALSE(look_up(cache, same));
      check_batch(cache, {same, std::string(20, static_cast<char>(byte)), same});
      insert(cache, same, {5});
      check_batch(cache, {same, std::string(20, static_cast<char>(byte)), std::string(5000, 'x'), same});
    }
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
