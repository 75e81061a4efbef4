// Running a problem of the C surface in memory that ends where it may.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "attend/attend_c.h"

namespace attend_test {

inline std::string explain(attend_status status) {
  return std::string(attend_argument_name(status)) + ": " + attend_error_text(status);
}

// The status that says so.
constexpr attend_status wrong(attend_error error, attend_argument argument) { return int(error) + 256 * int(argument); }
constexpr int error_of(attend_status status) { return status % 256; }
constexpr int argument_of(attend_status status) { return status / 256; }
// What attend_cache_init says of a shape, whatever its memory is.
inline attend_status status_of(const attend_cache_shape* shape) {
  const attend_status status = attend_cache_init(shape, nullptr, 0, nullptr);
  return status == wrong(ATTEND_MISSING, ATTEND_ARG_MEMORY) ? ATTEND_OK : status;
}

// Memory of so many bytes from an aligned address on: all that may be touched, so that a sanitizer sees each step beyond it.
class Aligned {
 public:
  explicit Aligned(std::size_t bytes) : bytes_(bytes + ATTEND_ALIGNMENT) {
    const std::size_t past = reinterpret_cast<std::uintptr_t>(bytes_.data()) % ATTEND_ALIGNMENT;
    start_ = past == 0 ? 0 : ATTEND_ALIGNMENT - past;
    bytes_.resize(start_ + bytes);
  }
  void* data() { return bytes_.data() + start_; }

 private:
  std::vector<unsigned char> bytes_;
  std::size_t start_;
};

inline attend_status run_with_exact_workspace(const attend_problem& problem, int part = 0, int parts = 1) {
  const std::size_t bytes = attend_workspace_size(&problem);
  Aligned workspace(bytes);
  std::memset(workspace.data(), 0xff, bytes);
  return parts == 1 ? attend_run(&problem, workspace.data(), bytes)
                    : attend_run_part(&problem, part, parts, workspace.data(), bytes);
}

}  // namespace attend_test
