/* Programs as a user writes them, for tests/python/leave_out.py: it leaves out one line after another. What is left must be
 * refused or compute the same, but for lines with a comment that begins with "else": that says which other program it is. */
#include <attend/c/integer.h>
#include <attend/c/layers.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { batch = 2, tokens = 6, past = 4, added = 2, query_heads = 4, kv_heads = 2, dim = 8, page = 16 };

static float query[batch * tokens * query_heads * dim], key[batch * tokens * kv_heads * dim],
    value[batch * tokens * kv_heads * dim];
static float output[batch * tokens * query_heads * dim], lse[batch * tokens * query_heads];
static float scores[batch * query_heads * tokens * tokens];
static float bias[batch * query_heads * tokens * tokens + 4096];
static uint8_t mask[batch * query_heads * tokens * tokens + 4096];
static float fused[batch * tokens * 3 * query_heads * dim];
static float past_key[batch * past * kv_heads * dim], past_value[batch * past * kv_heads * dim];
static float new_key[batch * added * kv_heads * dim], new_value[batch * added * kv_heads * dim];
static uint16_t half[4][batch * tokens * query_heads * dim];
static int8_t bytes[3][batch * tokens * query_heads * dim];
static float pool[2][4 * page * kv_heads * dim];
static float states[4][16 + batch * tokens * query_heads * (19 + 2 * dim + ATTEND_DEFAULT_STATE_NODES * (dim + 3))];
static float long_key[1024 * kv_heads * dim], long_value[1024 * kv_heads * dim];
static _Alignas(ATTEND_ALIGNMENT) unsigned char memory[1 << 17], work[1 << 17];

static void fill(float* to, size_t count, unsigned seed) {
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    to[i] = (float)((int)(seed >> 22) - 512) / 256.0f;
  }
}
#define FILL(array, seed) fill(array, sizeof array / sizeof *array, seed)

static void must(attend_status status) {
  if (status == ATTEND_OK) return;
  printf("%s: %s\n", attend_argument_name(status), attend_error_text(status));
  exit(1);
}
static void run(const attend_problem* problem) { must(attend_run(problem, work, sizeof work)); }

static void arrays(void) {
  attend_problem p;
  must(attend_problem_init(&p, sizeof p));
  p.options = ATTEND_CAUSAL; /* else every key is seen */
  p.batch = batch;           /* else the first batch row alone */
  p.query_heads = query_heads;
  p.kv_heads = kv_heads;
  p.head_dim = dim;
  p.value_dim = dim;
  p.queries = tokens;
  p.keys = tokens;
  p.scale = 0.25f; /* else 1 / sqrt(head_dim) */
  p.query.data = query;
  p.key.data = key;
  p.value.data = value;
  p.output.data = output;
  run(&p); /* else nothing is written */
}

/* What the programs below have in common: extents; and most of them arrays. */
static attend_problem extents(int queries, int keys) {
  attend_problem p;
  must(attend_problem_init(&p, sizeof p));
  p.batch = batch, p.query_heads = query_heads, p.kv_heads = kv_heads, p.head_dim = p.value_dim = dim;
  p.queries = queries, p.keys = keys;
  return p;
}
static attend_problem problem(int queries, int keys) {
  attend_problem p = extents(queries, keys);
  p.query.data = query, p.key.data = key, p.value.data = value, p.output.data = output;
  return p;
}

static void masks(void) {
  attend_problem p = problem(tokens, tokens);
  p.mask.data = mask; /* [batch][key] */
  p.mask.kind = ATTEND_MASK_BYTES;
  p.mask.batch_stride = tokens;
  p.mask.head_stride = 0;
  p.mask.query_stride = 0;
  p.bias.data = bias;       /* [query][key], of more columns than there are keys */
  p.bias.query_stride = 16; /* else rows without gaps */
  p.bias.head_stride = 0;
  p.bias.batch_stride = 0;
  run(&p); /* else nothing is written */
}

static void head_mask(void) {
  attend_problem p = problem(tokens, tokens);
  p.bias.data = bias; /* else no bias. [query head][query][key], rows 16 apart, the same for the batch */
  p.bias.batch_stride = 0;
  p.bias.head_stride = 16 * tokens;
  p.bias.query_stride = 16;
  run(&p); /* else nothing is written */
}

static void fused_array(void) {
  attend_problem p = extents(tokens, tokens);
  p.kv_heads = query_heads, p.output.data = output;
  p.query.data = fused;
  p.query.batch_stride = 3 * tokens * query_heads * dim;
  p.query.token_stride = 3 * query_heads * dim;
  p.query.head_stride = dim;
  p.key.data = fused + query_heads * dim;
  p.key.batch_stride = 3 * tokens * query_heads * dim;
  p.key.token_stride = 3 * query_heads * dim;
  p.key.head_stride = dim;
  p.value.data = fused + 2 * query_heads * dim;
  p.value.batch_stride = 3 * tokens * query_heads * dim;
  p.value.token_stride = 3 * query_heads * dim;
  p.value.head_stride = dim;
  run(&p); /* else nothing is written */
}

static void heads_first(void) {
  attend_problem p = problem(tokens, tokens);
  p.query.batch_stride = tokens * query_heads * dim;
  p.query.token_stride = dim;
  p.query.head_stride = tokens * dim;
  p.output.batch_stride = tokens * query_heads * dim;
  p.output.token_stride = dim;
  p.output.head_stride = tokens * dim;
  run(&p); /* else nothing is written */
}

static void everything(void) {
  static const float slopes[query_heads] = {0.5f, 0.25f, 0.125f, 0.0625f}, sinks[query_heads] = {1, 2, 3, 4};
  static const ptrdiff_t lengths[batch] = {tokens, 3};
  attend_problem p = problem(3, tokens);
  p.options = ATTEND_CAUSAL; /* else only the window masks keys */
  p.offset = tokens - 3;
  p.key_lengths = lengths; /* else all keys exist */
  p.window_left = 2;
  p.sink_tokens = 1;       /* else no attention sinks */
  p.soft_cap = 20;         /* else no cap */
  p.alibi_slopes = slopes; /* else no ALiBi */
  p.relative_bias.data = bias;
  p.relative_bias.left = 3;
  p.relative_bias.right = 2;
  p.relative_bias.head_stride = 0; /* else a table for each head */
  p.sink_logits = sinks;           /* else no logits of sinks */
  p.lse.data = lse;                /* else no log-sum-exp */
  p.scores.data = scores;
  p.scores.stage = ATTEND_SCORES_WEIGHTS;
  run(&p); /* else nothing is written */
}

static void halves(void) {
  attend_problem p = extents(tokens, tokens);
  p.query.data = half[0];
  p.key.data = half[1];
  p.value.data = half[2];
  p.output.data = half[3];
  p.query_format = ATTEND_FLOAT16;
  p.key_format = ATTEND_FLOAT16;
  p.value_format = ATTEND_FLOAT16;
  p.output_format = ATTEND_FLOAT16;
  run(&p); /* else nothing is written */
}

static void int8(void) {
  attend_problem p = extents(tokens, tokens);
  p.query.data = query, p.output.data = output;
  p.key.data = bytes[0];
  p.value.data = bytes[1];
  p.key_format = ATTEND_INT8;
  p.value_format = ATTEND_INT8;
  p.key_scales.data = past_value;
  p.value_scales.data = new_key;
  run(&p); /* else nothing is written */
}

static void cache(void) {
  attend_cache_shape shape;
  must(attend_cache_shape_init(&shape, sizeof shape));
  shape.kv_heads = kv_heads;
  shape.head_dim = dim;
  shape.value_dim = dim;
  shape.max_tokens = 1000;
  shape.key_format = ATTEND_INT8;      /* else keys as floats */
  shape.value_format = ATTEND_FLOAT16; /* else values as floats */
  shape.window_keys = 20;
  shape.sink_tokens = 2;
  attend_cache* kept = NULL;
  must(attend_cache_init(&shape, memory, sizeof memory, &kept));
  attend_problem p;
  must(attend_problem_init(&p, sizeof p));
  p.options = ATTEND_CAUSAL;
  p.query_heads = query_heads;
  p.kv_heads = kv_heads;
  p.head_dim = dim;
  p.value_dim = dim;
  p.queries = 1;
  p.cache = kept;
  p.window_left = 19;
  p.sink_tokens = 2; /* else no attention sinks */
  p.query.data = query;
  p.output.data = output;
  attend_input keys = {NULL, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE}, values = keys;
  for (int t = 0; t < 100; ++t) {
    keys.data = long_key + t * kv_heads * dim;
    values.data = long_value + t * kv_heads * dim;
    must(attend_cache_append(kept, 1, &keys, &values));
    run(&p); /* else nothing is written */
  }
}

static void slices(void) {
  attend_problem p = problem(tokens, tokens);
  p.options = ATTEND_CAUSAL; /* else every key is seen */
  p.offset = 0;
  p.states = states[0];
  p.origin = 0;
  p.key.batch_stride = tokens * kv_heads * dim;
  p.value.batch_stride = tokens * kv_heads * dim;
  p.key.token_stride = kv_heads * dim;
  p.value.token_stride = kv_heads * dim;
  must(attend_begin(&p));
  for (int first = 0; first < tokens; first += 2) {
    p.first_key = first;
    p.keys = first + 2;
    run(&p);
  }
  must(attend_finish(&p)); /* else nothing is written */
}

static void two_arrays(void) {
  attend_problem both = extents(added, ATTEND_ALL_KEYS);
  both.query.data = query, both.output.data = output;
  both.options = ATTEND_CAUSAL;
  both.states = states[0];
  both.offset = past;
  both.bias.data = bias;
  both.bias.keys = past + added;
  attend_problem first = both, second = both;
  first.key.data = past_key;
  first.value.data = past_value;
  first.key.batch_stride = past * kv_heads * dim;
  first.value.batch_stride = past * kv_heads * dim;
  first.keys = past;
  second.key.data = new_key;
  second.value.data = new_value;
  second.key.batch_stride = added * kv_heads * dim;
  second.value.batch_stride = added * kv_heads * dim;
  second.keys = past + added;
  second.origin = past;
  second.first_key = past;
  must(attend_begin(&first));
  run(&first);
  run(&second);
  must(attend_finish(&second)); /* else nothing is written */
}

/* The same with one struct for both arrays. */
static void one_struct(void) {
  attend_problem p = extents(added, ATTEND_ALL_KEYS);
  p.query.data = query, p.output.data = output;
  p.batch = 1;
  p.options = ATTEND_CAUSAL;
  p.offset = past;
  p.states = states[0];
  p.key.data = past_key;
  p.value.data = past_value;
  p.keys = past;
  must(attend_begin(&p));
  run(&p);
  p.key.data = new_key;     /* else the same keys again: attend_c.h makes two structs of it, where this is refused */
  p.value.data = new_value; /* else likewise */
  p.keys = past + added;
  p.origin = past;
  p.first_key = past;
  run(&p);
  must(attend_finish(&p)); /* else nothing is written */
}

static void threads(void) {
  attend_problem p = extents(1, ATTEND_ALL_KEYS);
  p.batch = 1;
  p.query.data = query, p.output.data = output;
  p.key.data = long_key;
  p.value.data = long_value;
  attend_problem other = p;
  p.states = states[0];
  p.keys = 512;
  must(attend_begin(&p));
  run(&p);
  other.states = states[1];
  other.origin = 0;
  other.first_key = 512;
  other.keys = 1000;
  must(attend_begin(&other));
  run(&other);
  must(attend_save(&other, memory, sizeof memory, NULL));
  other.states = states[2];
  must(attend_load(&other, memory, sizeof memory));
  must(attend_merge(&p, states[2]));
  p.keys = 1000;
  must(attend_finish(&p)); /* else nothing is written */
}

static void pages(void) {
  static const int32_t table[batch][2] = {{2, 0}, {3, 1}};
  static const ptrdiff_t lengths[batch] = {20, 30};
  attend_problem p = extents(1, 30);
  p.query.data = query, p.output.data = output;
  p.key.data = pool[0];
  p.value.data = pool[1];
  p.key_lengths = lengths; /* else all keys exist */
  p.pages.table = table[0];
  p.pages.batch_stride = 2;
  p.pages.page_keys = page;
  p.pages.count = 4;
  run(&p); /* else nothing is written */
}

static void integers(void) {
  static attend_integer_constants constants;
  attend_integer_scales scales;
  attend_problem p;
  must(attend_integer_scales_init(&scales, sizeof scales));
  scales.query_scale = 0.02;
  scales.key_scale = 0.03;
  scales.value_scale = 0.01;
  scales.output_scale = 0.02;
  scales.scale = 0.25;           /* else 1 / sqrt(head_dim) */
  scales.query_zero_point = 5;   /* else 0 */
  scales.value_zero_point = -3;  /* else 0 */
  scales.output_zero_point = 10; /* else 0 */
  must(attend_integer_prepare(&scales, dim, &constants));
  must(attend_integer_problem_init(&p, sizeof p));
  p.options = ATTEND_CAUSAL; /* else every key is seen */
  p.batch = batch;           /* else the first batch row alone */
  p.query_heads = query_heads;
  p.kv_heads = kv_heads;
  p.head_dim = dim;
  p.value_dim = dim;
  p.queries = tokens;
  p.keys = tokens;
  p.query.data = bytes[2];
  p.key.data = bytes[0];
  p.value.data = bytes[1];
  p.output.data = output;
  p.output_format = ATTEND_INT16; /* else int8 */
  p.constants = &constants;
  p.mask.data = mask; /* [batch][key] */
  p.mask.kind = ATTEND_MASK_BYTES;
  p.mask.batch_stride = tokens;
  p.mask.head_stride = 0;
  p.mask.query_stride = 0;
  run(&p); /* else nothing is written */
}

static void integer_ring(void) {
  static attend_integer_constants constants[query_heads];
  attend_integer_scales scales;
  attend_cache_shape shape;
  attend_cache* kept = NULL;
  attend_problem p;
  must(attend_integer_scales_init(&scales, sizeof scales));
  scales.query_scale = scales.key_scale = scales.value_scale = scales.output_scale = 0.02;
  for (int head = 0; head < query_heads; ++head) {
    scales.key_scale = 0.01 + 0.01 * head; /* else all heads have the same */
    must(attend_integer_prepare(&scales, dim, &constants[head]));
  }
  must(attend_cache_shape_init(&shape, sizeof shape));
  shape.kv_heads = kv_heads, shape.head_dim = shape.value_dim = dim, shape.max_tokens = 1000;
  shape.window_keys = 20;
  shape.sink_tokens = 4;
  shape.integers = 1;
  must(attend_cache_init(&shape, memory, sizeof memory, &kept));
  must(attend_integer_problem_init(&p, sizeof p));
  p.query_heads = query_heads, p.kv_heads = kv_heads, p.head_dim = p.value_dim = dim;
  p.query.data = bytes[2], p.output.data = output;
  p.options = ATTEND_CAUSAL; /* else keys after the first of two queries */
  p.queries = 2;
  p.cache = kept;
  p.head_constants = constants;
  p.window_left = 18;
  p.sink_tokens = 4; /* else none is seen */
  attend_input keys = {NULL, ATTEND_DENSE, ATTEND_DENSE, ATTEND_DENSE}, values = keys;
  for (int t = 0; t < 100; t += 2) {
    keys.data = bytes[0] + t % 4 * kv_heads * dim;
    values.data = bytes[1] + t % 4 * kv_heads * dim;
    must(attend_integer_cache_append(kept, 2, &keys, &values));
    run(&p); /* else nothing is written */
  }
}

static void projection(void) {
  static attend_integer_multiplier multipliers[8];
  static int32_t offsets[8] = {100, -200, 300};
  attend_integer_linear linear = {0};
  for (int o = 0; o < 8; ++o) multipliers[o] = attend_integer_multiplier_of(0.001 * (o + 1));
  linear.weights.data = bytes[0];
  linear.weights.outputs = 8;
  linear.weights.inputs = 16;
  linear.weights.format = ATTEND_INT8;
  linear.weights.layout = ATTEND_INTEGER_ROWS;
  linear.multipliers = multipliers;
  linear.multiplier_count = 8;
  linear.bias = offsets;          /* else none */
  linear.input_zero_point = -3;   /* else 0 */
  linear.output_zero_point = 100; /* else 0 */
  linear.output_format = ATTEND_INT16;
  must(attend_packed_size(&linear.weights) > 0 ? ATTEND_OK : -1);
  must(attend_pack_weights(&linear.weights, memory, sizeof memory, &linear.weights));
  must(attend_integer_project(&linear, bytes[2], tokens, output)); /* else nothing is written */
}

static void (*const programs[])(void) = {arrays,  masks, head_mask, fused_array,  heads_first, everything,
                                         halves,  int8,  cache,     slices,       two_arrays,  one_struct,
                                         threads, pages, integers,  integer_ring, projection};

/* The sum of what was written. */
static uint64_t results(void) {
  const struct {
    const void* data;
    size_t size;
  } all[] = {{output, sizeof output}, {lse, sizeof lse}, {scores, sizeof scores}, {half[3], sizeof half[3]}};
  uint64_t sum = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    for (size_t at = 0; at < all[i].size; ++at) sum = sum * 0x100000001b3u + ((const unsigned char*)all[i].data)[at] + 1;
  return sum;
}

int main(int count, char** names) {
  const int number = count > 1 ? atoi(names[1]) : -1;
  if (number < 0 || number >= (int)(sizeof programs / sizeof *programs)) return 2;
  FILL(query, 1), FILL(key, 2), FILL(value, 3), FILL(bias, 4), FILL(fused, 5), FILL(past_key, 6), FILL(past_value, 7);
  FILL(new_key, 8), FILL(new_value, 9), FILL(pool[0], 10), FILL(pool[1], 11), FILL(long_key, 12), FILL(long_value, 13);
  for (size_t i = 0; i < sizeof mask; ++i) mask[i] = i % 3 != 0;
  for (size_t i = 0; i < sizeof half[0] / 2; ++i) half[0][i] = half[1][i] = half[2][i] = (uint16_t)(0x3000 + i * 37 % 2048);
  for (size_t i = 0; i < sizeof bytes[0]; ++i) bytes[0][i] = bytes[1][i] = bytes[2][i] = (int8_t)(i * 29 % 251);
  memset(output, 0x7f, sizeof output), memset(half[3], 0x7f, sizeof half[3]), memset(states, 0xff, sizeof states);
  programs[number]();
  printf("%016llx\n", (unsigned long long)results());
  return 0;
}
