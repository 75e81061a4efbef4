// The threads of a session, which the runtime lends to kernels.
#pragma once

#include <atomic>
#include <thread>

#include "../common/parallel.h"
#include "runtime.h"

namespace attend_adapter::onnx {

// The runtime does not say how many threads a session has, so calls count those that come: the first ones and, because all of
// these may find the others asleep or without a processor, ever more rarely later ones, until there are as many as processors.
// The number decides into how many parts work is divided, and no bit.
class Threads {
 public:
  // Threads for about so many multiply-adds; one where they are too few to be divided. Lives as long as the call.
  Parallel lend(const OrtKernelContext* context, double work);

 private:
  void count(const OrtKernelContext* context, double work);
  const int most_ = std::thread::hardware_concurrency() > 0 ? int(std::thread::hardware_concurrency()) : 64;
  std::atomic<int> threads_{1};
  std::atomic<unsigned> calls_{0};
};

}  // namespace attend_adapter::onnx
