// What fork() takes from under a lock: in the child only the thread that called it goes on, and what another one held
// stays held for ever. So a lock here knows in which process it was taken.
#pragma once

#include <atomic>

namespace bytepair {

// How many forks lie between the first process and this one.
unsigned fork_generation();

// For a few instructions at a time: who waits spins, and lets others run.
class ForkLock {
 public:
  // True where it was taken from a thread that a fork left behind: what it guards may be half written.
  bool lock();
  void unlock() { holder_.store(0, std::memory_order_release); }

 private:
  std::atomic<unsigned> holder_{0};  // 0: free; else the holder's generation + 1
};

class ForkGuard {
 public:
  explicit ForkGuard(ForkLock& lock) : left_behind(lock.lock()), lock_(lock) {}
  ~ForkGuard() { lock_.unlock(); }
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  const bool left_behind;

 private:
  ForkLock& lock_;
};

}  // namespace bytepair
