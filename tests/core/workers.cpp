#include "workers.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "support.hpp"

using namespace bytepair;
using namespace bytepair::test;

TEST_CASE("every job of many is done once, on any number of threads") {
  for (unsigned threads = 0; threads <= 5; ++threads) {
    for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{1000}}) {
      std::vector<std::atomic<int>> done(n);
      run_in_parallel(n, threads, [&](std::size_t k) { ++done[k]; });
      std::size_t wrong = 0;
      for (const auto& times : done) wrong += times != 1;
      REQUIRE(wrong == 0);
    }
  }
}

TEST_CASE("threads that come at the same time, and jobs within jobs, are all done") {
  std::atomic<int> done{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        run_in_parallel(8, 3, [&](std::size_t) { run_in_parallel(2, 2, [&](std::size_t) { ++done; }); });
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(done == 4 * 200 * 8 * 2);
}
