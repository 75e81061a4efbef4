// How many threads a session has, from calls of a runtime that is made here: a table whose only function divides work among
// threads.
#include "../../../bench/adapters/onnxruntime/threads.cpp"

#include <cstdio>

using namespace attend_adapter::onnx;

namespace {

int threads_of_runtime = 1, counts = 0;
std::size_t parts_asked = 0;

OrtStatus* parallel_for(const OrtKernelContext*, void (*work)(void*, std::size_t), std::size_t total, std::size_t,
                        void* context) {
  ++counts;
  parts_asked = total;
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < total && threads_of_runtime > 1; ++i) others.emplace_back(work, context, i);
  for (std::size_t i = 0; i < (threads_of_runtime > 1 ? 1 : total); ++i) work(context, i);
  for (std::thread& other : others) other.join();
  return nullptr;
}

int failed = 0;
void expect_equal(int found, int expected, const char* what) {
  if (found == expected) return;
  std::printf("FAIL %s: %d, expected %d\n", what, found, expected);
  ++failed;
}

}  // namespace

int main() {
  if (std::thread::hardware_concurrency() < 2) return std::puts("this machine has one processor"), 0;
  const void* table[275] = {};
  table[274] = reinterpret_cast<const void*>(&parallel_for);
  api = table;
  Threads threads;
  expect_equal(threads.lend(nullptr, 100).threads, 1, "little work is one thread's");
  expect_equal(counts, 0, "little work counts nobody");
  for (int call = 0; call < 8; ++call)
    expect_equal(threads.lend(nullptr, 1e10).threads, 1, "threads of a runtime that has one");
  expect_equal(counts, 5, "counts in the first eight calls");
  // Threads that did not come before are found by a later call: the ninth, here.
  threads_of_runtime = int(parts_asked);
  expect_equal(threads.lend(nullptr, 1e10).threads, threads_of_runtime, "threads that come later");
  for (int call = 0; call < 100; ++call) threads.lend(nullptr, 1e10);
  expect_equal(counts, 6, "counts after as many came as there are processors");
  expect_equal(threads.lend(nullptr, 5e4).threads, 2, "work for two threads");
  if (failed == 0) std::puts("threads that come later are found, and counted no more");
  return failed > 0;
}
