// The 64-bit FNV-1a hash, of which digests are made.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace attend_test {

constexpr uint64_t hash_begin = 0xcbf29ce484222325u;

// Of a number's bytes, little end first.
inline uint64_t hash_number(uint64_t hash, uint32_t bits, int bytes = 4) {
  for (int byte = 0; byte < bytes; ++byte) hash = (hash ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3u;
  return hash;
}

inline uint64_t hash_bits(const float* floats, size_t count) {
  uint64_t hash = hash_begin;
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits;
    __builtin_memcpy(&bits, floats + i, sizeof bits);
    hash = hash_number(hash, bits);
  }
  return hash;
}

}  // namespace attend_test
