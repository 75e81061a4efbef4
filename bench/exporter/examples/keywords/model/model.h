// The model keywords, made from keywords.onnx by `python3 -m attend export`: do not edit.
//
//   keywords::run(frames, logits);
//
// All memory that it takes is keywords::memory, of keywords::memory_bytes. It is not reentrant.
#pragma once

#include "attend/layers.h"

namespace keywords {
namespace detail {

struct Heads0 {
  static constexpr int query_heads = 4, kv_heads = 4, head_dim = 12;
};
struct Last12 {
  static constexpr int window = 12;
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

inline constexpr size_t memory_bytes = detail::largest({18432, detail::aligned(15360) + sizeof(float[48]),
    detail::aligned(18432) + sizeof(attend::Workspace<attend::Integer<detail::Heads0>, 64, 64>),
    detail::aligned(18432) + sizeof(float[48])});
extern unsigned char memory[memory_bytes];

// Computes the model. Arrays must not overlap.
attend::Status run(const float (&frames)[64][144], float (&logits)[64][13]);

// The same, and calls observe(context, step, numbers, count, bytes of a number) after each step with what it has written: for tests.
using Observer = void (*)(void* context, int step, const void* numbers, size_t count, size_t bytes);
attend::Status run_observed(const float (&frames)[64][144], float (&logits)[64][13], Observer observe, void* context);

// One token after another: appends a token and computes what run() computes for it, with the same bits. There is no end to them.
// clear() begins anew. It takes the caches and token_memory, and nothing of what run() takes.
struct Caches {
  int position = 0;  // tokens so far
  attend::RingCache<attend::Integer<detail::Heads0>, detail::Last12> cache_0;
  attend::RingCache<attend::Integer<detail::Heads0>, detail::Last24> cache_1;
};
extern Caches caches;
inline constexpr size_t token_memory_bytes = detail::largest({288, detail::aligned(240) + sizeof(float[48]),
    detail::aligned(288) + sizeof(attend::Workspace<attend::Integer<detail::Heads0>, 1,
    attend::over_ring<detail::Last12>>),
    detail::aligned(288) + sizeof(attend::Workspace<attend::Integer<detail::Heads0>, 1,
    attend::over_ring<detail::Last24>>), detail::aligned(288) + sizeof(float[48])});
extern unsigned char token_memory[token_memory_bytes];
attend::Status append(const float (&frames)[144], float (&logits)[13]);

// The same where nobody reads the outputs, as those of a prompt but for its last token: only what later tokens look at is computed.
attend::Status append(const float (&frames)[144]);

void clear();

}  // namespace keywords
