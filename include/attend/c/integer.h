/* Attend for C: integer attention. Queries, keys, values and outputs are numbers of 8 bits, and a call executes not one
 * instruction on floats, unless outputs are ATTEND_FLOAT32: these take one multiplication each. Its time depends on extents,
 * options and the mask alone.
 *
 *   attend_integer_scales scales;                                // what the numbers mean: real = scale * (number - zero)
 *   attend_integer_scales_init(&scales, sizeof scales);
 *   scales.query_scale = 0.02; scales.key_scale = 0.03; scales.value_scale = 0.01; scales.output_scale = 0.01;
 *   attend_integer_constants constants;                          // once, for all calls with these scales
 *   attend_status status = attend_integer_prepare(&scales, 64, &constants);
 *
 *   attend_integer_problem problem;
 *   attend_integer_problem_init(&problem, sizeof problem);
 *   problem.options = ATTEND_CAUSAL;
 *   problem.query_heads = 8; problem.kv_heads = 2; problem.head_dim = 64; problem.value_dim = 64;
 *   problem.queries = 16; problem.keys = 100; problem.offset = 84;
 *   problem.query.data = q; problem.key.data = k; problem.value.data = v; problem.output.data = out;
 *   problem.constants = &constants;
 *   size_t bytes = attend_integer_workspace_size(&problem);      // 0: refused, and attend_integer_check returns why
 *   status = attend_integer_attention(&problem, memory, bytes);  // memory is aligned to ATTEND_ALIGNMENT
 *
 * A device that is not to compute with floats at all takes constants that attend_integer_prepare has made elsewhere, as an
 * initialiser in its program: they are plain numbers, the same on every machine, and programs that do not call
 * attend_integer_prepare hold nothing of it.
 *
 * Problems and calls are as in attend_c.h: fields of the same name have the same meaning, order of axes and
 * defaults; the bits are the same on every target, in however many parts; nothing that is set is ignored; everything is checked
 * before anything is written. What cannot be checked is whether constants belong to these numbers. A query that sees no key
 * gets the number that means 0.
 *
 * Keys and values lie as plain rows, so memory with room for more tokens is a cache: write each new token behind the others,
 * set keys to how many there are, and the strides to those of the whole memory. Of [kv_head][token][dim] with `room` tokens:
 *
 *   problem.key.token_stride = head_dim;  problem.key.head_stride = room * head_dim;   // and of value
 *
 * With windows such memory can be a ring, in which a sequence goes on without end: see attend_integer_ring.
 */
#ifndef ATTEND_INTEGER_H
#define ATTEND_INTEGER_H

#include "../attend_c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most stack that a call of this header takes, in bytes, as ATTEND_STACK_BYTES. */
#define ATTEND_INTEGER_STACK_BYTES 5632

/* Limits of integer calls, within which sums of 32 bits cannot overflow. */
#define ATTEND_INTEGER_MAX_HEAD_DIM 4096
#define ATTEND_INTEGER_MAX_KEYS 65535 /* that one query may see, by keys, ATTEND_CAUSAL and windows */

/* ---- Scales ---- */

/* The scales of each tensor: real = scale * (number - zero). The four scales of tensors must be set, each to 2^-126 ... 2^126.
 */
typedef struct attend_integer_scales {
  size_t size; /* sizeof(attend_integer_scales), by attend_integer_scales_init */
  double query_scale;
  double key_scale;
  double value_scale;
  double output_scale; /* value_scale / output_scale is within 2^-10 ... 2^18. Outputs are averages of values, so the scale and
                          the zero point of the values suffice; a smaller scale keeps more digits of small averages */
  double scale;        /* of the scores: 0 ... 2^126, or ATTEND_DEFAULT_SCALE, 1 / sqrt(head_dim). scale * query_scale *
                          key_scale is below ln 2 (0.6931...), so that one step of a score is less than a factor of two */
  int32_t query_zero_point; /* zero points, -128 ... 127. A nonzero one of the queries takes more time: it needs a sum over each
                               key */
  int32_t key_zero_point;   /* changes nothing: it moves all scores of a query by the same amount */
  int32_t value_zero_point;
  int32_t output_zero_point; /* -32768 ... 32767; within -128 ... 127 where outputs are ATTEND_INT8 */
} attend_integer_scales;

/* Writes defaults: zero points are 0, and scales must be set. */
ATTEND_API attend_status attend_integer_scales_init(attend_integer_scales* scales, size_t size);

/* The constants that attend_integer_prepare makes of scales. A call refuses others (ATTEND_CORRUPT). */
typedef struct attend_integer_constants {
  uint32_t score_factor;
  int32_t score_right;
  int32_t score_left;
  uint32_t score_end;
  int32_t output_factor;
  int32_t output_shift;
  int32_t query_zero_point;
  int32_t key_zero_point;
  int32_t value_zero_point;
  int32_t output_zero_point;
  float output_scale; /* only outputs of ATTEND_FLOAT32 use it */
} attend_integer_constants;

/* Makes constants for heads of head_dim numbers. */
ATTEND_API attend_status attend_integer_prepare(const attend_integer_scales* scales, ptrdiff_t head_dim,
                                                attend_integer_constants* constants);

/* ---- Problems ---- */

/* Further scales of single tokens' keys or values, in 2^-15: 0 ... 32768, of which 32768 is 1 and changes nothing.
 * [batch][kv_head][key], keys side by side; ATTEND_DENSE strides are those of a dense array. Larger numbers are not
 * checked, and give wrong outputs. */
typedef struct attend_integer_token_scales {
  const uint16_t* data; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
} attend_integer_token_scales;

/* A ring: memory of keys and values that holds the last window_keys tokens of a sequence, a few more, and the first sink_tokens
 * besides. key, value and scales of tokens have attend_integer_ring_rows(&ring) rows, not keys, and `keys` is how many tokens
 * the sequence has. The token of position t lies in row attend_integer_ring_row(&ring, t), and each of the first sink_tokens in
 * row t too: write it to both. Overwritten tokens are lost: keys falls only for another sequence. */
typedef struct attend_integer_ring {
  ptrdiff_t window_keys; /* 0: no ring. window_left + queries are enough */
  ptrdiff_t sink_tokens;
} attend_integer_ring;

/* Rows of a ring; 0 if it is none, or has numbers that are refused: at most ATTEND_MAX_TOKENS tokens in all. */
ATTEND_API ptrdiff_t attend_integer_ring_rows(const attend_integer_ring* ring);

/* The row of a token's position; -1 where the ring is none or the position is not within 0 ... ATTEND_MAX_TOKENS - 1. */
ATTEND_API ptrdiff_t attend_integer_ring_row(const attend_integer_ring* ring, ptrdiff_t position);

/* One call, as attend_problem. Those fields without a default (query_heads, kv_heads, head_dim, value_dim, queries, keys, and
 * one of constants and head_constants) are refused until they are set. */
typedef struct attend_integer_problem {
  size_t size;       /* sizeof(attend_integer_problem), by attend_integer_problem_init */
  uint32_t options;  /* ATTEND_CAUSAL, ATTEND_QUERIES_LAST, or 0 */
  int layout;        /* attend_layout */
  int output_format; /* ATTEND_INT8, the default; ATTEND_INT16: the same steps, clamped to 16 bits; ATTEND_FLOAT32: real
                        numbers, and output_zero_point is 0 */
  ptrdiff_t batch;
  ptrdiff_t query_heads;
  ptrdiff_t kv_heads;
  ptrdiff_t head_dim; /* 1 ... ATTEND_INTEGER_MAX_HEAD_DIM */
  ptrdiff_t value_dim;
  ptrdiff_t queries;
  ptrdiff_t keys; /* must be set */
  ptrdiff_t offset;
  const ptrdiff_t* key_lengths;
  attend_input query;                             /* int8_t [batch][queries][query_heads][head_dim] */
  attend_input key;                               /* int8_t [batch][keys][kv_heads][head_dim] */
  attend_input value;                             /* int8_t [batch][keys][kv_heads][value_dim] */
  attend_output output;                           /* [batch][queries][query_heads][value_dim] numbers of output_format */
  const attend_integer_constants* constants;      /* of all heads; set this or head_constants */
  const attend_integer_constants* head_constants; /* [query_heads]: of each query head. query_zero_point is the same in all, and
                                                     so is output_scale where outputs are ATTEND_FLOAT32 */
  ptrdiff_t window_left;
  ptrdiff_t window_right;
  ptrdiff_t sink_tokens;
  attend_mask mask;
  attend_integer_token_scales key_scales;   /* key_zero_point is 0 beside them */
  attend_integer_token_scales value_scales; /* value_zero_point is 0 beside them */
  attend_integer_ring ring;                 /* key_lengths is null beside it */
} attend_integer_problem;

/* Writes defaults to the struct. size: sizeof(attend_integer_problem), as the caller's header has it. */
ATTEND_API attend_status attend_integer_problem_init(attend_integer_problem* problem, size_t size);

/* Checks everything but parts and work memory. Reads the struct, constants and key lengths. */
ATTEND_API attend_status attend_integer_check(const attend_integer_problem* problem);

/* Bytes of work memory for the problem; 0 if attend_integer_check refuses it. Memory that is enough for a problem is enough for
 * the same with fewer queries or keys. */
ATTEND_API size_t attend_integer_workspace_size(const attend_integer_problem* problem);

/* Computes the output. workspace: workspace_size bytes, at least attend_integer_workspace_size(problem), aligned to
 * ATTEND_ALIGNMENT; its contents do not matter before or after. Each concurrent call needs its own. */
ATTEND_API attend_status attend_integer_attention(const attend_integer_problem* problem, void* workspace,
                                                  size_t workspace_size);

/* A part of the same, as attend_run_part. */
ATTEND_API attend_status attend_integer_attention_part(const attend_integer_problem* problem, ptrdiff_t part, ptrdiff_t parts,
                                                       void* workspace, size_t workspace_size);

#ifdef __cplusplus
}
#endif

#endif
