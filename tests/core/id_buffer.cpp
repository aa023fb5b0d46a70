#include "id_buffer.hpp"

#include <memory>

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

namespace {

std::vector<u32> ids_in(const IdBuffer& buffer) { return {buffer.data(), buffer.data() + buffer.size()}; }

}  // namespace

TEST_CASE("an id buffer holds what was put in, through every growth") {
  Random random(60);
  IdBuffer buffer;
  std::vector<u32> plain;
  for (int round = 0; round < 3000; ++round) {
    std::vector<u32> more;
    for (std::size_t n = random.below(20); n > 0; --n) more.push_back(random.id_below(1000));
    switch (random.below(3)) {
      case 0:
        buffer.append(more.data(), more.size());
        break;
      case 1:
        for (const u32 id : more) buffer.push(id);
        break;
      default:
        std::copy(more.begin(), more.end(), buffer.room(more.size() + 3));
        buffer.add(more.size());
    }
    plain.insert(plain.end(), more.begin(), more.end());
  }
  CHECK(ids_in(buffer) == plain);
  buffer.clear();
  CHECK(buffer.size() == 0);
}

TEST_CASE("an id buffer moves, and hands its memory over") {
  IdBuffer first;
  first.push(7);
  IdBuffer second(std::move(first));
  IdBuffer third;
  third = std::move(second);
  CHECK(ids_in(third) == std::vector<u32>{7});
  const std::unique_ptr<u32, void (*)(void*)> memory(third.release(), std::free);
  CHECK(*memory == 7);
  CHECK(third.size() == 0);
  third.push(8);
  CHECK(ids_in(third) == std::vector<u32>{8});
  const std::unique_ptr<u32, void (*)(void*)> nothing(IdBuffer().release(), std::free);
  CHECK(nothing);
}

TEST_CASE("more ids than there is memory for are refused") {
  IdBuffer buffer;
  CHECK_THROWS_AS(buffer.reserve(SIZE_MAX / 2), std::bad_alloc);
}
