// What the core's tests share: random numbers that are the same everywhere, class tables, texts, plain vocabularies.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alphabet.hpp"
#include "errors.hpp"
#include "pairs.hpp"
#include "split.hpp"
#include "tables.hpp"
#include "text.hpp"

namespace bytepair::test {

// SplitMix64 (Sebastiano Vigna, public domain); the standard library's distributions differ between compilers.
class Random {
 public:
  explicit Random(u64 seed) : state_(seed) {}
  u64 next() {
    u64 z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
  }
  // 0 .. n - 1
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }
  u32 id_below(u32 n) { return static_cast<u32>(next() % n); }
  // low .. high
  std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
  bool one_in(std::size_t n) { return below(n) == 0; }

 private:
  u64 state_;
};

inline const u8* bytes_of(std::string_view text) { return reinterpret_cast<const u8*>(text.data()); }

// A copy without a spare byte behind it, so that the address sanitizer sees every read beyond the end.
class Exact {
 public:
  explicit Exact(std::string_view text) : bytes_(text.begin(), text.end()) { bytes_.shrink_to_fit(); }
  const u8* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::vector<u8> bytes_;
};

inline std::string utf8(u32 c) {
  const auto byte = [](u32 b) { return static_cast<char>(static_cast<u8>(b)); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | c >> 6), byte(0x80 | (c & 0x3F))};
  if (c < 0x10000) return {byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
  return {byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 0x3F)), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
}

struct Tables {
  std::vector<u16> stage1;
  std::vector<u8> stage2;
};

// Class 0 for everything but the code points given.
inline Tables tables_of(const std::map<u32, u8>& classes) {
  Tables t{std::vector<u16>(ClassTable::kPages, 0), std::vector<u8>(256, 0)};
  for (const auto& [point, number] : classes) {
    u16& page = t.stage1[point >> 8];
    if (page == 0) {
      page = static_cast<u16>(t.stage2.size() / 256);
      t.stage2.resize(t.stage2.size() + 256, 0);
    }
    t.stage2[static_cast<std::size_t>(page) * 256 + (point & 0xFF)] = number;
  }
  return t;
}

inline constexpr u8 kOther = 0, kLetter = 1, kNumber = 2, kSpace = 3;

// A small Unicode of our own: a few members of each class in every length of UTF-8.
inline const std::map<u32, u8>& small_unicode() {
  static const std::map<u32, u8> classes = [] {
    std::map<u32, u8> m;
    for (u32 c = 'a'; c <= 'z'; ++c) m[c] = m[c - 32] = kLetter;
    for (const u32 c : {0xE9u, 0x17Fu, 0x3042u, 0x1D400u}) m[c] = kLetter;
    for (u32 c = '0'; c <= '9'; ++c) m[c] = kNumber;
    for (const u32 c : {0xBDu, 0x663u, 0x2167u, 0x1D7D8u}) m[c] = kNumber;
    for (const u32 c : {0x09u, 0x0Au, 0x0Du, 0x20u, 0x85u, 0xA0u, 0x2003u, 0x3000u}) m[c] = kSpace;
    return m;
  }();
  return classes;
}

inline ClassTable small_classes() {
  Tables t = tables_of(small_unicode());
  return ClassTable(std::move(t.stage1), std::move(t.stage2), 4);
}

// Class 1: white space.
inline ClassTable space_classes() {
  std::map<u32, u8> spaces;
  for (const auto& [point, number] : small_unicode()) {
    if (number == kSpace) spaces[point] = 1;
  }
  Tables t = tables_of(spaces);
  return ClassTable(std::move(t.stage1), std::move(t.stage2), 2);
}

inline Splitter gpt2_splitter() { return pattern_named("gpt2").splitter(); }
inline Splitter runs_splitter() { return pattern_named("whitespace").splitter(); }

// The instruction sets of this machine, the best one last.
inline std::vector<const Simd*> levels() {
  std::vector<const Simd*> out;
  for (const char* name : {"plain", "neon", "avx2", "avx512"}) {
    if (const Simd* level = simd_named(name)) out.push_back(level);
  }
  return out;
}

// All ends of pretokens of a text.
inline std::vector<std::size_t> cut(const Splitter& splitter, const u8* s, std::size_t n, std::size_t wanted = 512) {
  std::vector<std::size_t> ends;
  Cursor cursor;
  while (const std::size_t k = splitter.fill(cursor, s, n, true, wanted))
    ends.insert(ends.end(), cursor.ends.begin(), cursor.ends.begin() + static_cast<std::ptrdiff_t>(k));
  return ends;
}
inline std::vector<std::size_t> cut(const Splitter& splitter, const Exact& text, std::size_t wanted = 512) {
  return cut(splitter, text.data(), text.size(), wanted);
}

// Pieces that meet each other in every way that a scanner can get wrong; the last ones are no UTF-8.
inline std::string tricky_text(Random& random, std::size_t pieces) {
  static const std::vector<std::string> kPieces = {
      "a", "s", "t", "r", "e", "v", "m", "l", "d", "ll", "S", "E", "'", "'", "''", "'s", "'ll", "'re", "'v", "0", "7", "12",
      " ", " ", "  ", "\n", "\r\n", "\t", ".", "!?", "_", "-", utf8(0xE9), utf8(0x17F), utf8(0x3042), utf8(0x1D400),
      utf8(0xBD), utf8(0x663), utf8(0x2167), utf8(0x1D7D8), utf8(0x85), utf8(0xA0), utf8(0x2003), utf8(0x3000),
      utf8(0x2019), utf8(0x1F600), std::string(1, '\0'), utf8(0xFEFF), "\x80", "\xA0", "\xC3", "\xE3\x81", "\xF0\x9F\x98",
      "\xFF", "\xED\xA0\x80", "\xC0\x80"};
  std::string text;
  while (pieces-- > 0) text += kPieces[random.below(kPieces.size())];
  return text;
}

// A text of one of several alphabets, with runs up to 90 characters long; at times a few of its bytes are spoiled.
inline std::string random_text(Random& random, std::size_t longest) {
  static const std::vector<std::vector<std::string>> kAlphabets = [] {
    std::vector<std::vector<std::string>> all;
    const auto add = [&](std::string_view ascii, std::initializer_list<u32> others) {
      std::vector<std::string>& alphabet = all.emplace_back();
      for (const char c : ascii) alphabet.push_back({c});
      for (const u32 c : others) alphabet.push_back(utf8(c));
    };
    add("abcXYZsStTlLvVeErRmMdD'  \n\r\n\t/.,!123", {});
    add("aA1 '\n\r /.", {});
    add("abc 'Z.1\n\r", {0x2019, 0x17F, 0x130, 0xE9, 0x4E2D, 0x3042, 0x30A2, 0x3000, 0xFF12, 0xBD, 0xB2, 0x2167, 0x1F44D, 0x301, 0xA0});
    add("  \n\n\r\t x", {});
    add("1234567890a ", {0xBD, 0x663, 0x1D7D8});
    add("'sSlLvVeE tTdDmMrR", {0x17F});
    add("abBA'sB ", {0x3042, 0xC0, 0x1C5, 0x2B0, 0x640, 0x5D0, 0x301, 0x20DD, 0x13A0, 0x1D400});
    add("abcdx \"123", {0x3042});
    add(" \n\t", {0x85, 0xA0, 0x2003, 0x3000, 0x1C, 0x200B, 0x2028});
    return all;
  }();
  const std::vector<std::string>& alphabet = kAlphabets[random.below(kAlphabets.size())];
  const std::size_t n = random.below(longest + 1);
  std::string text;
  while (text.size() < n) {
    std::size_t times = random.one_in(3) ? random.between(1, random.one_in(3) ? 90 : 4) : 1;
    for (const std::string& piece = alphabet[random.below(alphabet.size())]; times > 0; --times) text += piece;
  }
  if (random.one_in(2)) text.resize(n);
  if (!text.empty() && random.one_in(6)) {
    for (int k = 0; k < 3; ++k) text[random.below(text.size())] = "\x80\xFF\xC3\xF0\xE2\x20\xED\xC5"[random.below(8)];
  }
  return text;
}

inline std::string random_word(Random& random, std::size_t longest, char letters) {
  std::string word;
  for (std::size_t n = random.between(1, longest); n > 0; --n)
    word.push_back(static_cast<char>('a' + static_cast<char>(random.below(static_cast<std::size_t>(letters)))));
  return word;
}

// Byte b is symbol b.
inline Alphabet plain_bytes() {
  std::vector<u32> ids(256);
  for (u32 b = 0; b < 256; ++b) ids[b] = b;
  return Alphabet::of_bytes(ids, {}, kNone);
}

struct Merge {
  u32 left, right, id;
};

inline PairTable table_of(const std::vector<Merge>& merges) {
  std::vector<u32> left, right, ids;
  for (const Merge& m : merges) {
    left.push_back(m.left);
    right.push_back(m.right);
    ids.push_back(m.id);
  }
  return PairTable::of_merges(left.data(), right.data(), ids.data(), nullptr, merges.size());
}

// `n` merges with the ids 256, 257 ... over the letters a, b ... In the order in which parts are made, or shuffled, so
// that a part may be made later than its use.
inline std::vector<Merge> random_merges(Random& random, std::size_t n, u32 letters, bool shuffled) {
  std::vector<u32> symbols;
  for (u32 k = 0; k < letters; ++k) symbols.push_back('a' + k);
  std::map<std::pair<u32, u32>, bool> seen;
  std::vector<Merge> merges;
  for (u32 id = 256; id < 256 + n; ++id) {
    const u32 left = symbols[random.below(symbols.size())], right = symbols[random.below(symbols.size())];
    if (seen[{left, right}]) continue;
    seen[{left, right}] = true;
    merges.push_back({left, right, id});
    symbols.push_back(id);
  }
  for (std::size_t i = merges.size(); shuffled && i > 1; --i) std::swap(merges[i - 1], merges[random.below(i)]);
  return merges;
}

// Tokens by rank: the 256 bytes, then those given. Ids are ranks.
struct Ranks {
  std::string text;
  std::vector<i64> offsets{0};
  std::vector<u32> ids;

  explicit Ranks(const std::vector<std::string>& tokens) {
    for (u32 b = 0; b < 256; ++b) add(std::string(1, static_cast<char>(static_cast<u8>(b))));
    for (const std::string& token : tokens) add(token);
  }
  void add(const std::string& token) {
    text += token;
    offsets.push_back(static_cast<i64>(text.size()));
    ids.push_back(static_cast<u32>(ids.size()));
  }
  TokenTable tokens() const { return {{text.begin(), text.end()}, offsets, ids}; }
  PairTable table() const { return PairTable::of_ranks(tokens()); }
};

inline std::vector<u32> ids_of(std::string_view text) {
  std::vector<u32> ids;
  for (const char c : text) ids.push_back(static_cast<u8>(c));
  return ids;
}

// The two orders of merging, as their definitions say.
inline void merge_plainly(const PairTable& pairs, bool all_places, std::vector<u32>& symbols) {
  for (;;) {
    u32 lowest = kNone;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const u32 rank = pairs.rank(symbols[i], symbols[i + 1]);
      if (rank < lowest) {
        lowest = rank;
        at = i;
      }
    }
    if (lowest == kNone) return;
    std::vector<u32> merged;
    bool done = false;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      const bool here = i >= at && !done && i + 1 < symbols.size() && pairs.rank(symbols[i], symbols[i + 1]) == lowest;
      if (here) {
        merged.push_back(pairs.find(symbols[i], symbols[i + 1]).id);
        ++i;
        done = !all_places;
      } else {
        merged.push_back(symbols[i]);
      }
    }
    symbols.swap(merged);
  }
}

// The kind of the core's error that `f` throws; none: it throws nothing, or something else.
template <class F>
std::optional<ErrorKind> error_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.kind();
  }
  return std::nullopt;
}

}  // namespace bytepair::test
