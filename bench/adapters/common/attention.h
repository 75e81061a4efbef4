// An attention problem on the threads of a runtime, with work memory from its heap.
#pragma once

#include <attend/attend_c.h>

#include <atomic>

#include "memory.h"
#include "parallel.h"

namespace attend_adapter {

// Work memory lasts from call to call; a call at a time may use it. A status other than ATTEND_OK has written nothing.
inline attend_status run_attention(const attend_problem& problem, const Parallel& parallel, Memory& memory) {
  const attend_status refused = attend_check(&problem);
  if (refused != ATTEND_OK) return refused;
  const std::size_t bytes = (attend_workspace_size(&problem) + ATTEND_ALIGNMENT - 1) / ATTEND_ALIGNMENT * ATTEND_ALIGNMENT;
  const int parts = parallel.threads < 1 ? 1 : parallel.threads;
  char* const work = static_cast<char*>(memory.bytes(bytes * std::size_t(parts)));
  if (work == nullptr) return attend_run(&problem, nullptr, 0);  // refused, with the status of too little memory
  std::atomic<attend_status> status{ATTEND_OK};
  parallel.each(parts, [&](int part) {
    const attend_status of_part = attend_run_part(&problem, part, parts, work + bytes * std::size_t(part), bytes);
    if (of_part != ATTEND_OK) status = of_part;
  });
  return status;
}

}  // namespace attend_adapter
