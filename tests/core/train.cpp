#include "train.hpp"

#include <limits>

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

constexpr double kNoLimit = 1e9;

struct Corpus {
  std::string text;
  std::vector<i64> offsets{0}, counts;

  void add(const std::string& word, i64 count) {
    text += word;
    offsets.push_back(static_cast<i64>(text.size()));
    counts.push_back(count);
  }
  Trainer trainer(i64 min_count, u32 n_symbols = 256) const {
    return Trainer(bytes_of(text), offsets.data(), counts.data(), counts.size(), nullptr, plain_bytes(), n_symbols, min_count);
  }
};

// Counts everything again before each merge.
class PlainTrainer {
 public:
  PlainTrainer(const Corpus& corpus, u32 n_symbols) : n_symbols_(n_symbols) {
    for (std::size_t w = 0; w < corpus.counts.size(); ++w) {
      const std::size_t start = static_cast<std::size_t>(corpus.offsets[w]);
      words_.push_back(ids_of(corpus.text.substr(start, static_cast<std::size_t>(corpus.offsets[w + 1]) - start)));
      counts_.push_back(corpus.counts[w]);
    }
  }

  // The pair with the highest count, among equals the first one met; how many have that count.
  std::optional<Trainer::Best> best(i64& tied) const {
    std::vector<Trainer::Best> pairs;
    std::map<std::pair<u32, u32>, std::size_t> at;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::size_t i = 0; i + 1 < words_[w].size(); ++i) {
        const auto [entry, fresh] = at.try_emplace({words_[w][i], words_[w][i + 1]}, pairs.size());
        if (fresh) pairs.push_back({words_[w][i], words_[w][i + 1], 0});
        pairs[entry->second].count += counts_[w];
      }
    }
    std::optional<Trainer::Best> best;
    for (const Trainer::Best& pair : pairs) {
      if (!best || pair.count > best->count) best = pair;
    }
    tied = 0;
    for (const Trainer::Best& pair : pairs) tied += best && pair.count == best->count;
    return best;
  }

  Trainer::Merge apply(const Trainer::Best& pair, i64 tied) {
    Trainer::Merge merge{pair.left, pair.right, pair.count, tied, 0, {kNone, kNone, kNone}};
    const u32 made = n_symbols_ + n_merges_++;
    std::size_t examples = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      std::vector<u32>& word = words_[w];
      bool changed = false;
      for (std::size_t i = 0; i + 1 < word.size(); ++i) {
        if (word[i] != pair.left || word[i + 1] != pair.right) continue;
        word[i] = made;
        word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        changed = true;
      }
      if (changed && examples < 3) merge.examples[examples++] = static_cast<u32>(w);
    }
    merge.length_after = length();
    return merge;
  }

  i64 length() const {
    i64 total = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) total += counts_[w] * static_cast<i64>(words_[w].size());
    return total;
  }
  std::vector<i64> frequencies() const {
    std::vector<i64> out(n_symbols_ + n_merges_, 0);
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (const u32 symbol : words_[w]) out[symbol] += counts_[w];
    }
    return out;
  }

 private:
  std::vector<std::vector<u32>> words_;
  std::vector<i64> counts_;
  u32 n_symbols_, n_merges_ = 0;
};

void check_against_plain(const Corpus& corpus, std::size_t wanted, i64 min_count, u32 n_symbols, bool one_by_one) {
  Trainer trainer = corpus.trainer(min_count, n_symbols);
  PlainTrainer plain(corpus, n_symbols);
  REQUIRE(trainer.length_before() == plain.length());
  if (one_by_one) {
    for (std::size_t n = 0; !trainer.exhausted() && n < wanted; n = trainer.run(wanted, 0)) {
    }
  } else {
    trainer.run(wanted, kNoLimit);
  }
  i64 tied = 0;
  std::optional<Trainer::Best> best = plain.best(tied);
  std::size_t k = 0;
  for (; k < wanted && best && best->count >= min_count; ++k) {
    const Trainer::Merge expected = plain.apply(*best, tied);
    REQUIRE(k < trainer.merges().size());
    const Trainer::Merge& merge = trainer.merges()[k];
    CAPTURE(k);
    REQUIRE(std::pair(merge.left, merge.right) == std::pair(expected.left, expected.right));
    REQUIRE(merge.count == expected.count);
    REQUIRE(merge.tied == expected.tied);
    REQUIRE(merge.length_after == expected.length_after);
    for (int e = 0; e < 3; ++e) REQUIRE(merge.examples[e] == expected.examples[e]);
    best = plain.best(tied);
  }
  REQUIRE(trainer.merges().size() == k);
  REQUIRE(trainer.exhausted() == (k < wanted));
  REQUIRE(trainer.frequencies() == plain.frequencies());
  const auto left = trainer.best_left();
  REQUIRE(left.has_value() == best.has_value());
  if (best) {
    REQUIRE(std::pair(left->left, left->right) == std::pair(best->left, best->right));
    REQUIRE(left->count == best->count);
  }
}

}  // namespace

TEST_CASE("training equals counting everything again at each step") {
  Random random(100);
  for (int round = 0; round < 3000; ++round) {
    Corpus corpus;
    const char letters = static_cast<char>(random.between(1, 4));
    for (std::size_t n = random.between(0, 12); n > 0; --n)
      corpus.add(random_word(random, random.one_in(5) ? 25 : 8, letters), static_cast<i64>(random.between(1, 6)));
    const i64 min_count = static_cast<i64>(random.between(1, 4));
    // More than 1,024 symbols take another road to the first pairs.
    check_against_plain(corpus, random.between(0, 40), min_count, random.one_in(2) ? 256 : 2000, random.one_in(4));
  }
}

TEST_CASE("runs of one letter, where places overlap") {
  for (std::size_t n = 1; n <= 40; ++n) {
    Corpus corpus;
    corpus.add(std::string(n, 'a'), 1);
    corpus.add(std::string(n / 2 + 1, 'a') + "b" + std::string(n % 5, 'a'), 2);
    for (i64 min_count = 1; min_count <= 3; ++min_count) check_against_plain(corpus, 50, min_count, 256, false);
  }
}

TEST_CASE("a larger corpus: many different counts over 2^16, and hundreds of merges") {
  Random random(101);
  Corpus corpus;
  for (int k = 0; k < 800; ++k)
    corpus.add(random_word(random, 8, 26), static_cast<i64>(random.one_in(3) ? random.between(60'000, 99'000) : random.between(1, 9)));
  check_against_plain(corpus, 300, 2, 256, false);
}

TEST_CASE("the first article's merges") {
  Corpus corpus;
  for (const char* word : {"low", " low", " lower", " lowest"}) corpus.add(word, 1);
  Trainer trainer = corpus.trainer(2);
  CHECK(trainer.run(18, kNoLimit) == 4);
  CHECK(trainer.exhausted());
  const u32 expected[4][3] = {{'l', 'o', 4}, {256, 'w', 4}, {' ', 257, 3}, {258, 'e', 2}};
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(trainer.merges()[k].left == expected[k][0]);
    CHECK(trainer.merges()[k].right == expected[k][1]);
    CHECK(trainer.merges()[k].count == expected[k][2]);
  }
  CHECK(trainer.merges()[0].tied == 2);
}

TEST_CASE("counts of 64 bits, and an end where they would not do") {
  Corpus large;
  large.add("  x", 3'000'000'000);
  Trainer trainer = large.trainer(2);
  CHECK(trainer.run(1, kNoLimit) == 1);
  CHECK(trainer.merges()[0].left == ' ');
  CHECK(trainer.merges()[0].count == 3'000'000'000);
  Corpus most;
  most.add("ab", std::numeric_limits<i64>::max() / 2);
  CHECK(most.trainer(1).run(5, kNoLimit) == 1);
  most.add("a", 2);
  CHECK(error_of([&] { most.trainer(1); }) == ErrorKind::training);
  Corpus long_word;
  long_word.add("abc", std::numeric_limits<i64>::max() / 2);
  CHECK(error_of([&] { long_word.trainer(1); }) == ErrorKind::training);
}

TEST_CASE("words that cannot be trained on are refused") {
  for (const i64 count : {i64{0}, i64{-1}}) {
    Corpus corpus;
    corpus.add("ab", count);
    CHECK(error_of([&] { corpus.trainer(1); }) == ErrorKind::training);
  }
  Corpus empty;
  empty.add("", 1);
  CHECK(error_of([&] { empty.trainer(1); }) == ErrorKind::training);
  Corpus strange;
  strange.add("ab", 1);
  CHECK(error_of([&] { strange.trainer(1, 'b'); }) == ErrorKind::training);
}

TEST_CASE("nothing to learn from: no merge, and none left") {
  const Corpus nothing;
  Trainer trainer = nothing.trainer(1);
  CHECK(trainer.run(5, kNoLimit) == 0);
  CHECK(trainer.exhausted());
  CHECK_FALSE(trainer.best_left());
  CHECK(trainer.length_before() == 0);
}

TEST_CASE("words of white space are left out where the scheme drops them") {
  Corpus corpus;
  corpus.add("ab", 2);
  corpus.add("    ", 9);
  corpus.add("a b", 3);
  const ClassTable spaces = space_classes();
  Trainer trainer(bytes_of(corpus.text), corpus.offsets.data(), corpus.counts.data(), 3, &spaces, plain_bytes(), 256, 1);
  CHECK(trainer.length_before() == 2 * 2 + 3 * 3);
  trainer.run(1, kNoLimit);
  CHECK(trainer.merges()[0].left == 'a');
  CHECK(trainer.merges()[0].right == ' ');
  CHECK(trainer.merges()[0].examples[0] == 2);
}
