#include "utf8.hpp"

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

// What survey() says, character by character.
Survey plain_survey(std::string_view text) {
  Survey found;
  for (std::size_t i = 0; i < text.size();) {
    u32 length;
    const u32 c = decode_utf8(bytes_of(text), i, text.size(), length);
    if (c >= 0xDC80 && c <= 0xDCFF) found.valid = false;
    if (c >= 0x80) found.kinds |= beyond_ascii;
    if (c >= 0x100) found.kinds |= beyond_latin1;
    if (c >= 0x10000) found.kinds |= beyond_bmp;
    ++found.characters;
    i += length;
  }
  return found;
}

template <class Unit>
std::vector<u32> widened(std::string_view text, std::size_t characters) {
  std::vector<Unit> units(characters);
  units.shrink_to_fit();
  const Exact exact(text);
  widen(exact.data(), exact.size(), units.data());
  return {units.begin(), units.end()};
}

std::string text_below(Random& random, u32 limit) {
  std::string text;
  for (std::size_t k = random.below(60); k > 0; --k) {
    const u32 c = random.one_in(3) ? random.id_below(limit) : random.id_below(0x80);
    text += utf8(c >= 0xD800 && c <= 0xDFFF ? 'x' : c);
  }
  return text;
}

}  // namespace

TEST_CASE("a survey counts characters and tells the widest, and widening writes each of them") {
  Random random(11);
  for (std::size_t round = 0; round < 3000; ++round) {
    const u32 limit = std::initializer_list<u32>{0x80, 0x100, 0x10000, 0x110000}.begin()[random.below(4)];
    const std::string text = text_below(random, limit);
    const Survey found = survey(Exact(text).data(), text.size()), wanted = plain_survey(text);
    REQUIRE(found.valid);
    REQUIRE(found.characters == wanted.characters);
    REQUIRE(found.kinds == wanted.kinds);
    std::vector<u32> points;
    for (std::size_t i = 0; i < text.size();) {
      u32 length;
      points.push_back(decode_utf8(bytes_of(text), i, text.size(), length));
      i += length;
    }
    CHECK(widened<u32>(text, found.characters) == points);
    if (!(found.kinds & beyond_bmp)) CHECK(widened<u16>(text, found.characters) == points);
    if (!(found.kinds & beyond_latin1)) CHECK(widened<u8>(text, found.characters) == points);
  }
}

TEST_CASE("bytes that are no UTF-8 are no text, wherever they stand") {
  for (const std::string_view bad : {"\x80", "\xC3", "\xC0\x80", "\xE2\x82", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"}) {
    for (std::size_t before = 0; before < 40; before += 3) {
      const std::string text = std::string(before, 'a') + std::string(bad) + std::string(before % 2 ? "tail" : "");
      CHECK_FALSE(survey(Exact(text).data(), text.size()).valid);
    }
  }
  Random random(12);
  for (std::size_t round = 0; round < 3000; ++round) {
    std::string text = text_below(random, 0x110000);
    if (!text.empty()) text[random.below(text.size())] = static_cast<char>(random.below(256));
    CHECK(survey(Exact(text).data(), text.size()).valid == plain_survey(text).valid);
  }
}
