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

inline uint64_t hash_bytes(uint64_t hash, const void* data, size_t count) {
  for (size_t i = 0; i < count; ++i) hash = hash_number(hash, static_cast<const uint8_t*>(data)[i], 1);
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

// A float's bits as far as they are promised: one NaN, one zero, no subnormal numbers, which some processors flush.
inline uint32_t promised_bits(float number) {
  uint32_t bits;
  __builtin_memcpy(&bits, &number, sizeof bits);
  const uint32_t size = bits & 0x7fffffffu;
  return size < 0x00800000u ? 0 : size > 0x7f800000u ? 0x7fc00000u : bits;
}

// Of such numbers, four bytes at a time.
inline uint64_t hash_floats(uint64_t hash, const float* data, size_t count) {
  for (size_t i = 0; i < count; ++i) hash = (hash ^ promised_bits(data[i])) * 0x100000001b3u;
  return hash;
}

}  // namespace attend_test
