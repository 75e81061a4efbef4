// Threads of our own, for runtimes that lend none: as many as were ever asked for, which wait between calls.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "parallel.h"

namespace attend_adapter {

// One for the process. A call at a time has them; another one that comes meanwhile does its work on its own thread, to the same
// bits.
class Threads {
 public:
  static Threads& shared() {
    static Threads threads;
    return threads;
  }

  // Work on up to so many threads, the caller's among them.
  Parallel parallel(int threads) { return {threads > 1 ? &Threads::run : nullptr, this, threads < 1 ? 1 : threads}; }

  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  Threads() = default;
  ~Threads() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ending_ = true;
    }
    begin_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  static void run(void* self, int parts, Parallel::Work work, void* context) {
    static_cast<Threads*>(self)->run_parts(parts, work, context);
  }

  void run_parts(int parts, Parallel::Work work, void* context) {
    const std::unique_lock<std::mutex> mine(calls_, std::try_to_lock);
    if (!mine.owns_lock() || !grow(parts - 1)) {
      for (int part = 0; part < parts; ++part) work(context, part);
      return;
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      work_ = work, context_ = context, parts_ = parts, next_ = 0, done_ = 0;
    }
    begin_.notify_all();
    take();
    std::unique_lock<std::mutex> lock(mutex_);
    end_.wait(lock, [this] { return done_ == parts_; });
    parts_ = 0;
  }

  // Takes parts until none is left.
  void take() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (next_ < parts_) {
      const int part = next_++;
      lock.unlock();
      work_(context_, part);
      lock.lock();
      if (++done_ == parts_) end_.notify_one();
    }
  }

  void wait_for_work() {
    for (;;) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
        begin_.wait(lock, [this] { return ending_ || next_ < parts_; });
        if (ending_) return;
      }
      take();
    }
  }

  // False where the system has no more threads.
  bool grow(int count) {
    try {
      while (int(threads_.size()) < count) threads_.emplace_back([this] { wait_for_work(); });
    } catch (...) {
      return !threads_.empty();
    }
    return true;
  }

  std::mutex calls_, mutex_;
  std::condition_variable begin_, end_;
  std::vector<std::thread> threads_;
  Parallel::Work work_ = nullptr;
  void* context_ = nullptr;
  int parts_ = 0, next_ = 0, done_ = 0;
  bool ending_ = false;
};

}  // namespace attend_adapter
