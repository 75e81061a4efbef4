/* Drives every function of attend_c.h from C11: a small problem with known answers over arrays and over a cache, and one
 * refusal of each function. tests/scripts/check_c.sh compiles it with a C compiler and links it with both libraries. */
#include <attend/attend_c.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "c_checks.h"

enum { batch = 2, tokens = 6, query_heads = 4, kv_heads = 2, head_dim = 8, value_dim = 3, room = 40 };

static float query[batch][tokens][query_heads][head_dim], key[batch][tokens][kv_heads][head_dim];
static float value[batch][tokens][kv_heads][value_dim];
static float output[batch][tokens][query_heads][value_dim], again[batch][tokens][query_heads][value_dim];
static alignas(ATTEND_ALIGNMENT) unsigned char workspace[1 << 16];
static alignas(ATTEND_ALIGNMENT) unsigned char memory[1 << 14];

static void fill(float* to, size_t count, unsigned seed) {
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    to[i] = (float)((int)(seed >> 22) - 512) / 512.0f;
  }
}

static attend_problem problem(void) {
  attend_problem p;
  IS(ATTEND_OK, attend_problem_init(&p, sizeof p));
  p.options = ATTEND_CAUSAL;
  p.batch = batch;
  p.query_heads = query_heads;
  p.kv_heads = kv_heads;
  p.head_dim = head_dim;
  p.value_dim = value_dim;
  p.queries = p.keys = tokens;
  p.query.data = query[0][0][0];
  p.key.data = key[0][0][0];
  p.value.data = value[0][0][0];
  p.output.data = output[0][0][0];
  return p;
}

static void arrays(void) {
  attend_problem p = problem();
  const size_t bytes = attend_workspace_size(&p);
  CHECK(bytes > 0 && bytes <= sizeof workspace);
  IS(ATTEND_OK, attend_check(&p));
  IS(ATTEND_OK, attend_run(&p, workspace, bytes));

  /* The first token sees itself alone. */
  for (int b = 0; b < batch; ++b) {
    for (int h = 0; h < query_heads; ++h) {
      for (int c = 0; c < value_dim; ++c) {
        const float error = output[b][0][h][c] - value[b][0][h / (query_heads / kv_heads)][c];
        CHECK(error < 1e-6f && error > -1e-6f);
      }
    }
  }

  /* In parts, with the default numbers written out: the same bits. */
  memset(again, 0xff, sizeof again);
  p.output.data = again[0][0][0];
  p.scale = 0.35355339f;
  p.offset = 0;
  IS(ATTEND_OK, attend_alibi_slopes(3, again[0][0][0]));
  CHECK(again[0][0][0][0] == 0.0625f && again[0][0][0][1] == 0.00390625f && again[0][0][0][2] == 0.25f);
  for (int part = 0; part < 3; ++part) IS(ATTEND_OK, attend_run_part(&p, part, 3, workspace, sizeof workspace));
  CHECK(memcmp(output, again, sizeof output) == 0);

  /* Without the code of options: the same bits, and no parts. */
  attend_problem plain;
  IS(ATTEND_OK, attend_plain_problem_init(&plain, sizeof plain));
  const attend_problem usual = p;
  p.arithmetic = plain.arithmetic;
  memset(again, 0xff, sizeof again);
  IS(ATTEND_OK, attend_run(&p, workspace, sizeof workspace));
  CHECK(memcmp(output, again, sizeof output) == 0);
  SAYS(ATTEND_UNAVAILABLE, ATTEND_ARG_ARITHMETIC, attend_run_part(&p, 0, 3, workspace, sizeof workspace));
  p = usual;

  memset(again, 0x7f, sizeof again);
  SAYS(ATTEND_TOO_SMALL, ATTEND_ARG_WORKSPACE, attend_run(&p, workspace, bytes - 1));
  SAYS(ATTEND_OUT_OF_RANGE, ATTEND_ARG_PART, attend_run_part(&p, 3, 3, workspace, sizeof workspace));
  p.head_dim = 0;
  SAYS(ATTEND_OUT_OF_RANGE, ATTEND_ARG_HEAD_DIM, attend_check(&p));
  CHECK(attend_workspace_size(&p) == 0);
  SAYS(ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE, attend_problem_init(&p, 3));
  for (size_t i = 0; i < sizeof again; ++i) CHECK(((const unsigned char*)again)[i] == 0x7f);
}

/* The keys in two calls, and of two threads: the bits of one call. */
static void states(void) {
  enum { floats = 19 + 2 * value_dim + ATTEND_DEFAULT_STATE_NODES * (value_dim + 3) };
  static float of_first[16 + batch * tokens * query_heads * floats], of_later[sizeof of_first / sizeof(float)];
  attend_problem p = problem();
  p.output.data = again[0][0][0];
  CHECK(attend_state_size(&p) == sizeof of_first);
  SAYS(ATTEND_MISSING, ATTEND_ARG_STATES, attend_finish(&p));
  p.states = of_first;
  p.offset = 0;
  p.key.batch_stride = tokens * kv_heads * head_dim;
  p.key.token_stride = kv_heads * head_dim;
  p.value.batch_stride = tokens * kv_heads * value_dim;
  p.value.token_stride = kv_heads * value_dim;
  p.keys = 2;
  SAYS(ATTEND_CORRUPT, ATTEND_ARG_STATES, attend_run(&p, workspace, sizeof workspace));
  IS(ATTEND_OK, attend_begin(&p));
  IS(ATTEND_OK, attend_run(&p, workspace, sizeof workspace));
  SAYS(ATTEND_MISMATCH, ATTEND_ARG_FIRST_KEY, attend_run(&p, workspace, sizeof workspace));
  p.first_key = 2;
  p.keys = tokens;
  SAYS(ATTEND_AMBIGUOUS, ATTEND_ARG_ORIGIN, attend_run(&p, workspace, sizeof workspace));
  p.origin = 0;
  memset(again, 0xff, sizeof again);
  IS(ATTEND_OK, attend_run(&p, workspace, sizeof workspace));
  IS(ATTEND_OK, attend_finish(&p));
  CHECK(memcmp(output, again, sizeof output) == 0);

  /* States go on where others stand: all keys to new ones. */
  SAYS(ATTEND_MISSING, ATTEND_ARG_LATER, attend_merge(&p, NULL));
  SAYS(ATTEND_CORRUPT, ATTEND_ARG_LATER, attend_merge(&p, of_later));
  p.first_key = 0;
  p.states = of_later;
  IS(ATTEND_OK, attend_begin(&p));
  IS(ATTEND_OK, attend_run(&p, workspace, sizeof workspace));
  p.states = of_first;
  SAYS(ATTEND_MISMATCH, ATTEND_ARG_LATER, attend_merge(&p, of_later));
  IS(ATTEND_OK, attend_begin(&p));
  IS(ATTEND_OK, attend_merge(&p, of_later));
  memset(again, 0xff, sizeof again);
  IS(ATTEND_OK, attend_finish(&p));
  CHECK(memcmp(output, again, sizeof output) == 0);

  /* As bytes, by another program. */
  static unsigned char kept[sizeof of_first + 80];
  size_t saved = 0;
  CHECK(attend_saved_size(&p) > 80 && attend_saved_size(&p) <= sizeof kept);
  SAYS(ATTEND_TOO_SMALL, ATTEND_ARG_SIZE, attend_save(&p, kept, 80, &saved));
  IS(ATTEND_OK, attend_save(&p, kept, sizeof kept, &saved));
  CHECK(saved > 80 && saved <= attend_saved_size(&p));
  p.states = of_later;
  memset(of_later, 0xff, sizeof of_later);
  SAYS(ATTEND_CORRUPT, ATTEND_ARG_BYTES, attend_load(&p, kept, saved - 1));
  IS(ATTEND_OK, attend_load(&p, kept, saved));
  memset(again, 0xff, sizeof again);
  IS(ATTEND_OK, attend_finish(&p));
  CHECK(memcmp(output, again, sizeof output) == 0);
}

/* A window of one key shows a query itself alone, as a mask can. */
static void options(void) {
  static const unsigned char diagonal[tokens] = {1, 2, 4, 8, 16, 32};
  attend_problem p = problem();
  p.output.data = again[0][0][0];
  p.window_left = 0;
  IS(ATTEND_OK, attend_run(&p, workspace, sizeof workspace));
  static float by_mask[batch][tokens][query_heads][value_dim];
  p = problem();
  p.output.data = by_mask[0][0][0];
  p.mask.data = diagonal;
  p.mask.kind = ATTEND_MASK_BITS;
  p.mask.query_stride = 8;
  p.mask.batch_stride = p.mask.head_stride = 0;
  IS(ATTEND_OK, attend_run(&p, workspace, sizeof workspace));
  CHECK(memcmp(again, by_mask, sizeof again) == 0);
}

static void cache(void) {
  attend_cache_shape shape;
  IS(ATTEND_OK, attend_cache_shape_init(&shape, sizeof shape));
  SAYS(ATTEND_OUT_OF_RANGE, ATTEND_ARG_KV_HEADS, attend_cache_init(&shape, NULL, 0, NULL));
  CHECK(attend_cache_size(&shape) == 0);
  shape.kv_heads = kv_heads;
  shape.head_dim = head_dim;
  shape.value_dim = value_dim;
  shape.max_tokens = room;
  CHECK(attend_cache_size(&shape) > 0 && attend_cache_size(&shape) <= sizeof memory);
  attend_cache* kept = NULL;
  SAYS(ATTEND_MISSING, ATTEND_ARG_MEMORY, attend_cache_init(&shape, NULL, sizeof memory, &kept));
  IS(ATTEND_OK, attend_cache_init(&shape, memory, sizeof memory, &kept));
  ptrdiff_t most = 0;
  CHECK(attend_cache_tokens(kept, &most) == 0 && most == room);

  /* Token by token: the bits of the whole. */
  attend_problem p = problem();
  p.batch = p.queries = 1;
  p.keys = ATTEND_ALL_KEYS;
  attend_input keys = p.key, values = p.value;
  p.key.data = p.value.data = NULL;
  p.cache = kept;
  for (int t = 0; t < tokens; ++t) {
    keys.data = key[0][t][0];
    values.data = value[0][t][0];
    IS(ATTEND_OK, (t % 2 == 0 ? attend_cache_append : attend_plain_cache_append)(kept, 1, &keys, &values));
    p.query.data = query[0][t][0];
    p.output.data = again[0][t][0];
    IS(ATTEND_OK, attend_run(&p, workspace, sizeof workspace));
  }
  CHECK(memcmp(output[0], again[0], sizeof output[0]) == 0);
  CHECK(attend_cache_tokens(kept, NULL) == tokens);
  SAYS(ATTEND_FULL, ATTEND_ARG_CACHE, attend_cache_append(kept, room, &keys, &values));
  IS(ATTEND_OK, attend_cache_truncate(kept, 2));
  CHECK(attend_cache_tokens(kept, NULL) == 2);
  IS(ATTEND_OK, attend_cache_truncate(kept, 0));
  CHECK(attend_cache_tokens(kept, NULL) == 0);
  memory[4] ^= 1;
  SAYS(ATTEND_CORRUPT, ATTEND_ARG_CACHE, attend_check(&p));
  CHECK(attend_cache_tokens(kept, NULL) == -1 && attend_cache_tokens(kept, &most) == -1);
}

static int last; /* of the backends */

static void backends(void) {
  CHECK(attend_backend_name(0) != NULL && attend_backend_name(-2) == NULL);
  attend_problem p = problem();
  p.output.data = again[0][0][0];
  CHECK(attend_version() == ATTEND_VERSION && attend_bits_version() == ATTEND_BITS_VERSION);
  const char* name;
  for (int i = 0; (name = attend_backend_name(i)) != NULL; ++i) {
    last = i;
    if (attend_backend_use(name) % 256 == ATTEND_UNAVAILABLE) continue;
    CHECK(strcmp(attend_backend_name(ATTEND_BACKEND_IN_USE), name) == 0);
    memset(again, 0xff, sizeof again);
    IS(ATTEND_OK, attend_run(&p, workspace, sizeof workspace));
    CHECK(memcmp(output, again, sizeof output) == 0);
  }
  SAYS(ATTEND_UNKNOWN, ATTEND_ARG_NAME, attend_backend_use("abacus"));
}

int main(void) {
  fill(query[0][0][0], sizeof query / sizeof(float), 1);
  fill(key[0][0][0], sizeof key / sizeof(float), 2);
  fill(value[0][0][0], sizeof value / sizeof(float), 3);
  arrays();
  states();
  options();
  cache();
  backends();
  const attend_status status = attend_backend_use(attend_backend_name(last));
  CHECK(strcmp(attend_error_text(status), "ok") == 0);
  CHECK(strcmp(attend_argument_name(attend_backend_use(NULL)), "name") == 0);
  printf("%d checks, %d failed\n", passed + failed, failed);
  return failed > 0 || passed < 100;
}
