// The model gestures, made from gestures.onnx by `python3 -m attend export`: do not edit.
//
//   gestures::run(motion, logits);
//
// All memory that it takes is gestures::memory, of gestures::memory_bytes. It is not reentrant.
#pragma once

#include "attend/layers.h"

namespace gestures {
namespace detail {

struct Heads0 {
  static constexpr int query_heads = 4, kv_heads = 4, head_dim = 8;
};
constexpr size_t aligned(size_t bytes) {
  return (bytes + attend::config::alignment - 1) / attend::config::alignment * attend::config::alignment;
}
template <size_t count>
constexpr size_t largest(const size_t (&numbers)[count]) {
  size_t result = 0;
  for (const size_t number : numbers) result = number > result ? number : result;
  return result;
}
}  // namespace detail

inline constexpr size_t memory_bytes = detail::largest({5088, detail::aligned(1024) + sizeof(float[32]),
    detail::aligned(1536) + sizeof(float[32]), detail::aligned(2560) + sizeof(float[32]),
    detail::aligned(3072) + sizeof(attend::Workspace<attend::Integer<detail::Heads0>, 16, 16>)});
extern unsigned char memory[memory_bytes];

// Computes the model. Arrays must not overlap.
attend::Status run(const float (&motion)[6][128], float (&logits)[8]);

// The same, and calls observe(context, step, numbers, count, bytes of a number) after each step with what it has written: for tests.
using Observer = void (*)(void* context, int step, const void* numbers, size_t count, size_t bytes);
attend::Status run_observed(const float (&motion)[6][128], float (&logits)[8], Observer observe, void* context);

}  // namespace gestures
