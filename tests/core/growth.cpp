// Texts four times as long may take some four times as long, no more: runs of one kind, for every pattern. Were the
// time quadratic it would be sixteen; the limit is eight, since on a busy machine short times are noise.
#include <ctime>
#include <limits>

#include "long_runs.hpp"
#include "merge.hpp"
#include "stream.hpp"
#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Time at 4n over time at n; noise only ever makes a time longer, so a ratio that is too high is measured again.
template <class F>
double growth(std::size_t n, double limit, F work) {
  double times[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (int attempt = 0; attempt < 12; ++attempt) {
    for (const std::size_t k : {0u, 1u}) {
      const double start = cpu_seconds();
      work(k == 0 ? n : 4 * n);
      times[k] = std::min(times[k], cpu_seconds() - start);
    }
    if (attempt > 0 && times[1] <= limit * times[0]) break;
  }
  return times[1] / times[0];
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kSize = 1 << 17;
#else
constexpr std::size_t kSize = 1 << 20;
#endif

}  // namespace

constexpr double kLimit = 8;

TEST_CASE("a text four times as long takes at most eight times as long, for every pattern") {
  for (const Pattern& pattern : patterns()) {
    CAPTURE(pattern.name);
    const Splitter splitter = pattern.splitter();
    const std::size_t size = pattern.family ? kSize : kSize / 4;
    for (const LongRun& run : long_runs()) {
      CAPTURE(run.begin);
      CAPTURE(run.piece);
      const std::string text = run.text(size);
      Cursor cursor;
      CHECK(growth(size / 4, kLimit, [&](std::size_t n) {
              cursor.restart(0);
              while (splitter.fill(cursor, bytes_of(text), n, true) > 0) {}
            }) <= kLimit);
    }
  }
}

TEST_CASE("so does a stream in small pieces") {
  for (const char* name : {"gpt2", "cl100k", "o200k", "deepseek-v3", "a*b|a", "[a-z]+", "none"}) {
    CAPTURE(name);
    const Splitter splitter = pattern_named(name).splitter();
    const Specials specials({"<|endoftext|>"}, {0});
    for (const LongRun& run : long_runs()) {
      CAPTURE(run.begin);
      CAPTURE(run.piece);
      const std::string text = run.text(kSize / 4);
      CHECK(growth(kSize / 16, kLimit, [&](std::size_t n) {
              Stream stream;
              for (std::size_t at = 0; at < n; at += 100)
                stream.feed(splitter, &specials, bytes_of(text) + at, std::min<std::size_t>(100, n - at), at + 100 >= n,
                            [](const u8*, std::size_t, std::size_t, const std::size_t*, std::size_t) {}, [](u32) {});
            }) <= kLimit);
    }
  }
}

TEST_CASE("so does a pretoken of any length, in every way to merge it") {
  Random random(60);
  const PairTable ordered = table_of(random_merges(random, 300, 4, false));
  const PairTable unordered = table_of(random_merges(random, 300, 4, true));
  std::string letters, periods;
  while (letters.size() < kSize / 2) letters += random_word(random, 200, 4);
  while (periods.size() < kSize / 2) periods += std::string(random.between(1, 40), 'a') + "bcd";
  for (const PairTable* table : {&ordered, &unordered}) {
    for (const Order order : {Order::one_place, Order::whole_rank}) {
      LongTables tables(*table, order);
      Merger merger(*table, order, &tables);
      for (const std::string& text : {letters, periods, std::string(kSize / 2, 'a')}) {
        CHECK(growth(kSize / 8, kLimit, [&](std::size_t n) {
                std::vector<u32> symbols = ids_of(std::string_view(text).substr(0, n));
                merger.merge(symbols);
              }) <= kLimit);
      }
    }
  }
}
