#include "reserved.hpp"

#include "support.hpp"

using namespace bytepair;

TEST_CASE("an array that grows keeps what it has, and what is new is zero") {
  constexpr std::size_t kLimits[] = {1, 1000, 1 << 20, 3 << 20};
  for (const std::size_t limit : kLimits) {
    Reserved<u64> array(limit);
    CHECK(array.empty());
    std::size_t filled = 0;
    for (std::size_t size = 1;; size = std::min(limit, 4 * size)) {
      array.grow(size);
      REQUIRE(array.size() == size);
      for (std::size_t i = 0; i < filled; ++i) REQUIRE(array[i] == i + 1);
      for (std::size_t i = filled; i < size; ++i) REQUIRE(array[i] == 0);
      for (; filled < size; ++filled) array[filled] = filled + 1;
      if (size == limit) break;
    }
    Reserved<u64> other;
    other = std::move(array);
    CHECK(other.size() == limit);
    CHECK(other[limit - 1] == limit);
  }
}

TEST_CASE("where no such room is to be had, it grows by copies, and some bytes behind its end may be read") {
  Reserved<u64> array(std::size_t{1} << 57);  // of eight bytes each: more than any machine has addresses for
  std::size_t filled = 0;
  for (const std::size_t size : {std::size_t{1}, std::size_t{5}, std::size_t{4096}, std::size_t{5000}}) {
    array.grow(size);
    REQUIRE(array.size() == size);
    for (std::size_t i = 0; i < filled; ++i) REQUIRE(array[i] == i + 1);
    for (std::size_t i = filled; i < size; ++i) REQUIRE(array[i] == 0);
    for (; filled < size; ++filled) array[filled] = filled + 1;
    u8 behind[Reserved<u64>::kReadable];
    std::memcpy(behind, array.begin() + size, sizeof behind);
  }
  Reserved<u64> other = std::move(array);
  CHECK(other[4999] == 5000);
}
