// Aligned memory that grows and is kept, for work memory and packed weights of adapters: runtimes have a heap.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace attend_adapter {

class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory(Memory&& other) noexcept : data_(other.data_), size_(other.size_) {
    other.data_ = nullptr;
    other.size_ = 0;
  }
  ~Memory() { std::free(data_); }

  // At least so many bytes, aligned for the library, whose contents are unspecified; null where there are none to be had. What
  // was given out before is invalid when it grows.
  void* bytes(std::size_t size) {
    if (size > size_) {
      const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
      if (rounded < size) return nullptr;
      void* const larger = std::aligned_alloc(alignment, rounded);
      if (larger == nullptr) return nullptr;
      std::free(data_);
      data_ = larger;
      size_ = rounded;
    }
    return data_;
  }
  template <class Number>
  Number* numbers(std::size_t count) {
    return count > std::size_t(-1) / sizeof(Number) ? nullptr : static_cast<Number*>(bytes(count * sizeof(Number)));
  }

 private:
  static constexpr std::size_t alignment = 64;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace attend_adapter
