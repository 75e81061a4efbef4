// Memory of programs here, and what they do with a status that cannot be.
#pragma once

#include <attend/attend_c.h>
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <vector>

namespace distributed {

inline void must(attend_status status) {
  if (status == ATTEND_OK) return;
  std::fprintf(stderr, "%s: %s\n", attend_argument_name(status), attend_error_text(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Zeros, at an address that is aligned for any use.
class Memory {
 public:
  explicit Memory(std::size_t bytes = 0) : size_(bytes), blocks_(bytes / sizeof(Block) + 1) {}
  void* data() { return blocks_.data(); }
  const void* data() const { return blocks_.data(); }
  unsigned char* at(std::size_t byte) { return static_cast<unsigned char*>(data()) + byte; }
  std::size_t size() const { return size_; }
  template <class Number>
  Number* of() {
    return static_cast<Number*>(data());
  }
  // At least so many bytes; what they were is lost where there were fewer.
  void* grown(std::size_t bytes) {
    if (size_ < bytes) *this = Memory(bytes);
    return data();
  }

 private:
  struct alignas(ATTEND_ALIGNMENT) Block {
    unsigned char bytes[ATTEND_ALIGNMENT];
  };
  std::size_t size_;
  std::vector<Block> blocks_;
};

}  // namespace distributed
