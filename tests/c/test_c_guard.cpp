// The calls of the C surface touch nothing beside their arrays, whatever the widths are.
#include <doctest/doctest.h>

#include "../support/guarded.h"

#if ATTEND_TEST_GUARDS

#include "attend/attend_c.h"
#include "attend/c/integer.h"

using namespace attend_test;

namespace {

constexpr int query_heads = 2, kv_heads = 1;

// Memory that is no result: caches and work memory.
void* memory(GuardedArrays& arrays, std::size_t bytes) { return arrays.work<char>(bytes); }

attend_problem extents(attend_status (*init)(attend_problem*, std::size_t), int batch, int queries, int keys, int head_dim,
                       int value_dim) {
  attend_problem p;
  init(&p, sizeof p);
  p.options = ATTEND_CAUSAL;
  p.batch = batch, p.query_heads = query_heads, p.kv_heads = kv_heads, p.head_dim = head_dim, p.value_dim = value_dim;
  p.queries = queries, p.keys = keys, p.offset = keys - queries;
  return p;
}

std::size_t count(const attend_problem& p, std::ptrdiff_t rows, std::ptrdiff_t width) {
  return std::size_t(p.batch * rows * width);
}

void run(GuardedArrays& arrays, const attend_problem& p, bool in_parts = false) {
  const std::size_t bytes = attend_workspace_size(&p);
  void* const workspace = memory(arrays, bytes);
  for (int part = 0; in_parts && part < 3; ++part) CHECK(attend_run_part(&p, part, 3, workspace, bytes) == ATTEND_OK);
  if (!in_parts) CHECK(attend_run(&p, workspace, bytes) == ATTEND_OK);
}

// The same in two runs with states, one after the other or, from a multiple of ATTEND_SEGMENT_KEYS on, each with states of its
// own.
void run_states(GuardedArrays& arrays, attend_problem p, std::ptrdiff_t stop) {
  const std::size_t floats = attend_state_size(&p) / sizeof(float);
  void *const states = arrays.zeros(floats), *const later = arrays.zeros(floats);
  const bool merges = stop == ATTEND_SEGMENT_KEYS;
  p.key.token_stride = p.head_dim, p.value.token_stride = p.value_dim;
  p.key.head_stride = p.value.head_stride = 0;
  const std::ptrdiff_t keys = p.keys;
  p.states = states, p.keys = stop;
  CHECK(attend_begin(&p) == ATTEND_OK);
  run(arrays, p);
  p.states = merges ? later : states, p.keys = keys, p.first_key = stop, p.origin = 0;
  if (merges) CHECK(attend_begin(&p) == ATTEND_OK);
  run(arrays, p);
  p.states = states;
  if (merges) CHECK(attend_merge(&p, later) == ATTEND_OK);
  CHECK(attend_finish(&p) == ATTEND_OK);
}

attend_cache* new_cache(GuardedArrays& arrays, const attend_problem& p, int format, int window, bool integers, int tokens = 41,
                        int sink_tokens = 2) {
  attend_cache_shape shape;
  attend_cache_shape_init(&shape, sizeof shape);
  shape.kv_heads = kv_heads, shape.head_dim = p.head_dim, shape.value_dim = p.value_dim;
  shape.max_tokens = window > 0 ? tokens + 40 : tokens;
  shape.key_format = shape.value_format = format;
  shape.window_keys = window, shape.sink_tokens = window > 0 ? sink_tokens : 0, shape.integers = integers;
  attend_cache* cache = nullptr;
  const std::size_t bytes = attend_cache_size(&shape);
  CHECK(attend_cache_init(&shape, memory(arrays, bytes), bytes, &cache) == ATTEND_OK);
  return cache;
}

// Of keys in pages, in descending order: the table has no entry, and the pool no page, that is not read.
void use_pages(GuardedArrays& arrays, attend_problem& p, std::ptrdiff_t page_keys) {
  const std::ptrdiff_t pages = p.batch * ((p.keys + page_keys - 1) / page_keys);
  std::int32_t* const table = arrays.zeros<std::int32_t>(std::size_t(pages));
  for (std::ptrdiff_t page = 0; page < pages; ++page) table[page] = std::int32_t(pages - 1 - page);
  p.pages = {table, ATTEND_DENSE, page_keys, pages};
}
std::size_t pool_count(const attend_problem& p, std::ptrdiff_t width) {
  return std::size_t(p.pages.count * p.pages.page_keys * width);
}

// Of the cache's tokens.
void use_cache(attend_problem& p, attend_cache* cache, int window) {
  p.cache = cache;
  p.keys = ATTEND_ALL_KEYS, p.offset = ATTEND_DEFAULT_OFFSET;
  if (window > 0) p.window_left = window - p.queries, p.sink_tokens = 2;
}

}  // namespace

TEST_CASE("guards: the C surface's calls on arrays of floats") {
  for_each_guarded_width([](GuardedArrays& arrays, int width, int other) {
    for (const Format format : {Format::float32, Format::float16, Format::bfloat16, Format::int8}) {
      const int keys = 21, queries = format == Format::float16 ? 1 : 3;
      attend_problem p = extents(attend_problem_init, 2, queries, keys, width, other);
      const Format outside = format == Format::int8 ? Format::float32 : format;
      p.key_format = p.value_format = int(format), p.query_format = p.output_format = int(outside);
      p.query.data = arrays.numbers(outside, count(p, queries * query_heads, width));
      p.key.data = arrays.numbers(format, count(p, keys, width)), p.value.data = arrays.numbers(format, count(p, keys, other));
      const auto use_output = [&] {
        const std::size_t outputs = count(p, queries * query_heads, other);
        p.output.data = outside == Format::float32 ? static_cast<void*>(arrays.output(outputs))
                                                   : static_cast<void*>(arrays.output<std::uint16_t>(outputs));
      };
      use_output();
      if (format == Format::int8) p.key_scales.data = p.value_scales.data = arrays.floats(count(p, keys, 1));
      run(arrays, p);
      run(arrays, p, true);

      std::ptrdiff_t* const lengths = arrays.zeros<std::ptrdiff_t>(2);
      lengths[0] = keys - 1, lengths[1] = keys;
      attend_problem all = p;
      all.key_lengths = lengths;
      const bool bits = format == Format::bfloat16;
      const std::size_t elements = count(p, queries * query_heads, keys);
      all.mask.data = arrays.integers<std::uint8_t>(bits ? (elements + 7) / 8 : elements);
      all.mask.kind = bits ? ATTEND_MASK_BITS : ATTEND_MASK_BYTES;
      all.bias.data = arrays.floats(elements);
      all.alibi_slopes = arrays.floats(query_heads), all.sink_logits = arrays.floats(query_heads);
      all.relative_bias = {arrays.floats(query_heads * (4 + 1 + 2)), ATTEND_DENSE, 4, 2};
      all.lse.data = arrays.output(count(p, queries, query_heads));
      all.scores.data = arrays.output(elements), all.scores.stage = ATTEND_SCORES_WEIGHTS;
      use_output(), all.output = p.output;
      run(arrays, all);

      attend_problem paged = p;
      use_pages(arrays, paged, 16);
      paged.key.data = arrays.numbers(format, pool_count(paged, width));
      paged.value.data = arrays.numbers(format, pool_count(paged, other));
      if (format == Format::int8) paged.key_scales.data = paged.value_scales.data = arrays.floats(pool_count(paged, 1));
      use_output(), paged.output = p.output;
      run(arrays, paged);
      run(arrays, paged, true);

      use_output();
      p.batch = 1;
      if (format != Format::int8) run_states(arrays, p, 9);
    }
  });
}

TEST_CASE("guards: the C surface's caches of floats") {
  for_each_guarded_width([](GuardedArrays& arrays, int width, int other) {
    for (const Format format : {Format::float32, Format::float16, Format::bfloat16, Format::int8}) {
      for (const int window : {0, 18}) {
        constexpr int tokens = 40;
        attend_problem p = extents(attend_problem_init, 1, window > 0 ? 1 : 3, tokens, width, other);
        attend_cache* const cache = new_cache(arrays, p, int(format), window, false);
        for (const int added : {tokens - 1, 1}) {
          const attend_input key = {arrays.floats(std::size_t(added * width)), ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
          const attend_input value = {arrays.floats(std::size_t(added * other)), ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
          CHECK(attend_cache_append(cache, added, &key, &value) == ATTEND_OK);
        }
        use_cache(p, cache, window);
        p.query.data = arrays.floats(count(p, p.queries * query_heads, width));
        p.output.data = arrays.output(count(p, p.queries * query_heads, other));
        run(arrays, p);
        run(arrays, p, true);
      }
    }
  });
}

namespace {

const attend_integer_constants* constants_of(GuardedArrays& arrays, int head_dim) {
  attend_integer_scales scales;
  attend_integer_scales_init(&scales, sizeof scales);
  scales.query_scale = scales.key_scale = 0.02, scales.value_scale = scales.output_scale = 0.01;
  attend_integer_constants* const constants = arrays.zeros<attend_integer_constants>(1);
  CHECK(attend_integer_prepare(&scales, head_dim, constants) == ATTEND_OK);
  return constants;
}

}  // namespace

TEST_CASE("guards: the C surface's calls in integers") {
  for_each_guarded_width([](GuardedArrays& arrays, int width, int other) {
    const attend_integer_constants* const constants = constants_of(arrays, width);
    for (const int format : {ATTEND_INT8, ATTEND_INT16, ATTEND_FLOAT32}) {
      constexpr int keys = 64;
      const int queries = format == ATTEND_INT8 ? 1 : 3;
      attend_problem p = extents(attend_integer_problem_init, 2, queries, keys, width, other);
      p.constants = constants;
      p.output_format = format;
      p.query.data = arrays.integers(count(p, queries * query_heads, width));
      p.key.data = arrays.integers(count(p, keys, width)), p.value.data = arrays.integers(count(p, keys, other));
      const auto use_output = [&] {
        const std::size_t outputs = count(p, queries * query_heads, other);
        if (format == ATTEND_INT8) p.output.data = arrays.output<std::int8_t>(outputs);
        if (format == ATTEND_INT16) p.output.data = arrays.output<std::int16_t>(outputs);
        if (format == ATTEND_FLOAT32) p.output.data = arrays.output(outputs);
      };
      use_output();
      run(arrays, p);
      run(arrays, p, true);
      attend_problem all = p;
      all.mask.data = arrays.integers<std::uint8_t>(count(p, queries * query_heads, keys)), all.mask.kind = ATTEND_MASK_BYTES;
      std::uint16_t* const token_scales = arrays.zeros<std::uint16_t>(count(p, keys, 1));
      for (int j = 0; j < 2 * keys; ++j) token_scales[j] = std::uint16_t(32768 - 100 * j);
      all.key_scales.data = all.value_scales.data = token_scales;
      use_output(), all.output = p.output;
      run(arrays, all);
      attend_problem paged = p;
      paged.keys = paged.offset = keys - 9;
      use_pages(arrays, paged, 32);
      paged.key.data = arrays.integers(pool_count(paged, width)), paged.value.data = arrays.integers(pool_count(paged, other));
      use_output(), paged.output = p.output;
      run(arrays, paged);
      use_output();
      p.batch = 1;
      run_states(arrays, p, 32);

      for (const int window : {0, 18}) {
        attend_cache* const cache = new_cache(arrays, p, 0, window, true);
        for (const int added : {40, window > 0 ? 40 : 0, 1}) {  // a ring goes round
          const attend_input key = {arrays.integers(count(p, added, width)), ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
          const attend_input value = {arrays.integers(count(p, added, other)), ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
          CHECK(attend_integer_cache_append(cache, added, &key, &value) == ATTEND_OK);
        }
        attend_problem cached = extents(attend_integer_problem_init, 1, queries, keys, width, other);
        cached.constants = constants, cached.output_format = format, cached.query = p.query;
        use_output(), cached.output = p.output;
        use_cache(cached, cache, window);
        run(arrays, cached);
      }
    }
  });
}

// Work memory has room for the sums of many segments, whatever keys lie in.
TEST_CASE("guards: the C surface's calls over many segments") {
  for (const int width : {1, 17, 40}) {
    check_guarded(width, [width](GuardedArrays& arrays) {
      for (const bool integers : {false, true}) {
        constexpr int keys = 9 * ATTEND_SEGMENT_KEYS + 40, queries = 3;
        const auto init = integers ? attend_integer_problem_init : attend_problem_init;
        attend_problem p = extents(init, 1, queries, keys, width, 41 - width);
        if (integers) p.constants = constants_of(arrays, width), p.output_format = ATTEND_FLOAT32;
        const auto numbers = [&](std::ptrdiff_t rows, std::ptrdiff_t columns) {
          return arrays.numbers(integers ? Format::int8 : Format::float32, count(p, rows, columns));
        };
        p.query.data = numbers(queries * query_heads, width);
        p.key.data = numbers(keys, width), p.value.data = numbers(keys, p.value_dim);
        attend_problem windowed = p, cached = p, ring = p;
        windowed.window_left = 5 * ATTEND_SEGMENT_KEYS, windowed.sink_tokens = 700;
        const attend_input key = p.key, value = p.value;
        for (attend_problem* each : {&cached, &ring}) {
          each->key = each->value = {nullptr, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE};
          const int window = each == &ring ? 4 * ATTEND_SEGMENT_KEYS : 0;
          attend_cache* const cache = new_cache(arrays, p, 0, window, integers, keys, 600);
          const auto append = integers ? attend_integer_cache_append : attend_cache_append;
          CHECK(append(cache, keys, &key, &value) == ATTEND_OK);
          use_cache(*each, cache, window);
          if (window > 0) each->sink_tokens = 600;
        }
        for (attend_problem* each : {&p, &windowed, &cached, &ring}) {
          each->output.data = arrays.output(count(p, queries * query_heads, p.value_dim));
          run(arrays, *each);
        }
      }
    });
  }
}

TEST_CASE("guards: the C surface's states, merged") {
  for_each_guarded_width([](GuardedArrays& arrays, int width, int other) {
    constexpr int keys = ATTEND_SEGMENT_KEYS + 9;
    attend_problem p = extents(attend_problem_init, 1, 1, keys, width, other);
    p.query.data = arrays.floats(count(p, query_heads, width));
    p.key.data = arrays.floats(count(p, keys, width)), p.value.data = arrays.floats(count(p, keys, other));
    p.output.data = arrays.output(count(p, query_heads, other));
    run_states(arrays, p, ATTEND_SEGMENT_KEYS);
    p = extents(attend_integer_problem_init, 1, 1, keys, width, other);
    p.constants = constants_of(arrays, width);
    p.query.data = arrays.integers(count(p, query_heads, width));
    p.key.data = arrays.integers(count(p, keys, width)), p.value.data = arrays.integers(count(p, keys, other));
    p.output.data = arrays.output<std::int8_t>(count(p, query_heads, other));
    run_states(arrays, p, ATTEND_SEGMENT_KEYS);
  });
}

#endif
