// The threads of a session, which the runtime lends to kernels.
#pragma once

#include <atomic>

#include "../common/parallel.h"
#include "runtime.h"

namespace attend_adapter::onnx {

// The runtime does not say how many threads a session has, so the first calls count those that come. The number decides into
// how many parts work is divided, and no bit.
class Threads {
 public:
  // Threads for about so many multiply-adds; one where they are too few to be divided. Lives as long as the call.
  Parallel lend(const OrtKernelContext* context, double work);

 private:
  void count(const OrtKernelContext* context);
  std::atomic<int> threads_{1};
  std::atomic<int> counts_{0};
};

}  // namespace attend_adapter::onnx
