// Saved bytes: words of 32 bits, the lowest byte first. The third word is the check sum.
#pragma once

#include "portable.h"

namespace attend::core {
namespace {

void put_word(uint8_t* to, uint32_t word) {
  for (int i = 0; i < 4; ++i) to[i] = uint8_t(word >> 8 * i);
}
uint32_t word_at(const uint8_t* from) {
  return uint32_t(from[0]) | uint32_t(from[1]) << 8 | uint32_t(from[2]) << 16 | uint32_t(from[3]) << 24;
}

// The check sum of so many words but itself, from `magic` on.
uint32_t check_of(const uint8_t* bytes, size_t words, uint32_t magic) {
  uint32_t sum = magic;
  for (size_t i = 0; i < words; ++i) {
    if (i != 2) sum = hash_with(sum, word_at(bytes + 4 * i));
  }
  return sum;
}

}  // namespace
}  // namespace attend::core
