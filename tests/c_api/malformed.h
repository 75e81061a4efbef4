// Calls of the C surface with one or two faults each, and what they must be answered with. The faults are made here from what
// the header says, and share nothing with the code that looks for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "malformed_world.h"

namespace attend_test {

using Fault = bool (*)(World&, Call&, Random&);  // makes it, or is false where the call has no place for it

// Addresses that are no one's, the last of which nothing fits behind.
inline float* last_float() { return reinterpret_cast<float*>(UINTPTR_MAX - 3); }

// What can be unaligned or too long depends on the size of a number.
inline int size_of(int format) { return format == ATTEND_FLOAT32 ? 4 : format == ATTEND_INT8 ? 1 : 2; }

template <class Tensor>
bool unalign(Tensor& tensor, Random& random, int format = ATTEND_FLOAT32) {
  if (size_of(format) == 1) return false;
  tensor.data = reinterpret_cast<decltype(tensor.data)>(reinterpret_cast<std::uintptr_t>(tensor.data) +
                                                        std::uintptr_t(2 * random.between(0, 1) + 1));
  return true;
}

template <class Pointer>
void unalign_pointer(Pointer& pointer) {
  pointer = reinterpret_cast<Pointer>(reinterpret_cast<std::uintptr_t>(pointer) + 1);
}

// Extents and strides whose products, sums or bytes pass what there is.
template <class Tensor>
bool reach_too_far(Tensor& tensor, std::ptrdiff_t batch, std::ptrdiff_t tokens, std::ptrdiff_t heads, Random& random,
                   int format = ATTEND_FLOAT32) {
  // The last three only as floats: where addresses have 32 bits, there may be as many bytes before an array as half of them.
  const std::ptrdiff_t far[] = {PTRDIFF_MAX,     PTRDIFF_MIN,        PTRDIFF_MIN + 1, -(PTRDIFF_MAX / 4) - 2,
                                PTRDIFF_MAX / 2, PTRDIFF_MAX / 4 + 1};
  const std::ptrdiff_t stride = far[random.between(0, format == ATTEND_FLOAT32 ? 5 : 2)];
  switch (random.between(0, 3)) {
    case 0:
      if (batch == 1) return false;
      tensor.batch_stride = stride;
      return true;
    case 1:
      if (tokens == 1) return false;
      tensor.token_stride = stride;
      return true;
    case 2:
      if (heads == 1) return false;
      tensor.head_stride = stride;
      return true;
    default:
      if (format != ATTEND_FLOAT32) return false;
      tensor.data = last_float();
      return true;
  }
}

inline std::ptrdiff_t outside(std::ptrdiff_t low, std::ptrdiff_t high, Random& random) {
  const std::ptrdiff_t numbers[] = {low - 1, high + 1, PTRDIFF_MIN, PTRDIFF_MAX, PTRDIFF_MIN / 2, PTRDIFF_MAX / 2, -2};
  for (;;) {
    const std::ptrdiff_t number = numbers[random.between(0, 6)];
    if (number < low || number > high) return number;
  }
}

struct KnownFault {
  attend_status status;
  Fault make;
};

// Whether a fault may be made after another of a higher number: where both move the same thing, a third fault can come of it.
inline bool go_together(attend_status first, attend_status then) {
  if (then == ATTEND_UNCUTTABLE) return first < ATTEND_OUTPUT_OVERLAPS_QUERY;
  if (first == ATTEND_UNCUTTABLE) return then < ATTEND_BAD_WINDOW;  // it clears all options
  if (first >= ATTEND_WORKSPACE_OVERLAPS_OUTPUT && then == ATTEND_WORKSPACE_OVERLAPS_OPTION) return false;
  if (first == ATTEND_SCORES_OVERLAP_OUTPUT && then == ATTEND_SCORES_OVERLAP_INPUT) return false;
  return first != ATTEND_WORKSPACE_OVERLAPS_OUTPUT || then != ATTEND_WORKSPACE_OVERLAPS_INPUT;
}

// Of keys and values in arrays: all batch rows share pages, and an origin leaves fewer tokens.
inline std::ptrdiff_t key_rows(const attend_problem& p) { return p.pages.table != nullptr ? 1 : p.batch; }
inline std::ptrdiff_t key_tokens(const attend_problem& p) {
  std::ptrdiff_t pool;
  if (p.pages.table == nullptr) return p.keys - p.origin;
  return __builtin_mul_overflow(p.pages.count, p.pages.page_keys, &pool) ? p.keys : pool;
}
inline bool has_arrays(const attend_problem& p) { return p.cache == nullptr && p.keys > p.origin; }

// Of a problem over arrays or over a cache.
inline const std::vector<KnownFault>& problem_faults() {
  static const std::vector<KnownFault> all = {
      {ATTEND_NO_PROBLEM,
       [](World&, Call& c, Random& r) {
         // Not aligned, or not there.
         auto* bytes = static_cast<unsigned char*>(static_cast<void*>(c.problem));
         c.problem = r.between(0, 1) == 0 ? nullptr : static_cast<attend_problem*>(static_cast<void*>(bytes + r.between(1, 3)));
         return true;
       }},
      {ATTEND_BAD_STRUCT_SIZE,
       [](World&, Call& c, Random& r) {
         const std::size_t sizes[] = {
             0, 1, ATTEND_PROBLEM_SIZE_1 - 1, ATTEND_PROBLEM_SIZE_1 + 1, sizeof(attend_problem) - 1, 4097, SIZE_MAX};
         c.problem->size = sizes[r.between(0, 6)];
         return true;
       }},
      {ATTEND_NEWER_STRUCT,
       [](World&, Call& c, Random& r) {
         const int more = r.between(1, 64);
         static_cast<unsigned char*>(static_cast<void*>(c.problem))[int(sizeof(attend_problem)) + r.between(0, more - 1)] = 1;
         c.problem->size = sizeof(attend_problem) + std::size_t(more);
         return true;
       }},
      {ATTEND_UNKNOWN_OPTION,
       [](World&, Call& c, Random& r) {
         c.problem->options |= 1u << r.between(5, 31);
         return true;
       }},
      {ATTEND_BAD_BATCH,
       [](World&, Call& c, Random& r) {
         c.problem->batch = outside(1, ATTEND_MAX_TOKENS, r);
         return true;
       }},
      {ATTEND_BAD_QUERY_HEADS,
       [](World&, Call& c, Random& r) {
         c.problem->query_heads = outside(1, ATTEND_MAX_WIDTH, r);
         return true;
       }},
      {ATTEND_BAD_KV_HEADS,
       [](World&, Call& c, Random& r) {
         c.problem->kv_heads = outside(1, ATTEND_MAX_WIDTH, r);
         return true;
       }},
      {ATTEND_UNEVEN_HEADS,
       [](World&, Call& c, Random& r) {
         c.problem->query_heads = r.between(1, 5) * 2 + 1;
         c.problem->kv_heads = r.between(0, 1) == 0 ? 2 : 16;
         return true;
       }},
      {ATTEND_BAD_HEAD_DIM,
       [](World&, Call& c, Random& r) {
         c.problem->head_dim = outside(1, ATTEND_MAX_WIDTH, r);
         return true;
       }},
      {ATTEND_BAD_VALUE_DIM,
       [](World&, Call& c, Random& r) {
         c.problem->value_dim = outside(1, ATTEND_MAX_WIDTH, r);
         return true;
       }},
      {ATTEND_BAD_QUERIES,
       [](World&, Call& c, Random& r) {
         c.problem->queries = outside(1, ATTEND_MAX_TOKENS, r);
         return true;
       }},
      {ATTEND_TOO_MANY_ROWS,
       [](World&, Call& c, Random& r) {
         c.problem->kv_heads = r.between(1, 8);
         c.problem->query_heads = c.problem->kv_heads * r.between(3, 1000);
         c.problem->queries = ATTEND_MAX_TOKENS - r.between(0, 100);
         return true;
       }},
      {ATTEND_BAD_SCALE,
       [](World&, Call& c, Random& r) {
         const float bad[] = {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
         c.problem->scale = bad[r.between(0, 3)];
         return true;
       }},
      {ATTEND_NO_QUERY,
       [](World&, Call& c, Random&) {
         c.problem->query.data = nullptr;
         return true;
       }},
      {ATTEND_UNALIGNED_QUERY,
       [](World&, Call& c, Random& r) { return unalign(c.problem->query, r, c.problem->query_format); }},
      {ATTEND_HUGE_QUERY,
       [](World&, Call& c, Random& r) {
         return reach_too_far(c.problem->query, c.problem->batch, c.problem->queries, c.problem->query_heads, r,
                              c.problem->query_format);
       }},
      {ATTEND_NO_OUTPUT,
       [](World&, Call& c, Random&) {
         c.problem->output.data = nullptr;
         return c.problem->states == nullptr;
       }},
      {ATTEND_UNALIGNED_OUTPUT,
       [](World&, Call& c, Random& r) {
         return c.problem->states == nullptr && unalign(c.problem->output, r, c.problem->output_format);
       }},
      {ATTEND_HUGE_OUTPUT,
       [](World&, Call& c, Random& r) {
         return c.problem->states == nullptr && reach_too_far(c.problem->output, c.problem->batch, c.problem->queries,
                                                              c.problem->query_heads, r, c.problem->output_format);
       }},
      {ATTEND_BAD_OUTPUT_STRIDES,
       [](World&, Call& c, Random& r) {
         attend_problem& p = *c.problem;
         std::ptrdiff_t* const strides[] = {&p.output.batch_stride, &p.output.token_stride, &p.output.head_stride};
         const std::ptrdiff_t counts[] = {p.batch, p.queries, p.query_heads};
         const int axis = r.between(0, 2);
         if (counts[axis] == 1 || p.states != nullptr) return false;
         // Less than a row, or the same step as another axis.
         const int other = (axis + 1) % 3;
         *strides[axis] = r.between(0, 1) == 0 || counts[other] == 1 ? r.between(1 - int(p.value_dim), int(p.value_dim) - 1)
                                                                     : *strides[other];
         return true;
       }},
      {ATTEND_UNALIGNED_KEY_LENGTHS,
       [](World& w, Call& c, Random& r) {
         c.problem->key_lengths = reinterpret_cast<const std::ptrdiff_t*>(w.lengths_bytes() + r.between(1, 3));
         return true;
       }},
      {ATTEND_BAD_KEY_LENGTH,
       [](World& w, Call& c, Random& r) {
         const std::ptrdiff_t keys = c.problem->keys == ATTEND_ALL_KEYS ? World::held : c.problem->keys;
         for (int row = 0; row < World::most_batch; ++row) w.lengths()[row] = 0;
         w.lengths()[r.between(0, int(c.problem->batch) - 1)] = outside(0, keys, r);
         c.problem->key_lengths = w.lengths();
         return true;
       }},
      {ATTEND_OUTPUT_OVERLAPS_QUERY,
       [](World&, Call& c, Random& r) {
         // From the same place on, or from the last element of the first row.
         const std::ptrdiff_t last = (c.problem->value_dim - 1) * size_of(c.problem->output_format) / 4 * 4;
         c.problem->query.data = static_cast<unsigned char*>(c.problem->output.data) + (r.between(0, 1) == 0 ? 0 : last);
         return c.problem->states == nullptr;
       }},
      {ATTEND_OUTPUT_OVERLAPS_LENGTHS,
       [](World& w, Call& c, Random&) {
         if (c.problem->key_lengths == nullptr || c.problem->states != nullptr) return false;
         c.problem->output.data = w.lengths();
         return true;
       }},
      {ATTEND_OUTPUT_OVERLAPS_PROBLEM,
       [](World&, Call& c, Random&) {
         c.problem->output.data = &c.problem->cache;
         return c.problem->states == nullptr;
       }},
      {ATTEND_BAD_PARTS,
       [](World&, Call& c, Random& r) {
         c.parts = outside(1, ATTEND_MAX_PARTS, r);
         return true;
       }},
      {ATTEND_BAD_PART,
       [](World&, Call& c, Random& r) {
         c.part = outside(0, c.parts - 1, r);
         return true;
       }},
      {ATTEND_NO_WORKSPACE,
       [](World&, Call& c, Random&) {
         c.workspace = nullptr;
         return true;
       }},
      {ATTEND_UNALIGNED_WORKSPACE,
       [](World& w, Call& c, Random& r) {
         c.workspace = w.workspace.data + r.between(1, 7);
         return true;
       }},
      {ATTEND_SMALL_WORKSPACE,
       [](World&, Call& c, Random& r) {
         const std::size_t needed = attend_workspace_size(c.problem);
         if (needed == 0) return false;  // there is another fault, which the size must not depend on
         c.workspace_size = r.between(0, 1) == 0 ? needed - 1 : std::size_t(r.between(0, int(needed) - 1));
         return true;
       }},
      {ATTEND_WORKSPACE_OVERLAPS_OUTPUT,
       [](World& w, Call& c, Random& r) {
         const std::size_t needed = attend_workspace_size(c.problem);
         if (needed == 0 || needed > w.workspace.size || c.problem->states != nullptr) return false;
         c.problem->output.data = w.workspace.floats() + r.between(0, int(needed / 4) - 1);
         return true;
       }},
      {ATTEND_WORKSPACE_OVERLAPS_INPUT,
       [](World& w, Call& c, Random& r) {
         const std::size_t needed = attend_workspace_size(c.problem);
         if (needed == 0 || needed > w.workspace.size) return false;
         const float* inside = w.workspace.floats() + r.between(0, int(needed / 4) - 1);
         const bool arrays = has_arrays(*c.problem);
         switch (r.between(0, arrays ? 2 : 0)) {
           case 0:
             c.problem->query.data = inside;
             break;
           case 1:
             c.problem->key.data = inside;
             break;
           default:
             c.problem->value.data = inside;
             break;
         }
         return true;
       }},
  };
  return all;
}

// Of a problem over arrays.
inline const std::vector<KnownFault>& array_faults() {
  static const std::vector<KnownFault> all = {
      {ATTEND_BAD_KEYS,
       [](World&, Call& c, Random& r) {
         c.problem->keys = outside(0, ATTEND_MAX_TOKENS, r);
         return true;
       }},
      {ATTEND_NO_KEY,
       [](World&, Call& c, Random&) {
         c.problem->key.data = nullptr;
         return has_arrays(*c.problem);
       }},
      {ATTEND_UNALIGNED_KEY,
       [](World&, Call& c, Random& r) { return has_arrays(*c.problem) && unalign(c.problem->key, r, c.problem->key_format); }},
      {ATTEND_HUGE_KEY,
       [](World&, Call& c, Random& r) {
         return has_arrays(*c.problem) && reach_too_far(c.problem->key, key_rows(*c.problem), key_tokens(*c.problem),
                                                        c.problem->kv_heads, r, c.problem->key_format);
       }},
      {ATTEND_NO_VALUE,
       [](World&, Call& c, Random&) {
         c.problem->value.data = nullptr;
         return has_arrays(*c.problem);
       }},
      {ATTEND_UNALIGNED_VALUE,
       [](World&, Call& c, Random& r) {
         return has_arrays(*c.problem) && unalign(c.problem->value, r, c.problem->value_format);
       }},
      {ATTEND_HUGE_VALUE,
       [](World&, Call& c, Random& r) {
         return has_arrays(*c.problem) && reach_too_far(c.problem->value, key_rows(*c.problem), key_tokens(*c.problem),
                                                        c.problem->kv_heads, r, c.problem->value_format);
       }},
      {ATTEND_OUTPUT_OVERLAPS_KEY,
       [](World&, Call& c, Random&) {
         c.problem->key.data = c.problem->output.data;
         return has_arrays(*c.problem) && c.problem->states == nullptr;
       }},
      {ATTEND_OUTPUT_OVERLAPS_VALUE,
       [](World&, Call& c, Random&) {
         c.problem->value.data = c.problem->output.data;
         return has_arrays(*c.problem) && c.problem->states == nullptr;
       }},
      {ATTEND_UNCUTTABLE,
       [](World& w, Call& c, Random& r) {
         attend_problem& p = *c.problem;  // all keys are one
         attend_problem_init(&p, sizeof p);
         p.batch = p.query_heads = p.kv_heads = p.head_dim = p.value_dim = 1;
         p.queries = 1 << 19, p.keys = 1 << 28;
         p.key_lengths = nullptr;
         p.query = {w.query.floats(), 0, 0, 0};
         p.key = {w.key.floats(), 0, 0, 0};
         p.value = {w.value.floats(), 0, 0, 0};
         p.output = {w.large.data(), 0, 1, 0};
         c.parts = r.between(2, ATTEND_MAX_PARTS);
         c.part = r.between(0, int(c.parts) - 1);
         return true;
       }},
  };
  return all;
}

// Of a problem over a cache.
inline const std::vector<KnownFault>& cache_faults() {
  static const std::vector<KnownFault> all = {
      {ATTEND_CORRUPT_CACHE,
       [](World& w, Call& c, Random& r) {
         if (r.between(0, 1) == 0) {
           w.cache.data[r.between(0, World::head_bytes - 1)] ^= static_cast<unsigned char>(1 << r.between(0, 7));
         } else {  // not where a cache can be
           c.problem->cache = static_cast<attend_cache*>(static_cast<void*>(w.cache.data + r.between(1, 7)));
         }
         return true;
       }},
      {ATTEND_CACHE_AND_ARRAYS,
       [](World& w, Call& c, Random& r) {
         (r.between(0, 1) == 0 ? c.problem->key : c.problem->value).data = w.key.floats();
         return true;
       }},
      {ATTEND_CACHE_AND_BATCH,
       [](World&, Call& c, Random& r) {
         c.problem->batch = r.between(2, 3);
         return true;
       }},
      {ATTEND_OTHER_CACHE_SHAPE,
       [](World&, Call& c, Random& r) {
         switch (r.between(0, 2)) {
           case 0:
             c.problem->kv_heads = 1;
             break;
           case 1:
             c.problem->head_dim = r.between(0, 1) == 0 ? 4 : 6;
             break;
           default:
             c.problem->value_dim = 4;
             break;
         }
         return true;
       }},
      {ATTEND_BAD_KEYS,
       [](World&, Call& c, Random& r) {
         c.problem->keys = outside(ATTEND_ALL_KEYS, World::held, r);
         return true;
       }},
      {ATTEND_TOO_FEW_TOKENS,
       [](World&, Call& c, Random& r) {
         c.problem->options = ATTEND_CAUSAL;
         c.problem->offset = ATTEND_DEFAULT_OFFSET;
         c.problem->queries = World::held + r.between(1, 20);
         return true;
       }},
      {ATTEND_OUTPUT_OVERLAPS_CACHE,
       [](World& w, Call& c, Random& r) {
         c.problem->output.data = w.cache.floats() + r.between(0, 300);
         return c.problem->states == nullptr;
       }},
  };
  return all;
}

}  // namespace attend_test
