// A team of threads that compute the parts of a call, for programs that have std::thread. The library itself starts none.
//
//   attend::Team team(4);
//   team.run([&](attend::Part part) { return attend::prefill(query, cache, output, work[part.index], options, part); });
//
// A call of a multi-head layer takes an attend::TeamPart, with the team's barrier: run([&](attend::TeamPart part) { … }).
//
// The bits are those of one thread. A team is made once: its threads wait between calls, at first busily, for calls follow each
// other closely.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "../options.h"

namespace attend {

class Team {
 public:
  // threads: at least 1, the caller's included.
  explicit Team(int threads) : count_(threads < 1 ? 1 : threads), statuses_(size_t(count_), Status::ok), missing_(count_) {
    for (int i = 1; i < count_; ++i) others_.emplace_back([this, i] { serve(i); });
  }
  ~Team() {
    call_ = nullptr;
    begin();
    for (std::thread& other : others_) other.join();
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int count() const { return count_; }

  // Calls work(TeamPart) in every thread, each with its own part, which is a Part, and returns when all have returned: ok, or
  // the status of the first part that was refused. Each part needs work memory of its own. One run at a time, not nested.
  template <class Work>
  Status run(const Work& work) {
    call_ = [](const void* task, const TeamPart& part) { return (*static_cast<const Work*>(task))(part); };
    work_ = &work;
    begin();
    call(0);
    meet();
    for (const Status status : statuses_) {
      if (status != Status::ok) return status;
    }
    return Status::ok;
  }

  // A barrier within a run: returns once all threads have called it.
  void meet() {
    const unsigned round = round_;
    if (--missing_ == 0) {
      missing_ = count_;
      next(round_);
    } else {
      wait(round_, round);
    }
  }

 private:
  static constexpr int spins = 4096;  // some microseconds

  void begin() { next(runs_); }
  void call(int index) {
    const auto meet_all = [](void* team) { static_cast<Team*>(team)->meet(); };
    statuses_[size_t(index)] = call_(work_, TeamPart{{index, count_}, meet_all, this});
  }
  void serve(int index) {
    for (unsigned run = 0;; ++run) {
      wait(runs_, run);
      if (call_ == nullptr) return;
      call(index);
      meet();
    }
  }

  // A number that goes up, and threads that wait for it to be another.
  void next(std::atomic<unsigned>& number) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++number;
    changed_.notify_all();
  }
  void wait(const std::atomic<unsigned>& number, unsigned old) {
    for (int spin = 0; spin < spins; ++spin) {
      if (number != old) return;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return number != old; });
  }

  const int count_;
  std::vector<Status> statuses_;
  Status (*call_)(const void*, const TeamPart&) = nullptr;
  const void* work_ = nullptr;
  std::atomic<int> missing_;
  std::atomic<unsigned> round_{0}, runs_{0};
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::vector<std::thread> others_{};  // last: they use the others from the beginning
};

}  // namespace attend
