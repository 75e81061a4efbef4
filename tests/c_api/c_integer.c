/* Drives every function of attend/c/integer.h from C99: the same problem with constants that are computed, with constants that
 * were, one token after another over memory that grows, and over a ring. tests/checks/check_c.sh compiles it with a C compiler
 * and links it with both libraries. */
#include <attend/c/integer.h>
#include <string.h>

#include "c_checks.h"

enum { tokens = 120, room = 128, query_heads = 4, kv_heads = 2, head_dim = 16, value_dim = 8 };

static int8_t query[tokens][query_heads][head_dim], key[tokens][kv_heads][head_dim], value[tokens][kv_heads][value_dim];
static int8_t output[tokens][query_heads][value_dim], again[tokens][query_heads][value_dim];
static int8_t key_cache[kv_heads][room][head_dim], value_cache[kv_heads][room][value_dim];
static int8_t key_ring[96][kv_heads][head_dim], value_ring[96][kv_heads][value_dim];
static unsigned char work_memory[1 << 18];

static void* workspace(void) {
  return work_memory + (ATTEND_ALIGNMENT - (uintptr_t)work_memory % ATTEND_ALIGNMENT) % ATTEND_ALIGNMENT;
}
static const size_t workspace_size = sizeof work_memory - ATTEND_ALIGNMENT;

static void fill(int8_t* to, size_t count, unsigned seed) {
  size_t i;
  for (i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    to[i] = (int8_t)((int)(seed >> 24) - 128);
  }
}

static attend_integer_problem problem(const attend_integer_constants* constants) {
  attend_integer_problem p;
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
  attend_integer_problem p = problem(&constants);
  const size_t bytes = attend_integer_workspace_size(&p);
  int h, c;
  CHECK(memcmp(&constants, &in_flash, sizeof constants) == 0);
  CHECK(bytes > 0 && bytes <= workspace_size);
  IS(ATTEND_OK, attend_integer_check(&p));
  IS(ATTEND_OK, attend_integer_attention(&p, workspace(), bytes));
  /* The first token sees itself alone, and outputs have the scale of the values. */
  for (h = 0; h < query_heads; ++h) {
    for (c = 0; c < value_dim; ++c) CHECK(output[0][h][c] == value[0][h / (query_heads / kv_heads)][c]);
  }
  p.output.data = again[0][0];
  IS(ATTEND_OK, attend_integer_attention_part(&p, 1, 2, workspace(), bytes));
  IS(ATTEND_OK, attend_integer_attention_part(&p, 0, 2, workspace(), bytes));
  CHECK(memcmp(again, output, sizeof output) == 0);
}

/* Memory with room for more tokens is a cache. */
static void token_by_token(void) {
  int token, h;
  memset(again, 0x55, sizeof again);
  for (token = 0; token < tokens; ++token) {
    attend_integer_problem p = problem(&in_flash);
    for (h = 0; h < kv_heads; ++h) {
      memcpy(key_cache[h][token], key[token][h], head_dim);
      memcpy(value_cache[h][token], value[token][h], value_dim);
    }
    p.queries = 1;
    p.keys = token + 1;
    p.options = 0;
    p.query.data = query[token][0];
    p.output.data = again[token][0];
    p.key.data = key_cache[0][0];
    p.key.token_stride = head_dim;
    p.key.head_stride = room * head_dim;
    p.value.data = value_cache[0][0];
    p.value.token_stride = value_dim;
    p.value.head_stride = room * value_dim;
    IS(ATTEND_OK, attend_integer_attention(&p, workspace(), workspace_size));
  }
  CHECK(memcmp(again, output, sizeof output) == 0);
}

/* A ring for windows of 8 keys and the first 2 tokens; the same windows over the arrays. */
static void ring(void) {
  static const attend_integer_ring of = {9, 2};
  const ptrdiff_t rows = attend_integer_ring_rows(&of);
  int token;
  CHECK(rows > 0 && rows <= 96);
  for (token = 0; token < tokens; ++token) {
    attend_integer_problem p = problem(&in_flash);
    const ptrdiff_t row = attend_integer_ring_row(&of, token);
    CHECK(row >= 0 && row < rows);
    memcpy(key_ring[row], key[token], sizeof key[token]);
    memcpy(value_ring[row], value[token], sizeof value[token]);
    if (token < of.sink_tokens) {
      memcpy(key_ring[token], key[token], sizeof key[token]);
      memcpy(value_ring[token], value[token], sizeof value[token]);
    }
    p.queries = 1;
    p.keys = token + 1;
    p.offset = token;
    p.window_left = 8;
    p.sink_tokens = 2;
    p.query.data = query[token][0];
    p.output.data = output[token][0];
    IS(ATTEND_OK, attend_integer_attention(&p, workspace(), workspace_size));
    p.key.data = key_ring[0][0];
    p.value.data = value_ring[0][0];
    p.ring = of;
    p.output.data = again[token][0];
    IS(ATTEND_OK, attend_integer_attention(&p, workspace(), workspace_size));
  }
  CHECK(memcmp(again, output, sizeof output) == 0);
}

static void refused(void) {
  attend_integer_problem p = problem(NULL);
  SAYS(ATTEND_MISSING, ATTEND_ARG_CONSTANTS, attend_integer_check(&p));
  CHECK(attend_integer_workspace_size(&p) == 0);
  p = problem(&in_flash);
  SAYS(ATTEND_MISSING, ATTEND_ARG_WORKSPACE, attend_integer_attention(&p, NULL, workspace_size));
  SAYS(ATTEND_OUT_OF_RANGE, ATTEND_ARG_PART, attend_integer_attention_part(&p, 2, 2, workspace(), workspace_size));
}

int main(void) {
  fill(query[0][0], sizeof query, 1u);
  fill(key[0][0], sizeof key, 2u);
  fill(value[0][0], sizeof value, 3u);
  whole();
  token_by_token();
  ring();
  refused();
  printf("%d checks, %d failed\n", passed + failed, failed);
  return failed > 0;
}
