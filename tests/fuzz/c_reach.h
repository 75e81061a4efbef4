// What memory a problem says that it has, found by other means than the library's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "c_memory.h"

namespace fuzz {

inline int size_of(int format) { return format == ATTEND_FLOAT32 ? 4 : format == ATTEND_INT8 ? 1 : 2; }

// Whether an array of numbers of so many bits lies in the arena.
inline bool in_arena(const void* data, const std::array<std::ptrdiff_t, 3>& counts,
                     const std::array<std::ptrdiff_t, 3>& strides, std::ptrdiff_t width, int bits) {
  __int128 low = 0, high = width;
  for (std::size_t i = 0; i < 3; ++i) {
    const __int128 distance = (__int128(counts[i]) - 1) * strides[i], far = __int128(1) << 100;
    if (distance < -far || distance > far) return false;  // what follows does not overflow
    (distance < 0 ? low : high) += distance;
  }
  const __int128 at = __int128(reinterpret_cast<std::uintptr_t>(data)) - __int128(reinterpret_cast<std::uintptr_t>(arena));
  return at + low * bits / 8 >= 0 && at + (high * bits + 7) / 8 <= __int128(arena_bytes);
}

// The problem with its defaults written out, strides by plain multiplication.
inline attend_problem written_out(attend_problem p, std::ptrdiff_t keys) {
  const auto columns = [&](std::ptrdiff_t& of) { of = of == ATTEND_ALL_KEYS ? keys : of; };
  columns(p.mask.keys), columns(p.bias.keys), columns(p.scores.keys);
  if (p.batch == ATTEND_DEFAULT_BATCH) p.batch = 1;
  if (p.origin == ATTEND_DEFAULT_ORIGIN) p.origin = 0;
  for (int* format : {&p.query_format, &p.key_format, &p.value_format, &p.output_format}) {
    if (*format == ATTEND_DEFAULT_FORMAT) *format = ATTEND_FLOAT32;
  }
  const std::ptrdiff_t b = p.batch, q = p.queries, h = p.query_heads, kv = p.kv_heads;
  struct Axis {
    std::ptrdiff_t& stride;
    std::ptrdiff_t count;
  };
  const auto dense = [](std::ptrdiff_t width, Axis inner, Axis outer, Axis batch) {
    __int128 step = width;
    for (const Axis& axis : {inner, outer, batch}) {
      if (axis.count <= 1) axis.stride = 0;
      if (axis.stride == 0) continue;  // all share it
      if (axis.stride == ATTEND_DENSE) axis.stride = std::ptrdiff_t(step);
      step *= axis.count;
    }
  };
  const auto tensor = [&](auto& t, std::ptrdiff_t rows, std::ptrdiff_t tokens, std::ptrdiff_t heads, std::ptrdiff_t width) {
    const Axis token = {t.token_stride, tokens}, head = {t.head_stride, heads}, batch = {t.batch_stride, rows};
    p.layout == ATTEND_BATCH_HEAD_TOKEN_DIM ? dense(width, token, head, batch) : dense(width, head, token, batch);
  };
  const auto matrix = [&](auto& m) { dense(m.keys, {m.query_stride, q}, {m.head_stride, h}, {m.batch_stride, b}); };
  const bool paged = p.pages.table != nullptr;
  const std::ptrdiff_t rows = paged ? 1 : b, stored = paged ? p.pages.page_keys * p.pages.count : keys - p.origin;
  std::ptrdiff_t none = 0;
  tensor(p.query, b, q, h, p.head_dim), tensor(p.output, b, q, h, p.value_dim), tensor(p.lse, b, q, h, 1);
  tensor(p.key, rows, stored, kv, p.head_dim), tensor(p.value, rows, stored, kv, p.value_dim);
  matrix(p.mask), matrix(p.bias), matrix(p.scores);
  dense(stored, {none, 1}, {p.key_scales.head_stride, kv}, {p.key_scales.batch_stride, rows});
  dense(stored, {none, 1}, {p.value_scales.head_stride, kv}, {p.value_scales.batch_stride, rows});
  dense(p.relative_bias.left + 1 + p.relative_bias.right, {none, 1}, {p.relative_bias.head_stride, h}, {none, 1});
  return p;
}

// Whether all that options point to is in the arena.
inline bool options_exist(const attend_problem& p) {
  const std::ptrdiff_t b = p.batch, q = p.queries, h = p.query_heads;
  const auto there = [&](const auto& m, int bits) {
    return m.data == nullptr || in_arena(m.data, {b, q, h}, {m.batch_stride, m.query_stride, m.head_stride}, m.keys, bits);
  };
  const auto heads = [&](const float* data) { return data == nullptr || in_arena(data, {1, 1, 1}, {0, 0, 0}, h, 32); };
  const std::ptrdiff_t pool = p.pages.table != nullptr ? p.pages.page_keys * p.pages.count : p.keys - p.origin;
  const auto scales = [&](const attend_scales& s, int format) {
    return format != ATTEND_INT8 || p.cache != nullptr ||
           in_arena(s.data, {p.pages.table != nullptr ? 1 : b, 1, p.kv_heads}, {s.batch_stride, 0, s.head_stride}, pool, 32);
  };
  const attend_relative_bias& r = p.relative_bias;
  const attend_output& l = p.lse;
  return there(p.mask, p.mask.kind == ATTEND_MASK_BITS ? 1 : 8) && there(p.bias, 32) && there(p.scores, 32) &&
         heads(p.alibi_slopes) && heads(p.sink_logits) && scales(p.key_scales, p.key_format) &&
         scales(p.value_scales, p.value_format) &&
         (r.data == nullptr || in_arena(r.data, {1, 1, h}, {0, 0, r.head_stride}, r.left + 1 + r.right, 32)) &&
         (l.data == nullptr || in_arena(l.data, {b, q, h}, {l.batch_stride, l.token_stride, l.head_stride}, 1, 32)) &&
         (p.states == nullptr || in_arena(p.states, {1, 1, 1}, {0, 0, 0}, std::ptrdiff_t(attend_state_size(&p) / 4), 32));
}

struct Reach {
  bool in_arena;
  __int128 low, high;  // first byte and the one after the last, from the start of the address space
};

// By plain multiplication, which in 128 bits cannot overflow.
template <class Tensor>
Reach reach(const Tensor& tensor, std::ptrdiff_t batch, std::ptrdiff_t tokens, std::ptrdiff_t heads, std::ptrdiff_t width,
            int size) {
  const std::ptrdiff_t counts[] = {batch, tokens, heads};
  const std::ptrdiff_t strides[] = {tensor.batch_stride, tensor.token_stride, tensor.head_stride};
  __int128 low = __int128(reinterpret_cast<std::uintptr_t>(tensor.data)), high = low + __int128(width) * size;
  for (int i = 0; i < 3; ++i) {
    const __int128 distance = (__int128(counts[i]) - 1) * strides[i] * size;
    (distance < 0 ? low : high) += distance;
  }
  const __int128 begin = __int128(reinterpret_cast<std::uintptr_t>(arena));
  REQUIRE(low >= 0 && high <= __int128(UINTPTR_MAX) && high - low <= __int128(PTRDIFF_MAX));
  return {low >= begin && high <= begin + __int128(arena_bytes), low, high};
}

// Makes what a call may write in the arena, besides the output, what it was before.
inline void put_back_results(const attend_problem& p) {
  const auto put_back = [&](const Reach& range) {
    const auto at = std::size_t(range.low - __int128(reinterpret_cast<std::uintptr_t>(arena)));
    std::memcpy(arena + at, untouched + at, std::size_t(range.high - range.low));
  };
  if (p.lse.data != nullptr) put_back(reach(p.lse, p.batch, p.queries, p.query_heads, 1, 4));
  const attend_output scores = {p.scores.data, p.scores.batch_stride, p.scores.query_stride, p.scores.head_stride};
  if (scores.data != nullptr) put_back(reach(scores, p.batch, p.queries, p.query_heads, p.scores.keys, 4));
  const attend_output states = {p.states, 0, 0, 0};
  if (states.data != nullptr) put_back(reach(states, 1, 1, 1, std::ptrdiff_t(attend_state_size(&p) / 4), 4));
}

}  // namespace fuzz
