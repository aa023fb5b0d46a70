#include "train.hpp"

#include <array>
#include <limits>
#include <tuple>

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
  Trainer trainer(const Trainer::Options& options, u32 n_symbols = 256) const {
    return Trainer(bytes_of(text), offsets.data(), counts.data(), counts.size(), nullptr, plain_bytes(), n_symbols, options);
  }
  Trainer trainer(i64 min_count, u32 n_symbols = 256) const { return trainer(counting_from(min_count), n_symbols); }
  static Trainer::Options counting_from(i64 min_count) {
    Trainer::Options options;
    options.min_count = min_count;
    return options;
  }
};

// Counts everything again before each merge.
class PlainTrainer {
 public:
  PlainTrainer(const Corpus& corpus, u32 n_symbols, const Trainer::Options& options)
      : n_symbols_(n_symbols), options_(options), lengths_(n_symbols, 1) {
    for (std::size_t w = 0; w < corpus.counts.size(); ++w) {
      const std::size_t start = static_cast<std::size_t>(corpus.offsets[w]);
      words_.push_back(ids_of(corpus.text.substr(start, static_cast<std::size_t>(corpus.offsets[w + 1]) - start)));
      counts_.push_back(corpus.counts[w]);
    }
  }

  // The pair with the highest count, among equals the one that the convention wants; how many have that count.
  std::optional<Trainer::Best> best(i64& tied) const {
    std::vector<Trainer::Best> pairs;
    std::map<std::pair<u32, u32>, std::size_t> at;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::size_t i = 0; i + 1 < words_[w].size(); ++i) {
        if (lengths_[words_[w][i]] + lengths_[words_[w][i + 1]] > options_.max_length) continue;
        const auto [entry, fresh] = at.try_emplace({words_[w][i], words_[w][i + 1]}, pairs.size());
        if (fresh) pairs.push_back({words_[w][i], words_[w][i + 1], 0});
        pairs[entry->second].count += counts_[w];
      }
    }
    std::optional<Trainer::Best> best;
    for (const Trainer::Best& pair : pairs) {
      if (!best || pair.count > best->count || (pair.count == best->count && wins(pair, *best))) best = pair;
    }
    tied = 0;
    for (const Trainer::Best& pair : pairs) tied += best && pair.count == best->count;
    return best;
  }

  Trainer::Merge apply(const Trainer::Best& pair, i64 tied) {
    Trainer::Merge merge{pair.left, pair.right, pair.count, tied, 0, {kNone, kNone, kNone}};
    const u32 made = n_symbols_ + n_merges_++;
    lengths_.push_back(lengths_[pair.left] + lengths_[pair.right]);
    if (options_.ties != Ties::first) options_.numbers.push_back(made);
    if (options_.ties == Ties::greatest)
      options_.texts.push_back(options_.texts[pair.left] + options_.texts[pair.right]);
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
  bool wins(const Trainer::Best& one, const Trainer::Best& other) const {
    if (options_.ties == Ties::first) return false;
    const auto numbers = [&](const Trainer::Best& p) {
      return std::pair(options_.numbers[p.left], options_.numbers[p.right]);
    };
    if (options_.ties == Ties::smallest) return numbers(one) < numbers(other);
    const auto texts = [&](const Trainer::Best& p) { return std::pair(options_.texts[p.left], options_.texts[p.right]); };
    return texts(one) != texts(other) ? texts(one) > texts(other) : numbers(one) < numbers(other);
  }

  std::vector<std::vector<u32>> words_;
  std::vector<i64> counts_;
  u32 n_symbols_, n_merges_ = 0;
  Trainer::Options options_;
  std::vector<u32> lengths_;
};

void check_against_plain(const Corpus& corpus, std::size_t wanted, const Trainer::Options& options, u32 n_symbols,
                         bool one_by_one) {
  const i64 min_count = options.min_count;
  Trainer trainer = corpus.trainer(options, n_symbols);
  PlainTrainer plain(corpus, n_symbols, options);
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
    const u32 n_symbols = random.one_in(2) ? 256 : 2000;
    Trainer::Options options = Corpus::counting_from(min_count);
    options.ties = std::array{Ties::first, Ties::smallest, Ties::greatest}[random.between(0, 2)];
    if (random.one_in(3)) options.max_length = static_cast<u32>(random.between(2, 9));
    for (u32 s = 0; s < n_symbols && options.ties != Ties::first; ++s) {
      options.numbers.push_back(n_symbols - 1 - s);
      // Some symbols look the same, some only begin the same.
      options.texts.push_back(std::string(9 - s % 4, 'x') + static_cast<char>(s % 256 / 2));
    }
    check_against_plain(corpus, random.between(0, 40), options, n_symbols, random.one_in(4));
  }
}

TEST_CASE("training goes on from merges that are given as if it had learned them itself") {
  Random random(102);
  for (int round = 0; round < 1000; ++round) {
    Corpus corpus;
    for (std::size_t n = random.between(1, 12); n > 0; --n)
      corpus.add(random_word(random, random.one_in(9) ? 90 : 9, 3), static_cast<i64>(random.between(1, 6)));
    Trainer::Options options = Corpus::counting_from(1);
    options.ties = random.one_in(2) ? Ties::first : Ties::smallest;
    for (u32 s = 0; s < 256 && options.ties != Ties::first; ++s) options.numbers.push_back(s);
    Trainer unbroken = corpus.trainer(options);
    unbroken.run(random.between(1, 30), kNoLimit);
    const std::vector<Trainer::Merge> all = unbroken.merges();
    const std::size_t cut = random.between(0, all.size());
    std::vector<u32> left, right, made;
    options.lengths.assign(256, 1);
    for (std::size_t k = 0; k < cut; ++k) {
      left.push_back(all[k].left);
      right.push_back(all[k].right);
      made.push_back(static_cast<u32>(256 + k));
      options.lengths.push_back(options.lengths[all[k].left] + options.lengths[all[k].right]);
      if (options.ties != Ties::first) options.numbers.push_back(static_cast<u32>(256 + k));
    }
    const PairTable given = PairTable::of_merges(left.data(), right.data(), made.data(), nullptr, cut);
    options.given = &given;
    Trainer resumed = corpus.trainer(options, static_cast<u32>(256 + cut));
    REQUIRE(resumed.length_before() == (cut ? all[cut - 1].length_after : unbroken.length_before()));
    resumed.run(all.size() - cut, kNoLimit);
    REQUIRE(resumed.merges().size() == all.size() - cut);
    for (std::size_t k = cut; k < all.size(); ++k) {
      const Trainer::Merge& merge = resumed.merges()[k - cut];
      REQUIRE(std::tuple(merge.left, merge.right, merge.count, merge.tied, merge.length_after) ==
              std::tuple(all[k].left, all[k].right, all[k].count, all[k].tied, all[k].length_after));
      for (int e = 0; e < 3; ++e) REQUIRE(merge.examples[e] == all[k].examples[e]);
    }
    REQUIRE(resumed.frequencies() == unbroken.frequencies());
  }
}

TEST_CASE("what is said of symbols is checked") {
  Corpus corpus;
  corpus.add("abab", 2);
  Trainer::Options options;
  options.ties = Ties::smallest;
  CHECK(error_of([&] { corpus.trainer(options); }) == ErrorKind::training);
  options.numbers.assign(256, 0);
  options.ties = Ties::greatest;
  CHECK(error_of([&] { corpus.trainer(options); }) == ErrorKind::training);
  options = {};
  const u32 left = 'a', right = 'b', made = 256;
  const PairTable given = PairTable::of_merges(&left, &right, &made, nullptr, 1);
  options.given = &given;
  for (const u32 wrong : {0u, 1u, 3u, kNone}) {
    options.lengths.assign(257, 1);
    options.lengths[256] = wrong;
    CHECK(error_of([&] { corpus.trainer(options, 257); }) == ErrorKind::training);
  }
  options.lengths[256] = 2;
  CHECK(corpus.trainer(options, 257).length_before() == 4);
}

TEST_CASE("no merge crosses what the alphabet does not have") {
  for (const std::size_t n : {1u, 200u}) {
    Corpus corpus;
    std::string word;
    for (std::size_t k = 0; k < n; ++k) word += "abab|ab|";
    corpus.add(word, 2);
    Trainer trainer = corpus.trainer(Corpus::counting_from(2), '|');
    CHECK(trainer.length_before() == static_cast<i64>(2 * word.size()));
    CHECK(trainer.run(9, kNoLimit) == 2);
    CHECK(trainer.merges()[0].left == 'a');
    CHECK(trainer.merges()[0].count == static_cast<i64>(6 * n));
    CHECK(trainer.merges()[1].left == '|');
    CHECK(trainer.merges()[1].examples[0] == 0);
    CHECK(trainer.merges()[1].examples[1] == kNone);
    CHECK(trainer.merges()[1].length_after == static_cast<i64>(2 * n * 4));
  }
}

TEST_CASE("one very long word: examples are found without walking through it") {
  Corpus corpus;
  Random random(103);
  corpus.add("xy", 1);
  corpus.add(random_word(random, 3000, 2) + "abababab", 1);
  corpus.add("ababab", 1);
  corpus.add(random_word(random, 3000, 2) + "ab", 2);
  check_against_plain(corpus, 60, Corpus::counting_from(2), 256, false);
}

TEST_CASE("runs of one letter, where places overlap") {
  for (std::size_t n = 1; n <= 40; ++n) {
    Corpus corpus;
    corpus.add(std::string(n, 'a'), 1);
    corpus.add(std::string(n / 2 + 1, 'a') + "b" + std::string(n % 5, 'a'), 2);
    for (i64 min_count = 1; min_count <= 3; ++min_count) check_against_plain(corpus, 50, Corpus::counting_from(min_count), 256, false);
  }
}

TEST_CASE("a larger corpus: many different counts over 2^16, and hundreds of merges") {
  Random random(101);
  Corpus corpus;
  for (int k = 0; k < 800; ++k)
    corpus.add(random_word(random, 8, 26), static_cast<i64>(random.one_in(3) ? random.between(60'000, 99'000) : random.between(1, 9)));
  check_against_plain(corpus, 300, Corpus::counting_from(2), 256, false);
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
  CHECK(error_of([&] { strange.trainer(1, 'a'); }) == ErrorKind::training);
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
  Trainer trainer(bytes_of(corpus.text), corpus.offsets.data(), corpus.counts.data(), 3, &spaces, plain_bytes(), 256,
                  Corpus::counting_from(1));
  CHECK(trainer.length_before() == 2 * 2 + 3 * 3);
  trainer.run(1, kNoLimit);
  CHECK(trainer.merges()[0].left == 'a');
  CHECK(trainer.merges()[0].right == ' ');
  CHECK(trainer.merges()[0].examples[0] == 2);
}
