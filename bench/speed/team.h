// Threads that stay alive between calls and start together, as those of an application that computes many layers do.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

namespace bench {

// Calls work(0) … work(threads - 1) at the same time, again and again. Waiting is spinning: a wake-up by the system would take
// longer than a small problem.
template <class Work>
class Team {
 public:
  Team(int threads, Work work) : work_(work) {
    for (int part = 1; part < threads; ++part) helpers_.emplace_back([this, part] { help(part); });
  }

  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  ~Team() {
    stop_.store(true);
    round_.fetch_add(1);
    for (std::thread& helper : helpers_) helper.join();
  }

  void run() {
    done_.store(0, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    work_(0);
    wait([&] { return done_.load(std::memory_order_acquire) == int(helpers_.size()); });
  }

 private:
  // Spins; after a while, lets others run, among them the thread that it waits for.
  template <class Ready>
  static void wait(Ready ready) {
    for (int spins = 0; !ready();) {
      if (++spins > 10000) std::this_thread::yield();
    }
  }

  void help(int part) {
    for (unsigned seen = 0;;) {
      wait([&] { return round_.load(std::memory_order_acquire) != seen; });
      ++seen;
      if (stop_.load()) return;
      work_(part);
      done_.fetch_add(1, std::memory_order_release);
    }
  }

  Work work_;
  alignas(64) std::atomic<unsigned> round_{0};
  alignas(64) std::atomic<int> done_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> helpers_;  // last: they use the rest
};

}  // namespace bench
