/* Attend for C: linear attention, whose memory never grows. Each value head keeps a matrix, its state, that every token decays,
 * corrects and reads (include/guide/linear_attention.md).
 *
 *   attend_linear_attention linear;
 *   attend_gated_delta_rule_init(&linear, sizeof linear);        // the rule: Qwen3-Next has this one
 *   linear.query_heads = 2; linear.kv_heads = 2; linear.value_heads = 4; linear.head_dim = 32; linear.value_dim = 32;
 *   attend_linear_state* state;                                  // in memory of yours, aligned to ATTEND_ALIGNMENT
 *   size_t bytes = attend_linear_state_size(&linear);            // 0: refused, and attend_linear_state_init returns why
 *   attend_status status = attend_linear_state_init(&linear, memory, bytes, &state);
 *
 *   linear.tokens = 16;                                          // arrays are [token][head][dim], or of any strides
 *   linear.query.data = q; linear.key.data = k; linear.value.data = v; linear.output.data = out;
 *   linear.log_decay.data = g; linear.beta.data = beta;          // what the rule has, [token][value head]
 *   status = attend_linear_run(&linear, state);                  // prefill or decode: the state moves on
 *
 * Calls are as in attend_c.h: the bits are those of the C++ surface (attend/linear_attention.h) on every target and in any cut
 * into calls, nothing that is set is ignored, everything is checked before anything is written, and what a call writes overlaps
 * nothing else that it reads or writes. A call is of one sequence: batch_stride is 0 or ATTEND_DENSE. Of tokens before `first`
 * and from `count` on nothing is read or written. It needs src/linear_attention.
 *
 * The causal convolution in front has a struct of its own, and a state that functions of states take too:
 *
 *   attend_causal_conv conv;
 *   attend_causal_conv_init(&conv, sizeof conv);
 *   conv.channels = 256; conv.width = 4; conv.tokens = 16;
 *   conv.input.data = x; conv.weights = weights; conv.activation = ATTEND_CONV_SILU; conv.output.data = y;
 *   attend_linear_state* inputs;
 *   attend_status status = attend_conv_state_init(&conv, conv_memory, attend_conv_state_size(&conv), &inputs);
 *   status = attend_causal_conv_run(&conv, inputs);
 */
#ifndef ATTEND_LINEAR_ATTENTION_H
#define ATTEND_LINEAR_ATTENTION_H

#include "integer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most stack that a call of this header takes, in bytes, as ATTEND_STACK_BYTES; and on boards. */
#define ATTEND_LINEAR_STACK_BYTES 21504
#define ATTEND_BOARD_LINEAR_STACK_BYTES 1536

#define ATTEND_KV_HEADS (-1)   /* value_heads: as many as kv_heads */
#define ATTEND_ALL_TOKENS (-1) /* count: all tokens of the arrays */

/* The code of a rule. A program holds that of the init functions that it calls. */
typedef struct attend_linear_rule attend_linear_rule;

/* The constants of linear attention in integers, which attend_linear_prepare makes of scales: plain numbers, as those of
 * attend_integer_constants. A call refuses others (ATTEND_CORRUPT). */
typedef struct attend_linear_constants {
  int32_t retrieved_factor; /* the square of key_scale, factor / 2^31 * 2^-shift */
  int32_t retrieved_shift;  /* see retrieved_factor */
  int32_t output_factor;    /* query_scale * key_scale * value_scale * scale / output_scale, likewise */
  int32_t output_shift;     /* see output_factor */
} attend_linear_constants;

#define ATTEND_INTEGER_MAX_LINEAR_DIM 256 /* head_dim of linear attention in integers */

/* Makes constants for heads of head_dim numbers. key_scale is 2^-16 to below 1 (1 / 127 of keys of norm 1), the other scales
 * are above 0, so that the output's factor is 2^-40 to below 2^-6; zero points are 0. */
ATTEND_API attend_status attend_linear_prepare(const attend_integer_scales* scales, ptrdiff_t head_dim,
                                               attend_linear_constants* constants);

/* One call. An init function writes a default to every field. These have none, and must be set: query_heads, kv_heads,
 * head_dim, value_dim, and in calls that take tokens `tokens`. Numbers are floats. */
typedef struct attend_linear_attention {
  size_t size;                    /* sizeof(attend_linear_attention); the init function sets it */
  const attend_linear_rule* rule; /* by the init function */
  ptrdiff_t query_heads;          /* 1 ... ATTEND_MAX_WIDTH; it divides value_heads, or they divide it */
  ptrdiff_t kv_heads;             /* heads of keys, 1 ... ATTEND_MAX_WIDTH */
  ptrdiff_t value_heads; /* heads of values and of states: a multiple of kv_heads, or ATTEND_KV_HEADS, the default. Value head h
                            has the key of head h / (value_heads / kv_heads) */
  ptrdiff_t head_dim;    /* width of queries and keys, 1 ... ATTEND_MAX_WIDTH; head_dim * value_dim is less than 2^31 */
  ptrdiff_t value_dim;   /* width of values and outputs, 1 ... ATTEND_MAX_WIDTH */
  ptrdiff_t tokens;      /* of the arrays, 0 ... ATTEND_MAX_TOKENS */
  ptrdiff_t first;       /* tokens before it do not exist: 0 ... count. The default is 0 */
  ptrdiff_t count;       /* tokens at or after it do not exist: 0 ... tokens, or ATTEND_ALL_TOKENS, the default */
  attend_input query;    /* [tokens][query_heads][head_dim] */
  attend_input key;      /* [tokens][kv_heads][head_dim] */
  attend_input value;    /* [tokens][value_heads][value_dim] */
  attend_input log_decay; /* of rules with a gate e^g its logarithm g <= 0, [tokens][value_heads]; of by_key rules
                             [tokens][value_heads][head_dim]. Other rules leave it as initialised */
  attend_input beta;      /* of delta rules, [tokens][value_heads]; others leave it as initialised */
  attend_input decay;     /* of integers in the place of log_decay; otherwise as initialised */
  const attend_linear_constants* constants;      /* of integers, for all heads, or null; otherwise null */
  const attend_linear_constants* head_constants; /* of integers, [value_heads], in the place of constants; otherwise null */
  attend_output output;                          /* [tokens][the larger of query_heads and value_heads][value_dim] */
  attend_documents documents; /* of tokens 0 ... count: each begins with an empty state, but the first with the call's */
  float scale;                /* of queries, -2^127 ... 2^127, or ATTEND_DEFAULT_SCALE: 1 / sqrt(head_dim) */
  ptrdiff_t part;  /* 0 ... parts - 1: threads make the same call with the same state, each its own part. The default is 0 */
  ptrdiff_t parts; /* 1 ... ATTEND_MAX_PARTS. The default is 1 */
} attend_linear_attention;

/* Write defaults to the struct, of a rule. size: sizeof(attend_linear_attention), as the caller's header has it. S becomes
 *
 *   linear        S + k v
 *   gated         e^g S + k v
 *   delta         S + k beta (v - k S)
 *   gated_delta   e^g S + k beta (v - k e^g S)
 *
 * and by_key each key dimension has a gate of its own. */
ATTEND_API attend_status attend_linear_rule_init(attend_linear_attention* linear, size_t size);
ATTEND_API attend_status attend_gated_rule_init(attend_linear_attention* linear, size_t size);
ATTEND_API attend_status attend_gated_by_key_rule_init(attend_linear_attention* linear, size_t size);
ATTEND_API attend_status attend_delta_rule_init(attend_linear_attention* linear, size_t size);
ATTEND_API attend_status attend_gated_delta_rule_init(attend_linear_attention* linear, size_t size);
ATTEND_API attend_status attend_gated_delta_by_key_rule_init(attend_linear_attention* linear, size_t size);

/* The same in integers, without one float instruction: queries, keys, values and outputs are int8_t; decay, the gate e^g
 * itself, and beta are uint16_t, and 32768 is 1; larger gates count as 1. scale stays as initialised: it is one of the scales
 * of the constants. Numbers of a state are int32_t, which shift themselves. */
ATTEND_API attend_status attend_integer_linear_rule_init(attend_linear_attention* linear, size_t size);
ATTEND_API attend_status attend_integer_gated_rule_init(attend_linear_attention* linear, size_t size);
ATTEND_API attend_status attend_integer_gated_by_key_rule_init(attend_linear_attention* linear, size_t size);
ATTEND_API attend_status attend_integer_delta_rule_init(attend_linear_attention* linear, size_t size);
ATTEND_API attend_status attend_integer_gated_delta_rule_init(attend_linear_attention* linear, size_t size);
ATTEND_API attend_status attend_integer_gated_delta_by_key_rule_init(attend_linear_attention* linear, size_t size);

/* The state of one sequence, of linear attention or of a convolution. It knows its rule and extents, holds no pointer, and may
 * be copied as bytes to other memory: a copy is a snapshot, for example behind a prefix that several sequences share. A call
 * with other ones is refused. */
typedef struct attend_linear_state attend_linear_state;

/* Bytes of a state: 64, and 4 for each of value_heads * (head_dim * value_dim + ceil(value_dim / 16)) floats, in integers three
 * times as many behind the product; 0 where rule or extents are refused. */
ATTEND_API size_t attend_linear_state_size(const attend_linear_attention* linear);

/* Makes an empty state of memory, which is aligned to ATTEND_ALIGNMENT; *state is set to it, and state may be null. */
ATTEND_API attend_status attend_linear_state_init(const attend_linear_attention* linear, void* memory, size_t memory_size,
                                                  attend_linear_state** state);

/* Forgets all tokens, and the infinities and NaN that they brought. */
ATTEND_API attend_status attend_linear_state_clear(attend_linear_state* state);

/* The tokens that it has taken, documents before the last one too. */
ATTEND_API attend_status attend_linear_state_tokens(const attend_linear_state* state, uint64_t* result);

/* Writes S as [value_heads][head_dim][value_dim]; of a convolution the inputs, [width - 1][channels], the oldest first.
 * result: floats; int32_t of integers, before they are scaled. */
ATTEND_API attend_status attend_linear_state_numbers(const attend_linear_state* state, void* result);

/* Makes S what attend_linear_state_numbers writes, of linear attention in floats; other states are ATTEND_MISMATCH. Tokens are
 * counted from 0 then, and numbers below 2^-100 become 0 before the next token, but of the rule linear. */
ATTEND_API attend_status attend_linear_state_set_numbers(attend_linear_state* state, const float* x);

/* 1 where no number is infinite or NaN, or of integers too large for its exponent, 0 where one is, -1 where the state is null
 * or corrupt. */
ATTEND_API int attend_linear_state_is_finite(const attend_linear_state* state);

/* Prefill and decode: the state takes tokens one after another, and after each of them its query reads it. Of parts, which may
 * run side by side, part 0 counts tokens. */
ATTEND_API attend_status attend_linear_run(const attend_linear_attention* linear, attend_linear_state* state);

/* The same without reading: query, output and scale are not looked at. For drafts that were accepted, the first `count`. */
ATTEND_API attend_status attend_linear_append(const attend_linear_attention* linear, attend_linear_state* state);

/* The outputs of attend_linear_run from a state that stays as it is, or where it is null from an empty one: for drafts, and for
 * whole sequences. workspace: 4 * head_dim * value_dim bytes for each part, aligned to ATTEND_ALIGNMENT. */
ATTEND_API attend_status attend_linear_run_from(const attend_linear_attention* linear, const attend_linear_state* state,
                                                void* workspace, size_t workspace_size);

/* Writes the state as bytes, the same on every target and from C++, with a check sum and ATTEND_BITS_VERSION: 24 fewer than
 * attend_linear_state_size, without alignment. size: how many there is room for. */
ATTEND_API attend_status attend_linear_save(const attend_linear_state* state, void* bytes, size_t size);

/* Makes a state what was saved: size bytes, or the first ones of them. Refused are bytes that are damaged or cut short
 * (ATTEND_CORRUPT), of another ATTEND_BITS_VERSION (ATTEND_OTHER_BITS), of another rule or other extents (ATTEND_MISMATCH). */
ATTEND_API attend_status attend_linear_load(attend_linear_state* state, const void* bytes, size_t size);

/* ---- The causal convolution ---- */

#define ATTEND_MAX_CONV_WIDTH 16 /* inputs of an output */

/* What the sum of a convolution becomes. */
enum attend_conv_activation {
  ATTEND_CONV_IDENTITY = 0,
  ATTEND_CONV_SILU = 1 /* x / (1 + e^-x), also called swish */
};

/* One call: each channel is convolved with its last inputs. channels, width and `tokens` must be set, and weights. */
typedef struct attend_causal_conv {
  size_t size;                /* sizeof(attend_causal_conv); the init function sets it */
  ptrdiff_t channels;         /* 1 ... ATTEND_MAX_WIDTH */
  ptrdiff_t width;            /* inputs that an output is made of, 2 ... ATTEND_MAX_CONV_WIDTH */
  ptrdiff_t tokens;           /* these as in attend_linear_attention */
  ptrdiff_t first;            /* likewise */
  ptrdiff_t count;            /* likewise */
  attend_input input;         /* [tokens][channels]; head_stride stays as initialised, or is 0 */
  const float* weights;       /* [channels][width], as models have them: the last one is of the newest input */
  const float* bias;          /* [channels]; null: none */
  attend_output output;       /* [tokens][channels], as input */
  int activation;             /* attend_conv_activation */
  attend_documents documents; /* as in attend_linear_attention, and so are parts */
  ptrdiff_t part;             /* likewise */
  ptrdiff_t parts;            /* likewise */
} attend_causal_conv;

/* Writes defaults to the struct: no bias, ATTEND_CONV_IDENTITY. */
ATTEND_API attend_status attend_causal_conv_init(attend_causal_conv* conv, size_t size);

/* Bytes of a state, 64 and 4 * (width - 1) * channels, or 0; and an empty state in memory, as of linear attention. */
ATTEND_API size_t attend_conv_state_size(const attend_causal_conv* conv);
ATTEND_API attend_status attend_conv_state_init(const attend_causal_conv* conv, void* memory, size_t memory_size,
                                                attend_linear_state** state);

/* Prefill and decode; tokens that the state takes alone, where what computes outputs is not looked at (weights, bias,
 * activation, output); and outputs from a state that stays, or where it is null from an empty one. They need no work memory. */
ATTEND_API attend_status attend_causal_conv_run(const attend_causal_conv* conv, attend_linear_state* state);
ATTEND_API attend_status attend_causal_conv_append(const attend_causal_conv* conv, attend_linear_state* state);
ATTEND_API attend_status attend_causal_conv_run_from(const attend_causal_conv* conv, const attend_linear_state* state);

/* ---- Gates from what a projection gives ---- */

/* {0} but for what is set: rates, width, rate_count. */
typedef struct attend_gate {
  const float* rates;   /* [rate_count], for width / rate_count numbers side by side each */
  const float* bias;    /* [width]; null: none */
  ptrdiff_t width;      /* numbers of a token: value_heads, or for each of their key dimensions. 1 ... ATTEND_MAX_TOKENS */
  ptrdiff_t rate_count; /* a divisor of width: value_heads */
} attend_gate;

/* log_decay = rate * ln(1 + e^(z + bias)), for z[tokens][width]; tokens: 0 ... ATTEND_MAX_TOKENS, and tokens * width is less
 * than 2^31. log_decay may be z. rates are -e^A_log of a model. */
ATTEND_API attend_status attend_decay_gate(const attend_gate* gate, const float* z, ptrdiff_t tokens, float* log_decay);

/* log_decay = lower_bound / (1 + e^-(rate * (z + bias))), likewise; lower_bound is below 0. rates are e^A_log of a model. */
ATTEND_API attend_status attend_bounded_gate(const attend_gate* gate, float lower_bound, const float* z, ptrdiff_t tokens,
                                             float* log_decay);

#ifdef __cplusplus
}
#endif

#endif
