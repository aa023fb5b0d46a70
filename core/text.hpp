// Bytes as characters: UTF-8 decoding in the sense of Python's "surrogateescape", class tables, hashing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

namespace bytepair {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

inline constexpr u32 kNone = 0xFFFFFFFFu;

// The code point at s[i] and its length in bytes. A byte that is no UTF-8 is a character of its own, 0xDC00 | byte.
inline u32 decode_utf8(const u8* s, std::size_t i, std::size_t n, u32& length) {
  const u8 a = s[i];
  const auto follows = [&](std::size_t k) { return i + k < n && (s[i + k] & 0xC0) == 0x80; };
  length = 1;
  if (a < 0x80) return a;
  if (a >= 0xC2 && a < 0xE0 && follows(1)) {
    length = 2;
    return (a & 0x1Fu) << 6 | (s[i + 1] & 0x3Fu);
  }
  if (a >= 0xE0 && a < 0xF0 && follows(1) && follows(2)) {
    const u32 c = (a & 0x0Fu) << 12 | (s[i + 1] & 0x3Fu) << 6 | (s[i + 2] & 0x3Fu);
    if (c >= 0x800 && (c < 0xD800 || c > 0xDFFF)) {
      length = 3;
      return c;
    }
  }
  if (a >= 0xF0 && a < 0xF5 && follows(1) && follows(2) && follows(3)) {
    const u32 c =
        (a & 0x07u) << 18 | (s[i + 1] & 0x3Fu) << 12 | (s[i + 2] & 0x3Fu) << 6 | (s[i + 3] & 0x3Fu);
    if (c >= 0x10000 && c < 0x110000) {
      length = 4;
      return c;
    }
  }
  return 0xDC00u | a;
}

// The longest n' <= n such that s[0, n') does not end within a character that s[n', n) begins.
inline std::size_t whole_characters(const u8* s, std::size_t n) {
  for (std::size_t k = 1; k <= 3 && k <= n; ++k) {
    const u8 b = s[n - k];
    if ((b & 0xC0) == 0x80) continue;
    const std::size_t needs = b >= 0xF0 ? 4 : b >= 0xE0 ? 3 : b >= 0xC0 ? 2 : 1;
    return needs > k ? n - k : n;
  }
  return n;
}

// Code point -> class, in pages of 256. Made by bytepair.pattern, checked again here.
class ClassTable {
 public:
  static constexpr std::size_t kPages = 0x1100;

  ClassTable(std::vector<u16> stage1, std::vector<u8> stage2, u32 n_classes);

  u8 of(u32 code_point) const {
    return stage2_[static_cast<std::size_t>(stage1_[code_point >> 8]) * 256 + (code_point & 0xFF)];
  }
  // The class of the character at s[i]; its length in bytes comes back in `length`.
  u8 at(const u8* s, std::size_t i, std::size_t n, u32& length) const {
    if (s[i] < 0x80) {
      length = 1;
      return ascii_[s[i]];
    }
    return of(decode_utf8(s, i, n, length));
  }
  // The first place at or after i whose character is not of class `wanted`.
  std::size_t run(const u8* s, std::size_t i, std::size_t n, u8 wanted) const {
    while (i < n) {
      if (s[i] < 0x80) {
        if (ascii_[s[i]] != wanted) return i;
        ++i;
      } else {
        u32 length;
        if (of(decode_utf8(s, i, n, length)) != wanted) return i;
        i += length;
      }
    }
    return n;
  }
  u32 n_classes() const { return n_classes_; }
  const std::vector<u16>& stage1() const { return stage1_; }
  const std::vector<u8>& stage2() const { return stage2_; }

 private:
  u8 ascii_[128];
  std::vector<u16> stage1_;
  std::vector<u8> stage2_;
  u32 n_classes_;
};

// Folds a 64x64-bit product: the mixing step of wyhash (Wang Yi, public domain).
inline u64 fold_multiply(u64 a, u64 b) {
#if defined(__SIZEOF_INT128__)
  __extension__ using u128 = unsigned __int128;
  const u128 product = static_cast<u128>(a) * b;
  return static_cast<u64>(product) ^ static_cast<u64>(product >> 64);
#elif defined(_M_X64) && !defined(__clang__)
  u64 high;
  const u64 low = _umul128(a, b, &high);
  return low ^ high;
#else
  const u64 a0 = a & 0xFFFFFFFFu, a1 = a >> 32, b0 = b & 0xFFFFFFFFu, b1 = b >> 32;
  const u64 p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
  const u64 middle = (p00 >> 32) + (p01 & 0xFFFFFFFFu) + (p10 & 0xFFFFFFFFu);
  const u64 low = (p00 & 0xFFFFFFFFu) | middle << 32;
  const u64 high = p11 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
  return low ^ high;
#endif
}

inline u64 hash_words(u64 a, u64 b) {
  return fold_multiply(a ^ 0x9E3779B97F4A7C15ull, b ^ 0xA0761D6478BD642Full);
}

inline u64 load64(const u8* p) {
  u64 x;
  std::memcpy(&x, p, 8);
  return x;
}

// Up to eight bytes, the missing ones zero.
inline u64 load_part(const u8* p, std::size_t n) {
  u64 x = 0;
  std::memcpy(&x, p, n);
  return x;
}

inline u64 hash_bytes(const u8* p, std::size_t n) {
  u64 h = n * 0xE7037ED1A0B428DBull;
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) h = hash_words(load64(p + i) ^ h, load64(p + i + 8));
  if (n - i > 8) return hash_words(load64(p + i) ^ h, load_part(p + i + 8, n - i - 8));
  return hash_words(load_part(p + i, n - i) ^ h, 0x8EBC6AF09C88C6E3ull);
}

// A pretoken of at most 15 bytes as two words: its bytes, and its length in the top byte. Never zero.
struct ShortKey {
  static constexpr std::size_t kMax = 15;
  u64 low, high;
  bool operator==(const ShortKey& other) const { return low == other.low && high == other.high; }
  u64 hash() const { return hash_words(low, high); }
};

inline void prefetch(const void* p) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(p);
#else
  (void)p;
#endif
}

// Masks of the bytes of a short key, by its length.
struct ShortMasks {
  u64 low[16], high[16];
  constexpr ShortMasks() : low{}, high{} {
    for (u64 n = 0; n < 16; ++n) {
      low[n] = n < 8 ? (u64{1} << (8 * n)) - 1 : ~u64{0};
      high[n] = n < 8 ? 0 : (u64{1} << (8 * (n - 8))) - 1;
    }
  }
};
inline constexpr ShortMasks kShortMasks;

// The key of p[0, n) where 16 bytes may be read.
inline ShortKey open_short_key(const u8* p, std::size_t n) {
  return {load64(p) & kShortMasks.low[n], (load64(p + 8) & kShortMasks.high[n]) | static_cast<u64>(n) << 56};
}

// `room` bytes may be read at p; where it is 16 or more the two loads need no bound.
inline ShortKey short_key(const u8* p, std::size_t n, std::size_t room) {
  u64 low, high;
  if (room >= 16) return open_short_key(p, n);
  if (n <= 8) {
    low = load_part(p, n);
    high = 0;
  } else {
    low = load64(p);
    high = load_part(p + 8, n - 8);
  }
  return {low, high | static_cast<u64>(n) << 56};
}

// A pretoken of at most 31 bytes as four words: its bytes, and its length in the top byte. Never zero.
struct MediumKey {
  static constexpr std::size_t kMax = 31;
  u64 word[4];
  bool operator==(const MediumKey& other) const {
    return ((word[0] ^ other.word[0]) | (word[1] ^ other.word[1]) | (word[2] ^ other.word[2]) |
            (word[3] ^ other.word[3])) == 0;
  }
  u64 hash() const { return hash_words(word[0] ^ (word[2] << 23 | word[2] >> 41), word[1] ^ (word[3] << 31 | word[3] >> 33)); }
};

// `room` bytes may be read at p; where it is 32 or more the loads need no bound.
inline MediumKey medium_key(const u8* p, std::size_t n, std::size_t room) {
  MediumKey key{{0, 0, 0, 0}};
  if (room >= 32) {
    std::memcpy(key.word, p, 32);
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t from = 8 * k;
      key.word[k] &= n >= from + 8 ? ~u64{0} : n > from ? (u64{1} << (8 * (n - from))) - 1 : 0;
    }
  } else {
    std::memcpy(key.word, p, n);
  }
  key.word[3] |= static_cast<u64>(n) << 56;
  return key;
}

}  // namespace bytepair
