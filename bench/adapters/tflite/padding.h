// Padding in front of the tokens of a batch row. Sums follow the positions of keys, so that a text behind padding would have
// other bits than the text alone: the keys in front that a mask hides from every query are left out, and the first one that is
// seen has position 0.
#pragma once

#include <attend/attend_c.h>

#include <cstddef>
#include <cstdint>

namespace attend_tflite {

// Whether a mask hides a key. What is added hides from -1e9 on, as the largest negative number or minus infinity.
inline bool hides(const attend_problem& problem, std::ptrdiff_t at) {
  if (problem.mask.kind == ATTEND_MASK_BYTES) return static_cast<const std::uint8_t*>(problem.mask.data)[at] == 0;
  return problem.bias.data[at] <= -1e9f;
}

// How many keys of a batch row come before the first one that any query sees. A query that sees none at all is left out where
// its output is 0 in any case; otherwise, as large negative numbers that are added to all of its scores change nothing, all
// keys stay.
inline std::ptrdiff_t leading_padding(const attend_problem& problem, std::ptrdiff_t row) {
  const bool bytes = problem.mask.kind == ATTEND_MASK_BYTES;
  if (!bytes && problem.bias.data == nullptr) return 0;
  const std::ptrdiff_t head_stride = bytes ? problem.mask.head_stride : problem.bias.head_stride;
  const std::ptrdiff_t query_stride = bytes ? problem.mask.query_stride : problem.bias.query_stride;
  const std::ptrdiff_t first = row * (bytes ? problem.mask.batch_stride : problem.bias.batch_stride);
  const std::ptrdiff_t heads = head_stride == 0 ? 1 : problem.query_heads, queries = query_stride == 0 ? 1 : problem.queries;
  std::ptrdiff_t least = problem.keys;
  for (std::ptrdiff_t i = 0; i < heads * queries && least > 0; ++i) {
    const std::ptrdiff_t at = first + i / queries * head_stride + i % queries * query_stride;
    std::ptrdiff_t hidden = 0;
    while (hidden < problem.keys && hides(problem, at + hidden)) ++hidden;
    if (hidden < least) least = hidden;
    if (bytes || hidden < problem.keys) continue;
    for (std::ptrdiff_t j = 0; j < problem.keys; ++j) {
      if (problem.bias.data[at + j] >= -3.4028235e38f) return 0;
    }
  }
  return least;
}

inline bool has_leading_padding(const attend_problem& problem) {
  for (std::ptrdiff_t row = 0; row < problem.batch; ++row) {
    if (leading_padding(problem, row) > 0) return true;
  }
  return false;
}

// A batch row as a problem of its own.
inline attend_problem without_leading_padding(const attend_problem& problem, std::ptrdiff_t row) {
  attend_problem alone = problem;
  const std::ptrdiff_t size = problem.constants == nullptr ? sizeof(float) : 1, padding = leading_padding(problem, row);
  const auto moved = [&](const void* data, std::ptrdiff_t numbers) -> const void* {
    return static_cast<const char*>(data) + numbers * size;
  };
  alone.batch = 1;
  alone.keys -= padding;
  alone.query.data = moved(problem.query.data, row * problem.query.batch_stride);
  alone.key.data = moved(problem.key.data, row * problem.key.batch_stride + padding * problem.key.token_stride);
  alone.value.data = moved(problem.value.data, row * problem.value.batch_stride + padding * problem.value.token_stride);
  alone.output.data = static_cast<char*>(problem.output.data) + row * problem.output.batch_stride * size;
  if (problem.mask.kind == ATTEND_MASK_BYTES) {
    alone.mask.data = static_cast<const std::uint8_t*>(problem.mask.data) + row * problem.mask.batch_stride + padding;
    alone.mask.keys -= padding;
  } else if (problem.bias.data != nullptr) {
    alone.bias.data = problem.bias.data + row * problem.bias.batch_stride + padding;
    alone.bias.keys -= padding;
  }
  return alone;
}

}  // namespace attend_tflite
