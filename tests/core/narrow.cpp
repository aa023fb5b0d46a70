#include "narrow.hpp"

#include "errors.hpp"
#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

template <class Unit>
void check(Random& random, u32 limit) {
  for (int round = 0; round < 400; ++round) {
    std::vector<Unit> units;
    std::string wanted;
    const u32 below = random.one_in(3) ? limit : random.one_in(2) ? std::min<u32>(limit, 0x800) : 0x80;
    for (std::size_t n = random.below(100); n > 0; --n) {
      u32 c = random.one_in(2) ? random.id_below(0x80) : random.id_below(below);
      if (c >= 0xD800 && c <= 0xDFFF) c = 'x';
      units.push_back(static_cast<Unit>(c));
      wanted += utf8(c);
    }
    units.shrink_to_fit();
    const GivenText given(units.data(), units.size(), static_cast<int>(sizeof(Unit)));
    ByteBuffer own;
    REQUIRE(given.bytes(own) == wanted);
    for (const Simd* level : levels()) {
      std::vector<u8> out(narrow_room<Unit>(units.size()));
      const u8* const end = narrow(units.data(), units.size(), out.data(), *level);
      REQUIRE(end);
      REQUIRE(std::string(out.data(), const_cast<u8*>(end)) == wanted);
    }
    if (sizeof(Unit) == 1 || units.empty()) continue;
    units[random.below(units.size())] = static_cast<Unit>(0xD800 + random.below(0x800));
    for (const Simd* level : levels()) {
      std::vector<u8> out(narrow_room<Unit>(units.size()));
      REQUIRE_FALSE(narrow(units.data(), units.size(), out.data(), *level));
    }
    REQUIRE_THROWS_AS(GivenText(units.data(), units.size(), static_cast<int>(sizeof(Unit))).bytes(own), Surrogates);
  }
}

}  // namespace

TEST_CASE("code units of every width become UTF-8, and surrogates are told of") {
  Random random(91);
  check<u8>(random, 0x100);
  check<u16>(random, 0x10000);
  check<u32>(random, 0x110000);
}

TEST_CASE("bytes that are given are not copied") {
  const std::string text = "any bytes \xFF";
  ByteBuffer own;
  CHECK(GivenText(text).bytes(own).data() == text.data());
  CHECK(own.capacity() == 0);
}
