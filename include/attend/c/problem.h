/* The problem that a call of the C surface computes: its tensors, extents and options. attend_c.h includes this header, and
 * defines what is computed and by which calls. */
#ifndef ATTEND_PROBLEM_H
#define ATTEND_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

#include "status.h" /* errors, arguments, and both in words */

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of extents. They keep every product within what the library computes with. */
#define ATTEND_MAX_TOKENS 536870912 /* queries, keys, max_tokens, batch, columns of masks */
#define ATTEND_MAX_WIDTH 65536      /* head_dim, value_dim, query_heads, kv_heads */
#define ATTEND_MAX_ROWS 1073741824  /* queries * query_heads / kv_heads */
#define ATTEND_MAX_PARTS 65535
#define ATTEND_MAX_STATE_NODES 524288 /* state_nodes: more than as many tokens can make up */

/* The defaults of attend_problem_init. A call is refused (ATTEND_AMBIGUOUS) where the rest of the problem leaves one open. */
#define ATTEND_DEFAULT_SCALE (-3.402823466e+38f) /* 1 / sqrt(head_dim), to the nearest float */
#define ATTEND_DEFAULT_OFFSET PTRDIFF_MIN        /* the queries are the last tokens of the cache, or as many as the keys */
#define ATTEND_DEFAULT_BATCH PTRDIFF_MIN         /* 1 */
#define ATTEND_DEFAULT_ORIGIN (-1)               /* 0 */
#define ATTEND_DEFAULT_FORMAT (-1)               /* ATTEND_FLOAT32 */
#define ATTEND_DENSE PTRDIFF_MIN                 /* a stride: as in a dense array of the layout, by the extents of the call */
#define ATTEND_ALL_KEYS (-1)                     /* keys: the tokens of the cache; columns: as many as the problem has keys */
#define ATTEND_NO_LIMIT (-1)                     /* a window without an end */
#define ATTEND_DEFAULT_STATE_NODES 14            /* enough for keys side by side among the first 131,072 */

/* Bits of attend_problem::options. */
#define ATTEND_CAUSAL 1u       /* query i sees keys 0 ... offset + i */
#define ATTEND_QUERIES_LAST 2u /* sets the offset of each batch row: its queries are the last of its key_lengths keys */

enum attend_layout {
  ATTEND_BATCH_TOKEN_HEAD_DIM = 0, /* as a projection writes it */
  ATTEND_BATCH_HEAD_TOKEN_DIM = 1  /* heads before tokens */
};

/* Formats of numbers. */
enum attend_format {
  ATTEND_FLOAT32 = 0,
  ATTEND_FLOAT16 = 1,    /* IEEE 754 binary16 */
  ATTEND_BFLOAT16 = 2,   /* the upper half of a float */
  ATTEND_INT8 = 3,       /* two's complement: keys and values with a scale for each token and head, and weights */
  ATTEND_INT16 = 4,      /* outputs of integer attention (c/integer.h) */
  ATTEND_INT4 = 5,       /* 32 numbers share a scale: keys and values of caches (attend_c.h), and weights (c/layers.h) */
  ATTEND_IN_KEYS = 6,    /* value_format of an attend_cache_shape alone: values are the first numbers of their keys */
  ATTEND_SATURATED = 256 /* a bit beside ATTEND_FLOAT16 or ATTEND_INT4 in an attend_cache_shape (attend_c.h) */
};

/* A tensor: element (b, t, h, c) is
 *
 *   data[b * batch_stride + t * token_stride + h * head_stride + c]
 *
 * Strides count numbers of the tensor's format, not bytes, and may be negative. ATTEND_DENSE is the stride of a dense array of
 * the problem's layout. An input may have strides of 0: it does not have that axis, and all read the same. Where an extent is
 * 1, the stride has no effect. A tensor without elements is not read: its data may be null. Addresses must be multiples of the
 * size of a number. Set all strides of an array that is not dense (include/guide/c.md, "Axes"). */
typedef struct attend_input {
  const void* data;
  ptrdiff_t batch_stride;
  ptrdiff_t token_stride;
  ptrdiff_t head_stride;
} attend_input;

/* A tensor that a call writes. Its strides keep elements apart: sorted by size, each is at least as long as all that the
 * smaller ones span. Axes may have any order, and gaps between them. */
typedef struct attend_output {
  void* data;
  ptrdiff_t batch_stride;
  ptrdiff_t token_stride;
  ptrdiff_t head_stride;
} attend_output;

/* A key/value cache, made by attend_cache_init in memory of the caller (attend_c.h). */
typedef struct attend_cache attend_cache;

enum attend_mask_kind {
  ATTEND_MASK_NONE = 0,  /* there is no mask, and data is null */
  ATTEND_MASK_BYTES = 1, /* uint8_t, or C's bool: 0 masks the key */
  ATTEND_MASK_BITS = 2   /* from the lowest bit of each byte on: 0 masks the key */
};

/* [batch][query head][query][key], keys side by side: element b * batch_stride + h * head_stride + i * query_stride + j.
 * Strides count elements, bits too. A stride of 0 shares what lies there: a mask [query][key] has batch_stride and head_stride
 * 0, a padding mask [batch][key] head_stride and query_stride 0. ATTEND_DENSE is the stride of a dense array of the other axes,
 * with `keys` columns. Keys at or after `keys` are masked. */
typedef struct attend_mask {
  const void* data; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
  ptrdiff_t query_stride;
  ptrdiff_t keys; /* columns: ATTEND_ALL_KEYS, or 0 ... ATTEND_MAX_TOKENS */
  int kind;       /* attend_mask_kind */
} attend_mask;

/* Floats that are added to the scores, in natural-log units, with the axes of a mask. -infinity masks the key. */
typedef struct attend_bias {
  const float* data; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
  ptrdiff_t query_stride;
  ptrdiff_t keys; /* columns: ATTEND_ALL_KEYS, or 0 ... ATTEND_MAX_TOKENS */
} attend_bias;

/* Whether the bias is added to a score after the soft cap or before it. */
enum attend_bias_stage { ATTEND_BIAS_AFTER_CAP = 0, ATTEND_BIAS_BEFORE_CAP = 1 };

/* Biases by distance: number clamp(j - p, -left, right) + left of [query head][left + 1 + right] joins the score of key j. */
typedef struct attend_relative_bias {
  const float* data;     /* null: none */
  ptrdiff_t head_stride; /* ATTEND_DENSE: left + 1 + right; 0: all heads have the same */
  ptrdiff_t left;        /* 0 ... ATTEND_MAX_TOKENS */
  ptrdiff_t right;       /* 0 ... ATTEND_MAX_TOKENS */
} attend_relative_bias;

/* The base of the logarithm in lse. */
enum attend_lse_base { ATTEND_LSE_NATURAL = 0, ATTEND_LSE_BASE_2 = 1 };

/* The stages of scores, in natural-log units. (ONNX's qk_matmul_output_mode is 0 for raw scores and 3 for weights. The meaning
 * of 1 and 2 depends on the operator's version.) */
enum attend_score_stage {
  ATTEND_SCORES_NONE = 0,   /* there are no scores, and data is null */
  ATTEND_SCORES_RAW = 1,    /* scale * dot(query, key), of masked keys too */
  ATTEND_SCORES_CAPPED = 2, /* after the soft cap, of masked keys too */
  ATTEND_SCORES_BIASED = 3, /* after the biases; -infinity where a key is masked */
  ATTEND_SCORES_WEIGHTS = 4 /* after the softmax; 0 where a key is masked */
};

/* Scores or weights that a call writes: the axes of a mask, with strides that keep elements apart. Columns at or after the
 * problem's keys have the numbers of masked keys. */
typedef struct attend_scores {
  float* data; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
  ptrdiff_t query_stride;
  ptrdiff_t keys; /* columns: ATTEND_ALL_KEYS, or at least the problem's keys */
  int stage;      /* attend_score_stage */
} attend_scores;

/* Scales of single tokens: [batch][kv_head][key], keys side by side. A scale is a float that multiplies the int8 numbers of its
 * token and head; in integer calls it is a uint16_t that multiplies the scale of the head by scale / 2^15, 0 ... 32768. Larger
 * ones are not checked, and give wrong outputs. */
typedef struct attend_scales {
  const void* data; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
} attend_scales;

/* Keys and values in pools of pages, which all batch rows share: [page][page_keys][kv_heads][dim], or by the layout
 * [kv_heads][page][page_keys][dim]; scales are [kv_head][page][page_keys]. Key j of batch row b is token j % page_keys of page
 * table[b * batch_stride + j / page_keys]. A dense table has ceil(keys / page_keys) entries for every row. */
typedef struct attend_pages {
  const int32_t* table; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t page_keys; /* a multiple of 16, in integer calls of 32 */
  ptrdiff_t count;     /* pages in the pool; count * page_keys <= ATTEND_MAX_TOKENS */
} attend_pages;

/* A range of keys for each query. Query i of batch row b sees keys first[b * batch_stride + i] ... end[b * batch_stride + i] -
 * 1, if the rest of the problem does not mask them. 0 <= first <= end; end may pass the keys. */
typedef struct attend_ranges {
  const int32_t* first;   /* null: 0 */
  const int32_t* end;     /* null: all keys */
  ptrdiff_t batch_stride; /* ATTEND_DENSE: queries; 0: all rows have the same */
} attend_ranges;

/* Documents side by side in one batch row. Document d has tokens boundaries[d] ... boundaries[d + 1] - 1 of queries and keys,
 * and sees itself alone. Positions count from its beginning, so it has the bits that it would have alone. Columns of masks,
 * biases, scores and ranges are tokens of the arrays. */
typedef struct attend_documents {
  const int32_t* boundaries; /* [count + 1], ascending from 0 to queries, and keys is the same number; null: none */
  ptrdiff_t count;
} attend_documents;

/* The code that computes a call, in floats or in integers. A program holds the code of the init functions that it calls. */
typedef struct attend_arithmetic attend_arithmetic;
typedef struct attend_integer_constants attend_integer_constants; /* c/integer.h */

/* One call. attend_problem_init writes a default to every field. These have none, and must be set: query_heads, kv_heads,
 * head_dim, value_dim, queries, and keys without a cache. include/guide/c.md says which fields need or exclude each other.
 *
 * Query i of a batch row has the position p = offset + i. Its score of key j, in natural-log units, is
 *
 *   soft_cap * tanh(scale * dot(query, key) / soft_cap) + bias[j] + relative_bias[j - p] + alibi_slope * (j - p)
 *
 * or has bias[j] within the cap, by bias_stage. */
typedef struct attend_problem {
  size_t size;                         /* sizeof(attend_problem); attend_problem_init sets it */
  const attend_arithmetic* arithmetic; /* by the init function: floats, or integers (c/integer.h) */
  uint32_t options;                    /* ATTEND_CAUSAL, ATTEND_QUERIES_LAST, or 0 */
  int layout; /* attend_layout of query, key, value, output and lse, for strides that are ATTEND_DENSE. The default is tokens
                 before heads: the library cannot notice that an array has heads before tokens */

  /* Extents */
  ptrdiff_t batch;       /* independent rows, 0 ... ATTEND_MAX_TOKENS. The default is 1 */
  ptrdiff_t query_heads; /* 1 ... ATTEND_MAX_WIDTH */
  ptrdiff_t kv_heads;    /* a divisor of query_heads: the same number is multi-head attention, 1 is multi-query */
  ptrdiff_t head_dim;    /* width of a query and of a key, 1 ... ATTEND_MAX_WIDTH */
  ptrdiff_t value_dim;   /* width of a value and of an output, 1 ... ATTEND_MAX_WIDTH */
  ptrdiff_t queries;     /* query tokens of each batch row, 0 ... ATTEND_MAX_TOKENS */
  ptrdiff_t keys;        /* key tokens of each batch row, 0 ... ATTEND_MAX_TOKENS; ATTEND_ALL_KEYS: the tokens of the cache */
  const ptrdiff_t* key_lengths; /* [batch], 0 ... keys: keys at or after it do not exist; null: all keys exist */

  /* Tensors. Integer calls set constants or head_constants. */
  int query_format;     /* attend_format: ATTEND_FLOAT32, the default, ATTEND_FLOAT16 or ATTEND_BFLOAT16 */
  int output_format;    /* attend_format, as query_format */
  int key_format;       /* attend_format, as query_format, or ATTEND_INT8; over a cache the default is the cache's format */
  int value_format;     /* attend_format, as key_format */
  attend_input query;   /* [batch][queries][query_heads][head_dim] */
  attend_input key;     /* [batch][keys - origin][kv_heads][head_dim] */
  attend_input value;   /* [batch][keys - origin][kv_heads][value_dim] */
  attend_output output; /* [batch][queries][query_heads][value_dim]; overlaps nothing else */
  const attend_integer_constants* constants;      /* for all heads, from attend_integer_prepare */
  const attend_integer_constants* head_constants; /* [query_heads]: for each query head */

  /* Where keys are */
  const attend_cache* cache;  /* holds keys and values in the place of key and value; null: none */
  attend_pages pages;         /* key and value are pools of pages; a null table: they are arrays */
  attend_scales key_scales;   /* scales of ATTEND_INT8 keys in arrays or pages */
  attend_scales value_scales; /* scales of ATTEND_INT8 values in arrays or pages */
  ptrdiff_t origin;           /* position of the first key of the arrays or of the cache, 0 ... keys. The default is 0 */

  /* Who sees whom */
  ptrdiff_t offset;       /* position of query 0 among the keys, -ATTEND_MAX_TOKENS ... ATTEND_MAX_TOKENS: 0 where the queries
                             are the first tokens, keys - queries where they are the last */
  ptrdiff_t window_left;  /* the query sees keys from p - window_left on; ATTEND_NO_LIMIT, the default: all */
  ptrdiff_t window_right; /* the query sees keys up to p + window_right; ATTEND_NO_LIMIT, the default: all */
  ptrdiff_t sink_tokens;  /* so many of the first tokens stay visible when window_left has passed them: the attention sinks of
                             StreamingLLM. The default is 0 */
  attend_mask mask;
  attend_ranges ranges;
  attend_documents documents;

  /* Scores */
  float scale;                        /* -2^127 ... 2^127, or ATTEND_DEFAULT_SCALE: 1 / sqrt(head_dim) */
  float soft_cap;                     /* 1e-30 ... 1e30; 0, the default: none */
  const float* alibi_slopes;          /* [query_heads]; null: none */
  attend_relative_bias relative_bias; /* a bias for each distance */
  const float* sink_logits;           /* [query_heads]: a logit that joins the denominator and has no value; null: none */
  attend_bias bias;
  int bias_stage; /* attend_bias_stage. The default is ATTEND_BIAS_AFTER_CAP */

  /* Results */
  int lse_base;         /* attend_lse_base of lse. The default is ATTEND_LSE_NATURAL */
  attend_output lse;    /* floats [batch][queries][query_heads]: the logarithm of the sum of exp(score), with the sink logit;
                           -infinity where a query sees no key. Null data: none */
  attend_scores scores; /* scores or weights */

  /* States: keys in several calls, see attend_c.h */
  void* states;          /* attend_state_size bytes; null: none */
  ptrdiff_t first_key;   /* the states' next key, where this call goes on */
  ptrdiff_t state_nodes; /* sums of finished segments that each row of the states has room for, 0 ... ATTEND_MAX_STATE_NODES:
                            for keys side by side about 2 * log2(segments of 512 keys). The default is 14 */
} attend_problem;

#if defined(__GNUC__) || defined(__clang__)
/* The library was compiled with members of structs where the target's rules put them: -fpack-struct and #pragma pack around
 * these headers are refused here. */
struct attend_packing {
  char first;
  void* second;
};
typedef char attend_structs_must_not_be_packed[offsetof(struct attend_packing, second) == __alignof__(void*) ? 1 : -1];
#endif

/* Writes defaults to the struct, which computes in floats. size: sizeof(attend_problem), as the caller's header has it. */
ATTEND_API attend_status attend_problem_init(attend_problem* problem, size_t size);

/* The same for small boards: programs whose problems all come from it hold no code of options, a quarter of the flash. It is
 * refused (ATTEND_UNAVAILABLE) where anything from pages on is set but offset and scale, with ATTEND_QUERIES_LAST, with a cache
 * or arrays that are not of float32 throughout, with rings, and in more than one part. */
ATTEND_API attend_status attend_plain_problem_init(attend_problem* problem, size_t size);

/* alibi_slopes of heads, 1 ... ATTEND_MAX_WIDTH, as ALiBi was published: 2^-1, 2^-2 ... 2^-8 for 8, behind which 12 have
 * 2^-0.5, 2^-1.5, 2^-2.5 and 2^-3.5. The same bits on every target. */
ATTEND_API attend_status attend_alibi_slopes(ptrdiff_t heads, float* slopes);

#ifdef __cplusplus
}
#endif

#endif
