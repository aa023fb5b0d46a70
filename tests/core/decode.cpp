#include "decode.hpp"

#include <limits>

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

using Ids = std::vector<i64>;

// Rows: 0 "<s>" special, 1 "low", 2 "er" marked, 3 missing, 4 "" marked (a mark of its own).
Decoder decoder() {
  const std::string text = "<s>lower";
  return Decoder({text.begin(), text.end()}, {0, 3, 6, 8, 8, 8},
                 {Decoder::present | Decoder::special, Decoder::present, Decoder::present | Decoder::marked, 0,
                  Decoder::present | Decoder::marked});
}

std::string decoded(const Ids& ids, bool skip_specials = false) {
  std::string out;
  REQUIRE(decoder().decode_plainly(ids.data(), ids.size(), skip_specials, out) == ids.size());
  return out;
}

}  // namespace

TEST_CASE("ids become their bytes, and specials their names unless they are skipped") {
  CHECK(decoded({}).empty());
  CHECK(decoded({0, 1, 1, 0}) == "<s>lowlow<s>");
  CHECK(decoded({0, 1, 1, 0}, true) == "lowlow");
}

TEST_CASE("one space for each mark, none where no ordinary token follows") {
  CHECK(decoded({1, 2, 1, 2}) == "lower lower");
  CHECK(decoded({1, 4, 1, 4}) == "low low");
  CHECK(decoded({4, 4, 4}) == "  ");
  CHECK(decoded({1, 4, 0}) == "low<s>");
  CHECK(decoded({1, 4, 0, 1}) == "low <s>low");
  CHECK(decoded({1, 4, 0, 1}, true) == "low low");
}

TEST_CASE("an id that does not exist is named by its place") {
  for (const i64 bad : {i64{3}, i64{5}, i64{-1}, i64{1} << 32, std::numeric_limits<i64>::min()}) {
    const Ids ids = {1, 2, bad, 1};
    std::string out;
    CHECK(decoder().decode_plainly(ids.data(), ids.size(), false, out) == 2);
  }
  const std::vector<u32> ids = {0xFFFFFFFF};
  std::string out;
  CHECK(decoder().decode_plainly(ids.data(), ids.size(), false, out) == 0);
}

TEST_CASE("offsets that do not describe the text are refused") {
  const auto kind = [](std::vector<i64> offsets, std::size_t rows) {
    return error_of([&] { Decoder(std::vector<u8>(8, 'x'), std::move(offsets), std::vector<u8>(rows, 1)); });
  };
  CHECK_FALSE(kind({0, 3, 8}, 2));
  CHECK(kind({}, 0) == ErrorKind::value);
  CHECK(kind({0, 3, 8}, 3) == ErrorKind::value);
  CHECK(kind({1, 3, 8}, 2) == ErrorKind::value);
  CHECK(kind({0, 3, 9}, 2) == ErrorKind::value);
  CHECK(kind({0, 9, 8}, 2) == ErrorKind::value);
  CHECK(kind({0, -1, 8}, 2) == ErrorKind::value);
}

namespace {

// Pieces of text and of characters, long ones, empty ones, specials, and ids that do not exist.
struct Vocabulary {
  std::vector<u8> text, flags;
  std::vector<i64> offsets{0};

  explicit Vocabulary(Random& random, bool marks) {
    const std::string characters[] = {"a", "low", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xC5\x82", "x y"};
    for (std::size_t k = 0; k < 80; ++k) {
      std::string token;
      for (std::size_t n = random.one_in(8) ? random.below(30) : random.below(4); n > 0; --n)
        token += characters[random.below(7)];
      if (random.one_in(4)) token = token.substr(random.below(token.size() + 1));
      if (random.one_in(4)) token = token.substr(0, random.below(token.size() + 1));
      if (random.one_in(20)) token += '\xFF';
      text.insert(text.end(), token.begin(), token.end());
      offsets.push_back(static_cast<i64>(text.size()));
      const u8 kind = random.one_in(10) ? u8{Decoder::special} : marks && random.one_in(3) ? u8{Decoder::marked} : u8{0};
      flags.push_back(k > 60 && random.one_in(4) ? u8{0} : static_cast<u8>(Decoder::present | kind));
    }
  }
};

bool same(const Survey& a, const Survey& b) {
  return a.valid == b.valid && (!a.valid || (a.characters == b.characters && a.kinds == b.kinds));
}

std::string_view text_of(const u8* bytes, std::size_t n) { return {reinterpret_cast<const char*>(bytes), n}; }

}  // namespace

TEST_CASE("one pass gives the bytes that the plain way gives, and what they are as text") {
  Random random(7);
  for (std::size_t round = 0; round < 400; ++round) {
    const Vocabulary v(random, round % 4 == 3);
    const Decoder decoder(v.text, v.offsets, v.flags);
    for (std::size_t k = 0; k < 20; ++k) {
      Ids ids;
      const u32 limit = random.one_in(4) ? 82 : 60;
      for (std::size_t n = random.below(300); n > 0; --n) ids.push_back(random.id_below(limit));
      const bool skip = random.one_in(2);
      std::string wanted;
      const std::size_t end = decoder.decode_plainly(ids.data(), ids.size(), skip, wanted);
      ByteBuffer out;
      Survey text;
      REQUIRE(decoder.decode(ids.data(), ids.size(), skip, out, text) == end);
      if (end < ids.size()) continue;
      REQUIRE(text_of(out.data(), out.size()) == wanted);
      REQUIRE(same(text, survey(bytes_of(wanted), wanted.size())));
      if (skip || !text.valid || decoder.has_marks()) continue;
      std::vector<u32> starts(ids.size());
      decoder.starts(ids.data(), ids.size(), out, starts.data());
      std::string before;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        u32 begun = 0;
        for (const char c : before) begun += (c & 0xC0) != 0x80;
        const bool within = before.size() < wanted.size() && (wanted[before.size()] & 0xC0) == 0x80;
        REQUIRE(starts[i] == begun - within);
        decoder.decode_plainly(&ids[i], 1, false, before);
      }
    }
  }
}

TEST_CASE("many rows on many threads are what each of them is alone") {
  Random random(8);
  for (std::size_t round = 0; round < 12; ++round) {
    const Vocabulary v(random, round % 4 == 3);
    const Decoder decoder(v.text, v.offsets, v.flags);
    std::vector<u32> ids;
    std::vector<i64> offsets{0};
    for (std::size_t rows = random.below(40) + 1; rows > 0; --rows) {
      // Some so large that they are cut.
      for (std::size_t n = random.one_in(8) ? 90000 : random.below(200); n > 0; --n) ids.push_back(random.id_below(60));
      offsets.push_back(static_cast<i64>(ids.size()));
    }
    const std::size_t n_rows = offsets.size() - 1;
    for (const unsigned threads : {1u, 4u}) {
      const Decoder::Batch batch = decoder.decode_rows(ids.data(), offsets.data(), n_rows, false, threads);
      REQUIRE(batch.bad_row == n_rows);
      REQUIRE(batch.rows.size() == n_rows);
      for (std::size_t i = 0; i < n_rows; ++i) {
        std::string wanted;
        const auto from = static_cast<std::size_t>(offsets[i]), to = static_cast<std::size_t>(offsets[i + 1]);
        decoder.decode_plainly(ids.data() + from, to - from, false, wanted);
        REQUIRE(text_of(batch.bytes(batch.rows[i]), batch.rows[i].size) == wanted);
        REQUIRE(same(batch.rows[i].text, survey(bytes_of(wanted), wanted.size())));
      }
      std::vector<u32> broken = ids;
      if (broken.empty()) continue;
      const std::size_t first = random.below(broken.size());
      broken[first] = broken.back() = kNone;
      const Decoder::Batch bad = decoder.decode_rows(broken.data(), offsets.data(), n_rows, false, threads);
      REQUIRE(bad.bad_row < n_rows);
      CHECK(static_cast<std::size_t>(offsets[bad.bad_row]) + bad.bad_place == first);
    }
  }
}
