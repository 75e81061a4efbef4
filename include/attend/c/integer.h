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
 *   attend_problem problem;
 *   attend_integer_problem_init(&problem, sizeof problem);       // in the place of attend_problem_init
 *   problem.options = ATTEND_CAUSAL;
 *   problem.query_heads = 8; problem.kv_heads = 2; problem.head_dim = 64; problem.value_dim = 64;
 *   problem.queries = 16; problem.keys = 100; problem.offset = 84;
 *   problem.query.data = q; problem.key.data = k; problem.value.data = v; problem.output.data = out;
 *   problem.constants = &constants;
 *   size_t bytes = attend_workspace_size(&problem);              // 0: refused, and attend_check returns why
 *   status = attend_run(&problem, memory, bytes);                // memory is aligned to ATTEND_ALIGNMENT
 *
 * attend_c.h has the problem and its calls: batches, parts, caches, rings, pages and states too. In a problem in integers,
 *
 *   query, key, value   are int8_t; their formats stay as initialised, or are ATTEND_INT8
 *   output_format       is ATTEND_INT8, the default; ATTEND_INT16: the same steps, clamped to 16 bits; or ATTEND_FLOAT32: real
 *                       numbers, and output_zero_point is 0
 *   head_dim            is at most ATTEND_INTEGER_MAX_HEAD_DIM, and a query sees at most ATTEND_INTEGER_MAX_KEYS keys
 *   cache               is one whose attend_cache_shape::integers was 1
 *   key_scales, value_scales  are in 2^-15 of the head's; beside them key_zero_point or value_zero_point is 0
 *   first_key, origin   are multiples of ATTEND_INTEGER_CHUNK, and origin without states of ATTEND_SEGMENT_KEYS
 *   head_constants      have one query_zero_point, and where outputs are ATTEND_FLOAT32 one output_scale
 *
 * and what attend_problem has under Scores and Results stays as initialised. Calls with states stop at multiples of
 * ATTEND_INTEGER_CHUNK, but for the last.
 *
 * A device that is not to compute with floats at all takes constants that attend_integer_prepare has made elsewhere, as an
 * initialiser in its program: they are plain numbers, the same on every machine, and programs that do not call
 * attend_integer_prepare hold nothing of it. What cannot be checked is whether constants belong to these numbers. A query that
 * sees no key gets the number that means 0.
 */
#ifndef ATTEND_INTEGER_H
#define ATTEND_INTEGER_H

#include "../attend_c.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most stack that a call in integers takes, in bytes, as ATTEND_STACK_BYTES. */
#define ATTEND_INTEGER_STACK_BYTES 7488

/* So many keys share one maximum: positions 0-31, 32-63, ... */
#define ATTEND_INTEGER_CHUNK 32

/* Limits of integer calls, within which sums of 32 bits cannot overflow. */
#define ATTEND_INTEGER_MAX_HEAD_DIM 4096
#define ATTEND_INTEGER_MAX_KEYS 65535 /* that one query may see, by keys, ATTEND_CAUSAL and windows */

/* ---- Scales ---- */

/* The scales of each tensor: real = scale * (number - zero). The four scales of tensors must be set, each to 2^-126 ... 2^126.
 */
typedef struct attend_integer_scales {
  size_t size;         /* sizeof(attend_integer_scales), by attend_integer_scales_init */
  double query_scale;  /* of queries */
  double key_scale;    /* of keys */
  double value_scale;  /* of values */
  double output_scale; /* value_scale / output_scale is within 2^-10 ... 2^18. Outputs are averages of values, so the scale and
                          the zero point of the values suffice; a smaller scale keeps more digits of small averages */
  double scale;        /* of the scores: 0 ... 2^126, or ATTEND_DEFAULT_SCALE, 1 / sqrt(head_dim). scale * query_scale *
                          key_scale is below ln 2 (0.6931...), so that one step of a score is less than a factor of two */
  int32_t query_zero_point; /* zero points, -128 ... 127. A nonzero one of the queries takes more time: it needs a sum over each
                               key */
  int32_t key_zero_point;   /* changes nothing: it moves all scores of a query by the same amount */
  int32_t value_zero_point; /* of values */
  int32_t output_zero_point; /* -32768 ... 32767; within -128 ... 127 where outputs are ATTEND_INT8 */
} attend_integer_scales;

/* Writes defaults: zero points are 0, and scales must be set. */
ATTEND_API attend_status attend_integer_scales_init(attend_integer_scales* scales, size_t size);

/* The constants that attend_integer_prepare makes of scales. A call refuses others (ATTEND_CORRUPT). */
struct attend_integer_constants {
  uint32_t score_factor;     /* one step of a score, log2(e) * scale * query_scale * key_scale, in fixed point */
  int32_t score_right;       /* bits that scores are shifted right before it */
  int32_t score_left;        /* bits that it is longer */
  uint32_t score_end;        /* from this distance below the maximum on weights are 0 */
  int32_t output_factor;     /* value_scale / output_scale * 2^output_shift */
  int32_t output_shift;      /* see output_factor */
  int32_t query_zero_point;  /* zero points as in the scales */
  int32_t key_zero_point;    /* as in the scales */
  int32_t value_zero_point;  /* as in the scales */
  int32_t output_zero_point; /* as in the scales */
  float output_scale;        /* only outputs of ATTEND_FLOAT32 use it */
};

/* Makes constants for heads of head_dim numbers. */
ATTEND_API attend_status attend_integer_prepare(const attend_integer_scales* scales, ptrdiff_t head_dim,
                                                attend_integer_constants* constants);

/* ---- Problems and caches ---- */

/* Writes defaults to the struct, which computes in integers. size: sizeof(attend_problem), as the caller's header has it. */
ATTEND_API attend_status attend_integer_problem_init(attend_problem* problem, size_t size);

/* As attend_cache_append, of int8_t numbers to a cache of integers. */
ATTEND_API attend_status attend_integer_cache_append(attend_cache* cache, ptrdiff_t tokens, const attend_input* key,
                                                     const attend_input* value);

#ifdef __cplusplus
}
#endif

#endif
