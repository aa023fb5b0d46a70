#include "alphabet.hpp"

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

std::vector<u32> symbols(const Alphabet& alphabet, std::string_view text) {
  const Exact exact(text);
  std::vector<u32> out;
  alphabet.symbols(exact.data(), exact.size(), 0, out);
  return out;
}

std::vector<u32> numbered(u32 first, u32 n = 256) {
  std::vector<u32> ids;
  for (u32 k = 0; k < n; ++k) ids.push_back(first + k);
  return ids;
}

Alphabet characters(bool fused, u32 mark, Alphabet::Unknown unknown) {
  const std::vector<u32> points = {'a', 0xE9, 0x3042, 0x1D400};
  const std::vector<u32> last = fused ? points : std::vector<u32>{};
  return Alphabet::of_characters(points, {1, 2, 3, 4}, last, fused ? std::vector<u32>{11, 12, 13, 14} : last, fused, mark,
                                 unknown, numbered(100), 99);
}

using Ids = std::vector<u32>;

}  // namespace

TEST_CASE("bytes: one symbol each, a mark of its own or fused to the last") {
  CHECK(symbols(Alphabet::of_bytes(numbered(6), {}, kNone), "low") == Ids{114, 117, 125});
  CHECK(symbols(Alphabet::of_bytes(numbered(6), {}, 5), "low") == Ids{114, 117, 125, 5});
  CHECK(symbols(Alphabet::of_bytes(numbered(0), numbered(256), kNone), "ab") == Ids{'a', 256 + 'b'});
  CHECK(symbols(Alphabet::of_bytes(numbered(0), numbered(256), kNone), "b") == Ids{256 + 'b'});
  CHECK(Alphabet::of_bytes(numbered(6), {}, kNone).is_plain_bytes());
  CHECK_FALSE(Alphabet::of_bytes(numbered(6), {}, 5).is_plain_bytes());
}

TEST_CASE("characters: one symbol each, whatever their length in UTF-8") {
  const std::string text = "a" + utf8(0xE9) + utf8(0x3042) + utf8(0x1D400);
  CHECK(symbols(characters(false, kNone, Alphabet::Unknown::error), text) == Ids{1, 2, 3, 4});
  CHECK(symbols(characters(false, 50, Alphabet::Unknown::error), text) == Ids{1, 2, 3, 4, 50});
  CHECK(symbols(characters(true, kNone, Alphabet::Unknown::error), text) == Ids{1, 2, 3, 14});
}

TEST_CASE("an unknown character is an error that says where, or its bytes, or one symbol") {
  const std::string text = "a" + utf8(0x20AC) + "a";
  try {
    std::vector<u32> out;
    characters(false, 50, Alphabet::Unknown::error).symbols(bytes_of(text), text.size(), 1000, out);
    FAIL("no error");
  } catch (const UnknownCharacter& error) {
    CHECK(error.code_point == 0x20AC);
    CHECK(error.offset == 1001);
    CHECK(error.document == UnknownCharacter::kNoDocument);
    CHECK(error.kind() == ErrorKind::unknown_token);
  }
  CHECK(symbols(characters(false, 50, Alphabet::Unknown::bytes), text) == Ids{1, 100 + 0xE2, 100 + 0x82, 100 + 0xAC, 1, 50});
  CHECK(symbols(characters(false, 50, Alphabet::Unknown::symbol), text) == Ids{1, 99, 1, 50});
  CHECK(symbols(characters(false, kNone, Alphabet::Unknown::bytes), "\xFF") == Ids{100 + 0xFF});
}

TEST_CASE("an unknown last character with a fused mark keeps the mark") {
  CHECK(symbols(characters(true, 50, Alphabet::Unknown::bytes), "ab") == Ids{1, 100 + 'b', 50});
  CHECK(symbols(characters(true, 50, Alphabet::Unknown::bytes), "ba") == Ids{100 + 'b', 11});
  CHECK(symbols(characters(true, kNone, Alphabet::Unknown::symbol), "ab") == Ids{1, 99});
}

TEST_CASE("an alphabet that does not fit together is refused") {
  CHECK(error_of([] { Alphabet::of_bytes(numbered(0, 255), {}, kNone); }) == ErrorKind::vocabulary);
  CHECK(error_of([] { Alphabet::of_bytes(numbered(0), numbered(0, 3), kNone); }) == ErrorKind::vocabulary);
  const auto kind = [](const Ids& points, const Ids& ids, Alphabet::Unknown unknown, const Ids& bytes) {
    return error_of([&] { Alphabet::of_characters(points, ids, {}, {}, false, kNone, unknown, bytes, kNone); });
  };
  CHECK(kind({'a'}, {}, Alphabet::Unknown::error, {}) == ErrorKind::vocabulary);
  CHECK(kind({0x110000}, {1}, Alphabet::Unknown::error, {}) == ErrorKind::vocabulary);
  CHECK(kind({'a'}, {1}, Alphabet::Unknown::bytes, {}) == ErrorKind::vocabulary);
}

TEST_CASE("listed: four forms of a unit, fallback bytes, and one unknown for a run") {
  const std::vector<Alphabet::Form> forms = {{{'a', 0xE9}, {1, 2}}, {{'a'}, {11}}, {{'a'}, {21}}, {{'a'}, {31}}};
  const std::string text = "a" + utf8(0xE9) + "aa";
  CHECK(symbols(Alphabet::of_listed(true, forms, false, false, {}, 99, false), text) == Ids{1, 2, 1, 1});
  CHECK(symbols(Alphabet::of_listed(true, forms, true, false, {}, 99, false), text) == Ids{1, 2, 1, 11});
  CHECK(symbols(Alphabet::of_listed(true, forms, true, true, {}, 99, false), text) == Ids{1, 99, 21, 31});
  CHECK(symbols(Alphabet::of_listed(true, forms, false, true, {}, 99, false), "a") == Ids{1});
  CHECK(symbols(Alphabet::of_listed(true, forms, false, false, {}, 99, false), "axya") == Ids{1, 99, 99, 1});
  CHECK(symbols(Alphabet::of_listed(true, forms, false, false, {}, 99, true), "axyaz") == Ids{1, 99, 1, 99});
  Ids fallback = numbered(100);
  fallback['y'] = kNone;
  CHECK(symbols(Alphabet::of_listed(true, forms, false, false, fallback, 99, true), "xyya") == Ids{100 + 'x', 99, 1});
  CHECK(symbols(Alphabet::of_listed(false, forms, false, false, {}, 99, false), utf8(0xE9)) == Ids{99, 99});
  CHECK(error_of([&] { symbols(Alphabet::of_listed(true, forms, false, false, {}, kNone, false), "ab"); }) ==
        ErrorKind::unknown_token);
  CHECK(error_of([&] { Alphabet::of_listed(true, {}, false, false, {}, 0, false); }) == ErrorKind::vocabulary);
  CHECK(error_of([&] { Alphabet::of_listed(true, forms, false, false, {1}, 0, false); }) == ErrorKind::vocabulary);
}

TEST_CASE("an alphabet of many characters finds each of them and no other") {
  Ids points, ids;
  for (u32 c = 0; c < 0x110000; c += 37) {
    if (c >= 0xD800 && c < 0xE000) continue;
    points.push_back(c);
    ids.push_back(c / 37);
  }
  const Alphabet alphabet =
      Alphabet::of_characters(points, ids, {}, {}, false, kNone, Alphabet::Unknown::symbol, {}, 1 << 23);
  std::size_t wrong = 0;
  for (u32 c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    wrong += symbols(alphabet, utf8(c)) != Ids{c % 37 == 0 ? c / 37 : 1 << 23};
  }
  CHECK(wrong == 0);
}

TEST_CASE("characters are collected by where they stand, without words of white space") {
  const std::string text = "ba" " " "a" + utf8(0x1D400) + "b";
  const std::vector<i64> offsets = {0, 2, 3, static_cast<i64>(text.size())};
  const ClassTable spaces = space_classes();
  Ids inner, last;
  collect_characters(bytes_of(text), offsets.data(), 3, &spaces, inner, last);
  CHECK(inner == Ids{'a', 'b', 0x1D400});
  CHECK(last == Ids{'a', 'b'});
  collect_characters(bytes_of(text), offsets.data(), 3, nullptr, inner, last);
  CHECK(last == Ids{' ', 'a', 'b'});
}
