// Threads of an adapter's own, for runtimes that lend none.
#pragma once

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "parallel.h"

namespace attend_adapter {

// Threads that start together with the caller's, again and again. They wait for the next call by spinning for a moment, because
// calls of a layer follow each other closely, and then sleep. A call at a time has them; another one that comes meanwhile, from
// another thread or from within, does its work on its own thread, to the same bits. Where the system has no more threads, there
// are fewer.
class Threads {
 public:
  Threads() = default;
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() {
    end();
    delete sleep_;
  }

  // One for the process, for callers that may come from several threads at once: as many as were ever asked for.
  static Threads& shared() {
    static Threads threads;
    return threads;
  }

  // How many there are from now on, the caller's among them. Not beside calls.
  void resize(int count) {
    count = count < 1 ? 1 : count > most ? most : count;
    if (count < int(helpers_.size()) + 1) end();
    grow(count - 1);
  }

  // Work on all threads of a set that one thread alone calls.
  Parallel parallel() { return lend(int(helpers_.size()) + 1); }

  // Work on so many threads, which begin now where they are new and no other call has the set.
  Parallel parallel(int threads) {
    threads = threads > most ? most : threads;
    if (threads > 1 && take_set()) {
      grow(threads - 1);
      taken_by_.store(0, std::memory_order_release);
    }
    return lend(threads);
  }

 private:
  static constexpr int most = 512;
  static constexpr int spins = 20000;  // some hundred microseconds

  // A round of work, in one number: from the lowest bit on, how many helpers are in it, whether it is closed, so that none
  // comes any more, how many may come, and its own number.
  static constexpr std::uint64_t all_inside = 1023, closed = 1024, may_come = 2048, number = may_come * 1024;

  struct Sleep {
    alignas(64) std::atomic<int> asleep{0};
    std::mutex mutex;
    std::condition_variable wake;
  };

  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  Parallel lend(int threads) {
    const auto run = [](void* self, int parts, Parallel::Work work, void* context) {
      static_cast<Threads*>(self)->run(parts, work, context);
    };
    return {run, this, threads < 1 ? 1 : threads};
  }

  // Whether the set is this call's now. A thread that took it before a fork is not in the child, and gives nothing back there.
  bool take_set() {
    const pid_t own = getpid();
    pid_t by = 0;
    return taken_by_.compare_exchange_strong(by, own, std::memory_order_acquire) ||
           (by != own && taken_by_.compare_exchange_strong(by, own, std::memory_order_acquire));
  }

  void run(int parts, Parallel::Work work, void* context) {
    if (!take_set()) {
      for (int part = 0; part < parts; ++part) work(context, part);
      return;
    }
    work_ = work, context_ = context, parts_ = parts;
    next_.store(0, std::memory_order_relaxed);
    begin(parts <= int(helpers_.size()) ? parts - 1 : int(helpers_.size()));
    take();
    // Who has not come yet is not waited for.
    round_.fetch_or(closed);
    for (int i = 0; (round_.load(std::memory_order_acquire) & all_inside) != 0; ++i) {
      if (i < spins) {
        pause();
      } else {
        std::this_thread::yield();
      }
    }
    taken_by_.store(0, std::memory_order_release);
  }

  void take() {
    for (int part; (part = next_.fetch_add(1, std::memory_order_relaxed)) < parts_;) work_(context_, part);
  }

  // A round of the first so many helpers. (It is there before `asleep` is read, and a helper that goes to sleep adds to it
  // before it looks for a round: one of the two sees the other.)
  void begin(int helpers) {
    round_.store((round_.load(std::memory_order_relaxed) / number + 1) * number + std::uint64_t(helpers) * may_come);
    // In the child of a fork nobody sleeps, and a helper that is not there may hold the lock for ever.
    if (sleep_->asleep.load() == 0 || process_ != getpid()) return;
    const std::lock_guard<std::mutex> lock(sleep_->mutex);
    sleep_->wake.notify_all();
  }

  // seen: the number of the last round that it was in.
  void help(int index, std::uint64_t seen) {
    std::uint64_t round;
    const auto called = [&] {
      round = round_.load();
      return round / number != seen && (round & closed) == 0 && index < int(round / may_come % 1024);
    };
    for (;;) {
      for (int i = 0; i < spins && !called(); ++i) pause();
      if (!called()) {
        std::unique_lock<std::mutex> lock(sleep_->mutex);
        sleep_->asleep.fetch_add(1);
        sleep_->wake.wait(lock, called);
        sleep_->asleep.fetch_sub(1);
      }
      bool inside = false;
      while (!inside && called()) inside = round_.compare_exchange_weak(round, round + 1);
      if (!inside) continue;
      seen = round / number;
      const bool stop = stop_.load();
      if (!stop) take();
      round_.fetch_sub(1, std::memory_order_release);
      if (stop) return;
    }
  }

  void grow(int helpers) {
    if (process_ != getpid()) {
      end();
      process_ = getpid();
    }
    try {
      while (int(helpers_.size()) < helpers)
        helpers_.emplace_back([this, index = int(helpers_.size()), seen = round_.load() / number] { help(index, seen); });
    } catch (...) {  // there are no more to be had
    }
  }

  void end() {
    if (helpers_.empty()) return;
    // The child of a fork has none of them: what is known of them is left behind, and what they sleep on, whose destructor
    // would wait for those that slept.
    if (process_ != getpid()) {
      new std::vector<std::thread>(std::move(helpers_));
      helpers_.clear();
      sleep_ = new Sleep;
      return;
    }
    stop_.store(true);
    begin(int(helpers_.size()));
    for (std::thread& helper : helpers_) helper.join();
    round_.fetch_or(closed);
    helpers_.clear();
    stop_.store(false);
  }

  Parallel::Work work_ = nullptr;
  void* context_ = nullptr;
  int parts_ = 0;
  alignas(64) std::atomic<std::uint64_t> round_{closed};
  alignas(64) std::atomic<int> next_{0};
  std::atomic<bool> stop_{false};
  std::atomic<pid_t> taken_by_{0};  // the process of the call that has the set, or 0
  Sleep* sleep_ = new Sleep;
  pid_t process_ = getpid();
  std::vector<std::thread> helpers_;
};

}  // namespace attend_adapter
