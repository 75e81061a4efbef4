// Attention problems on the threads of a runtime, with work memory from its heap.
#pragma once

#include <attend/attend_c.h>

#include <atomic>

#include "memory.h"
#include "parallel.h"

namespace attend_adapter {

// Problems that do not depend on each other, each divided among all threads. Work memory lasts from call to call; a call at a
// time may use it. A status other than ATTEND_OK has written nothing.
inline attend_status run_attention(const attend_problem* problems, int count, const Parallel& parallel, Memory& memory) {
  std::size_t bytes = 0;
  for (int i = 0; i < count; ++i) {
    const attend_status refused = attend_check(&problems[i]);
    if (refused != ATTEND_OK) return refused;
    const std::size_t size = attend_workspace_size(&problems[i]);
    bytes = size > bytes ? size : bytes;
  }
  bytes = (bytes + ATTEND_ALIGNMENT - 1) / ATTEND_ALIGNMENT * ATTEND_ALIGNMENT;
  const int parts = parallel.threads < 1 ? 1 : parallel.threads;
  char* const work = static_cast<char*>(memory.bytes(bytes * std::size_t(parts)));
  // Refused, with the status of too little memory.
  if (work == nullptr && bytes > 0) return attend_run(&problems[0], nullptr, 0);
  std::atomic<attend_status> status{ATTEND_OK};
  parallel.each(parts, [&](int part) {
    for (int i = 0; i < count; ++i) {
      const attend_status of_part = attend_run_part(&problems[i], part, parts, work + bytes * std::size_t(part), bytes);
      if (of_part != ATTEND_OK) status = of_part;
    }
  });
  return status;
}

inline attend_status run_attention(const attend_problem& problem, const Parallel& parallel, Memory& memory) {
  return run_attention(&problem, 1, parallel, memory);
}

}  // namespace attend_adapter
