// Faults in calls of attend_begin, attend_finish and attend_merge, and of the cache, one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "malformed_left_out.h"

namespace attend_test {

struct StateCall {
  World& w;
  attend_problem* problem;
  void* later;
};

enum StateUse { begin = 1, finish = 2, merge = 4, all_uses = 7 };

struct StateFault {
  attend_error error;
  attend_argument argument;
  int uses;
  void (*make)(StateCall&);
};

template <class Pointer>
void shift(Pointer& pointer, std::uintptr_t bytes = 1) {
  pointer = reinterpret_cast<Pointer>(reinterpret_cast<std::uintptr_t>(pointer) + bytes);
}
inline float* last_float() { return reinterpret_cast<float*>(UINTPTR_MAX - 3); }

inline const StateFault state_faults[] = {
    {ATTEND_OK, ATTEND_ARG_NONE, all_uses, [](StateCall&) {}},
    {ATTEND_MISSING, ATTEND_ARG_PROBLEM, all_uses, [](StateCall& c) { c.problem = nullptr; }},
    {ATTEND_UNALIGNED, ATTEND_ARG_PROBLEM, all_uses, [](StateCall& c) { shift(c.problem); }},
    {ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE, all_uses, [](StateCall& c) { c.problem->size = 3; }},
    {ATTEND_NEWER, ATTEND_ARG_SIZE, all_uses,
     [](StateCall& c) { put(*c.problem, sizeof(attend_problem), '\1'), c.problem->size += 8; }},
    {ATTEND_UNKNOWN, ATTEND_ARG_OPTIONS, all_uses, [](StateCall& c) { c.problem->options = 1u << 31; }},
    {ATTEND_UNKNOWN, ATTEND_ARG_LAYOUT, all_uses, [](StateCall& c) { c.problem->layout = 2; }},
    {ATTEND_UNKNOWN, ATTEND_ARG_OUTPUT_FORMAT, finish, [](StateCall& c) { c.problem->output_format = ATTEND_INT8; }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_BATCH, all_uses, [](StateCall& c) { c.problem->batch = -2; }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_QUERIES, all_uses, [](StateCall& c) { c.problem->queries = -1; }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_QUERY_HEADS, all_uses, [](StateCall& c) { c.problem->query_heads = 0; }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_VALUE_DIM, all_uses, [](StateCall& c) { c.problem->value_dim = 0; }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_FIRST_KEY, begin, [](StateCall& c) { c.problem->first_key = 1; }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_FIRST_KEY, begin, [](StateCall& c) { c.problem->first_key = -512; }},
    {ATTEND_MISSING, ATTEND_ARG_OUTPUT, finish, [](StateCall& c) { c.problem->output.data = nullptr; }},
    {ATTEND_UNALIGNED, ATTEND_ARG_OUTPUT, finish, [](StateCall& c) { shift(c.problem->output.data); }},
    {ATTEND_TOO_LARGE, ATTEND_ARG_OUTPUT, finish,
     [](StateCall& c) { c.problem->output.batch_stride = 0, c.problem->output.head_stride = PTRDIFF_MAX; }},
    {ATTEND_SHARED_ELEMENTS, ATTEND_ARG_OUTPUT, finish, [](StateCall& c) { c.problem->output.token_stride = 0; }},
    {ATTEND_OVERLAP, ATTEND_ARG_OUTPUT, finish, [](StateCall& c) { c.problem->output.data = &c.problem->cache; }},
    {ATTEND_OVERLAP, ATTEND_ARG_OUTPUT, finish,
     [](StateCall& c) { c.problem->sink_logits = static_cast<float*>(c.problem->output.data); }},
    {ATTEND_OVERLAP, ATTEND_ARG_OUTPUT, finish, [](StateCall& c) { c.problem->output.data = c.problem->states; }},
    {ATTEND_UNALIGNED, ATTEND_ARG_SINK_LOGITS, finish, [](StateCall& c) { shift(c.problem->sink_logits); }},
    {ATTEND_UNALIGNED, ATTEND_ARG_LSE, finish, [](StateCall& c) { shift(c.problem->lse.data); }},
    {ATTEND_TOO_LARGE, ATTEND_ARG_LSE, finish,
     [](StateCall& c) { c.problem->lse.batch_stride = 0, c.problem->lse.head_stride = PTRDIFF_MAX; }},
    {ATTEND_SHARED_ELEMENTS, ATTEND_ARG_LSE, finish, [](StateCall& c) { c.problem->lse.token_stride = 0; }},
    {ATTEND_OVERLAP, ATTEND_ARG_LSE, finish, [](StateCall& c) { c.problem->lse.data = c.problem->output.data; }},
    {ATTEND_MISSING, ATTEND_ARG_STATES, all_uses, [](StateCall& c) { c.problem->states = nullptr; }},
    {ATTEND_UNALIGNED, ATTEND_ARG_STATES, all_uses, [](StateCall& c) { shift(c.problem->states); }},
    {ATTEND_TOO_LARGE, ATTEND_ARG_STATES, all_uses, [](StateCall& c) { c.problem->states = last_float(); }},
    {ATTEND_OVERLAP, ATTEND_ARG_STATES, begin, [](StateCall& c) { c.problem->states = &c.problem->batch; }},
    {ATTEND_OVERLAP, ATTEND_ARG_STATES, merge, [](StateCall& c) { c.later = c.problem->states, shift(c.later, 12); }},
    {ATTEND_CORRUPT, ATTEND_ARG_STATES, finish | merge, [](StateCall& c) { c.w.states.data[5] ^= 4; }},
    {ATTEND_CORRUPT, ATTEND_ARG_STATES, finish | merge, [](StateCall& c) { c.w.states.data[64 + 12] ^= 4; }},
    {ATTEND_MISMATCH, ATTEND_ARG_STATES, finish, [](StateCall& c) { c.problem->queries = 2; }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_OUTPUT, finish, [](StateCall& c) { c.problem->output.head_stride = 1000; }},
    {ATTEND_AMBIGUOUS, ATTEND_ARG_OUTPUT_FORMAT, finish, [](StateCall& c) { c.problem->query_format = ATTEND_FLOAT16; }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_KEYS, finish, [](StateCall& c) { c.problem->keys = ATTEND_ALL_KEYS; }},
    {ATTEND_MISMATCH, ATTEND_ARG_KEYS, finish, [](StateCall& c) { c.problem->keys = 1; }},
    {ATTEND_MISMATCH, ATTEND_ARG_KEYS, finish,
     [](StateCall& c) { c.problem->cache = c.w.cache.as<attend_cache>(), c.problem->keys = ATTEND_ALL_KEYS; }},
    {ATTEND_UNALIGNED, ATTEND_ARG_CACHE, finish,
     [](StateCall& c) { c.problem->cache = c.w.cache.as<attend_cache>(), shift(c.problem->cache); }},
    {ATTEND_MISMATCH, ATTEND_ARG_STATES, finish,
     [](StateCall& c) {
       c.problem->first_key = c.problem->keys = 512;
       attend_begin(c.problem);
     }},
    {ATTEND_MISSING, ATTEND_ARG_LATER, merge, [](StateCall& c) { c.later = nullptr; }},
    {ATTEND_UNALIGNED, ATTEND_ARG_LATER, merge, [](StateCall& c) { shift(c.later); }},
    {ATTEND_TOO_LARGE, ATTEND_ARG_LATER, merge, [](StateCall& c) { c.later = last_float(); }},
    {ATTEND_CORRUPT, ATTEND_ARG_LATER, merge, [](StateCall& c) { c.w.scores.data[20] ^= 1; }},
    {ATTEND_MISMATCH, ATTEND_ARG_LATER, merge,
     [](StateCall& c) {
       attend_problem other = *c.problem;
       other.states = c.later, other.first_key = 512;
       attend_begin(&other);
     }},
};

inline attend_status call_of(StateUse use, const StateCall& call) {
  return use == begin    ? attend_begin(call.problem)
         : use == finish ? attend_finish(call.problem)
                         : attend_merge(call.problem, call.later);
}

// Makes the call with the fault; what is wrong with the answer, or nothing. States are of the world's, later ones its scores.
inline std::string wrong_answer(World& world, const StateFault& fault, StateUse use) {
  std::memset(static_cast<void*>(world.problem()), 0, 2 * sizeof(attend_problem));
  attend_problem& p = *world.problem();
  p = no_problem();  // neither query nor keys
  p.layout = ATTEND_BATCH_HEAD_TOKEN_DIM;
  p.batch = 2, p.query_heads = 2, p.value_dim = 5, p.queries = 3, p.keys = 0;
  p.output.data = world.output.data, p.lse.data = world.lse.data, p.sink_logits = world.options.as();
  for (Block* states : {&world.scores, &world.states}) {
    p.states = states->data;
    if (attend_begin(&p) != ATTEND_OK) return "attend_begin";
  }
  StateCall call = {world, &p, world.scores.data};
  fault.make(call);
  std::vector<unsigned char> bytes[2];
  const auto remember = [&](std::vector<unsigned char>& to) {
    for (const Block* block : {&world.output, &world.lse, &world.scores, &world.states}) {
      to.insert(to.end(), block->data, block->data + block->size);
    }
  };
  remember(bytes[0]);
  const int status = call_of(use, call);
  remember(bytes[1]);
  const bool read = world.inputs_changed();
  world.restore();
  if (status != wrong(fault.error, fault.argument))
    return explain(status) + " instead of " + explain(wrong(fault.error, fault.argument));
  if (read || (status != ATTEND_OK && bytes[0] != bytes[1])) return "memory after " + explain(status);
  if (use == finish && status == ATTEND_OK && bytes[0] == bytes[1]) return "nothing was written";
  return "";
}

// Calls that make, fill and cut a cache.
struct CacheCall {
  World& w;
  Random& r;
  attend_cache_shape shape = World::shape_of(2, 5, 3, World::capacity);
  const attend_cache_shape* passed = &shape;
  void* memory;
  std::size_t memory_size;
  attend_cache* cache;
  attend_input key, value;
  const attend_input *keys = &key, *values = &value;
  std::ptrdiff_t tokens = 2;
  CacheCall(const CacheCall&) = delete;
  CacheCall(World& world, Random& random)
      : w(world),
        r(random),
        memory(w.workspace.data),
        memory_size(attend_cache_size(&shape)),
        cache(w.cache.as<attend_cache>()),
        key{w.key.data, 0, 10, 5},
        value{w.value.data, 0, ATTEND_DENSE, ATTEND_DENSE} {}
};

enum CacheUse { shapes = 1, init = 2, append = 4, cut = 8 };
struct CacheFault {
  attend_error error;
  attend_argument argument;
  int uses;
  void (*make)(CacheCall&);
};
inline const CacheFault cache_faults[] = {
    {ATTEND_OK, ATTEND_ARG_NONE, 15, [](CacheCall&) {}},
    {ATTEND_MISSING, ATTEND_ARG_SHAPE, shapes | init, [](CacheCall& c) { c.passed = nullptr; }},
    {ATTEND_UNALIGNED, ATTEND_ARG_SHAPE, shapes | init, [](CacheCall& c) { shift(c.passed); }},
    {ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE, shapes | init, [](CacheCall& c) { c.shape.size -= 1; }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_KV_HEADS, shapes | init,
     [](CacheCall& c) { c.shape.kv_heads = outside(1, ATTEND_MAX_WIDTH, c.r); }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_HEAD_DIM, shapes | init,
     [](CacheCall& c) { c.shape.head_dim = outside(1, ATTEND_MAX_WIDTH, c.r); }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_VALUE_DIM, shapes | init,
     [](CacheCall& c) { c.shape.value_dim = outside(1, ATTEND_MAX_WIDTH, c.r); }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_MAX_TOKENS, shapes | init,
     [](CacheCall& c) { c.shape.max_tokens = outside(1, ATTEND_MAX_TOKENS, c.r); }},
    {ATTEND_TOO_LARGE, ATTEND_ARG_MAX_TOKENS, shapes | init,
     [](CacheCall& c) {
       c.shape.kv_heads = c.shape.head_dim = c.shape.value_dim = ATTEND_MAX_WIDTH, c.shape.max_tokens = ATTEND_MAX_TOKENS;
     }},
    {ATTEND_UNKNOWN, ATTEND_ARG_KEY_FORMAT, shapes | init, [](CacheCall& c) { c.shape.key_format = c.r.between(4, 9); }},
    {ATTEND_UNKNOWN, ATTEND_ARG_VALUE_FORMAT, shapes | init, [](CacheCall& c) { c.shape.value_format = -c.r.between(1, 9); }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_WINDOW_KEYS, shapes | init,
     [](CacheCall& c) { c.shape.window_keys = outside(0, ATTEND_MAX_TOKENS, c.r); }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_SINK_TOKENS, shapes | init,
     [](CacheCall& c) { c.shape.window_keys = 9, c.shape.sink_tokens = outside(0, ATTEND_MAX_TOKENS, c.r); }},
    {ATTEND_NO_EFFECT, ATTEND_ARG_SINK_TOKENS, shapes | init, [](CacheCall& c) { c.shape.sink_tokens = 1; }},
    {ATTEND_MISSING, ATTEND_ARG_MEMORY, init, [](CacheCall& c) { c.memory = nullptr; }},
    {ATTEND_UNALIGNED, ATTEND_ARG_MEMORY, init, [](CacheCall& c) { shift(c.memory, std::uintptr_t(c.r.between(1, 7))); }},
    {ATTEND_TOO_SMALL, ATTEND_ARG_MEMORY_SIZE, init,
     [](CacheCall& c) { c.memory_size -= std::size_t(c.r.between(1, int(c.memory_size))); }},
    {ATTEND_TOO_SMALL, ATTEND_ARG_MEMORY_SIZE, init,
     [](CacheCall& c) { c.memory_size = SIZE_MAX, c.memory = reinterpret_cast<void*>(UINTPTR_MAX - 63); }},
    {ATTEND_MISSING, ATTEND_ARG_CACHE, append | cut, [](CacheCall& c) { c.cache = nullptr; }},
    {ATTEND_UNALIGNED, ATTEND_ARG_CACHE, append | cut, [](CacheCall& c) { shift(c.cache); }},
    {ATTEND_CORRUPT, ATTEND_ARG_CACHE, append | cut,
     [](CacheCall& c) { c.w.cache.data[c.r.between(0, World::head_bytes - 1)] ^= 0x40; }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_TOKENS, append, [](CacheCall& c) { c.tokens = outside(0, ATTEND_MAX_TOKENS, c.r); }},
    {ATTEND_OUT_OF_RANGE, ATTEND_ARG_TOKENS, cut, [](CacheCall& c) { c.tokens = outside(0, World::held, c.r); }},
    {ATTEND_FULL, ATTEND_ARG_CACHE, append, [](CacheCall& c) { c.tokens = World::capacity - World::held + c.r.between(1, 9); }},
    {ATTEND_MISSING, ATTEND_ARG_KEY, append, [](CacheCall& c) { c.keys = nullptr; }},
    {ATTEND_MISSING, ATTEND_ARG_KEY, append, [](CacheCall& c) { c.key.data = nullptr; }},
    {ATTEND_UNALIGNED, ATTEND_ARG_KEY, append, [](CacheCall& c) { shift(c.key.data, 2); }},
    {ATTEND_TOO_LARGE, ATTEND_ARG_KEY, append, [](CacheCall& c) { c.key.head_stride = PTRDIFF_MAX; }},
    {ATTEND_SHARED_ELEMENTS, ATTEND_ARG_KEY, append, [](CacheCall& c) { c.key.head_stride = 0; }},
    {ATTEND_MISSING, ATTEND_ARG_VALUE, append, [](CacheCall& c) { c.values = nullptr; }},
    {ATTEND_UNALIGNED, ATTEND_ARG_VALUE, append, [](CacheCall& c) { shift(c.value.data); }},
    {ATTEND_TOO_LARGE, ATTEND_ARG_VALUE, append, [](CacheCall& c) { c.value.data = last_float(); }},
    {ATTEND_SHARED_ELEMENTS, ATTEND_ARG_VALUE, append, [](CacheCall& c) { c.value.token_stride = 0; }},
    {ATTEND_OVERLAP, ATTEND_ARG_VALUE, append, [](CacheCall& c) { c.value.data = c.w.cache.as() + c.r.between(0, 200); }},
};

inline attend_status call_of(CacheUse use, CacheCall& c) {
  attend_cache* made = nullptr;
  return use == shapes   ? attend_cache_check(c.passed)
         : use == init   ? attend_cache_init(c.passed, c.memory, c.memory_size, &made)
         : use == append ? attend_cache_append(c.cache, c.tokens, c.keys, c.values)
                         : attend_cache_truncate(c.cache, c.tokens);
}

inline std::string wrong_answer(World& world, const CacheFault& fault, CacheUse use, Random& random) {
  CacheCall call(world, random);
  fault.make(call);
  world.cache.remember();
  const attend_status status = call_of(use, call), expected = wrong(fault.error, fault.argument);
  const bool touched = world.changed();
  world.workspace.restore();
  if (status != expected) return explain(status) + " instead of " + explain(expected);
  if (status != ATTEND_OK && touched) return "memory after " + explain(status);
  if (use == shapes && (attend_cache_size(call.passed) == 0) != (status != ATTEND_OK)) return "attend_cache_size";
  return "";
}

}  // namespace attend_test
