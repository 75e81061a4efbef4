// Layers of the C surface on threads.
#pragma once

#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "attend/c/layers.h"

namespace attend_test {

// No thread leaves wait() before all have come.
class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads), missing_(threads) {}
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const unsigned round = round_;
    if (--missing_ > 0) return all_came_.wait(lock, [&] { return round_ != round; });
    missing_ = threads_;
    ++round_;
    all_came_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_came_;
  const int threads_;
  int missing_;
  unsigned round_ = 0;
};

// The layer of one thread of a team, or without a team the layer itself.
struct TeamLayer {
  TeamLayer(const attend_layer& of, int part, int parts, Barrier& barrier)
      : team{part, parts, [](void* all) { static_cast<Barrier*>(all)->wait(); }, &barrier}, layer(of) {
    if (parts > 1) layer.team = &team;
  }
  TeamLayer(const TeamLayer&) = delete;
  attend_team team;
  attend_layer layer;
};

// Makes a call in each thread of a team: call(layer). All have the same status.
template <class Call>
attend_status with_team(const attend_layer& layer, int threads, Call call) {
  Barrier barrier(threads);
  std::vector<attend_status> statuses(std::size_t(threads), -1);
  const auto run = [&](int part) {
    const TeamLayer of_thread(layer, part, threads, barrier);
    statuses[std::size_t(part)] = call(of_thread.layer);
  };
  std::vector<std::thread> others;
  for (int part = 1; part < threads; ++part) others.emplace_back(run, part);
  run(0);
  for (std::thread& other : others) other.join();
  for (const attend_status status : statuses) CHECK(status == statuses[0]);
  return statuses[0];
}

}  // namespace attend_test
