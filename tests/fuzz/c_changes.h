// Changes of the problem without a fault, as bytes say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "c_reach.h"

namespace fuzz {

// Something that can be.
inline void change_option(attend_problem& p, Bytes& bytes) {
  float* const some = reinterpret_cast<float*>(arena + options_at + bytes.byte() * 4u);
  const int small = bytes.byte() % 4;
  const int kind = bytes.byte() % 18;
  if (kind == 0) p.mask = {some, small, small * 4, 8, 7, 1 + small % 2};
  if (kind == 1) p.bias = {some, small, 0, 4, 7};
  if (kind == 2) p.alibi_slopes = some;
  if (kind == 3) p.relative_bias = {some, small, 3, small};
  if (kind == 4) p.sink_logits = some;
  if (kind == 5)
    p.soft_cap = float(small), p.bias_stage = p.bias.data != nullptr && small % 2 == 1 ? ATTEND_BIAS_BEFORE_CAP : 0;
  if (kind == 6) p.query_format = small, p.output_format = bytes.byte() % 4;
  if (kind == 7) {
    p.key_format = ATTEND_INT8, p.key_scales = {some, 8, 8};
    if (p.value_format == ATTEND_DEFAULT_FORMAT) p.value_format = ATTEND_FLOAT32;
  }
  if (kind == 8) {
    p.value_format = ATTEND_INT8, p.value_scales = {some, 0, ATTEND_DENSE};
    if (p.key_format == ATTEND_DEFAULT_FORMAT) p.key_format = ATTEND_FLOAT32;
  }
  if (kind == 9) p.lse = {arena + lse_at, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE}, p.lse_base = small;
  if (kind == 10) p.scores = {reinterpret_cast<float*>(arena + scores_at), 200, 50, 10, 10, 1 + small};
  if (kind == 11) p.origin = small;
  if (kind == 12) {
    for (int page = 0; page < 8; ++page) reinterpret_cast<std::int32_t*>(arena + options_at)[page] = page % 2;
    p.pages = {reinterpret_cast<std::int32_t*>(arena + options_at), small, 16, 2};
  }
  if (kind == 13 || kind == 16) {  // what states are refused with is off, or few would ever take keys
    p.states = arena + states_at, p.origin = 0;
    p.ranges = {nullptr, nullptr, ATTEND_DENSE}, p.documents = {nullptr, 0};
    for (attend_input* input : {&p.key, &p.value}) {
      input->batch_stride = input->token_stride = input->head_stride = small;
    }
  }
  if (kind == 14) {
    for (int i = 0; i < 8; ++i) reinterpret_cast<std::int32_t*>(arena + options_at)[i] = i * small % 5;
    p.ranges = {reinterpret_cast<std::int32_t*>(arena + options_at),
                bytes.byte() < 128 ? nullptr : reinterpret_cast<std::int32_t*>(some), small};
  }
  if (kind == 15) {
    for (int i = 0; i < 8; ++i) reinterpret_cast<std::int32_t*>(arena + options_at)[i] = i * small;
    p.documents = {reinterpret_cast<std::int32_t*>(arena + options_at), 1 + bytes.byte() % 4};
    p.batch = 1, p.queries = p.keys = p.documents.count * small, p.offset = ATTEND_DEFAULT_OFFSET, p.key_lengths = nullptr;
  }
  if (kind == 17) p.window_left = small, p.sink_tokens = bytes.byte() % 3, p.offset = bytes.byte() % 9;
}

// What is not memory must not be said to be: a struct, lengths, pages or states so long.
inline void stay_in_memory(attend_problem& p) {
  if (p.size > sizeof whole && p.size <= 4096) p.size = sizeof whole;
  const char* const given = reinterpret_cast<const char*>(p.key_lengths);
  const bool known = given >= reinterpret_cast<char*>(lengths) && given < reinterpret_cast<char*>(lengths + 1);
  if (!known || p.batch > std::ptrdiff_t(most_lengths) - 1) p.key_lengths = nullptr;
  const std::ptrdiff_t step = p.pages.batch_stride == ATTEND_DENSE ? p.keys : p.pages.batch_stride;
  if (!in_arena(p.pages.table, {p.batch, 1, 1}, {step, 0, 0}, p.keys, 32)) p.pages.table = nullptr;
  if (p.batch > 1 << 20 && p.queries > 0) p.pages.table = nullptr;  // the same ones for each row, which takes seconds to check
  for (const std::int32_t* const* list : {&p.ranges.first, &p.ranges.end}) {
    const std::ptrdiff_t rows = p.ranges.batch_stride == ATTEND_DENSE ? p.queries : p.ranges.batch_stride;
    if (*list != nullptr && !in_arena(*list, {p.batch, 1, 1}, {rows, 0, 0}, p.queries, 32))
      p.ranges.first = p.ranges.end = nullptr;
  }
  const std::ptrdiff_t documents = p.documents.count < 0 || p.documents.count > ATTEND_MAX_TOKENS ? 0 : p.documents.count;
  if (!in_arena(p.documents.boundaries, {1, 1, 1}, {0, 0, 0}, documents + 1, 32)) p.documents.boundaries = nullptr;
  const char* const cache = reinterpret_cast<const char*>(p.cache);
  if (cache < reinterpret_cast<char*>(arena) || cache >= reinterpret_cast<char*>(arena) + arena_bytes - 64) p.cache = nullptr;
  const std::size_t bytes_of_states = attend_state_size(&p);
  if (!in_arena(p.states, {1, 1, 1}, {0, 0, 0}, std::ptrdiff_t(bytes_of_states / 4), 32)) p.states = nullptr;
  if (p.states == nullptr || bytes_of_states == 0) return;
  attend_begin(&p);
  if (state_place < bytes_of_states)
    static_cast<unsigned char*>(p.states)[state_place] ^= static_cast<unsigned char>(state_change);
}

inline void change_problem(Bytes& bytes) {
  attend_problem& p = whole.problem;
  constexpr std::size_t first = offsetof(attend_problem, batch), words = (sizeof p - first) / sizeof(std::ptrdiff_t);
  const std::size_t pointers[] = {
      offsetof(attend_problem, query.data),  offsetof(attend_problem, key.data),        offsetof(attend_problem, value.data),
      offsetof(attend_problem, output.data), offsetof(attend_problem, mask.data),       offsetof(attend_problem, bias.data),
      offsetof(attend_problem, lse.data),    offsetof(attend_problem, key_scales.data), offsetof(attend_problem, states)};
  const std::size_t ints[] = {offsetof(attend_problem, options),    offsetof(attend_problem, layout),
                              offsetof(attend_problem, mask.kind),  offsetof(attend_problem, scores.stage),
                              offsetof(attend_problem, key_format), offsetof(attend_problem, output_format)};
  const auto put = [&](std::size_t at, auto value) {
    std::memcpy(reinterpret_cast<unsigned char*>(&p) + at, &value, sizeof value);
  };
  while (bytes.left > 0) {
    const int kind = bytes.byte() % 25;
    if (kind == 0)
      p.size = bytes.byte() < 128   ? sizeof p + bytes.byte() % tail
               : bytes.byte() < 200 ? sizeof p - bytes.byte() % tail
                                    : std::size_t(bytes.number());
    if (kind == 1) put(offsetof(attend_problem, scale) + bytes.byte() % 2u * sizeof(float), std::uint32_t(bytes.word()));
    if (kind == 2) put(ints[bytes.byte() % 6], bytes.byte() < 240 ? bytes.byte() % 5 : int(bytes.word()));
    if (kind == 3)
      p.key_lengths = reinterpret_cast<std::ptrdiff_t*>(reinterpret_cast<char*>(lengths) + (bytes.byte() < 200 ? 0 : 3));
    if (kind == 4) lengths[bytes.byte() % most_lengths] = bytes.number();
    if (kind == 5) {
      p.cache = reinterpret_cast<attend_cache*>(arena + (bytes.byte() < 200 ? cache_at : bytes.byte() * 32u));
      p.batch = 1, p.keys = ATTEND_ALL_KEYS;
      p.key.data = p.value.data = nullptr;
    }
    if (kind == 6) arena[cache_at + bytes.byte() % 48u] = bytes.byte();
    if (kind == 7) whole.more[bytes.byte() % tail] = bytes.byte();
    if (kind == 8) p.options ^= ATTEND_CAUSAL, p.offset = bytes.byte() % 8 - 2;
    if (kind == 9 || kind == 10) put(pointers[bytes.byte() % 9], bytes.address());
    if (kind == 11) put(first + bytes.byte() % 8u * sizeof(std::ptrdiff_t), bytes.number());
    if (kind == 12 || kind == 13) put(first + bytes.byte() % words * sizeof(std::ptrdiff_t), bytes.number());
    if (kind == 14) {
      state_place = bytes.byte() * 4u + bytes.byte() % 4u, state_change = bytes.byte();
      if (bytes.byte() < 128) p.state_nodes = bytes.byte() % 4;
    }
    if (kind > 14) change_option(p, bytes);
  }
  stay_in_memory(p);
}

}  // namespace fuzz
