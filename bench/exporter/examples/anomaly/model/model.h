// The model anomaly, made from anomaly.onnx by `python3 -m attend export`: do not edit.
//
//   anomaly::run(patches, next);
//
// All memory that it takes is anomaly::memory, of anomaly::memory_bytes. It is not reentrant.
#pragma once

#include "attend/layers.h"

namespace anomaly {
namespace detail {

struct Heads0 {
  static constexpr int query_heads = 4, kv_heads = 4, head_dim = 8;
};
struct Last24 {
  static constexpr int window = 24;
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

inline constexpr size_t memory_bytes = detail::largest({12288, detail::aligned(10240) + sizeof(float[32]),
    detail::aligned(12288) + sizeof(attend::Workspace<attend::Integer<detail::Heads0>, 64, 64>),
    detail::aligned(12288) + sizeof(float[32])});
extern unsigned char memory[memory_bytes];

// Computes the model. Arrays must not overlap.
attend::Status run(const float (&patches)[64][16], float (&next)[64][16]);

// The same, and calls observe(context, step, numbers, count, bytes of a number) after each step with what it has written: for tests.
using Observer = void (*)(void* context, int step, const void* numbers, size_t count, size_t bytes);
attend::Status run_observed(const float (&patches)[64][16], float (&next)[64][16], Observer observe, void* context);

// One token after another: appends a token and computes what run() computes for it, with the same bits. There is no end to them.
// clear() begins anew. It takes the caches and token_memory, and nothing of what run() takes.
struct Caches {
  int position = 0;  // tokens so far
  attend::RingCache<attend::Integer<detail::Heads0>, detail::Last24> cache_0;
  attend::RingCache<attend::Integer<detail::Heads0>, detail::Last24> cache_1;
};
extern Caches caches;
inline constexpr size_t token_memory_bytes = detail::largest({192, detail::aligned(160) + sizeof(float[32]),
    detail::aligned(192) + sizeof(attend::Workspace<attend::Integer<detail::Heads0>, 1,
    attend::over_ring<detail::Last24>>), detail::aligned(192) + sizeof(float[32])});
extern unsigned char token_memory[token_memory_bytes];
attend::Status append(const float (&patches)[16], float (&next)[16]);

// The same where nobody reads the outputs, as those of a prompt but for its last token: only what later tokens look at is computed.
attend::Status append(const float (&patches)[16]);

void clear();

}  // namespace anomaly
