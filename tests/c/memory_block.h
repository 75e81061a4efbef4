// Memory that sees whether it is touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "attend/attend_c.h"

namespace attend_test {

// Memory of its own for everything that a call can touch, so that an address sanitizer sees each step beyond it.
class Block {
 public:
  explicit Block(std::size_t bytes, int pattern = 0x35)
      : size(bytes), memory_(new unsigned char[bytes + 2 * ATTEND_ALIGNMENT]) {
    const std::size_t past = reinterpret_cast<std::uintptr_t>(memory_.get()) % ATTEND_ALIGNMENT;
    data = memory_.get() + (ATTEND_ALIGNMENT - past);
    for (std::size_t i = 0; i < size && i < 7 * 64; ++i)
      data[i] = static_cast<unsigned char>(pattern + int(i % 7));  // ordinary floats
    for (std::size_t i = 7 * 64; i < size; i += 7 * 64) std::memcpy(data + i, data, size - i < 7 * 64 ? size - i : 7 * 64);
    before_.assign(data, data + size);
  }
  template <class Type = float>
  Type* as() {
    return static_cast<Type*>(static_cast<void*>(data));
  }
  bool changed() const { return std::memcmp(data, before_.data(), size) != 0; }
  void remember() { before_.assign(data, data + size); }
  void restore() { std::memcpy(data, before_.data(), size); }
  void flip(int byte, int bit) {
    data[byte] ^= static_cast<unsigned char>(1 << bit);
    remember();
  }

  const std::size_t size;
  unsigned char* data;

 private:
  std::unique_ptr<unsigned char[]> memory_;
  std::vector<unsigned char> before_;
};

}  // namespace attend_test
