/* Drives every function of attend/c/linear_attention.h from C99: prefill, tokens one by one, parts, drafts, saved states, and
 * what is refused. tests/scripts/check_c.sh compiles it with a C compiler and links it with both libraries. */
#include <attend/c/linear_attention.h>
#include <string.h>

#include "c_checks.h"

enum { tokens = 9, query_heads = 2, kv_heads = 1, value_heads = 2, head_dim = 20, value_dim = 18, rules = 6 };
enum { floats = value_heads * (head_dim * value_dim + 2), bytes = 64 + 4 * floats, saved_bytes = 40 + 4 * floats };

static float query[tokens][query_heads][head_dim], key[tokens][kv_heads][head_dim], value[tokens][value_heads][value_dim];
static float log_decay[tokens][value_heads][head_dim], beta[tokens][value_heads];
static float output[tokens][value_heads][value_dim], again[tokens][value_heads][value_dim];
static unsigned char memory[3][bytes + ATTEND_ALIGNMENT], work[4 * head_dim * value_dim + ATTEND_ALIGNMENT];
static unsigned char saved[saved_bytes], other[saved_bytes];

static attend_status (*const inits[rules])(attend_linear_attention*, size_t) = {
    attend_linear_rule_init, attend_gated_rule_init,       attend_gated_by_key_rule_init,
    attend_delta_rule_init,  attend_gated_delta_rule_init, attend_gated_delta_by_key_rule_init};

static void* aligned(unsigned char* from) { return from + (ATTEND_ALIGNMENT - (uintptr_t)from % ATTEND_ALIGNMENT); }
static void fill(float* to, size_t count, unsigned seed, float scale, float shift) {
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    to[i] = (float)((int)(seed >> 22) - 512) / 512.0f * scale + shift;
  }
}

static attend_linear_attention extents(attend_status (*init)(attend_linear_attention*, size_t)) {
  attend_linear_attention linear;
  IS(ATTEND_OK, init(&linear, sizeof linear));
  linear.query_heads = query_heads, linear.kv_heads = kv_heads, linear.value_heads = value_heads;
  linear.head_dim = head_dim, linear.value_dim = value_dim, linear.tokens = tokens;
  return linear;
}
/* A gate for each dimension; the gate of a head is the first one. */
static void set_gates(attend_input* to, const void* from, int rule) {
  if (rule == 1 || rule == 2 || rule >= 4) to->data = from;
  if (rule == 1 || rule == 4) to->token_stride = value_heads * head_dim, to->head_stride = head_dim;
}
static attend_linear_attention call_of(int rule) {
  attend_linear_attention linear = extents(inits[rule]);
  linear.query.data = query, linear.key.data = key, linear.value.data = value, linear.output.data = output;
  set_gates(&linear.log_decay, log_decay, rule);
  if (rule >= 3) linear.beta.data = beta;
  return linear;
}
static attend_linear_state* new_state(const attend_linear_attention* linear, int number) {
  attend_linear_state* state = NULL;
  void* const at = aligned(memory[number]);
  memset(at, 0xff, bytes);
  CHECK(attend_linear_state_size(linear) == bytes);
  IS(ATTEND_OK, attend_linear_state_init(linear, at, bytes, &state));
  CHECK((void*)state == at);
  return state;
}
static uint64_t taken(const attend_linear_state* state) {
  uint64_t result = 0;
  IS(ATTEND_OK, attend_linear_state_tokens(state, &result));
  return result;
}

static void ways(int rule) {
  attend_linear_attention linear = call_of(rule);
  attend_linear_state* const state = new_state(&linear, 0);
  attend_linear_state* const stepped = new_state(&linear, 1);
  IS(ATTEND_OK, attend_linear_run(&linear, state));
  CHECK(taken(state) == tokens);
  CHECK(attend_linear_state_is_finite(state) == 1);

  /* Token by token, in parts. */
  memset(again, 0xff, sizeof again);
  linear.output.data = again;
  linear.parts = 2;
  for (int t = 0; t < tokens; ++t) {
    linear.first = t;
    linear.count = t + 1;
    for (int part = 1; part >= 0; --part) {
      linear.part = part;
      IS(ATTEND_OK, attend_linear_run(&linear, stepped));
    }
  }
  CHECK(memcmp(output, again, sizeof output) == 0);
  CHECK(memcmp(state, stepped, bytes) == 0);

  /* All of them as drafts, of which 5 are accepted; then the others. */
  linear = call_of(rule);
  linear.output.data = again;
  attend_linear_state* const drafted = new_state(&linear, 2);
  const size_t work_bytes = 4 * head_dim * value_dim;
  memset(again, 0xff, sizeof again);
  IS(ATTEND_OK, attend_linear_run_from(&linear, NULL, aligned(work), work_bytes));
  CHECK(memcmp(output, again, sizeof output) == 0);
  linear.count = 5;
  IS(ATTEND_OK, attend_linear_append(&linear, drafted));
  CHECK(taken(drafted) == 5);
  linear.first = 5;
  linear.count = ATTEND_ALL_TOKENS;
  memset(again[5], 0xff, sizeof again[5] * (tokens - 5));
  IS(ATTEND_OK, attend_linear_run_from(&linear, drafted, aligned(work), work_bytes));
  CHECK(memcmp(output, again, sizeof output) == 0);
  CHECK(taken(drafted) == 5);
  IS(ATTEND_OK, attend_linear_append(&linear, drafted));
  CHECK(memcmp(state, drafted, bytes) == 0);

  /* As bytes, by another program; and a copy is a snapshot. */
  CHECK(taken(drafted) == tokens);
  IS(ATTEND_OK, attend_linear_save(state, saved, sizeof saved));
  IS(ATTEND_OK, attend_linear_state_clear(drafted));
  CHECK(taken(drafted) == 0);
  IS(ATTEND_OK, attend_linear_load(drafted, saved, sizeof saved));
  IS(ATTEND_OK, attend_linear_save(drafted, other, sizeof other));
  CHECK(memcmp(saved, other, sizeof saved) == 0);
  CHECK(taken(drafted) == tokens);
  memcpy(stepped, state, bytes);
  IS(ATTEND_OK, attend_linear_append(&linear, stepped));
  CHECK(taken(stepped) == tokens + 4 && taken(state) == tokens);

  /* The numbers of a state, which the last token's query has read. */
  static float numbers[value_heads][head_dim][value_dim];
  IS(ATTEND_OK, attend_linear_state_numbers(state, numbers[0][0]));
  for (int h = 0; h < value_heads; ++h) {
    for (int c = 0; c < value_dim; ++c) {
      double sum = 0;
      for (int d = 0; d < head_dim; ++d) sum += (double)query[tokens - 1][h][d] * (double)numbers[h][d][c] * 0.2236068;
      const double error = sum - (double)output[tokens - 1][h][c];
      CHECK(error < 1e-5 && error > -1e-5);
    }
  }

  /* A state that takes them is the same, but has counted no tokens. */
  static float kept[value_heads][head_dim][value_dim];
  IS(ATTEND_OK, attend_linear_state_set_numbers(drafted, numbers[0][0]));
  IS(ATTEND_OK, attend_linear_state_numbers(drafted, kept[0][0]));
  CHECK(memcmp(numbers, kept, sizeof numbers) == 0 && taken(drafted) == 0);
}

/* Prefill and drafts of a convolution, and its state as bytes. */
enum { channels = 19, width = 4, conv_bytes = 64 + 4 * (width - 1) * channels };
static void convolution(void) {
  static float input[tokens][channels], made[tokens][channels], drafted[tokens][channels], weights[channels][width],
      bias[channels];
  static unsigned char first[conv_bytes + ATTEND_ALIGNMENT], second[conv_bytes + ATTEND_ALIGNMENT];
  fill(input[0], sizeof input / sizeof(float), 6, 1.0f, 0.0f);
  fill(weights[0], sizeof weights / sizeof(float), 7, 1.0f, 0.0f);
  fill(bias, channels, 8, 1.0f, 0.0f);
  attend_causal_conv conv;
  IS(ATTEND_OK, attend_causal_conv_init(&conv, sizeof conv));
  conv.channels = channels;
  conv.width = width;
  conv.tokens = tokens;
  conv.input.data = input;
  conv.weights = weights[0];
  conv.bias = bias;
  conv.output.data = made;
  attend_linear_state *state = NULL, *stepped = NULL;
  CHECK(attend_conv_state_size(&conv) == conv_bytes);
  IS(ATTEND_OK, attend_conv_state_init(&conv, aligned(first), conv_bytes, &state));
  IS(ATTEND_OK, attend_conv_state_init(&conv, aligned(second), conv_bytes, &stepped));
  IS(ATTEND_OK, attend_causal_conv_run(&conv, state));
  for (int c = 0; c < channels; ++c) {
    double sum = bias[c];
    for (int j = 0; j < width; ++j) sum += (double)weights[c][j] * (double)input[tokens - width + j][c];
    const double error = sum - (double)made[tokens - 1][c];
    CHECK(error < 1e-6 && error > -1e-6);
  }
  conv.output.data = drafted;
  IS(ATTEND_OK, attend_causal_conv_run_from(&conv, NULL));
  CHECK(memcmp(made, drafted, sizeof made) == 0);
  conv.count = 5;
  IS(ATTEND_OK, attend_causal_conv_append(&conv, stepped));
  CHECK(taken(stepped) == 5);
  conv.first = 5;
  conv.count = ATTEND_ALL_TOKENS;
  IS(ATTEND_OK, attend_causal_conv_append(&conv, stepped));
  CHECK(memcmp(state, stepped, conv_bytes) == 0);
  IS(ATTEND_OK, attend_linear_save(state, saved, conv_bytes - 24));
  IS(ATTEND_OK, attend_linear_state_clear(stepped));
  IS(ATTEND_OK, attend_linear_load(stepped, saved, conv_bytes - 24));
  CHECK(memcmp(state, stepped, conv_bytes) == 0);
  conv.activation = ATTEND_CONV_SILU;
  IS(ATTEND_OK, attend_causal_conv_run(&conv, state));
  CHECK(memcmp(made[6], drafted[6], sizeof made[6]) != 0);
  SAYS(ATTEND_MISSING, ATTEND_ARG_STATE, attend_causal_conv_run(&conv, NULL));
  conv.channels = 1;
  SAYS(ATTEND_MISMATCH, ATTEND_ARG_STATE, attend_causal_conv_run(&conv, state));
}

/* ln(1 + e^0) = ln 2, and 1 / (1 + e^0) = 1/2. */
static void gates(void) {
  static const float z[2] = {0.5f, -1.0f}, bias[2] = {-0.5f, 1.0f}, rates[1] = {-2.0f};
  static float made[2];
  attend_gate gate = {0};
  gate.rates = rates;
  gate.bias = bias;
  gate.width = 2;
  gate.rate_count = 1;
  IS(ATTEND_OK, attend_decay_gate(&gate, z, 1, made));
  CHECK(made[0] > -1.3863f && made[0] < -1.3862f && made[0] == made[1]);
  IS(ATTEND_OK, attend_bounded_gate(&gate, -5.0f, z, 1, made));
  CHECK(made[0] == -2.5f && made[1] == -2.5f);
  gate.rate_count = 3;
  SAYS(ATTEND_MISMATCH, ATTEND_ARG_RATE_COUNT, attend_decay_gate(&gate, z, 1, made));
}

/* Every rule in integers, in one call and token by token. */
static void integers(void) {
  static attend_status (*const made[rules])(attend_linear_attention*, size_t) = {
      attend_integer_linear_rule_init, attend_integer_gated_rule_init,       attend_integer_gated_by_key_rule_init,
      attend_integer_delta_rule_init,  attend_integer_gated_delta_rule_init, attend_integer_gated_delta_by_key_rule_init};
  static int8_t q[tokens][query_heads][head_dim], k[tokens][kv_heads][head_dim], v[tokens][value_heads][value_dim];
  static uint16_t decay[tokens][value_heads][head_dim], half[tokens][value_heads];
  static int8_t out[tokens][value_heads][value_dim], stepped[tokens][value_heads][value_dim];
  attend_integer_scales scales;
  attend_linear_constants constants;
  IS(ATTEND_OK, attend_integer_scales_init(&scales, sizeof scales));
  scales.query_scale = scales.key_scale = 1.0 / 127;
  scales.value_scale = 0.02;
  scales.output_scale = 0.005;
  IS(ATTEND_OK, attend_linear_prepare(&scales, head_dim, &constants));
  for (int t = 0; t < tokens; ++t) {
    for (int d = 0; d < head_dim; ++d) {
      for (int h = 0; h < query_heads; ++h) q[t][h][d] = (int8_t)(t * 37 + h * 11 + d * 23);
      for (int h = 0; h < value_heads; ++h) decay[t][h][d] = (uint16_t)(32768 - d);
      k[t][0][d] = d == t ? 127 : 0;
    }
    for (int h = 0; h < value_heads; ++h) {
      for (int c = 0; c < value_dim; ++c) v[t][h][c] = (int8_t)(t * 31 + c * 17);
      half[t][h] = 16384;
    }
  }
  for (int rule = 0; rule < rules; ++rule) {
    attend_linear_attention linear = extents(made[rule]);
    linear.constants = &constants;
    linear.query.data = q, linear.key.data = k, linear.value.data = v, linear.output.data = out;
    set_gates(&linear.decay, decay, rule);
    if (rule >= 3) linear.beta.data = half;
    static unsigned char room[bytes + 16 * value_heads + ATTEND_ALIGNMENT];
    attend_linear_state* state = NULL;
    CHECK(attend_linear_state_size(&linear) == bytes + 16 * value_heads);
    IS(ATTEND_OK, attend_linear_state_init(&linear, aligned(room), bytes + 16 * value_heads, &state));
    IS(ATTEND_OK, attend_linear_run_from(&linear, NULL, aligned(work), 4 * head_dim * value_dim));
    linear.output.data = stepped;
    for (int t = 0; t < tokens; ++t) {
      linear.first = t;
      linear.count = t + 1;
      IS(ATTEND_OK, attend_linear_run(&linear, state));
    }
    CHECK(memcmp(out, stepped, sizeof out) == 0);
    CHECK(out[tokens - 1][0][0] != 0 && attend_linear_state_is_finite(state) == 1);
    linear.constants = NULL;
    SAYS(ATTEND_MISSING, ATTEND_ARG_CONSTANTS, attend_linear_run(&linear, state));
  }
}

static void refusals(void) {
  attend_linear_attention linear = call_of(4);
  attend_linear_state* const state = new_state(&linear, 0);
  SAYS(ATTEND_WRONG_SIZE, ATTEND_ARG_SIZE, attend_gated_rule_init(&linear, 3));
  SAYS(ATTEND_MISSING, ATTEND_ARG_LINEAR, attend_linear_run(NULL, state));
  SAYS(ATTEND_MISSING, ATTEND_ARG_STATE, attend_linear_run(&linear, NULL));
  SAYS(ATTEND_TOO_SMALL, ATTEND_ARG_MEMORY, attend_linear_state_init(&linear, state, bytes - 1, NULL));
  SAYS(ATTEND_TOO_SMALL, ATTEND_ARG_SIZE, attend_linear_save(state, saved, sizeof saved - 1));
  IS(ATTEND_OK, attend_linear_save(state, saved, sizeof saved));
  SAYS(ATTEND_CORRUPT, ATTEND_ARG_BYTES, attend_linear_load(state, saved, sizeof saved - 1));
  SAYS(ATTEND_MISSING, ATTEND_ARG_RESULT, attend_linear_state_tokens(state, NULL));
  SAYS(ATTEND_MISSING, ATTEND_ARG_RESULT, attend_linear_state_numbers(state, NULL));
  SAYS(ATTEND_MISSING, ATTEND_ARG_STATE, attend_linear_state_clear(NULL));
  CHECK(attend_linear_state_is_finite(NULL) == -1);
  SAYS(ATTEND_TOO_SMALL, ATTEND_ARG_WORKSPACE, attend_linear_run_from(&linear, state, aligned(work), 7));
  linear.beta.data = NULL;
  SAYS(ATTEND_MISSING, ATTEND_ARG_BETA, attend_linear_append(&linear, state));
  linear = call_of(1);
  SAYS(ATTEND_MISMATCH, ATTEND_ARG_STATE, attend_linear_run(&linear, state));
  linear.beta.data = beta;
  SAYS(ATTEND_NO_EFFECT, ATTEND_ARG_BETA, attend_linear_run(&linear, state));
  linear.value_heads = 3;
  CHECK(attend_linear_state_size(&linear) == 0);
  CHECK(taken(state) == 0);
  memset(state, 1, 1);
  SAYS(ATTEND_CORRUPT, ATTEND_ARG_STATE, attend_linear_state_clear(state));
}

int main(void) {
  fill(query[0][0], sizeof query / sizeof(float), 1, 1.0f, 0.0f);
  fill(key[0][0], sizeof key / sizeof(float), 2, 0.25f, 0.0f);
  fill(value[0][0], sizeof value / sizeof(float), 3, 1.0f, 0.0f);
  fill(log_decay[0][0], sizeof log_decay / sizeof(float), 4, 0.5f, -0.5f);
  fill(beta[0], sizeof beta / sizeof(float), 5, 0.5f, 0.5f);
  for (int rule = 0; rule < rules; ++rule) ways(rule);
  convolution();
  gates();
  integers();
  refusals();
  printf("%d checks, %d failed\n", passed + failed, failed);
  return failed > 0 || passed < 300;
}
