// Digests of fixed cases of integer attention: what every backend, compiler and board must reproduce. Freestanding, on memory
// of the caller.
#pragma once

#include "integer_case.h"

namespace attend_test {

struct IntegerDigest {
  IntegerCase c;
  const char* text;
  uint64_t digest;
};

// Cases are changes of this one.
constexpr IntegerCase integer_problem() { return {}; }

#define INTEGER_DIGEST(integer_case, digest) {integer_case, #integer_case, digest},
constexpr IntegerDigest integer_digests[] = {
#include "integer_digests.inc"
};
#undef INTEGER_DIGEST
constexpr int integer_digest_count = int(sizeof integer_digests / sizeof integer_digests[0]);

inline size_t integer_digest_bytes(const IntegerCase& c) {
  Bytes bytes(nullptr);
  integer_data_of(c, bytes);
  return bytes.used();
}

// The 64-bit FNV-1a hash of the output's numbers, little end first, in the order [query][head][column].
inline uint64_t hash_integer_output(const IntegerCase& c, const void* output) {
  const char* const data = static_cast<const char*>(output);
  const size_t numbers = c.rows() * size_t(c.value_dim), size = c.output_bytes() / (numbers > 0 ? numbers : 1);
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < numbers; ++i) {
    uint32_t bits = uint8_t(data[i]);
    uint16_t two;
    if (size == 2) __builtin_memcpy(&two, data + 2 * i, 2), bits = two;
    if (size == 4) __builtin_memcpy(&bits, data + 4 * i, 4);
    for (size_t byte = 0; byte < size; ++byte) hash = (hash ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3u;
  }
  return hash;
}

// memory: integer_digest_bytes(c) bytes, aligned to config::alignment. A case must have the same bits in blocks of one row,
// and, without options, by the call with options.
inline uint64_t compute_integer_digest(const IntegerCase& c, void* memory) {
  Bytes bytes(memory);
  const IntegerData d = integer_data_of(c, bytes);
  draw_integer_data(c, d);
  run_integer_case(c, d);
  const uint64_t hash = hash_integer_output(c, d.output);
  const auto forget = [&] {
    for (size_t i = 0; i < c.output_bytes(); ++i) static_cast<char*>(d.output)[i] ^= 0x55;
  };
  IntegerCase one_by_one = c;
  one_by_one.row_block = 1;
  forget();
  run_integer_case(one_by_one, d);
  if (hash_integer_output(c, d.output) != hash) return ~hash;
  if (c.has_options()) return hash;
  forget();
  attend::core::run(integer_problem_of(c, d), integer_options_of(c, d));
  return hash_integer_output(c, d.output) == hash ? hash : ~hash;
}

}  // namespace attend_test
