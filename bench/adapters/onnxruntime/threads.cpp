#include "threads.h"

#include <chrono>
#include <mutex>
#include <vector>

#include "call.h"

namespace attend_adapter::onnx {

namespace {

constexpr double smallest_part = 2e4;  // multiply-adds; what costs about as much as to wake a thread

// Parts, each of which waits a little for other threads to take the next ones, until there are `most`.
class Census {
 public:
  Census(std::size_t most, std::chrono::microseconds wait) : most_(most), wait_(wait) {}

  void part(std::size_t) {
    const std::thread::id self = std::this_thread::get_id();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      bool known = false;
      for (const std::thread::id id : ids_) known = known || id == self;
      if (!known) ids_.push_back(self);
      if (ids_.size() == most_) done_ = true;
    }
    const auto end = std::chrono::steady_clock::now() + wait_;
    while (!done_ && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    done_ = true;
  }
  int threads() const { return int(ids_.size()); }

 private:
  std::mutex mutex_;
  std::vector<std::thread::id> ids_;
  std::atomic<bool> done_{false};
  const std::size_t most_;
  const std::chrono::microseconds wait_;
};

std::mutex pool_mutex;
std::vector<Memory>& pool() {
  static std::vector<Memory> memories;
  return memories;
}

}  // namespace

void Threads::count(const OrtKernelContext* context, double work) {
  // A thread that sleeps takes up to a tenth of a millisecond, and longer where others work; but a fifth of the work's own time
  // at most.
  Census census(std::size_t(most_), std::chrono::microseconds(50 + (work < 6e9 ? int(work / 3e5) : 20000)));
  const auto part = [](void* of, std::size_t i) { static_cast<Census*>(of)->part(i); };
  OrtStatus* const status = KernelContext_ParallelFor(context, part, std::size_t(most_), std::size_t(most_), &census);
  if (status != nullptr) ReleaseStatus(status);
  int known = threads_;
  while (census.threads() > known && !threads_.compare_exchange_weak(known, census.threads())) continue;
}

Parallel Threads::lend(const OrtKernelContext* context, double work) {
  if (work < 2 * smallest_part) return {nullptr, nullptr, 1};
  if (threads_ < most_) {
    const unsigned call = calls_++;
    if (call < 4 || (call & (call - 1)) == 0) count(context, work);  // 0 to 4, 8, 16 and so on
  }
  const int worth = work / smallest_part > 1024 ? 1024 : int(work / smallest_part);
  const int threads = threads_ < worth ? int(threads_) : worth;
  if (threads <= 1) return {nullptr, nullptr, 1};
  const auto run = [](void* runtime, int parts, Parallel::Work part, void* of_part) {
    struct Job {
      Parallel::Work part;
      void* of_part;
    } job{part, of_part};
    const auto one = [](void* of, std::size_t i) { static_cast<Job*>(of)->part(static_cast<Job*>(of)->of_part, int(i)); };
    check(KernelContext_ParallelFor(static_cast<const OrtKernelContext*>(runtime), one, std::size_t(parts), std::size_t(parts),
                                    &job));
  };
  return {run, const_cast<OrtKernelContext*>(context), threads};
}

Memory WorkMemory::take() {
  const std::lock_guard<std::mutex> lock(pool_mutex);
  if (pool().empty()) return {};
  Memory memory = std::move(pool().back());
  pool().pop_back();
  return memory;
}

WorkMemory::~WorkMemory() {
  const std::lock_guard<std::mutex> lock(pool_mutex);
  try {
    pool().push_back(std::move(memory_));
  } catch (...) {  // it is freed
  }
}

}  // namespace attend_adapter::onnx
