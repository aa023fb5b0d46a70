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
  REQUIRE(decoder().decode(ids.data(), ids.size(), skip_specials, out) == ids.size());
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
    CHECK(decoder().decode(ids.data(), ids.size(), false, out) == 2);
  }
  const std::vector<u32> ids = {0xFFFFFFFF};
  std::string out;
  CHECK(decoder().decode(ids.data(), ids.size(), false, out) == 0);
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
