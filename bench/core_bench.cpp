// Cuts given files by every way that the core has, one thread, in turn, results checked first, and prints JSON; or runs
// of 1 and of 2 MB of one thing by every pattern. bench/patterns.py builds and runs it.
//
//     core_bench cut RUNS NAME=FILE...
//     core_bench doubling RUNS
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "long_runs.hpp"
#include "plain_scanners.hpp"
#include "tables.hpp"

#ifdef BYTEPAIR_PROBE
void probe_prepare(const unsigned char* classes);
std::size_t probe_count(const unsigned char* s, std::size_t n);
std::size_t probe_end(const unsigned char* s, std::size_t p, std::size_t n);
#endif

namespace {

using namespace bytepair;
using namespace bytepair::test;

struct Text {
  std::string name;
  std::vector<u8> bytes;
};

using Take = std::function<void(const std::size_t* ends, std::size_t n)>;

// A way to cut: `run` hands each batch of ends to `take`. `count`, where there is one, is what the clock sees instead.
struct Way {
  std::string pattern, name;
  std::function<void(const Text&, const Take& take)> run;
  std::function<std::size_t(const Text&)> count;
};

double seconds() {
  timespec t;
#ifdef CLOCK_THREAD_CPUTIME_ID
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
#else
  timespec_get(&t, TIME_UTC);
#endif
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::vector<u8> read(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) {
    std::fprintf(stderr, "cannot open %s\n", path.c_str());
    std::exit(1);
  }
  std::vector<u8> bytes, part(1 << 20);
  while (const std::size_t n = std::fread(part.data(), 1, part.size(), file))
    bytes.insert(bytes.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(n));
  std::fclose(file);
  bytes.resize(whole_characters(bytes.data(), bytes.size()));
  return bytes;
}

Way by_splitter(const Pattern& pattern, const std::string& name, Splitter splitter) {
  return {pattern.name, name, [splitter = std::move(splitter)](const Text& text, const auto& take) {
            Cursor cursor;
            while (const std::size_t k = splitter.fill(cursor, text.bytes.data(), text.bytes.size(), true))
              take(cursor.ends.data(), k);
          }, {}};
}

// A scanner that gives one end at a time writes 512 of them, as the others do.
template <class End>
Way by_scanner(const std::string& pattern, const std::string& name, End end) {
  return {pattern, name, [end](const Text& text, const auto& take) {
            std::size_t ends[512], k = 0;
            const u8* const s = text.bytes.data();
            const std::size_t n = text.bytes.size();
            for (std::size_t at = 0; at < n;) {
              ends[k++] = at = end(s, at, n);
              if (k == 512) {
                take(ends, k);
                k = 0;
              }
            }
            take(ends, k);
          }, {}};
}

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const char* name : {"cl100k", "gpt2", "o200k", "qwen2", "llama3"}) {
    const Pattern& pattern = pattern_named(name);
    if (pattern.name == "cl100k") {
      const PlainScanner scanner(pattern);
      ways.push_back(by_scanner(name, "scalar", [scanner](const u8* s, std::size_t p, std::size_t n) { return scanner.cl100k(s, p, n); }));
#ifdef BYTEPAIR_PROBE
      std::vector<u8> classes(0x110000);
      for (u32 c = 0; c < 0x110000; ++c) classes[c] = scanner.class_of(c);
      probe_prepare(classes.data());
      ways.push_back(by_scanner(name, "probe", [](const u8* s, std::size_t p, std::size_t n) { return probe_end(s, p, n); }));
      ways.back().count = [](const Text& text) { return probe_count(text.bytes.data(), text.bytes.size()); };
#endif
    }
    if (pattern.name == "gpt2") {
      const PlainScanner scanner(pattern);
      ways.push_back(by_scanner(name, "scalar", [scanner](const u8* s, std::size_t p, std::size_t n) { return scanner.gpt2(s, p, n); }));
    }
    ways.push_back(by_splitter(pattern, "automaton", Splitter(pattern.automaton())));
    for (const char* level : {"plain", "neon", "avx2", "avx512"}) {
      if (const Simd* simd = simd_named(level)) ways.push_back(by_splitter(pattern, level, pattern.splitter(*simd)));
    }
  }
  return ways;
}

struct Result {
  std::size_t count = 0;
  u64 hash = 0;
  bool operator==(const Result& other) const { return count == other.count && hash == other.hash; }
};

Result result_of(const Way& way, const Text& text) {
  Result result;
  way.run(text, [&](const std::size_t* ends, std::size_t k) {
    for (std::size_t i = 0; i < k; ++i) result.hash = hash_words(result.hash, ends[i]);
    result.count += k;
  });
  return result;
}

int cut(int runs, char** corpora) {
  const std::vector<Way> ways = all_ways();
  std::printf("[");
  const char* comma = "";
  for (; *corpora; ++corpora) {
    const std::string given = *corpora;
    const std::size_t sign = given.find('=');
    if (sign == std::string::npos) return 2;
    Text text{given.substr(0, sign), read(given.substr(sign + 1))};
    text.bytes.reserve(text.bytes.size() + 256);  // the probe reads a little behind the end
    std::vector<Result> results;
    for (const Way& way : ways) {
      results.push_back(result_of(way, text));
      for (std::size_t k = 0; k < results.size(); ++k) {
        if (ways[k].pattern != way.pattern || results[k] == results.back()) continue;
        std::fprintf(stderr, "%s: %s and %s cut %s differently\n", way.pattern.c_str(), ways[k].name.c_str(),
                     way.name.c_str(), text.name.c_str());
        return 1;
      }
    }
    std::vector<std::vector<double>> times(ways.size());
    for (int run = 0; run < runs; ++run) {
      for (std::size_t k = 0; k < ways.size(); ++k) {
        std::size_t count = 0;
        const double start = seconds();
        if (ways[k].count)
          count = ways[k].count(text);
        else
          ways[k].run(text, [&](const std::size_t*, std::size_t n) { count += n; });
        times[k].push_back(seconds() - start);
        if (count != results[k].count) return 1;
      }
    }
    for (std::size_t k = 0; k < ways.size(); ++k) {
      std::sort(times[k].begin(), times[k].end());
      std::printf("%s\n{\"corpus\": \"%s\", \"bytes\": %zu, \"pattern\": \"%s\", \"way\": \"%s\", \"pretokens\": %zu, "
                  "\"min\": %.6f, \"median\": %.6f, \"max\": %.6f}",
                  comma, text.name.c_str(), text.bytes.size(), ways[k].pattern.c_str(), ways[k].name.c_str(),
                  results[k].count, times[k].front(), times[k][times[k].size() / 2], times[k].back());
      comma = ",";
    }
  }
  std::printf("\n]\n");
  return 0;
}

// The patterns have quotes and the like in their names.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    char code[8];
    std::snprintf(code, sizeof code, "\\u%04x", static_cast<u8>(c));
    out += static_cast<u8>(c) < 0x20 || c == '"' || c == '\\' ? std::string(code) : std::string(1, c);
  }
  return out + '"';
}

int doubling(int runs) {
  constexpr std::size_t kSize = 1'000'000;
  std::printf("[");
  const char* comma = "";
  for (const Pattern& pattern : patterns()) {
    const Splitter splitter = pattern.splitter();
    std::size_t number = 0;
    for (const LongRun& run : long_runs()) {
      const std::string text = run.text(2 * kSize);
      Cursor cursor;
      double best[2] = {1e9, 1e9};
      // Noise only ever makes a time longer: a ratio that looks high is measured again.
      for (int k = 0; k < 4 * runs && (k < 2 || best[1] > 2.05 * best[0]); ++k) {
        for (const std::size_t twice : {0u, 1u}) {
          const double start = seconds();
          cursor.restart(0);
          while (splitter.fill(cursor, reinterpret_cast<const u8*>(text.data()), (twice + 1) * kSize, true) > 0) {}
          best[twice] = std::min(best[twice], seconds() - start);
        }
      }
      std::printf("%s\n{\"pattern\": %s, \"run\": %zu, \"once\": %.6f, \"twice\": %.6f}", comma,
                  quoted(pattern.name).c_str(), number++, best[0], best[1]);
      comma = ",";
    }
  }
  std::printf("\n]\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  if (what == "cut" && argc > 3) return cut(std::atoi(argv[2]), argv + 3);
  if (what == "doubling") return doubling(std::atoi(argv[2]));
  std::fprintf(stderr, "usage: core_bench cut RUNS NAME=FILE... | core_bench doubling RUNS\n");
  return 2;
}
