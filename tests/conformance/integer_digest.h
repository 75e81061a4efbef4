// The digest of a case of integer attention. Freestanding, as plain_digest.h.
#pragma once

#include "hash.h"
#include "integer_case.h"

namespace attend_test {

// Cases are changes of this one.
constexpr IntegerCase integer_problem() { return {}; }

inline size_t digest_bytes(const IntegerCase& c) {
  Bytes bytes(nullptr);
  integer_data_of(c, bytes);
  return bytes.used();
}

// Of the output's numbers, in the order [query][head][column].
inline uint64_t hash_integer_output(const IntegerCase& c, const void* output) {
  const char* const data = static_cast<const char*>(output);
  const size_t numbers = c.rows() * size_t(c.value_dim), size = c.output_bytes() / (numbers > 0 ? numbers : 1);
  uint64_t hash = hash_begin;
  for (size_t i = 0; i < numbers; ++i) {
    uint32_t bits = uint8_t(data[i]);
    uint16_t two;
    if (size == 2) __builtin_memcpy(&two, data + 2 * i, 2), bits = two;
    if (size == 4) __builtin_memcpy(&bits, data + 4 * i, 4);
    hash = hash_number(hash, bits, int(size));
  }
  return hash;
}

// A case must have the same bits in blocks of one row, and, without options, by the call with options.
inline uint64_t compute_digest(const IntegerCase& c, void* memory) {
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
  attend::core::Integers::run(integer_problem_of(c, d), integer_options_of(c, d));
  return hash_integer_output(c, d.output) == hash ? hash : ~hash;
}

}  // namespace attend_test
