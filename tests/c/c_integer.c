/* Drives every function of attend/c/integer.h from C99: the same problem with constants that are computed, with constants that
 * were, one token after another over a cache, in steps, and over a ring. tests/scripts/check_c.sh compiles it with a C compiler
 * and links it with both libraries. */
#include <attend/c/integer.h>
#include <string.h>

#include "c_checks.h"

enum { tokens = 120, query_heads = 4, kv_heads = 2, head_dim = 16, value_dim = 8 };

static int8_t query[tokens][query_heads][head_dim], key[tokens][kv_heads][head_dim], value[tokens][kv_heads][value_dim];
static int8_t output[tokens][query_heads][value_dim], again[tokens][query_heads][value_dim];
static unsigned char work_memory[1 << 18], cache_memory[1 << 14], state_memory[1 << 19];

static void* aligned(unsigned char* memory) {
  return memory + (ATTEND_ALIGNMENT - (uintptr_t)memory % ATTEND_ALIGNMENT) % ATTEND_ALIGNMENT;
}
static void* workspace(void) { return aligned(work_memory); }
static const size_t workspace_size = sizeof work_memory - ATTEND_ALIGNMENT;

static void fill(int8_t* to, size_t count, unsigned seed) {
  size_t i;
  for (i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    to[i] = (int8_t)((int)(seed >> 24) - 128);
  }
}

static attend_problem problem(const attend_integer_constants* constants) {
  attend_problem p;
  IS(ATTEND_OK, attend_integer_problem_init(&p, sizeof p));
  p.options = ATTEND_CAUSAL;
  p.query_heads = query_heads;
  p.kv_heads = kv_heads;
  p.head_dim = head_dim;
  p.value_dim = value_dim;
  p.queries = p.keys = tokens;
  p.query.data = query[0][0];
  p.key.data = key[0][0];
  p.value.data = value[0][0];
  p.output.data = output[0][0];
  p.constants = constants;
  return p;
}

/* Scales 0.02, 0.03, 0.01 and 0.01 with heads of 16 numbers, as attend_integer_prepare has made them once. */
static const attend_integer_constants in_flash = {58091u, 1, 0, 34658u, 16384, 14, 0, 0, 0, 0, 0.01f};

static attend_integer_constants constants_of_scales(void) {
  attend_integer_scales scales;
  attend_integer_constants constants;
  IS(ATTEND_OK, attend_integer_scales_init(&scales, sizeof scales));
  SAYS(ATTEND_OUT_OF_RANGE, ATTEND_ARG_QUERY_SCALE, attend_integer_prepare(&scales, head_dim, &constants));
  scales.query_scale = 0.02;
  scales.key_scale = 0.03;
  scales.value_scale = scales.output_scale = 0.01;
  IS(ATTEND_OK, attend_integer_prepare(&scales, head_dim, &constants));
  return constants;
}

static void whole(void) {
  const attend_integer_constants constants = constants_of_scales();
  attend_problem p = problem(&constants);
  const size_t bytes = attend_workspace_size(&p);
  int h, c;
  CHECK(memcmp(&constants, &in_flash, sizeof constants) == 0);
  CHECK(bytes > 0 && bytes <= workspace_size);
  IS(ATTEND_OK, attend_check(&p));
  IS(ATTEND_OK, attend_run(&p, workspace(), bytes));
  /* The first token sees itself alone, and outputs have the scale of the values. */
  for (h = 0; h < query_heads; ++h) {
    for (c = 0; c < value_dim; ++c) CHECK(output[0][h][c] == value[0][h / (query_heads / kv_heads)][c]);
  }
  p.output.data = again[0][0];
  IS(ATTEND_OK, attend_run_part(&p, 1, 2, workspace(), bytes));
  IS(ATTEND_OK, attend_run_part(&p, 0, 2, workspace(), bytes));
  CHECK(memcmp(again, output, sizeof output) == 0);
}

static attend_cache* cache_of(ptrdiff_t window_keys, ptrdiff_t sink_tokens) {
  attend_cache_shape shape;
  attend_cache* cache = NULL;
  IS(ATTEND_OK, attend_cache_shape_init(&shape, sizeof shape));
  shape.kv_heads = kv_heads;
  shape.head_dim = head_dim;
  shape.value_dim = value_dim;
  shape.max_tokens = tokens;
  shape.window_keys = window_keys;
  shape.sink_tokens = sink_tokens;
  shape.integers = 1;
  CHECK(attend_cache_size(&shape) <= sizeof cache_memory - ATTEND_ALIGNMENT);
  IS(ATTEND_OK, attend_cache_init(&shape, aligned(cache_memory), sizeof cache_memory - ATTEND_ALIGNMENT, &cache));
  return cache;
}
static void append(attend_cache* cache, int token) {
  attend_input keys = {NULL, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE}, values = keys;
  keys.data = key[token][0];
  values.data = value[token][0];
  IS(ATTEND_OK, attend_integer_cache_append(cache, 1, &keys, &values));
}
static attend_problem over_cache(const attend_cache* cache, int token) {
  attend_problem p = problem(&in_flash);
  p.key.data = p.value.data = NULL;
  p.cache = cache;
  p.queries = 1;
  p.keys = ATTEND_ALL_KEYS;
  p.query.data = query[token][0];
  p.output.data = again[token][0];
  return p;
}

static void token_by_token(void) {
  attend_cache* const cache = cache_of(0, 0);
  int token;
  memset(again, 0x55, sizeof again);
  for (token = 0; token < tokens; ++token) {
    attend_problem p;
    append(cache, token);
    p = over_cache(cache, token);
    IS(ATTEND_OK, attend_run(&p, workspace(), workspace_size));
  }
  CHECK(memcmp(again, output, sizeof output) == 0);
}

/* Some keys at a time. */
static void in_steps(void) {
  attend_problem p = problem(&in_flash);
  p.states = aligned(state_memory);
  CHECK(attend_state_size(&p) > 0 && attend_state_size(&p) <= sizeof state_memory - ATTEND_ALIGNMENT);
  p.offset = 0;
  p.origin = 0;
  p.output.data = again[0][0];
  memset(again, 0x55, sizeof again);
  IS(ATTEND_OK, attend_begin(&p));
  for (p.keys = 64; p.first_key < tokens; p.first_key = p.keys, p.keys = tokens) {
    IS(ATTEND_OK, attend_run(&p, workspace(), workspace_size));
  }
  p.keys = tokens;
  IS(ATTEND_OK, attend_finish(&p));
  CHECK(memcmp(again, output, sizeof output) == 0);
}

/* A ring for windows of 8 keys and the first 2 tokens; the same windows over the arrays. */
static void ring(void) {
  attend_cache* const cache = cache_of(9, 2);
  int token;
  for (token = 0; token < tokens; ++token) {
    attend_problem p = problem(&in_flash);
    append(cache, token);
    p.queries = 1;
    p.keys = token + 1;
    p.offset = token;
    p.window_left = 8;
    p.sink_tokens = 2;
    p.query.data = query[token][0];
    p.output.data = output[token][0];
    IS(ATTEND_OK, attend_run(&p, workspace(), workspace_size));
    p = over_cache(cache, token);
    p.window_left = 8;
    p.sink_tokens = 2;
    IS(ATTEND_OK, attend_run(&p, workspace(), workspace_size));
  }
  CHECK(memcmp(again, output, sizeof output) == 0);
}

static void refused(void) {
  attend_problem p = problem(NULL);
  SAYS(ATTEND_MISSING, ATTEND_ARG_CONSTANTS, attend_check(&p));
  CHECK(attend_workspace_size(&p) == 0);
  p = problem(&in_flash);
  SAYS(ATTEND_MISSING, ATTEND_ARG_WORKSPACE, attend_run(&p, NULL, workspace_size));
  SAYS(ATTEND_OUT_OF_RANGE, ATTEND_ARG_PART, attend_run_part(&p, 2, 2, workspace(), workspace_size));
}

int main(void) {
  fill(query[0][0], sizeof query, 1u);
  fill(key[0][0], sizeof key, 2u);
  fill(value[0][0], sizeof value, 3u);
  whole();
  token_by_token();
  in_steps();
  ring();
  refused();
  printf("%d checks, %d failed\n", passed + failed, failed);
  return failed > 0;
}
