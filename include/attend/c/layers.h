/* Attend for C: from token vectors to context vectors. The rest of a transformer block:
 * projections, normalisation, activations, rotary positions, residual addition; whole multi-head layers; additive attention.
 *
 *   attend_layer layer;                                          // weights of the four projections, and the layer's cache
 *   attend_layer_init(&layer, sizeof layer);
 *   layer.query.data = wq; layer.query.outputs = 512; layer.query.inputs = 256;        // and so on
 *   layer.cache = cache;
 *   problem.options = ATTEND_CAUSAL; problem.queries = tokens;   // heads, dims and options, but no tensors
 *   attend_self_attention(&problem, &layer, x, y, memory, attend_layer_workspace_size(&problem, &layer));
 *
 * Vectors are floats that lie side by side, x[tokens][width]. Calls are as in attend_c.h: the bits are
 * those of the C++ surface on every target, nothing that is set is ignored, everything is checked before anything is written (a
 * cache that tokens are appended to belongs to the call from its beginning), and what a call writes overlaps nothing else that
 * it reads or writes, unless a comment here allows the same array. Calls of no tokens do nothing, and their
 * vectors may be null. Work memory is aligned to ATTEND_ALIGNMENT.
 */
#ifndef ATTEND_LAYERS_H
#define ATTEND_LAYERS_H

#include "../attend_c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most stack that a call of this header takes, in bytes, as ATTEND_STACK_BYTES. */
#define ATTEND_LAYER_STACK_BYTES 12288

/* ---- Projections ---- */

/* Bytes of work memory for attend_project, whatever the extents. (Where config::embedded is true in config.h, 1024 are enough.)
 */
#define ATTEND_PROJECTION_WORKSPACE_SIZE 278528

enum attend_weight_layout {
  ATTEND_ROWS = 0,   /* [outputs][inputs], as layers are usually stored */
  ATTEND_PANELS = 1, /* as attend_pack_weights writes them: faster */
  /* The same of attend_integer_project, of ATTEND_INT8 without scales and bias: */
  ATTEND_INTEGER_ROWS = 2,
  ATTEND_INTEGER_PANELS = 3 /* as attend_pack_weights writes these */
};

/* The weights of a projection. Those that are all zeros, or {0}, need data and extents only. */
typedef struct attend_weights {
  const void* data;    /* numbers of the format; of ATTEND_PANELS attend_packed_size bytes */
  const float* scales; /* [outputs] of ATTEND_INT8: the factor of an output's weights; otherwise null */
  const float* bias;   /* [outputs]; null: none */
  ptrdiff_t outputs;   /* 1 ... ATTEND_MAX_TOKENS */
  ptrdiff_t inputs;    /* likewise; of ATTEND_INT4 a multiple of 32, otherwise ATTEND_OUT_OF_RANGE */
  int format;          /* attend_format, but for ATTEND_INT16 */
  int layout;          /* attend_weight_layout */
} attend_weights;

/* One of the projections of a call. */
typedef struct attend_projection {
  attend_weights weights;
  float* y; /* [tokens][outputs] */
} attend_projection;

/* y = W x + b for each token, of `count` projections of the same x[tokens][inputs]; count: 1 ... 256,
 * tokens: 0 ... ATTEND_MAX_TOKENS. Their outputs do not overlap each other. workspace: ATTEND_PROJECTION_WORKSPACE_SIZE bytes;
 * or null, and workspace_size 0: then several tokens take longer. */
ATTEND_API attend_status attend_project(const float* x, ptrdiff_t tokens, const attend_projection* projections, ptrdiff_t count,
                                        void* workspace, size_t workspace_size);

/* Bytes of the numbers of weights as panels, which have room for whole 16 outputs (of integers on hosts 32, and their sums); 0
 * where the weights are refused. */
ATTEND_API size_t attend_packed_size(const attend_weights* weights);

/* Writes weights that lie in rows to memory, aligned to ATTEND_ALIGNMENT, as panels. *result becomes the same weights there,
 * with the same scales and bias, which are not copied; it may be *weights. */
ATTEND_API attend_status attend_pack_weights(const attend_weights* weights, void* memory, size_t memory_size,
                                             attend_weights* result);

/* Writes weights of ATTEND_FLOAT32 that lie in rows to memory, as numbers of another format, also in rows: ATTEND_FLOAT16 and
 * ATTEND_BFLOAT16 are the nearest finite numbers, ties to even; ATTEND_INT8 are one of 127 steps to each side of 0, and
 * scales[outputs] are written, each 1 / 127 of the output's largest magnitude, or NaN where a weight is not finite. Others have
 * no scales: null. ATTEND_INT4, as GGUF's reference computes it: the scale is the number of the largest magnitude among 32,
 * divided by -8 and rounded to float16, and a weight the nearest of -8 to 7 steps. Up to 2^-22 the scale is 0, and so are all
 * 32 weights; it is NaN where one of them is not finite. *result becomes the same weights there, with the same bias, which
 * is not copied; it may be *weights. ATTEND_OUT_OF_RANGE of the weights, and nothing is written: a finite one is too large for
 * the format, from 65520 on for ATTEND_FLOAT16, from 524160 on for ATTEND_INT4. */
ATTEND_API attend_status attend_convert_weights(const attend_weights* weights, int format, void* memory, size_t memory_size,
                                                float* scales, attend_weights* result);

/* ---- Projections in integers ----
 *
 *   attend_integer_linear linear = {0};
 *   linear.weights.data = w8; linear.weights.outputs = 64; linear.weights.inputs = 48;
 *   linear.weights.format = ATTEND_INT8; linear.weights.layout = ATTEND_INTEGER_ROWS;     // or packed by attend_pack_weights
 *   linear.multipliers = multipliers; linear.multiplier_count = 64; linear.output_format = ATTEND_INT8;
 *   attend_status status = attend_integer_project(&linear, x8, tokens, y8);               // of int8_t[tokens][48]
 *
 * Sums are exact. An output is its sum times the multiplier, rounded once to the nearest, ties up, plus output_zero_point, and
 * clamped to its format. The bits are the same on every target, and not one float instruction is executed. */

/* Sums of as many products fit into 32 bits. */
#define ATTEND_INTEGER_MAX_INPUTS 65536

/* factor / 2^shift: what TFLite calls a quantised multiplier, with a left shift of 31 - shift. */
typedef struct attend_integer_multiplier {
  int32_t factor; /* 2^30 ... 2^31 - 1 */
  int32_t shift;  /* 1 ... 62 */
} attend_integer_multiplier;

/* The multiplier of an output: scale of x * scale of its weights / scale of y, 2^-32 ... 2^29, without 2^29 itself, rounded to
 * the nearest, ties up; of other numbers one that is refused. For where doubles are at hand: multipliers are plain numbers, the
 * same on every machine. */
static inline attend_integer_multiplier attend_integer_multiplier_of(double number) {
  attend_integer_multiplier by = {0, 31};
  if (!(number >= 1.0 / 4294967296.0 && number < 536870912.0)) return by;
  for (; number >= 1; number /= 2) --by.shift;
  for (; number < 0.5; number *= 2) ++by.shift;
  if (number * 2147483648.0 + 0.5 >= 2147483648.0) {
    number /= 2;
    --by.shift;
  }
  by.factor = (int32_t)(number * 2147483648.0 + 0.5);
  return by;
}

/* A projection, {0} but for what is set. */
typedef struct attend_integer_linear {
  const attend_integer_multiplier* multipliers; /* [multiplier_count] */
  ptrdiff_t multiplier_count;                   /* as many as outputs, or 1 for all of them */
  attend_weights weights;    /* of ATTEND_INT8, ATTEND_INTEGER_ROWS or ATTEND_INTEGER_PANELS, with the zero point 0; 1 ...
                                ATTEND_INTEGER_MAX_INPUTS inputs; scales and bias stay null */
  const int32_t* bias;       /* [outputs], in steps of scale of x * scale of the weights, at most 2^31 - 1 - 32640 * inputs in
                                size, so that no sum leaves 32 bits; null: none */
  int32_t input_zero_point;  /* of x: -128 ... 127 */
  int32_t output_zero_point; /* of y: a number of its format */
  int output_format;         /* ATTEND_INT8 or ATTEND_INT16 */
} attend_integer_linear;

/* y[tokens][outputs] = W x + b of x[tokens][inputs]; tokens: 0 ... ATTEND_MAX_TOKENS. */
ATTEND_API attend_status attend_integer_project(const attend_integer_linear* linear, const int8_t* x, ptrdiff_t tokens,
                                                void* y);

/* ---- Rows ---- */

/* The parameters of a normalisation. */
typedef struct attend_norm {
  const float* weight; /* [width]; null: 1 */
  const float* bias;   /* [width]; null: none, and so for attend_rms_norm */
  ptrdiff_t width;     /* 1 ... ATTEND_MAX_TOKENS */
  float epsilon;       /* 1e-30 ... 1e30 */
} attend_norm;

/* y = x / sqrt(mean(x^2) + epsilon) * weight, for each of the rows of x[rows][width]; rows: 0 ... ATTEND_MAX_TOKENS. y may be
 * x. A row whose sum of squares overflows becomes 0. */
ATTEND_API attend_status attend_rms_norm(const attend_norm* norm, const float* x, ptrdiff_t rows, float* y);

/* y = (x - mean) / sqrt(variance + epsilon) * weight + bias, likewise. */
ATTEND_API attend_status attend_layer_norm(const attend_norm* norm, const float* x, ptrdiff_t rows, float* y);

enum attend_activation {
  ATTEND_RELU = 0,      /* max(x, 0) */
  ATTEND_SILU = 1,      /* x / (1 + e^-x), also called swish */
  ATTEND_GELU = 2,      /* x * Phi(x) with the distribution function of the normal distribution */
  ATTEND_GELU_TANH = 3, /* its approximation by tanh */
  ATTEND_SIGMOID = 4,   /* 1 / (1 + e^-x) */
  ATTEND_TANH = 5,      /* the hyperbolic tangent */
  ATTEND_EXP = 6,       /* e^x */
  ATTEND_ERF = 7        /* the error function */
};

/* y[i] = f(x[i]), and where `by` is not null, times by[i]: a gated product. x and by may be y. count: 0 ... 2^31 - 1. */
ATTEND_API attend_status attend_activate(int activation, const float* x, const float* by, ptrdiff_t count, float* y);

/* Norms around linear attention. Each head of width numbers by itself, y = x / sqrt(sum(x^2) + epsilon), x[rows][width]; width:
 * 1 ... ATTEND_MAX_WIDTH, epsilon as of attend_norm; 1e-6 in models. y may be x. */
ATTEND_API attend_status attend_l2_norm(const float* x, ptrdiff_t rows, ptrdiff_t width, float epsilon, float* y);

/* Where the gate of attend_gated_rms_norm stands. */
enum attend_gate_order {
  ATTEND_GATE_LAST = 0, /* rms_norm(x) * weight * f(gate): Gated DeltaNet */
  ATTEND_GATE_FIRST = 1 /* rms_norm(x * f(gate)) * weight: Mamba-2 */
};

/* A norm with a gate. */
typedef struct attend_gated_norm {
  attend_norm norm; /* without a bias */
  ptrdiff_t groups; /* of a row, each normalised by itself: a divisor of norm.width, such as 1 */
  int activation;   /* attend_activation of the gate */
  int order;        /* attend_gate_order */
} attend_gated_norm;

/* attend_rms_norm with a gate[rows][norm.width]. y may be x, and with ATTEND_GATE_FIRST the gate. rows * norm.width is less
 * than 2^31. */
ATTEND_API attend_status attend_gated_rms_norm(const attend_gated_norm* norm, const float* x, const float* gate, ptrdiff_t rows,
                                               float* y);

/* y[i] += x[i] * scale, rounded once: a residual connection. scale is finite; x may be y. count: 0 ... 2^31 - 1. */
ATTEND_API attend_status attend_add(const float* x, float scale, ptrdiff_t count, float* y);

/* y = each of the rows of x[rows][width] times the Hadamard matrix of the largest power of two n that divides the width, block
 * by block, over the square root of n. But for rounding, scores of queries and keys that both went through it (rows of
 * head_dim) are what they were, and it is its own inverse, while sums of magnitudes of a block do not overflow. Numbers that
 * are much larger than others are spread over the row, which a cache of ATTEND_INT4 rounds better. width: 1 ...
 * ATTEND_MAX_TOKENS; rows: 0 ... ATTEND_MAX_TOKENS; y may be x. */
ATTEND_API attend_status attend_hadamard(const float* x, ptrdiff_t rows, ptrdiff_t width, float* y);

/* ---- Rotary positions ---- */

/* The numbers of a head that form a pair. */
enum attend_rotary_pairs {
  ATTEND_NEIGHBOURS = 0, /* 2 i and 2 i + 1 (GPT-J, LLaMA as published) */
  ATTEND_HALVES = 1      /* i and i + rotary_dim / 2 (GPT-NeoX, LLaMA in Hugging Face's Transformers) */
};

/* Made by attend_rotary_init or attend_rotary_init_scaled. */
typedef struct attend_rotary {
  const uint64_t* turns; /* [rotary_dim / 2] the angle by which each pair turns, in units of 2^-64 of a turn */
  ptrdiff_t rotary_dim;  /* the first rotary_dim numbers of a head turn: even, 2 ... ATTEND_MAX_WIDTH */
  int pairs;             /* attend_rotary_pairs */
  float factor;          /* what cosines and sines are multiplied by: 1 unless a scaling has another */
} attend_rotary;

/* Pair i turns by base^(-2 i / rotary_dim) / scaling_factor radians from one position to the next. turns: rotary_dim / 2
 * numbers of the caller, which live as long as *rotary; base: 2 ... 1e12; scaling_factor: 1 ... 65536, the factor of linear
 * position scaling. */
ATTEND_API attend_status attend_rotary_init(attend_rotary* rotary, uint64_t* turns, ptrdiff_t rotary_dim, int pairs, float base,
                                            float scaling_factor);

/* Frequencies of models whose positions are scaled, by the names of their configurations ("rope_scaling"). */
enum attend_rotary_kind {
  ATTEND_ROTARY_LINEAR = 0, /* all pairs turn `factor` times more slowly */
  ATTEND_ROTARY_LLAMA3 = 1, /* by how often a pair turns in original_positions: less than `slow` (low_freq_factor) times as
                             * linear, more than `fast` (high_freq_factor) times as without; interpolated in between */
  ATTEND_ROTARY_YARN = 2,   /* likewise by the pair's number, between those that turn `fast` (beta_fast) and `slow`
                             * (beta_slow) times (Peng et al., 2023) */
  ATTEND_ROTARY_LONG = 3,   /* each pair turns factors[i] times more slowly (LongRoPE, Ding et al., 2024) */
  ATTEND_ROTARY_PROPORTIONAL = 4, /* only the first `turning` pairs turn (Gemma 4) */
  ATTEND_ROTARY_FREQUENCIES = 5   /* pair i turns by frequencies[i] radians from one position to the next */
};

/* Zero-initialise it: a field that the kind does not use must be 0. */
typedef struct attend_rotary_scaling {
  int kind;                     /* attend_rotary_kind */
  float factor;                 /* linear, llama3, YaRN; LongRoPE: positions / original_positions. 1 ... 65536 */
  ptrdiff_t original_positions; /* llama3, YaRN, LongRoPE: 2 ... 2^24 */
  float slow;                   /* llama3, YaRN: 1 ... 65536, slow < fast */
  float fast;                   /* llama3, YaRN: at most 65536 */
  int fractions;                /* YaRN: 1 if the configuration says truncate: false */
  const float* factors;         /* LongRoPE: [rotary_dim / 2] 2^-4 ... 65536, the short or the long list of the model */
  ptrdiff_t turning;            /* proportional: 1 ... rotary_dim / 2 */
  const double* frequencies;    /* frequencies: [rotary_dim / 2] 0 to below 4 radians, the first at least 2^-61 */
  float attention_factor; /* what queries and keys are multiplied by: 2^-16 ... 65536; 0 for 1 + ln(factor) / 10 with YaRN,
                           * sqrt(1 + ln(factor) / ln(original_positions)) with LongRoPE, otherwise 1 */
} attend_rotary_scaling;

/* attend_rotary_init with a scaling. With frequencies base must be 0. Angles of published configurations are within 1e-6
 * radians of exact ones up to position 2^20, with the same bits on every target. */
ATTEND_API attend_status attend_rotary_init_scaled(attend_rotary* rotary, uint64_t* turns, ptrdiff_t rotary_dim, int pairs,
                                                   float base, const attend_rotary_scaling* scaling);

/* Turns x[tokens][heads][head_dim] in place, at positions position, position + 1 ...: -2^31 ... 2^31 - 1 - tokens; negative
 * ones turn back. Strides are those of an attend_output; batch_stride is 0 or ATTEND_DENSE. heads, head_dim: 1 ...
 * ATTEND_MAX_WIDTH. The first rotary_dim numbers of a head turn: others by a data pointer and strides that are set. */
ATTEND_API attend_status attend_rotate(const attend_rotary* rotary, const attend_output* x, ptrdiff_t tokens, ptrdiff_t heads,
                                       ptrdiff_t head_dim, ptrdiff_t position);

/* Positions of each token, any numbers, on 1 ... 8 axes (time, height and width: M-RoPE). pairs[axis] pairs turn by an axis:
 * rotary_dim / 2 in all, one axis after the other (Qwen2-VL: 16, 24, 24), or, where interleaved is 1, in turns from pair 0 on
 * as long as an axis has pairs left, and then by the first (Qwen3-VL: 24, 20, 20). */
typedef struct attend_positions {
  const int* data; /* [tokens][axes] */
  int axes;
  int interleaved;
  int pairs[8]; /* 0 past the axes */
} attend_positions;

/* attend_rotate with positions of each token. -p turns back what p has turned, but for an attention factor. */
ATTEND_API attend_status attend_rotate_positions(const attend_rotary* rotary, const attend_output* x, ptrdiff_t tokens,
                                                 ptrdiff_t heads, ptrdiff_t head_dim, const attend_positions* positions);

/* ---- Multi-head layers ----
 *
 * A layer takes an attend_problem, which sets heads, dims, `queries` (the tokens of x) and options; layout is that of lse.
 * The fields that the layer sets must stay as they were initialised (otherwise ATTEND_CONFLICT): query, key, value, output
 * and their formats, cache, batch, pages, states, origin. Each call has the bits of the calls that it is made of, one after
 * another. */
/* Threads that compute a call of a layer together. Each makes the same call, with the same problem, x, y, work memory and
 * cache, and with a copy of the layer whose team has its own part: 0 ... parts - 1. barrier(context) returns once all parts
 * have called it, and is called equally often by each. The bits are those of one thread; y is whole when a part returns. A call
 * that is refused is refused by every part: without a barrier, or where a key or value is too large for the cache
 * (ATTEND_OUT_OF_RANGE) behind the same one. */
typedef struct attend_team {
  ptrdiff_t part;
  ptrdiff_t parts; /* 1 ... ATTEND_MAX_PARTS; 1 needs no barrier */
  void (*barrier)(void* context);
  void* context;
} attend_team;

/* Queries at position p are multiplied by data[(p + shift) / period], or by the last factor: so that attention over long
 * contexts stays sharp. Positions are those of rotary. Llama 4's layers without positions have period 8192 and shift 1. */
typedef struct attend_query_factors {
  const float* data; /* [count]; null: none, and the rest is 0 */
  ptrdiff_t count;   /* 1 ... ATTEND_MAX_TOKENS */
  ptrdiff_t period;  /* likewise */
  ptrdiff_t shift;   /* 0 ... ATTEND_MAX_TOKENS */
} attend_query_factors;

/* factors[k] = 1 + beta * ln(1 + k), the same bits on every target. beta is 0.1 of Llama 4; count: 1 ... ATTEND_MAX_TOKENS. */
ATTEND_API attend_status attend_logarithmic_factors(float beta, ptrdiff_t count, float* factors);

typedef struct attend_layer {
  size_t size;             /* sizeof(attend_layer), by attend_layer_init */
  attend_weights query;    /* query_heads * head_dim outputs; as many inputs as x has numbers for each token */
  attend_weights key;      /* kv_heads * head_dim outputs; inputs as query or, of cross-attention, as the memory has numbers */
  attend_weights value;    /* kv_heads * value_dim outputs; inputs as key */
  attend_weights output;   /* query_heads * value_dim inputs; as many outputs as y has numbers for each token */
  const float* query_norm; /* [head_dim]: each head of queries is normalised by attend_rms_norm with this weight; null: not */
  const float* key_norm;   /* likewise of keys */
  float epsilon;           /* of both, as of attend_norm: 1e-5 */
  const attend_rotary* rotary;        /* queries and keys turn, after that; rotary_dim is at most head_dim; null: they do not */
  attend_cache* cache;                /* of keys and values, of any format, a ring too; null: see below */
  const attend_team* team;            /* null: one thread */
  attend_query_factors query_factors; /* after rotary */
  attend_weights gate; /* query_heads * value_dim outputs, inputs as query; value_dim is at most head_dim then. The outputs of
                          attention are multiplied by the sigmoid of this projection of x, number by number, before they are
                          projected (Qwen3-Next: the second half of each head's rows of q_proj). All zeros: none */
} attend_layer;

/* Writes the defaults, the size among them; the weights are still to be set. */
ATTEND_API attend_status attend_layer_init(attend_layer* layer, size_t size);

/* Bytes of work memory for attend_self_attention and attend_cross_attention, which with a cache depend on its capacity, not on
 * the tokens held; 0 where extents, weights or the cache are refused. Enough for the same with fewer queries. */
ATTEND_API size_t attend_layer_workspace_size(const attend_problem* problem, const attend_layer* layer);

/* Self-attention from x[queries][width] to y[queries][outputs]; y may be x, where it has as many numbers. With a cache, the
 * tokens are appended to it, and attend to what it has then: prefill and decode, causal with ATTEND_CAUSAL alone. Where they
 * do not fit, the call returns ATTEND_FULL and changes nothing. `keys` counts the new tokens too. For rotary and query_factors,
 * tokens are at the positions after those that the cache had, and another `offset` is refused. Without a cache they attend to
 * each other, and keys is `queries` or less, or ATTEND_ALL_KEYS. */
ATTEND_API attend_status attend_self_attention(const attend_problem* problem, const attend_layer* layer, const float* x,
                                               float* y, void* workspace, size_t workspace_size);

/* Attention to the tokens of the cache, which attend_project_memory has put there. For rotary and query_factors, the first
 * token of x is at `offset`: where options use positions it has the meaning that it has elsewhere; otherwise it serves these
 * alone, and the default is 0. Positions are not negative then. */
ATTEND_API attend_status attend_cross_attention(const attend_problem* problem, const attend_layer* layer, const float* x,
                                                float* y, void* workspace, size_t workspace_size);

/* Bytes of work memory for attend_project_memory; 0 where weights, cache or tokens are refused. */
ATTEND_API size_t attend_memory_workspace_size(const attend_layer* layer, ptrdiff_t tokens);

/* Projects tokens of an encoder, x[tokens][inputs of key], to keys and values and appends them to the cache: once for each
 * sequence. query and output are not read. */
ATTEND_API attend_status attend_project_memory(const attend_layer* layer, const float* x, ptrdiff_t tokens, void* workspace,
                                               size_t workspace_size);

/* ---- Additive attention (Bahdanau, Cho and Bengio, 2014) ----
 *
 * A problem over arrays whose scores are v . tanh(query_i + key_j) in the place of scale * dot(query_i, key_j). query and key
 * are projected already, the key with the bias of the sum; head_dim is their width. query_heads, kv_heads and batch are 1. What
 * would change or show other scores is refused (ATTEND_CONFLICT): a scale, a soft cap, a bias, raw and capped scores; and so
 * are formats, a cache, pages, states and an origin. */

/* Bytes of work memory; 0 where the problem is refused. */
ATTEND_API size_t attend_additive_workspace_size(const attend_problem* problem);

/* v: [head_dim]. */
ATTEND_API attend_status attend_additive_attention(const attend_problem* problem, const float* v, void* workspace,
                                                   size_t workspace_size);

#ifdef __cplusplus
}
#endif

#endif
