#include "simd.hpp"

#include <cstdlib>

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

// What classify() means, bit by bit.
Masks classify_plainly(const u8* s, const AsciiFlags& flags) {
  Masks m{};
  for (int i = 0; i < 64; ++i) {
    const u64 bit = u64{1} << i;
    if (s[i] >= 0x80) {
      m.high |= bit;
      if (s[i] < 0xC0) m.inner |= bit;
      if (s[i] >= 0xE0) m.long_lead |= bit;
      continue;
    }
    for (int k = 0; k < 8; ++k) m.flag[k] |= flags.of[s[i]] >> k & 1 ? bit : 0;
  }
  return m;
}

bool same(const Masks& a, const Masks& b) {
  for (int k = 0; k < 8; ++k) {
    if (a.flag[k] != b.flag[k]) return false;
  }
  return a.high == b.high && a.inner == b.inner && a.long_lead == b.long_lead;
}

}  // namespace

TEST_CASE("there is a level for this machine, and plain is one on every machine") {
  CHECK(simd_named("plain") != nullptr);
  CHECK(simd_named("") == nullptr);
  CHECK(simd_named("sse9") == nullptr);
  for (const Simd* level : levels()) CHECK(simd_named(level->name) == level);
  const char* forced = std::getenv("BYTEPAIR_SIMD");
  if (!forced || !*forced) CHECK(&simd() == levels().back());
}

TEST_CASE("every level classifies every byte at every place, whatever stands around it") {
  Random random(1);
  for (const Simd* level : levels()) {
    CAPTURE(level->name);
    std::size_t wrong = 0;
    for (int round = 0; round < 4; ++round) {
      AsciiFlags flags;
      for (u8& f : flags.of) f = static_cast<u8>(random.next());
      std::vector<u8> block(64);
      for (int value = 0; value < 256; ++value) {
        for (std::size_t place = 0; place < 64; ++place) {
          for (u8& b : block) b = static_cast<u8>(round == 0 ? 0 : random.next());
          block[place] = static_cast<u8>(value);
          Masks found;
          level->classify(block.data(), flags, found);
          wrong += !same(found, classify_plainly(block.data(), flags));
        }
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("every level classifies blocks at any alignment") {
  Random random(2);
  AsciiFlags flags;
  for (u8& f : flags.of) f = static_cast<u8>(random.next());
  std::vector<u8> text(256);
  for (u8& b : text) b = static_cast<u8>(random.next());
  for (const Simd* level : levels()) {
    for (std::size_t at = 0; at + 64 <= text.size(); ++at) {
      Masks found;
      level->classify(text.data() + at, flags, found);
      REQUIRE(same(found, classify_plainly(text.data() + at, flags)));
    }
  }
}

TEST_CASE("every level gives the places of a mask's bits, and writes no more than 64") {
  Random random(3);
  std::vector<u64> masks = {0, ~u64{0}, 1, u64{1} << 63, 0x5555555555555555u, 0xFFFFFFFF00000000u, 0x00000000FFFFFFFFu};
  for (int k = 0; k < 64; ++k) {
    masks.push_back(~u64{0} >> k);
    masks.push_back(~u64{0} << k);
  }
  for (int k = 0; k < 3000; ++k) {
    u64 mask = random.next();
    for (std::size_t sparse = random.below(5); sparse > 0; --sparse) mask &= random.next();
    masks.push_back(mask);
  }
  for (const Simd* level : levels()) {
    CAPTURE(level->name);
    for (const u64 mask : masks) {
      const std::size_t base = random.one_in(2) ? random.below(1000) : (std::size_t{1} << 40) + random.below(1000);
      std::vector<std::size_t> plain;
      for (std::size_t i = 0; i < 64; ++i) {
        if (mask >> i & 1) plain.push_back(base + i);
      }
      std::vector<std::size_t> room(64);
      room.shrink_to_fit();
      const std::size_t n = level->places(mask, base, room.data());
      REQUIRE(n == plain.size());
      room.resize(n);
      REQUIRE(room == plain);
    }
  }
}
