#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

// Well-formed UTF-8 as the table of the Unicode Standard lists it (3.9, table 3-7).
struct Row {
  std::size_t length;
  u8 ranges[4][2];
};
constexpr Row kWellFormed[] = {
    {1, {{0x00, 0x7F}, {}, {}, {}}},
    {2, {{0xC2, 0xDF}, {0x80, 0xBF}, {}, {}}},
    {3, {{0xE0, 0xE0}, {0xA0, 0xBF}, {0x80, 0xBF}, {}}},
    {3, {{0xE1, 0xEC}, {0x80, 0xBF}, {0x80, 0xBF}, {}}},
    {3, {{0xED, 0xED}, {0x80, 0x9F}, {0x80, 0xBF}, {}}},
    {3, {{0xEE, 0xEF}, {0x80, 0xBF}, {0x80, 0xBF}, {}}},
    {4, {{0xF0, 0xF0}, {0x90, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}}},
    {4, {{0xF1, 0xF3}, {0x80, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}}},
    {4, {{0xF4, 0xF4}, {0x80, 0x8F}, {0x80, 0xBF}, {0x80, 0xBF}}},
};

u32 decode_plainly(const u8* s, std::size_t n, u32& length) {
  for (const Row& row : kWellFormed) {
    if (row.length > n) continue;
    bool fits = true;
    for (std::size_t k = 0; k < row.length; ++k) fits = fits && row.ranges[k][0] <= s[k] && s[k] <= row.ranges[k][1];
    if (!fits) continue;
    length = static_cast<u32>(row.length);
    u32 point = row.length == 1 ? s[0] : s[0] & (0xFFu >> (row.length + 1));
    for (std::size_t k = 1; k < row.length; ++k) point = point << 6 | (s[k] & 0x3Fu);
    return point;
  }
  length = 1;
  return 0xDC00u | s[0];
}

bool decodes_alike(const std::vector<u8>& s) {
  u32 length = 0, plain_length = 0;
  const u32 point = decode_utf8(s.data(), 0, s.size(), length);
  return point == decode_plainly(s.data(), s.size(), plain_length) && length == plain_length;
}

}  // namespace

TEST_CASE("decode_utf8 equals the table of the standard on all strings of one to three bytes") {
  std::size_t different = 0;
  for (std::vector<u8> s(1); ; ++s[0]) {
    different += !decodes_alike(s);
    if (s[0] == 0xFF) break;
  }
  std::vector<u8> two(2), three(3);
  for (unsigned ab = 0; ab < 0x10000; ++ab) {
    two[0] = three[0] = static_cast<u8>(ab >> 8);
    two[1] = three[1] = static_cast<u8>(ab);
    different += !decodes_alike(two);
    if (two[0] < 0xE0) continue;  // a third byte is not looked at
    for (unsigned c = 0; c < 0x100; ++c) {
      three[2] = static_cast<u8>(c);
      different += !decodes_alike(three);
    }
  }
  CHECK(different == 0);
}

TEST_CASE("decode_utf8 equals the table of the standard on four bytes near every border") {
  std::size_t different = 0;
  std::vector<u8> s(4);
  const u8 edges[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xF0, 0xFF};
  for (unsigned a = 0xE0; a < 0x100; ++a)
    for (unsigned b = 0; b < 0x100; ++b)
      for (const u8 c : edges)
        for (const u8 d : edges) {
          s = {static_cast<u8>(a), static_cast<u8>(b), c, d};
          different += !decodes_alike(s);
        }
  CHECK(different == 0);
}

TEST_CASE("every code point but the surrogates comes back from its UTF-8") {
  std::size_t different = 0;
  for (u32 c = 0; c < 0x110000; ++c) {
    const std::string text = utf8(c);
    u32 length = 0;
    const u32 point = decode_utf8(bytes_of(text), 0, text.size(), length);
    const bool surrogate = c >= 0xD800 && c < 0xE000;
    different += surrogate ? length != 1 || point != 0xDCED : point != c || length != text.size();
  }
  CHECK(different == 0);
}

TEST_CASE("a class table answers for each code point, and run() stops where the class does") {
  const ClassTable classes = small_classes();
  for (const auto& entry : small_unicode()) {
    CAPTURE(entry.first);
    CHECK(classes.of(entry.first) == entry.second);
    const Exact text(utf8(entry.first));
    u32 length = 0;
    CHECK(classes.at(text.data(), 0, text.size(), length) == entry.second);
    CHECK(length == text.size());
  }
  CHECK(classes.of(0x10FFFF) == kOther);
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    const Exact text(tricky_text(random, random.between(1, 8)));
    const u8 wanted = static_cast<u8>(random.below(4));
    std::size_t plain = 0;
    u32 length = 0;
    while (plain < text.size() && classes.of(decode_plainly(text.data() + plain, text.size() - plain, length)) == wanted)
      plain += length;
    REQUIRE(classes.run(text.data(), 0, text.size(), wanted) == plain);
  }
}

TEST_CASE("a class table that does not fit together is refused") {
  const auto kind = [](std::vector<u16> stage1, std::vector<u8> stage2, u32 n) {
    return error_of([&] { ClassTable(std::move(stage1), std::move(stage2), n); });
  };
  const Tables good = tables_of({{'a', 1}});
  CHECK_FALSE(kind(good.stage1, good.stage2, 2));
  CHECK(kind({}, good.stage2, 2) == ErrorKind::value);
  CHECK(kind(std::vector<u16>(ClassTable::kPages + 1, 0), good.stage2, 2) == ErrorKind::value);
  CHECK(kind(good.stage1, {}, 2) == ErrorKind::value);
  CHECK(kind(good.stage1, std::vector<u8>(300, 0), 2) == ErrorKind::value);
  CHECK(kind(good.stage1, good.stage2, 1) == ErrorKind::value);
  CHECK(kind(std::vector<u16>(ClassTable::kPages, 65535), good.stage2, 2) == ErrorKind::value);
}

TEST_CASE("short keys tell pretokens apart, and do not depend on what stands behind them") {
  Random random(2);
  for (int round = 0; round < 5000; ++round) {
    const std::size_t n = random.between(1, ShortKey::kMax);
    std::string text;
    for (std::size_t i = 0; i < n; ++i) text.push_back(static_cast<char>(random.below(4) * 85));
    const Exact alone(text), followed(text + tricky_text(random, 20) + std::string(16, 'x'));
    const ShortKey key = short_key(alone.data(), n, n);
    REQUIRE(key == short_key(followed.data(), n, followed.size()));
    REQUIRE(key.high != 0);
    std::string other = text;
    other[random.below(n)] ^= 1;
    REQUIRE_FALSE(key == short_key(bytes_of(other), n, n));
    if (n < ShortKey::kMax) {
      const Exact longer(text + std::string(1, '\0'));
      REQUIRE_FALSE(key == short_key(longer.data(), n + 1, n + 1));
    }
  }
}

TEST_CASE("hashes read within the text, and their 128-bit product is the schoolbook's") {
  Random random(3);
  for (std::size_t n = 1; n < 80; ++n) {
    const Exact text(std::string(n, 'q'));
    CHECK(hash_bytes(text.data(), n) == hash_bytes(text.data(), n));
    CHECK(hash_bytes(text.data(), n) != hash_bytes(text.data(), n - 1));
  }
  CHECK(fold_multiply(~u64{0}, ~u64{0}) == ~u64{0});
  for (int round = 0; round < 1000; ++round) {
    const u64 a = random.next(), b = random.next();
    u64 low = 0, high = 0;  // shift and add
    for (int bit = 63; bit >= 0; --bit) {
      high = high << 1 | low >> 63;
      low <<= 1;
      if (b >> bit & 1) {
        low += a;
        high += low < a;
      }
    }
    REQUIRE(fold_multiply(a, b) == (low ^ high));
  }
}
