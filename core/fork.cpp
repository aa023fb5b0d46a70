#include "fork.hpp"

#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace bytepair {

namespace {

std::atomic<unsigned> generation{0};

#if defined(__unix__) || defined(__APPLE__)
// Asking for the process's id would be a system call each time.
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1); });
#endif

}  // namespace

unsigned fork_generation() { return generation.load(std::memory_order_relaxed); }

bool ForkLock::lock() {
  const unsigned mine = fork_generation() + 1;
  for (int tries = 0;; ++tries) {
    unsigned holder = holder_.load(std::memory_order_relaxed);
    if (holder != mine && holder_.compare_exchange_weak(holder, mine, std::memory_order_acquire)) return holder != 0;
    if (tries >= 64) std::this_thread::yield();
  }
}

}  // namespace bytepair
