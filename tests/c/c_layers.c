/* Drives every function of attend/c/layers.h from C99: an encoder block over all tokens at once, then the same layer as a
 * decoder that takes them one by one, an attention to an encoder's memory, and additive attention. tests/scripts/check_c.sh
 * compiles it with a C compiler and links it with both libraries. */
#include <attend/c/layers.h>
#include <string.h>

#include "c_checks.h"

enum { tokens = 5, width = 12, heads = 2, head_dim = 6, hidden = 20, room = 16 };

/* Memory of any alignment that the library asks for. */
static unsigned char work_memory[ATTEND_PROJECTION_WORKSPACE_SIZE + (1 << 17)], cache_memory[1 << 14], packed_memory[1 << 12];
static signed char up_bytes[hidden * width];
static float up_scales[hidden];
static void* aligned(unsigned char* memory) {
  return memory + (ATTEND_ALIGNMENT - (uintptr_t)memory % ATTEND_ALIGNMENT) % ATTEND_ALIGNMENT;
}
#define SIZE(memory) (sizeof(memory) - ATTEND_ALIGNMENT)

static int largest(const signed char* bytes, int count) {
  int most = 0, i;
  for (i = 0; i < count; ++i) {
    const int size = bytes[i] < 0 ? -bytes[i] : bytes[i];
    if (size > most) most = size;
  }
  return most;
}

static void fill(float* to, size_t count, unsigned seed) {
  size_t i;
  for (i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    to[i] = (float)((int)(seed >> 22) - 512) / 512.0f;
  }
}

static float wq[heads * head_dim][width], wk[heads * head_dim][width], wv[heads * head_dim][width], wo[width][heads * head_dim];
static float gain[width], gate_rows[hidden][width], up_rows[hidden][width], down_rows[width][hidden], gate_bias[hidden];
static float query_factors[4];
static float x[tokens][width], by_token[tokens][width], in_one[tokens][width];
static uint64_t turns[head_dim / 2];
static attend_rotary rotary;
static attend_layer layer;
static attend_problem problem;
static attend_weights gate, up, down, converted;

static attend_weights weights(const float* data, int outputs, int inputs) {
  attend_weights made = {0};
  made.data = data;
  made.outputs = outputs;
  made.inputs = inputs;
  return made;
}

static void make(void) {
  fill(wq[0], sizeof wq / sizeof(float), 1);
  fill(wk[0], sizeof wk / sizeof(float), 2);
  fill(wv[0], sizeof wv / sizeof(float), 3);
  fill(wo[0], sizeof wo / sizeof(float), 4);
  fill(gate_rows[0], sizeof gate_rows / sizeof(float), 5);
  fill(up_rows[0], sizeof up_rows / sizeof(float), 6);
  fill(down_rows[0], sizeof down_rows / sizeof(float), 7);
  fill(gain, width, 8);
  fill(x[0], sizeof x / sizeof(float), 9);
  fill(gate_bias, hidden, 10);
  IS(ATTEND_OK, attend_rotary_init(&rotary, turns, head_dim, ATTEND_HALVES, 10000.0f, 1.0f));
  SAYS(ATTEND_OUT_OF_RANGE, ATTEND_ARG_BASE, attend_rotary_init(&rotary, turns, head_dim, ATTEND_HALVES, 1.0f, 1.0f));
  IS(ATTEND_OK, attend_layer_init(&layer, sizeof layer));
  SAYS(ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE, attend_layer_init(&layer, 3));
  layer.query = weights(wq[0], heads * head_dim, width);
  layer.key = weights(wk[0], heads * head_dim, width);
  layer.value = weights(wv[0], heads * head_dim, width);
  layer.output = weights(wo[0], width, heads * head_dim);
  layer.rotary = &rotary;
  IS(ATTEND_OK, attend_logarithmic_factors(0.1f, 4, query_factors));
  SAYS(ATTEND_OUT_OF_RANGE, ATTEND_ARG_COUNT, attend_logarithmic_factors(0.1f, 0, query_factors));
  layer.query_factors.data = query_factors;
  layer.query_factors.count = 4;
  layer.query_factors.period = 3;
  layer.query_factors.shift = 1;
  IS(ATTEND_OK, attend_problem_init(&problem, sizeof problem));
  problem.options = ATTEND_CAUSAL;
  problem.query_heads = problem.kv_heads = heads;
  problem.head_dim = problem.value_dim = head_dim;
  gate = weights(gate_rows[0], hidden, width);
  gate.bias = gate_bias;
  up = weights(up_rows[0], hidden, width);
  down = weights(down_rows[0], width, hidden);
  CHECK(attend_packed_size(&gate) == 32 * width * sizeof(float) && attend_packed_size(&gate) <= SIZE(packed_memory));
  SAYS(ATTEND_TOO_SMALL, ATTEND_ARG_MEMORY, attend_pack_weights(&gate, aligned(packed_memory), 8, &gate));
  IS(ATTEND_OK, attend_pack_weights(&gate, aligned(packed_memory), SIZE(packed_memory), &gate));
  SAYS(ATTEND_MISSING, ATTEND_ARG_SCALES, attend_convert_weights(&up, ATTEND_INT8, up_bytes, sizeof up_bytes, NULL, &up));
  IS(ATTEND_OK, attend_convert_weights(&up, ATTEND_INT8, up_bytes, sizeof up_bytes, up_scales, &converted));
  CHECK(converted.data == up_bytes && converted.scales == up_scales && converted.outputs == hidden && up.data == up_rows[0]);
  CHECK(up_scales[hidden - 1] > 0.0f && largest(up_bytes + (hidden - 1) * width, width) == 127);
}

static void make_cache(void) {
  attend_cache_shape shape;
  IS(ATTEND_OK, attend_cache_shape_init(&shape, sizeof shape));
  shape.kv_heads = heads;
  shape.head_dim = shape.value_dim = head_dim;
  shape.max_tokens = room;
  IS(ATTEND_OK, attend_cache_init(&shape, aligned(cache_memory), SIZE(cache_memory), &layer.cache));
}

/* x += attention(norm(x)), then x += down(silu(gate(norm(x))) * up(norm(x))). */
static void block(float* at, int count) {
  static float normal[tokens * width], y[tokens * width], opened[tokens * hidden], shut[tokens * hidden];
  void* const work = aligned(work_memory);
  attend_norm norm = {0};
  attend_projection open[2], close;
  norm.weight = gain;
  norm.width = width;
  norm.epsilon = 1e-5f;
  problem.queries = count;
  CHECK(attend_layer_workspace_size(&problem, &layer) > 0);
  CHECK(attend_layer_workspace_size(&problem, &layer) <= SIZE(work_memory));
  IS(ATTEND_OK, attend_rms_norm(&norm, at, count, normal));
  IS(ATTEND_OK, attend_self_attention(&problem, &layer, normal, y, work, SIZE(work_memory)));
  IS(ATTEND_OK, attend_add(y, 1.0f, (ptrdiff_t)count * width, at));
  IS(ATTEND_OK, attend_layer_norm(&norm, at, count, normal));
  open[0].weights = gate;
  open[0].y = opened;
  open[1].weights = up;
  open[1].y = shut;
  close.weights = down;
  close.y = y;
  IS(ATTEND_OK, attend_project(normal, count, open, 2, work, ATTEND_PROJECTION_WORKSPACE_SIZE));
  IS(ATTEND_OK, attend_activate(ATTEND_SILU, opened, shut, (ptrdiff_t)count * hidden, shut));
  IS(ATTEND_OK, attend_project(shut, count, &close, 1, NULL, 0));
  IS(ATTEND_OK, attend_add(y, 1.0f, (ptrdiff_t)count * width, at));
  IS(ATTEND_OK, attend_hadamard(at, count, width, normal)); /* which is its own inverse */
  IS(ATTEND_OK, attend_hadamard(normal, count, width, normal));
  attend_gated_norm gated;
  gated.norm = norm;
  gated.groups = 2;
  gated.activation = ATTEND_SILU;
  gated.order = ATTEND_GATE_FIRST;
  IS(ATTEND_OK, attend_gated_rms_norm(&gated, at, at, count, y));
  IS(ATTEND_OK, attend_l2_norm(y, count, width, 1e-6f, y));
  CHECK(normal[0] - at[0] < 1e-4f && at[0] - normal[0] < 1e-4f);
}

/* Causal without a cache, all tokens at once over a cache, and token by token: the same bits. */
static void blocks(void) {
  int t;
  static float alone[tokens][width];
  memcpy(alone, x, sizeof x);
  memcpy(in_one, x, sizeof x);
  memcpy(by_token, x, sizeof x);
  layer.cache = NULL;
  block(alone[0], tokens);
  make_cache();
  block(in_one[0], tokens);
  CHECK(attend_cache_tokens(layer.cache, NULL) == tokens);
  make_cache();
  for (t = 0; t < tokens; ++t) block(by_token[t], 1);
  CHECK(memcmp(alone, in_one, sizeof alone) == 0);
  CHECK(memcmp(alone, by_token, sizeof alone) == 0);
  CHECK(memcmp(alone, x, sizeof alone) != 0);
}

/* To a memory of the same tokens, not causal: as self-attention that is not. */
static void across(void) {
  static float y[tokens][width], expected[tokens][width];
  void* const work = aligned(work_memory);
  problem.options = 0;
  problem.queries = tokens;
  layer.cache = NULL;
  IS(ATTEND_OK, attend_self_attention(&problem, &layer, x[0], expected[0], work, SIZE(work_memory)));
  SAYS(ATTEND_MISSING, ATTEND_ARG_CACHE, attend_cross_attention(&problem, &layer, x[0], y[0], work, SIZE(work_memory)));
  make_cache();
  CHECK(attend_memory_workspace_size(&layer, tokens) > 0 && attend_memory_workspace_size(&layer, tokens) <= SIZE(work_memory));
  IS(ATTEND_OK, attend_project_memory(&layer, x[0], tokens, work, SIZE(work_memory)));
  IS(ATTEND_OK, attend_cross_attention(&problem, &layer, x[0], y[0], work, SIZE(work_memory)));
  CHECK(memcmp(y, expected, sizeof y) == 0);
}

/* One head that has turned keeps its length. */
static void rotated(void) {
  float row[head_dim] = {1, 2, 3, 4, 5, 6}, before = 91, after = 0;
  int i;
  attend_output at = {0};
  at.data = row;
  IS(ATTEND_OK, attend_rotate(&rotary, &at, 1, 1, head_dim, 7));
  for (i = 0; i < head_dim; ++i) after += row[i] * row[i];
  CHECK(after > before - 0.001f && after < before + 0.001f && row[1] > 0 && row[0] < 0.999f);
  {
    const int places[2] = {-7, 9};
    attend_positions back = {0};
    attend_rotary_scaling scaling = {0};
    attend_rotary scaled;
    uint64_t scaled_turns[head_dim / 2];
    back.data = places, back.axes = 2, back.pairs[0] = head_dim / 2;
    IS(ATTEND_OK, attend_rotate_positions(&rotary, &at, 1, 1, head_dim, &back));
    for (i = 0; i < head_dim; ++i) CHECK(row[i] > (float)i + 0.9999f && row[i] < (float)i + 1.0001f);
    SAYS(ATTEND_OUT_OF_RANGE, ATTEND_ARG_POSITION, attend_rotate(&rotary, &at, 1, 1, head_dim, INT32_MAX));
    scaling.kind = ATTEND_ROTARY_YARN, scaling.factor = 4, scaling.original_positions = 4096, scaling.slow = 1,
    scaling.fast = 32;
    IS(ATTEND_OK, attend_rotary_init_scaled(&scaled, scaled_turns, head_dim, ATTEND_HALVES, 10000.0f, &scaling));
    CHECK(scaled.factor > 1.1386f && scaled.factor < 1.1387f && scaled_turns[0] == turns[0] && scaled_turns[1] < turns[1]);
    scaling.turning = 1;
    SAYS(ATTEND_NO_EFFECT, ATTEND_ARG_SCALING_TURNING,
         attend_rotary_init_scaled(&scaled, scaled_turns, head_dim, ATTEND_HALVES, 10000.0f, &scaling));
  }
}

/* With v = 0 all keys weigh the same. */
static void additive(void) {
  static const float v[width];
  static float mean[width];
  attend_problem p;
  void* const work = aligned(work_memory);
  IS(ATTEND_OK, attend_problem_init(&p, sizeof p));
  p.query_heads = p.kv_heads = p.queries = 1;
  p.head_dim = p.value_dim = width;
  p.keys = 4;
  p.query.data = x[0];
  p.key.data = p.value.data = x[1];
  p.output.data = mean;
  CHECK(attend_additive_workspace_size(&p) > 0 && attend_additive_workspace_size(&p) <= SIZE(work_memory));
  IS(ATTEND_OK, attend_additive_attention(&p, v, work, SIZE(work_memory)));
  CHECK(mean[3] - (x[1][3] + x[2][3] + x[3][3] + x[4][3]) / 4 < 1e-6f);
  CHECK((x[1][3] + x[2][3] + x[3][3] + x[4][3]) / 4 - mean[3] < 1e-6f);
  p.scale = 1;
  SAYS(ATTEND_CONFLICT, ATTEND_ARG_SCALE, attend_additive_attention(&p, v, work, SIZE(work_memory)));
}

/* A projection in integers, of rows and of packed weights. */
static void integers(void) {
  static const int8_t rows[2][3] = {{1, -2, 3}, {-128, 127, 5}}, of[2][3] = {{10, 20, 30}, {-128, 127, 0}};
  static const int32_t bias[2] = {7, -9};
  const attend_integer_multiplier half = attend_integer_multiplier_of(0.5);
  attend_integer_linear linear = {0};
  int16_t y[2][2], again[2][2];
  linear.weights.data = rows;
  linear.weights.outputs = 2;
  linear.weights.inputs = 3;
  linear.weights.format = ATTEND_INT8;
  linear.weights.layout = ATTEND_INTEGER_ROWS;
  linear.multipliers = &half;
  linear.multiplier_count = 1;
  linear.bias = bias;
  linear.input_zero_point = 10;
  linear.output_zero_point = -1;
  linear.output_format = ATTEND_INT16;
  CHECK(half.factor == 1 << 30 && half.shift == 31);
  IS(ATTEND_OK, attend_integer_project(&linear, of[0], 2, y));
  CHECK(y[0][0] == 24 - 1 && y[0][1] == 681 - 1 && y[1][0] == (-138 - 234 - 30 + 7 + 1) / 2 - 1);
  CHECK(y[1][1] == (128 * 138 + 127 * 117 - 50 - 9) / 2 - 1);
  SAYS(ATTEND_TOO_SMALL, ATTEND_ARG_MEMORY, attend_pack_weights(&linear.weights, aligned(packed_memory), 3, &linear.weights));
  IS(ATTEND_OK, attend_pack_weights(&linear.weights, aligned(packed_memory), SIZE(packed_memory), &linear.weights));
  IS(ATTEND_OK, attend_integer_project(&linear, of[0], 2, again));
  CHECK(memcmp(y, again, sizeof y) == 0);
  linear.output_format = ATTEND_FLOAT32;
  SAYS(ATTEND_UNKNOWN, ATTEND_ARG_OUTPUT_FORMAT, attend_integer_project(&linear, of[0], 2, again));
}

int main(void) {
  make();
  blocks();
  across();
  rotated();
  additive();
  integers();
  printf("%d checks, %d failed\n", passed + failed, failed);
  return failed > 0 || passed < 80;
}
