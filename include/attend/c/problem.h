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

/* The defaults of attend_problem_init that depend on the rest of the problem. */
#define ATTEND_DEFAULT_SCALE (-3.402823466e+38f) /* 1 / sqrt(head_dim) */
#define ATTEND_DEFAULT_OFFSET PTRDIFF_MIN        /* see attend_problem::offset */
#define ATTEND_DEFAULT_BATCH PTRDIFF_MIN         /* 1, where that is clear: see attend_problem::batch */
#define ATTEND_DEFAULT_ORIGIN (-1)               /* 0, where that is clear: see attend_problem::origin */
#define ATTEND_DEFAULT_FORMAT (-1)               /* ATTEND_FLOAT32, where that is clear: see attend_problem::query_format */
#define ATTEND_DENSE PTRDIFF_MIN      /* of a stride: as in a dense array of the layout, by the extents of the call */
#define ATTEND_ALL_KEYS (-1)          /* of a cache: its tokens; of columns: as many as the problem has keys */
#define ATTEND_NO_LIMIT (-1)          /* of a window */
#define ATTEND_DEFAULT_STATE_NODES 14 /* keys side by side among the first 131,072: see attend_problem::state_nodes */

/* Bits of attend_problem::options. */
#define ATTEND_CAUSAL 1u       /* query i sees keys 0 ... offset + i */
#define ATTEND_QUERIES_LAST 2u /* in place of offset: the queries are the last of the keys that their batch row has */

enum attend_layout {
  ATTEND_BATCH_TOKEN_HEAD_DIM = 0, /* as a projection writes it */
  ATTEND_BATCH_HEAD_TOKEN_DIM = 1  /* heads before tokens */
};

/* Formats of numbers. */
enum attend_format {
  ATTEND_FLOAT32 = 0,
  ATTEND_FLOAT16 = 1,  /* IEEE 754 binary16 */
  ATTEND_BFLOAT16 = 2, /* the upper half of a float */
  ATTEND_INT8 = 3,     /* two's complement, of keys and values, with a scale for each token and head, and of weights */
  ATTEND_INT16 = 4,    /* of the output of integer attention only (c/integer.h) */
  ATTEND_INT4 = 5,     /* in groups of 32 with a scale: of caches (attend_c.h) and of the weights of projections (c/layers.h) */
  ATTEND_SATURATED = 256 /* with ATTEND_FLOAT16 or ATTEND_INT4 of an attend_cache_shape: see there */
};

/* Tensors of floats, or of numbers of the format that the problem names: element (b, t, h, c) is
 *
 *   data[b * batch_stride + t * token_stride + h * head_stride + c]
 *
 * Strides count numbers, not bytes. A stride that is ATTEND_DENSE is that of a dense array of the problem's layout; any other
 * is taken as it is. It may be negative and, in inputs, 0: all read the same then, and a dense array does not have that axis.
 * Where an extent is 1, no step is made. A tensor without elements is not read: its data may be null. Addresses must be
 * multiples of the size of a number; no more alignment is needed.
 *
 * Set all strides of an array that is not dense: a dense stride beside others is refused (ATTEND_AMBIGUOUS) unless these are 0
 * or as in a dense array, because it would not be clear. Only that of the innermost axis, heads or, by the layout, tokens, may
 * stay dense beside larger ones. In a fused [batch][token][query, key, value][head][dim] array of as many heads of each,
 * query.data points to the first query, batch_stride is tokens * 3 * heads * dim, token_stride 3 * heads * dim and head_stride
 * dim. */
typedef struct attend_input {
  const void* data;
  ptrdiff_t batch_stride;
  ptrdiff_t token_stride;
  ptrdiff_t head_stride;
} attend_input;

/* Strides of the output must keep its elements apart, and visibly so: sorted by size, each must be at least as long as all that
 * the smaller ones span. Any order of axes does, with any gaps between them. */
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

/* [batch][query head][query][key], keys side by side: element b * batch_stride + h * head_stride + i * query_stride + j,
 * counted in elements, bits too. A stride of 0 shares what lies there: a mask [query][key] has batch_stride and head_stride 0,
 * one [key] query_stride 0 too, and a padding mask [batch][key] head_stride and query_stride 0. ATTEND_DENSE is the stride of a
 * dense array of the axes that are not shared, with `keys` columns: of the padding mask, batch_stride is `keys`. Beside other
 * strides than 0 and those of a dense array, all must be set. Keys at or after `keys` are masked; columns beyond the problem's
 * keys are not read. Bits have no negative strides. */
typedef struct attend_mask {
  const void* data; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
  ptrdiff_t query_stride;
  ptrdiff_t keys; /* columns: ATTEND_ALL_KEYS, or 0 ... ATTEND_MAX_TOKENS */
  int kind;       /* attend_mask_kind */
} attend_mask;

/* The same as floats, which are added to the scores, in natural-log units. -infinity masks the key. After the cap, a number at
 * or below -2.36e38, such as the lowest float, makes the score -infinity: the weight is 0, but a NaN in the key or value is
 * seen. A number at or above 2.36e38 makes the score infinity, and the query's output NaN. (Scores of the other sign beyond
 * 1e35 can bring such sums back into range.) */
typedef struct attend_bias {
  const float* data; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
  ptrdiff_t query_stride;
  ptrdiff_t keys;
} attend_bias;

/* Where a bias joins a score. */
enum attend_bias_stage {
  ATTEND_BIAS_AFTER_CAP = 0,
  ATTEND_BIAS_BEFORE_CAP = 1 /* the cap is of their sum; only -infinity masks a key then */
};

/* Biases by distance: number clamp(j - p, -left, right) + left of [query head][left + 1 + right] joins the score of key j. */
typedef struct attend_relative_bias {
  const float* data;     /* null: none */
  ptrdiff_t head_stride; /* ATTEND_DENSE: left + 1 + right; 0: all heads have the same */
  ptrdiff_t left;        /* 0 ... ATTEND_MAX_TOKENS; must be set */
  ptrdiff_t right;       /* likewise */
} attend_relative_bias;

/* The logarithm of a log-sum-exp. */
enum attend_lse_base { ATTEND_LSE_NATURAL = 0, ATTEND_LSE_BASE_2 = 1 };

/* The stages of scores, in natural-log units. (qk_matmul_output_mode of ONNX's Attention is 0 and 3 for the first and the last;
 * which of 1 and 2 is which of the others has changed with its versions.) */
enum attend_score_stage {
  ATTEND_SCORES_NONE = 0,   /* there are no scores, and data is null */
  ATTEND_SCORES_RAW = 1,    /* scale * dot(query, key), of masked keys too */
  ATTEND_SCORES_CAPPED = 2, /* after the soft cap, likewise */
  ATTEND_SCORES_BIASED = 3, /* after the biases; -infinity where a key is masked */
  ATTEND_SCORES_WEIGHTS = 4 /* after the softmax; 0 where a key is masked */
};

/* [batch][query head][query][key], keys side by side; strides as of a mask, and apart as of an output. With states, a call
 * writes the columns of its own keys only: from first_key up to keys, or to its batch row's length. */
typedef struct attend_scores {
  float* data; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
  ptrdiff_t query_stride;
  ptrdiff_t keys; /* columns: ATTEND_ALL_KEYS, or at least the problem's keys; those after its keys are as of masked keys */
  int stage;      /* attend_score_stage */
} attend_scores;

/* The factor of the int8 numbers of a token of a head: [batch][kv_head][key], keys side by side; ATTEND_DENSE strides are
 * those of a dense array. Floats; of integer calls uint16_t, in 2^-15 of the scale of their head: 0 ... 32768, of which 32768
 * is 1 and changes nothing. Larger ones are not checked, and give wrong outputs. */
typedef struct attend_scales {
  const void* data; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
} attend_scales;

/* Pages: keys and values lie in pools [page][page_keys][kv_heads][dim], or [kv_heads][page][page_keys][dim] by the layout,
 * which all batch rows share, as do scales: [kv_head][page][page_keys]. Key j of batch row b is token j % page_keys of page
 * table[b * batch_stride + j / page_keys]; a dense table has ceil(keys / page_keys) entries for every row, whatever key_lengths
 * are. Entries at or after a row's key length, before first_key, or of keys that all queries' windows have left behind, are
 * not read, and may be -1. */
typedef struct attend_pages {
  const int32_t* table; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t page_keys; /* a multiple of 16, of integer calls of 32 */
  ptrdiff_t count;     /* pages in the pool; count * page_keys <= ATTEND_MAX_TOKENS */
} attend_pages;

/* The keys that each query sees, of those that the rest of the problem lets through, sink tokens too: query i of batch row b
 * sees keys first[b * batch_stride + i] ... end[b * batch_stride + i] - 1. Requires 0 <= first <= end; the end may pass the
 * keys. Queries are computed together as long as both limits stay the same from query to query, or move on by one key, as they
 * do in chunks, a prefix that sees itself both ways, spans of image tokens and windows; others one by one, and so are those
 * beside ATTEND_CAUSAL, windows and biases by distance where a limit moves and the query's own key lies outside. Keys that no
 * query of a block sees are not read. Not with states, nor with scores that are raw or capped. */
typedef struct attend_ranges {
  const int32_t* first;   /* null: 0 */
  const int32_t* end;     /* null: all keys */
  ptrdiff_t batch_stride; /* ATTEND_DENSE: queries; 0: all rows have the same */
} attend_ranges;

/* Documents side by side in one batch row: document d has tokens boundaries[d] ... boundaries[d + 1] - 1 of the queries and of
 * the keys, of which there are as many, and sees itself alone. Positions count from its beginning, so it has the bits that it
 * would have alone, whatever its length and place; columns of masks, biases, scores and ranges are tokens of the arrays. Over
 * arrays only: not with a cache, pages, key_lengths, an origin, an offset, states, or scores that are raw or capped, nor in a
 * layer with rotary or query_factors. */
typedef struct attend_documents {
  const int32_t* boundaries; /* [count + 1], from 0 on, not falling, the last is queries and keys; null: none */
  ptrdiff_t count;
} attend_documents;

/* How a call computes: in floats or in integers. attend_problem_init and attend_integer_problem_init set it, and programs hold
 * the code of those that they call. */
typedef struct attend_arithmetic attend_arithmetic;
typedef struct attend_integer_constants attend_integer_constants; /* of c/integer.h */

/* One call. attend_problem_init writes a default to every field; those without one (query_heads, kv_heads, head_dim, value_dim,
 * queries and, without a cache, keys) are refused until they are set. */
typedef struct attend_problem {
  size_t size;                         /* sizeof(attend_problem), by attend_problem_init */
  const attend_arithmetic* arithmetic; /* likewise; in integers some fields have other ranges, see c/integer.h */
  uint32_t options;                    /* ATTEND_CAUSAL, ATTEND_QUERIES_LAST, or 0 */
  int layout;        /* attend_layout of query, key, value, output and lse, where their strides are ATTEND_DENSE. The default
                        is tokens before heads; the library cannot notice that an array has heads before tokens.
                        Where all strides are set it has no effect, and is refused */
  float scale;       /* of the scores: -2^127 ... 2^127, zero and negative too, or ATTEND_DEFAULT_SCALE */
  float soft_cap;    /* 1e-30 ... 1e30, and scale / soft_cap below 2^124; 0: none */
  int query_format;  /* attend_format; not ATTEND_INT8. Where either this or output_format is set to a smaller one than
                        ATTEND_FLOAT32, so must be the other; and likewise key_format and value_format. The
                        two pairs are independent: float32 queries over float16 keys are usual */
  int key_format;    /* attend_format; a cache knows its own, and this and the next need not be set */
  int value_format;  /* likewise */
  int output_format; /* attend_format; not ATTEND_INT8 */
  ptrdiff_t batch;   /* independent rows. 1 by default, which computes the first row of longer arrays; must be set beside
                        key_lengths, pages and batch_stride. With 0, or with queries 0, a call is checked and does nothing */
  ptrdiff_t query_heads;
  ptrdiff_t kv_heads;  /* divides query_heads: the same is plain multi-head attention, 1 is multi-query */
  ptrdiff_t head_dim;  /* width of a query and of a key */
  ptrdiff_t value_dim; /* width of a value and of an output */
  ptrdiff_t queries;   /* query tokens of each batch row */
  ptrdiff_t keys;      /* key tokens of each batch row; may be 0, and with a cache that has tokens ATTEND_ALL_KEYS */
  ptrdiff_t offset;    /* position of query 0 among the keys, -ATTEND_MAX_TOKENS ... ATTEND_MAX_TOKENS, which ATTEND_CAUSAL,
                          windows, ALiBi and relative biases need. The default is the cache's tokens - queries; without a cache
                          it is 0 where there are as many queries as keys, and must be set otherwise: 0 (the first tokens) and
                          keys - queries (the last) are both usual */
  const ptrdiff_t* key_lengths; /* [batch], 0 ... keys each: keys at or after it do not exist; null: all do. With states they
                                   may pass keys, so that they can be given once for all calls */
  attend_input query;           /* [batch][queries][query_heads][head_dim] */
  attend_input key;             /* [batch][keys][kv_heads][head_dim] */
  attend_input value;           /* [batch][keys][kv_heads][value_dim] */
  attend_output output;         /* [batch][queries][query_heads][value_dim]; overlaps nothing else */
  const attend_cache* cache;    /* takes the place of key and value, which stay as initialised; batch is 1 */
  const attend_integer_constants* constants;      /* integer calls: of all heads; they set this or the next */
  const attend_integer_constants* head_constants; /* [query_heads]: of each query head */

  /* Options. Query i of a batch row has the position p = offset + i. Its score of key j, in natural-log units, becomes
       soft_cap * tanh(score / soft_cap) + bias[j] + relative_bias[j - p] + alibi_slope * (j - p)
     where bias[j] may join before the cap (bias_stage). */
  ptrdiff_t window_left;  /* the query sees keys from p - window_left on; ATTEND_NO_LIMIT: all */
  ptrdiff_t window_right; /* the query sees keys up to p + window_right; likewise */
  ptrdiff_t sink_tokens;  /* this many of the first tokens stay visible when window_left has passed them: the attention sinks
                             of StreamingLLM. They are tokens with keys and values; sink_logits, below, have neither */
  attend_mask mask;
  attend_bias bias;
  const float* alibi_slopes; /* [query_heads]; null: none */
  attend_relative_bias relative_bias;
  const float* sink_logits;   /* [query_heads]: a logit that joins the denominator and has no value; null: none */
  attend_scales key_scales;   /* of ATTEND_INT8 keys that lie in arrays or pages */
  attend_scales value_scales; /* of ATTEND_INT8 values */
  attend_output lse; /* floats [batch][queries][query_heads]: ln of the sum of exp(score), with the sink logit; -infinity where
                        a query sees no key */
  attend_scores scores;
  ptrdiff_t origin; /* arrays or a cache begin with the key of this position, and keys before it do not exist. key, value and
                       scales have keys - origin tokens then. With a cache, origin is a multiple of 512 and the cache ends at
                       origin + its tokens; a ring has origin 0. Masks, biases and scores have columns from position 0 on. The
                       default is 0; with states and first_key > 0 it must be set for arrays, which may be others than in the
                       calls before; it is at most first_key, unless the windows of all queries have left behind the keys
                       between */
  attend_pages pages;
  void* states;          /* attend_state_size bytes: see "Keys in several calls"; null: none */
  ptrdiff_t first_key;   /* of states: their next key, where this call goes on; less than keys, if it is not 0 */
  ptrdiff_t state_nodes; /* of states: how many sums of finished segments of 512 keys each row has room for, 0 ...
                            ATTEND_MAX_STATE_NODES; part of their extents. Segments are added in pairs, pairs of pairs and so
                            on, as in a binary tree, so keys side by side take at most about 2 * log2(segments): 1 for 1,024
                            keys, 6 for 8,192, 14, the default, for 131,072, 20 for a million. Between merges keys may have
                            gaps, and take as many for each run of keys without one. Segments that no query sees by position
                            take none */
  int lse_base;          /* attend_lse_base of lse, and refused without it: ATTEND_LSE_NATURAL is ln of the sum of exp(score),
                            ATTEND_LSE_BASE_2 log2 of the same sum */
  attend_ranges ranges;
  attend_documents documents;
  int bias_stage; /* attend_bias_stage; before the cap refused without a bias and a soft_cap */
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

/* 1 / sqrt(head_dim) as the library computes it; 0 where head_dim is not within 1 ... ATTEND_MAX_WIDTH. */
ATTEND_API float attend_default_scale(ptrdiff_t head_dim);

/* alibi_slopes of heads, 1 ... ATTEND_MAX_WIDTH, as ALiBi was published: 2^-1, 2^-2 ... 2^-8 for 8, behind which 12 have
 * 2^-0.5, 2^-1.5, 2^-2.5 and 2^-3.5. The same bits on every target. */
ATTEND_API attend_status attend_alibi_slopes(ptrdiff_t heads, float* slopes);

#ifdef __cplusplus
}
#endif

#endif
