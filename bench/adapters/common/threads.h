// Threads of an adapter's own, for runtimes that lend none.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "parallel.h"

namespace attend_adapter {

// Threads that start together with the caller's, again and again. They wait for the next call by spinning for a moment, because calls of a
// layer follow each other closely, and then sleep. One call at a time. Where the system has no more threads, there are fewer.
class Threads {
 public:
  Threads() = default;
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() { end(); }

  // How many there are from now on, the caller's among them.
  void resize(int count) {
    if (count < 1) count = 1;
    if (count > 512) count = 512;
    if (count == int(helpers_.size()) + 1) return;
    end();
    stop_ = false;
    try {
      helpers_.reserve(std::size_t(count - 1));
      for (int i = 1; i < count; ++i) helpers_.emplace_back([this, seen = round_.load()] { help(seen); });
    } catch (const std::system_error&) {
    }
  }

  Parallel parallel() {
    return {[](void* self, int parts, Parallel::Work work, void* context) { static_cast<Threads*>(self)->run(parts, work, context); }, this,
            int(helpers_.size()) + 1};
  }

 private:
  static constexpr int spins = 20000;  // some tens of microseconds

  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  void run(int parts, Parallel::Work work, void* context) {
    work_ = work, context_ = context, parts_ = parts;
    next_.store(0, std::memory_order_relaxed);
    busy_.store(int(helpers_.size()), std::memory_order_relaxed);
    round_.fetch_add(1);
    if (asleep_.load() > 0) {
      const std::lock_guard<std::mutex> lock(mutex_);
      wake_.notify_all();
    }
    take();
    for (int i = 0; busy_.load(std::memory_order_acquire) != 0; ++i) {
      if (i < spins) {
        pause();
      } else {
        std::this_thread::yield();
      }
    }
  }

  void take() {
    for (int part; (part = next_.fetch_add(1, std::memory_order_relaxed)) < parts_;) work_(context_, part);
  }

  void help(unsigned seen) {
    for (;; ++seen) {
      for (int i = 0; i < spins && round_.load(std::memory_order_acquire) == seen; ++i) pause();
      if (round_.load() == seen) {
        std::unique_lock<std::mutex> lock(mutex_);
        asleep_.fetch_add(1);
        wake_.wait(lock, [&] { return round_.load() != seen; });
        asleep_.fetch_sub(1);
      }
      if (stop_.load()) return;
      take();
      busy_.fetch_sub(1, std::memory_order_release);
    }
  }

  void end() {
    if (helpers_.empty()) return;
    stop_.store(true);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      round_.fetch_add(1);
      wake_.notify_all();
    }
    for (std::thread& helper : helpers_) helper.join();
    helpers_.clear();
  }

  Parallel::Work work_ = nullptr;
  void* context_ = nullptr;
  int parts_ = 0;
  alignas(64) std::atomic<unsigned> round_{0};
  alignas(64) std::atomic<int> next_{0};
  alignas(64) std::atomic<int> busy_{0};
  std::atomic<int> asleep_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> helpers_;
};

}  // namespace attend_adapter
