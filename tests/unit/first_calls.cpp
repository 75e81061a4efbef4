// A program whose first calls into the library come from many threads at once: attention in floats and in integers,
// projections, linear attention, and questions for the backend. Each has the definition's bits. `make thread-sanitizer` runs it
// often.
#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "../conformance/integer_run.h"
#include "../conformance/linear_attention_world.h"
#include "../conformance/linear_case.h"
#include "../support/instance.h"

using namespace attend_test;

int main() {
  constexpr int threads = 10;
  std::atomic<int> missing{threads}, wrong{0};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&, kind = i % 5] {
      const Instance instance({2, 1, 12, 9, 3, 40, true, 37, 0.0f, 1.0f}, 3);
      IntegerRun integers(IntegerCase{});
      const LinearCase projection({2, 20, 17, Format::float32, true}, 5);
      LinearWorld linear({LinearRule::gated_delta, Decay::per_head, 1, 1, 1, 8, 5, 6});
      bool right = true;
      --missing;
      while (missing > 0) std::this_thread::yield();
      if (kind == 0) right = same_bits(instance.one_shot(), instance.defined());
      if (kind == 1) right = integers.whole(8, 64) == IntegerModel(integers.c, integers.data).output();
      if (kind == 2) right = same_bits(projection.run({}), projection.defined());
      if (kind == 3) run_in_calls(linear, 0, 6, 6), right = are_same(linear.found(), linear.defined(0, 6));
      if (kind == 4) right = attend::active_backend() != std::string();
      if (!right) ++wrong;
    });
  }
  for (std::thread& thread : all) thread.join();
  if (wrong > 0) std::printf("%d of %d first calls are wrong\n", wrong.load(), threads);
  return wrong > 0;
}
