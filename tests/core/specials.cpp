#include "specials.hpp"

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

Specials::Found find_plainly(const std::vector<std::string>& names, const std::string& text, std::size_t from) {
  for (std::size_t i = from; i < text.size(); ++i) {
    std::size_t longest = 0;
    u32 id = kNone;
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (names[k].size() > longest && text.compare(i, names[k].size(), names[k]) == 0) {
        longest = names[k].size();
        id = static_cast<u32>(k);
      }
    }
    if (id != kNone) return {i, longest, id};
  }
  return {text.size(), 0, kNone};
}

}  // namespace

TEST_CASE("the earliest special is found, and there the longest") {
  Random random(20);
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::string> names;
    std::vector<u32> ids;
    for (std::size_t n = random.below(5); n > 0; --n) {
      const std::string name = (random.one_in(2) ? "<" : "") + random_word(random, 4, 2);
      bool known = false;
      for (const std::string& other : names) known = known || other == name;
      if (known) continue;
      ids.push_back(static_cast<u32>(names.size()));
      names.push_back(name);
    }
    const Specials specials(names, ids);
    std::string text;
    for (std::size_t n = random.below(12); n > 0; --n) text += "<ab"[random.below(3)];
    const Exact exact(text);
    for (std::size_t from = 0; from <= text.size(); ++from) {
      const auto plain = find_plainly(names, text, from), found = specials.find(exact.data(), from, exact.size());
      REQUIRE(found.start == plain.start);
      REQUIRE(found.length == plain.length);
      REQUIRE(found.id == plain.id);
    }
  }
}

TEST_CASE("overlapping names: the longest wins") {
  const Specials specials({"<|a|>", "<|a|><|b|>", "<|b|>"}, {1, 2, 3});
  const std::string text = "<|a|><|b|>";
  const auto found = specials.find(bytes_of(text), 0, text.size());
  CHECK(found.id == 2);
  CHECK(found.length == text.size());
  CHECK(specials.longest() == text.size());
}

TEST_CASE("an empty name, and names without ids, are refused") {
  CHECK(error_of([] { Specials({""}, {1}); }) == ErrorKind::value);
  CHECK(error_of([] { Specials({"a", "b"}, {1}); }) == ErrorKind::value);
}
