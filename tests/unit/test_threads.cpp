// Calls are reentrant: threads that share keys and values, while another one changes the backend, get the bits of a lone
// caller.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "../support/instance.h"

using namespace attend_test;

TEST_CASE("four threads decode and prefill at once while the backend changes") {
  const Instance instance({4, 2, 20, 20, 30, 90, true, 60, 0.0f, 2.0f}, 21);
  const std::vector<float> expected = instance.defined();
  const std::string before = attend::active_backend();
  std::atomic<int> wrong{0}, running{4};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 5; ++round) {
        if (!same_bits(t % 2 == 0 ? instance.one_shot() : instance.chunks(1, false, {1, 512}), expected)) ++wrong;
      }
      --running;
    });
  }
  for (int i = 0; running > 0; ++i) {
    attend::use_backend(attend::backend_name(i % attend::backend_count()));
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  attend::use_backend(before.c_str());
  CHECK(wrong == 0);
}
