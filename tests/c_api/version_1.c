/* A program as it was compiled with the headers of version 1.0: it knows these structs and numbers, and none of today's headers. It
 * runs with every library of major version 1, so nothing here ever changes: a field that moves there is found here.
 *
 * Each problem has the keys 0 ... 3 of one head with the values 1, 2, 4, 8, and scale 0, so that the output is the mean of the
 * values of the keys that one field leaves visible. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct { const void* data; ptrdiff_t batch_stride, token_stride, head_stride; } Tensor;
typedef struct { const void* data; ptrdiff_t batch_stride, head_stride, query_stride, keys; int kind; } Mask; /* scores too */
typedef struct { const float* data; ptrdiff_t batch_stride, head_stride, query_stride, keys; } Bias;
typedef struct { const float* data; ptrdiff_t head_stride, left, right; } RelativeBias;
typedef struct { const void* data; ptrdiff_t batch_stride, head_stride; } Scales;
typedef struct { const int32_t* table; ptrdiff_t batch_stride, page_keys, count; } Pages;

typedef struct {
  size_t size;
  const void* arithmetic;
  uint32_t options;
  int layout;
  float scale, soft_cap;
  int query_format, key_format, value_format, output_format;
  ptrdiff_t batch, query_heads, kv_heads, head_dim, value_dim, queries, keys, offset;
  const ptrdiff_t* key_lengths;
  Tensor query, key, value, output;
  const void *cache, *constants, *head_constants;
  ptrdiff_t window_left, window_right, sink_tokens;
  Mask mask;
  Bias bias;
  const float* alibi_slopes;
  RelativeBias relative_bias;
  const float* sink_logits;
  Scales key_scales, value_scales;
  Tensor lse;
  Mask scores;
  ptrdiff_t origin;
  Pages pages;
  void* states;
  ptrdiff_t first_key;
} Problem;

typedef struct {
  size_t size;
  ptrdiff_t kv_heads, head_dim, value_dim, max_tokens;
  int key_format, value_format;
  ptrdiff_t window_keys, sink_tokens;
  int integers;
} CacheShape;

int attend_problem_init(Problem* problem, size_t size);
size_t attend_workspace_size(const Problem* problem);
int attend_run(const Problem* problem, void* workspace, size_t size);
size_t attend_state_size(const Problem* problem);
int attend_begin(const Problem* problem);
int attend_finish(const Problem* problem);
int attend_cache_shape_init(CacheShape* shape, size_t size);
int attend_cache_init(const CacheShape* shape, void* memory, size_t size, void** cache);
int attend_cache_append(void* cache, ptrdiff_t tokens, const Tensor* key, const Tensor* value);
ptrdiff_t attend_cache_tokens(const void* cache);
const char* attend_argument_name(int status);
const char* attend_error_text(int status);
int attend_version(void);

enum { CAUSAL = 1, QUERIES_LAST = 2, HEADS_FIRST = 1, FLOAT16 = 1, INT8 = 3, BYTES = 1, WEIGHTS = 4, FULL = 14 };
#define DENSE PTRDIFF_MIN

static float query[4], key[64], value[64] = {1, 2, 4, 8}, output[4], more[16];
static _Alignas(64) unsigned char work[1 << 16], memory[1 << 14];
static int passed, failed;

static void check(const char* what, int right) {
  passed += right;
  failed += !right;
  if (!right) printf("FAIL version 1: %s\n", what);
}

static Problem problem(void) {
  Problem p;
  check("attend_problem_init", attend_problem_init(&p, sizeof p) == 0 && p.size == sizeof p);
  p.scale = 0;
  p.query_heads = p.kv_heads = p.head_dim = p.value_dim = p.queries = 1;
  p.keys = 4;
  p.query.data = query, p.key.data = key, p.value.data = value, p.output.data = output;
  output[0] = output[1] = -1;
  return p;
}

static void run(const char* what, const Problem* p, float expected) {
  const size_t size = attend_workspace_size(p);
  const int status = size <= sizeof work ? attend_run(p, work, size) : -1;
  if (status != 0) printf("%s: %s\n", attend_argument_name(status), attend_error_text(status));
  check(what, status == 0 && (p->states != NULL || output[0] == expected));
}

static void visibility(void) {
  static const ptrdiff_t lengths[2] = {2, 4};
  static const unsigned char mask[4] = {1, 0, 0, 1};
  static const float bias[4] = {-1.0f / 0.0f, 0, 0, -1.0f / 0.0f};
  Problem p = problem();
  run("all keys", &p, 3.75f);
  p.options = CAUSAL, p.offset = 1, run("options, offset", &p, 1.5f);
  p = problem(), p.options = CAUSAL | QUERIES_LAST, run("queries last", &p, 3.75f);
  p = problem(), p.offset = 2, p.window_left = 1, p.window_right = 0, run("window", &p, 3);
  p = problem(), p.offset = 3, p.window_left = 0, p.sink_tokens = 1, run("sink_tokens", &p, 4.5f);
  p = problem(), p.mask.data = mask, p.mask.kind = BYTES, run("mask", &p, 4.5f);
  p = problem(), p.mask.data = mask, p.mask.kind = BYTES, p.mask.keys = 2, run("columns of a mask", &p, 1);
  p = problem(), p.bias.data = bias, run("bias", &p, 3);
  p = problem(), p.bias.data = bias, p.bias.keys = 2, run("columns of a bias", &p, 2);
  p = problem(), p.offset = 0, p.relative_bias.data = bias, p.relative_bias.left = 0, p.relative_bias.right = 3;
  run("relative_bias", &p, 3);
  p = problem(), p.origin = 2, p.keys = 6, run("origin", &p, 3.75f);
  p = problem(), p.batch = 2, p.key_lengths = lengths, p.query.batch_stride = p.key.batch_stride = p.value.batch_stride = 0;
  run("batch, key_lengths, strides", &p, 1.5f);
  check("the second of a batch", output[1] == 3.75f);
}

static void scores(void) {
  static const float zeros[1] = {0}, slopes[1] = {-1e30f}, scales[4] = {2, 2, 2, 2};
  static const uint16_t halves[4] = {0x3C00, 0x4000, 0x4400, 0x4800};
  static const signed char bytes[4] = {1, 2, 4, 8};
  const union { uint16_t bits[2]; float number; } half = {{0x4380, 0}}; /* 3.75 where the output begins */
  Problem p = problem();
  p.mask.data = "\1\1\1", p.mask.kind = BYTES, p.mask.keys = 3, p.sink_logits = zeros, run("sink_logits", &p, 1.75f);
  p = problem(), p.offset = 3, p.alibi_slopes = slopes, p.options = CAUSAL, run("alibi_slopes", &p, 1);
  p = problem(), p.soft_cap = 2, run("soft_cap", &p, 3.75f);
  p = problem(), p.keys = 2, p.scale = 1e30f, query[0] = key[1] = 1, run("scale", &p, 2);
  query[0] = key[1] = 0;
  p = problem(), p.lse.data = more, p.keys = 1, run("lse", &p, 1);
  check("lse of one key", more[0] == 0);
  p = problem(), p.scores.data = more, p.scores.kind = WEIGHTS, run("scores", &p, 3.75f);
  check("weights of four keys", more[0] == 0.25f && more[3] == 0.25f);
  p = problem(), p.key_format = p.value_format = FLOAT16, p.value.data = halves, run("formats", &p, 3.75f);
  p = problem(), p.query_format = p.output_format = FLOAT16, output[0] = 0, run("formats of query and output", &p, half.number);
  p = problem(), p.key_format = p.value_format = INT8, p.value.data = bytes, p.key_scales.data = p.value_scales.data = scales;
  run("scales", &p, 7.5f);
}

static void places(void) {
  static const int32_t table[1] = {1};
  static float pools[32];
  Problem p = problem();
  memcpy(pools + 16, value, 4 * sizeof *value);
  p.value.data = pools, p.pages.table = table, p.pages.page_keys = 16, p.pages.count = 2, p.batch = 1, run("pages", &p, 3.75f);
  p = problem(), p.query_heads = p.kv_heads = 2, p.queries = 2, p.layout = HEADS_FIRST, p.options = CAUSAL, p.offset = 0, p.keys = 2;
  run("layout", &p, 1);
  check("heads before tokens", output[1] == 1.5f && output[2] == 4 && output[3] == 6);

  CacheShape shape;
  void* cache;
  const Tensor keys = {key, 0, DENSE, DENSE}, values = {value, 0, DENSE, DENSE};
  check("attend_cache_shape_init", attend_cache_shape_init(&shape, sizeof shape) == 0 && shape.size == sizeof shape);
  shape.kv_heads = shape.head_dim = shape.value_dim = 1, shape.max_tokens = 4;
  check("attend_cache_init", attend_cache_init(&shape, memory, sizeof memory, &cache) == 0);
  check("attend_cache_append", attend_cache_append(cache, 4, &keys, &values) == 0 && attend_cache_tokens(cache) == 4);
  check("a full cache", (attend_cache_append(cache, 1, &keys, &values) & 0xff) == FULL);
  p = problem(), p.cache = cache, p.key.data = p.value.data = NULL, p.keys = -1, run("cache", &p, 3.75f);

  p = problem(), p.states = memory, p.keys = 2;
  check("attend_state_size", attend_state_size(&p) > 0 && attend_state_size(&p) <= sizeof memory);
  check("attend_begin", attend_begin(&p) == 0);
  run("the first keys to states", &p, 0);
  p.first_key = 2, p.keys = 4, p.origin = 0, run("the others", &p, 0);
  check("attend_finish", attend_finish(&p) == 0 && output[0] == 3.75f);
}

int main(void) {
  visibility();
  scores();
  places();
  check("attend_version", attend_version() / 10000 == 1);
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
