#include "workers.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "fork.hpp"

namespace bytepair {

namespace {

class Workers {
 public:
  const unsigned born_in = fork_generation();

  // false: busy with another job.
  bool run(std::size_t n, unsigned threads, const std::function<void(std::size_t)>& job) {
    const std::unique_lock<std::mutex> turn(turn_, std::try_to_lock);
    if (!turn.owns_lock()) return false;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      while (count_ + 1 < threads) {
        try {
          std::thread([this] { work(); }).detach();
        } catch (const std::system_error&) {
          break;  // no more threads to be had: fewer do it
        }
        ++count_;
      }
      job_ = &job;
      n_ = n;
      next_.store(0);
      wanted_ = std::min<std::size_t>(count_, threads - 1);
      running_ = wanted_;
      ++round_;
    }
    wake_.notify_all();
    take(job, n);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&] { return running_ == 0; });
    job_ = nullptr;
    return true;
  }

 private:
  void take(const std::function<void(std::size_t)>& job, std::size_t n) {
    for (std::size_t k = next_.fetch_add(1); k < n; k = next_.fetch_add(1)) job(k);
  }

  void work() {
    unsigned long seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return wanted_ > 0 && round_ != seen; });
      seen = round_;
      --wanted_;
      const std::function<void(std::size_t)>* const job = job_;
      const std::size_t n = n_;
      lock.unlock();
      take(*job, n);
      lock.lock();
      if (--running_ == 0) done_.notify_one();
    }
  }

  std::mutex turn_;  // held by whose job it is
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(std::size_t)>* job_ = nullptr;
  std::size_t n_ = 0, count_ = 0;
  std::size_t wanted_ = 0, running_ = 0;  // that are still to join, and that have not finished
  unsigned long round_ = 0;
  std::atomic<std::size_t> next_{0};
};

// The workers of this process. They are never taken down: a thread may be in them when the process ends. A child of
// fork() has none of its parent's threads, and leaves what it inherited where it is.
Workers& workers() {
  static ForkLock lock;
  static std::atomic<Workers*> current{nullptr};
  Workers* found = current.load(std::memory_order_acquire);
  if (found && found->born_in == fork_generation()) return *found;
  const ForkGuard guard(lock);
  found = current.load(std::memory_order_acquire);
  if (!found || found->born_in != fork_generation()) current.store(found = new Workers(), std::memory_order_release);
  return *found;
}

}  // namespace

void run_in_parallel(std::size_t n, unsigned threads, const std::function<void(std::size_t)>& job) {
  if (n > 1 && threads > 1 && workers().run(n, static_cast<unsigned>(std::min<std::size_t>(threads, n)), job)) return;
  for (std::size_t k = 0; k < n; ++k) job(k);
}

}  // namespace bytepair
