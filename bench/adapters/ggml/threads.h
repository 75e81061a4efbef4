// Threads of the adapter's own: ggml lends accelerators none.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "../common/parallel.h"

namespace attend_ggml {

using attend_adapter::Parallel;

// Threads that share out the parts of a call with the caller's, again and again. They wait for the next call by spinning for a
// moment, because calls of a layer follow each other closely, and then sleep. A call waits for parts that a thread has begun,
// and not for threads that have none: on a processor that others use too a thread may come too late. One call at a time. Where
// the system has no more threads, there are fewer.
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
      for (int i = 1; i < count; ++i) helpers_.emplace_back([this, seen = round_of(call_.load())] { help(seen); });
    } catch (const std::system_error&) {
    }
  }

  Parallel parallel() {
    return {[](void* self, int parts, Parallel::Work work, void* context) {
              static_cast<Threads*>(self)->run(parts, work, context);
            },
            this, int(helpers_.size()) + 1};
  }

 private:
  static constexpr int spins = 2000;  // some tens of microseconds

  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  // A call in one number, so that a part is taken of the call that is under way or not at all: its round, how many parts it
  // has, and the next.
  static constexpr int most_parts = 0xffff;
  static std::uint32_t round_of(std::uint64_t call) { return std::uint32_t(call >> 32); }
  static int parts_of(std::uint64_t call) { return int(call >> 16 & 0xffff); }
  static int next_of(std::uint64_t call) { return int(call & 0xffff); }
  void begin(int parts) { call_.store((std::uint64_t(round_of(call_.load()) + 1) << 32) | std::uint64_t(parts) << 16); }

  void run(int all, Parallel::Work work, void* context) {
    for (int first = 0; first < all; first += most_parts)
      run(first, all - first < most_parts ? all - first : most_parts, work, context);
  }

  void run(int first, int parts, Parallel::Work work, void* context) {
    work_.store(work, std::memory_order_relaxed);
    context_.store(context, std::memory_order_relaxed);
    first_.store(first, std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    begin(parts);
    if (asleep_.load() > 0) {
      const std::lock_guard<std::mutex> lock(mutex_);
      wake_.notify_all();
    }
    take();
    for (int i = 0; done_.load(std::memory_order_acquire) != parts; ++i) {
      if (i < spins) {
        pause();
      } else {
        std::this_thread::yield();
      }
    }
  }

  // Takes parts until there are none. What is read of a call belongs to it where its next part is still there to be taken
  // afterwards: a call lasts until all of its parts are done.
  void take() {
    for (std::uint64_t call = call_.load(std::memory_order_acquire); next_of(call) < parts_of(call);) {
      const Parallel::Work work = work_.load(std::memory_order_relaxed);
      void* const context = context_.load(std::memory_order_relaxed);
      const int part = first_.load(std::memory_order_relaxed) + next_of(call);
      if (!call_.compare_exchange_weak(call, call + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
      work(context, part);
      done_.fetch_add(1, std::memory_order_release);
      call = call_.load(std::memory_order_acquire);
    }
  }

  void help(std::uint32_t seen) {
    for (;;) {
      for (int i = 0; i < spins && round_of(call_.load(std::memory_order_acquire)) == seen; ++i) pause();
      if (round_of(call_.load()) == seen) {
        std::unique_lock<std::mutex> lock(mutex_);
        asleep_.fetch_add(1);
        wake_.wait(lock, [&] { return round_of(call_.load()) != seen; });
        asleep_.fetch_sub(1);
      }
      seen = round_of(call_.load());
      if (stop_.load()) return;  // read behind the round, which is the last one where threads are to end
      take();
    }
  }

  void end() {
    if (helpers_.empty()) return;
    stop_.store(true);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      begin(0);
      wake_.notify_all();
    }
    for (std::thread& helper : helpers_) helper.join();
    helpers_.clear();
  }

  std::atomic<Parallel::Work> work_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<int> first_{0};
  alignas(64) std::atomic<std::uint64_t> call_{0};
  alignas(64) std::atomic<int> done_{0};
  std::atomic<int> asleep_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> helpers_;
};

}  // namespace attend_ggml
