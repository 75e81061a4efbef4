/* Attend for C, and for shapes that are known at run time only: transformer attention over plain arrays or over a key/value
 * cache, for batches of sequences. (The C++ surface, attention.h, has no batch: there a call is one sequence.)
 *
 * Fill in an attend_problem, ask how much work memory it needs, and run it:
 *
 *   attend_problem problem;
 *   attend_problem_init(&problem, sizeof problem);
 *   problem.query_heads = 8; problem.kv_heads = 2; problem.head_dim = 64; problem.value_dim = 64;
 *   problem.queries = 16; problem.keys = 100;
 *   problem.query.data = q; problem.key.data = k; problem.value.data = v; problem.output.data = out;
 *   size_t bytes = attend_workspace_size(&problem);              // 0: refused, and attend_check says why
 *   attend_status status = attend_run(&problem, memory, bytes);  // memory is aligned to ATTEND_ALIGNMENT
 *   if (status != ATTEND_OK) printf("%s: %s\n", attend_argument_name(status), attend_error_text(status));
 *
 * For every batch row, query token i and query head h, with the key/value head h / (query_heads / kv_heads), this computes
 *
 *   score_j = scale * dot(query_i, key_j),  weight = softmax(score over the visible keys),  output_i = sum weight_j * value_j
 *
 * Key j is visible when j < keys, j < key_lengths[row] (if given) and, with ATTEND_CAUSAL, j <= offset + i. Windows, masks and
 * all else that a problem can ask for is off in a problem that was initialised. A query that sees no key gets zeros. A key that
 * is not visible changes no bit of the output, whatever its bytes are. The bits are those of the C++ surface, on every target,
 * with every backend, cut into however many calls or parts.
 *
 * Order of axes: tensors (query, key, value, output, lse) are [batch][token][head][dim], or as `layout` says. Masks, biases and
 * scores are [batch][query head][query][key], whatever the layout is. The last axis is always contiguous.
 *
 * Nothing that is set is ignored: a field is either used, or the call is refused. The library does not allocate, does not lock,
 * keeps no state but the choice of a backend, and does not call the C library. Every function may be called from any number of
 * threads at once, as long as none writes what another uses. Everything is checked before anything is written: a call that
 * returns another status than ATTEND_OK has changed nothing. The caller answers for what cannot be checked: that memory exists
 * where pointers, extents and strides say it does, and that numbers are where they are said to be.
 *
 * Lengths are ptrdiff_t. On a target of 32 bits, a caller whose own lengths have 64 bits must check that they fit before it
 * narrows them: the library sees only what is left.
 */
#ifndef ATTEND_C_H
#define ATTEND_C_H

#include <stddef.h>
#include <stdint.h>

#include "attend_status.h" /* errors, arguments, and both in words */

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of extents. They keep every product within what the library computes with. */
#define ATTEND_MAX_TOKENS 536870912 /* queries, keys, max_tokens, batch, columns of masks */
#define ATTEND_MAX_WIDTH 65536      /* head_dim, value_dim, query_heads, kv_heads */
#define ATTEND_MAX_ROWS 1073741824  /* queries * query_heads / kv_heads */
#define ATTEND_MAX_PARTS 65535

/* Alignment of work memory and of caches, in bytes. (Parts for which config.h says `small` are content with 8.) */
#define ATTEND_ALIGNMENT 64

/* The most stack that a call takes, in bytes, as GCC compiles the library with -Os or -O2 for a host; small parts take less.
   The second is for problems that set soft_cap, a format, ATTEND_QUERIES_LAST or any field from window_left on, or whose cache
   is a ring or not of floats. */
#define ATTEND_STACK_BYTES 3072
#define ATTEND_OPTION_STACK_BYTES 6144

/* What attend_problem_init writes where a default depends on the rest of the problem. */
#define ATTEND_DEFAULT_SCALE (-3.402823466e+38f) /* 1 / sqrt(head_dim) */
#define ATTEND_DEFAULT_OFFSET PTRDIFF_MIN        /* see attend_problem::offset */
#define ATTEND_DEFAULT_ORIGIN (-1)               /* 0, where that is clear: see attend_problem::origin */
#define ATTEND_DEFAULT_FORMAT (-1)               /* ATTEND_FLOAT32, where that is clear: see attend_problem::query_format */
#define ATTEND_DENSE PTRDIFF_MIN /* of a stride: as in a dense array of the layout, by the extents of the call */
#define ATTEND_ALL_KEYS (-1)     /* of a cache: its tokens; of columns: as many as the problem has keys */
#define ATTEND_NO_LIMIT (-1)     /* of a window */

/* Bits of attend_problem::options. */
#define ATTEND_CAUSAL 1u       /* query i sees keys 0 ... offset + i */
#define ATTEND_QUERIES_LAST 2u /* in place of offset: the queries are the last of the keys that their batch row has */

/* States can begin at multiples of so many keys. */
#define ATTEND_SEGMENT_KEYS 512

enum attend_layout {
  ATTEND_BATCH_TOKEN_HEAD_DIM = 0, /* as a projection writes it */
  ATTEND_BATCH_HEAD_TOKEN_DIM = 1
};

/* Formats of numbers. */
enum attend_format {
  ATTEND_FLOAT32 = 0,
  ATTEND_FLOAT16 = 1,  /* IEEE 754 binary16 */
  ATTEND_BFLOAT16 = 2, /* the upper half of a float */
  ATTEND_INT8 = 3      /* two's complement, of keys and values only, with a scale for each token and head */
};

/* ---- The problem ---- */

/* Tensors of floats, or of numbers of the format that the problem names: element (b, t, h, c) is
 *
 *   data[b * batch_stride + t * token_stride + h * head_stride + c]
 *
 * Strides count numbers, not bytes. A stride that is ATTEND_DENSE is that of a dense array of the problem's layout; any other
 * is taken as it is. It may be negative and, in inputs, 0: all read the same then, and a dense array does not have that axis.
 * Where an extent is 1, no step is made. A tensor without elements is not looked at: its data may be null. Addresses must be
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
 * keys are not looked at. Bits have no negative strides. */
typedef struct attend_mask {
  const void* data; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
  ptrdiff_t query_stride;
  ptrdiff_t keys; /* columns: ATTEND_ALL_KEYS, or 0 ... ATTEND_MAX_TOKENS */
  int kind;       /* attend_mask_kind */
} attend_mask;

/* The same as floats, which are added to the scores after the cap: -infinity masks the key. */
typedef struct attend_bias {
  const float* data; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
  ptrdiff_t query_stride;
  ptrdiff_t keys;
} attend_bias;

/* Biases by distance: number clamp(j - p, -left, right) + left of [query head][left + 1 + right] joins the score of key j. */
typedef struct attend_relative_bias {
  const float* data;     /* null: none */
  ptrdiff_t head_stride; /* ATTEND_DENSE: left + 1 + right; 0: all heads have the same */
  ptrdiff_t left;        /* 0 ... ATTEND_MAX_TOKENS; must be set */
  ptrdiff_t right;       /* likewise */
} attend_relative_bias;

/* What scores show, in natural-log units. (qk_matmul_output_mode of ONNX's Attention is 0 and 3 for the first and the last;
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

/* What the int8 numbers of a token of a head are multiplied by: [batch][kv_head][key], keys side by side;
 * ATTEND_DENSE strides are those of a dense array. */
typedef struct attend_scales {
  const float* data;
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
} attend_scales;

/* Pages: keys and values lie in pools [page][page_keys][kv_heads][dim], or [kv_heads][page][page_keys][dim] by the layout,
 * which all batch rows share, as do scales: [kv_head][page][page_keys]. Key j of batch row b is token j % page_keys of page
 * table[b * batch_stride + j / page_keys]; a dense table has ceil(keys / page_keys) entries for every row, whatever key_lengths
 * says. Entries at or after a row's key length, before first_key, or of keys that all queries' windows have left behind, are
 * not looked at: -1 will do. */
typedef struct attend_pages {
  const int32_t* table; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t page_keys; /* a multiple of 16 */
  ptrdiff_t count;     /* pages in the pool; count * page_keys <= ATTEND_MAX_TOKENS */
} attend_pages;

/* One call. attend_problem_init writes a default to every field; those without one (query_heads, kv_heads, head_dim, value_dim,
 * queries and, without a cache, keys) are refused until they are set. */
typedef struct attend_problem {
  size_t size;      /* sizeof(attend_problem), by attend_problem_init */
  uint32_t options; /* ATTEND_CAUSAL, ATTEND_QUERIES_LAST, or 0 */
  int layout;       /* attend_layout of query, key, value, output and lse, where their strides are ATTEND_DENSE */
  float scale;      /* of the scores: any finite number, zero and negative too, or ATTEND_DEFAULT_SCALE. (C++ takes an infinite
                       one: rows with a score of +infinity or NaN are NaN then. C refuses it.) */
  float soft_cap;   /* 1e-30 ... 1e30; 0: none */
  int query_format; /* attend_format; not ATTEND_INT8. Where either this or output_format is set to a smaller one than
                       ATTEND_FLOAT32, so must be the other; and likewise key_format and value_format */
  int key_format;   /* attend_format; a cache knows its own, and this and the next need not be set */
  int value_format;
  int output_format; /* attend_format; not ATTEND_INT8 */
  ptrdiff_t batch;   /* independent rows; 1. With 0, or with queries 0, a call is checked and does nothing */
  ptrdiff_t query_heads;
  ptrdiff_t kv_heads;  /* divides query_heads: the same is plain multi-head attention, 1 is multi-query */
  ptrdiff_t head_dim;  /* width of a query and of a key */
  ptrdiff_t value_dim; /* width of a value and of an output */
  ptrdiff_t queries;   /* query tokens of each batch row */
  ptrdiff_t keys;      /* key tokens of each batch row; may be 0, and with a cache ATTEND_ALL_KEYS */
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

  /* Options. Query i of a batch row stands at position p = offset + i. Its score of key j, in natural-log units, becomes
       soft_cap * tanh(score / soft_cap) + bias[j] + relative_bias[j - p] + alibi_slope * (j - p). */
  ptrdiff_t window_left;  /* it sees keys from p - window_left on; ATTEND_NO_LIMIT: all */
  ptrdiff_t window_right; /* it sees keys up to p + window_right; likewise */
  ptrdiff_t
      sink_tokens; /* so many of the first tokens stay visible when window_left has passed them: the attention sinks of
                      StreamingLLM. These are tokens with keys and values; sink_logits, below, are numbers without either */
  attend_mask mask;
  attend_bias bias;
  const float* alibi_slopes; /* [query_heads]; null: none */
  attend_relative_bias relative_bias;
  const float* sink_logits;   /* [query_heads]: a logit that joins the denominator and has no value; null: none */
  attend_scales key_scales;   /* of ATTEND_INT8 keys */
  attend_scales value_scales; /* of ATTEND_INT8 values */
  attend_output
      lse; /* floats [batch][queries][query_heads]: ln of the sum of exp(score), sink logit included; -infinity: no key */
  attend_scores scores;
  ptrdiff_t origin; /* arrays begin with the key of this position, and keys before it do not exist. key, value and scales have
                       keys - origin tokens then; masks, biases and scores have columns from position 0 on. The default is 0;
                       with states that go on (first_key > 0) it must be set, since the arrays may be others than before, and
                       it is at most first_key, unless the windows of all queries have left behind the keys between */
  attend_pages pages;
  void* states;        /* attend_state_size bytes: see "Keys in several calls"; null: none */
  ptrdiff_t first_key; /* of states: where they stand, which is where this call goes on; less than keys, if it is not 0 */
} attend_problem;

/* Writes defaults to the struct. size: sizeof(attend_problem), as the caller's header has it. */
ATTEND_API attend_status attend_problem_init(attend_problem* problem, size_t size);

/* 1 / sqrt(head_dim) as the library computes it; 0 where head_dim is not within 1 ... ATTEND_MAX_WIDTH. */
ATTEND_API float attend_default_scale(ptrdiff_t head_dim);

/* ---- Running it ----
 *
 * What work memory a call takes, and what of the problem it looks at:
 *
 *   attend_run, attend_run_part  attend_workspace_size bytes for each call  everything; with states neither output nor lse
 *   attend_begin                 none                                       extents, states, first_key
 *   attend_finish                none                                       extents, states, keys (and whether a cache has
 *                                                                           them), output, lse, sink_logits, formats
 *   attend_merge                 none                                       extents, states
 *   attend_cache_...             none                                       no problem: keys and values go into the cache
 *   attend_check, ..._size       none                                       as the calls that they are for
 *
 * Extents are batch, queries, query_heads and value_dim. */

/* Checks everything but parts, work memory and where states stand. Reads the struct, key lengths, page tables and the head of
 * the cache. */
ATTEND_API attend_status attend_check(const attend_problem* problem);

/* Bytes of work memory for the problem; 0 if attend_check refuses it. With a cache it depends on the cache's capacity, not on
 * the tokens held. Memory that is enough for a problem is enough for the same with fewer queries or keys. */
ATTEND_API size_t attend_workspace_size(const attend_problem* problem);

/* Computes the output. workspace: workspace_size bytes, at least attend_workspace_size(problem), aligned to ATTEND_ALIGNMENT;
 * what it holds does not matter before or after. One for each call that is under way. */
ATTEND_API attend_status attend_run(const attend_problem* problem, void* workspace, size_t workspace_size);

/* A part of the same, 0 <= part < parts: each thread or core makes this call with its own part and its own workspace, and
 * together they write the output of attend_run, bit for bit, each another piece. Parts are of about equal work; some may be
 * empty, because heads and query tokens are divided, not keys: for one token over many keys on several threads, give each
 * thread states of its own, of a multiple of 512 keys, then attend_merge. queries * (keys + 16) is less than 2^47, so that the
 * work can be counted. */
ATTEND_API attend_status attend_run_part(const attend_problem* problem, ptrdiff_t part, ptrdiff_t parts, void* workspace,
                                         size_t workspace_size);

/* ---- Keys in several calls ----
 *
 * States hold what queries have seen so far. attend_begin makes new ones; then each attend_run takes keys first_key ... keys -
 * 1 into them and writes neither output nor lse; attend_finish writes these. Stopping after any key and going on changes no
 * bit. With states, `keys` is where a call stops, not how many keys there are: strides that would depend on it, and columns of
 * masks, biases and scores, must be set (ATTEND_AMBIGUOUS), and ATTEND_QUERIES_LAST and ATTEND_SCORES_WEIGHTS cannot be had.
 * States do not know what the runs before were told: scale, soft_cap, masks and biases must be the same in each. sink_logits
 * count in attend_finish alone.
 *
 * Past and new keys in two arrays, without copying either, are two runs, each with a problem of its own: a copy of what both
 * have in common. So nothing that belongs to one array is left standing for the other, and what is forgotten is refused.
 *
 *   problem.options = ATTEND_CAUSAL;
 *   problem.states = memory; problem.offset = past;  // attend_state_size bytes; the queries are the new tokens
 *   problem.bias.data = bias; problem.bias.keys = past + added;  // columns count from the first past key, in both runs
 *   attend_problem first = problem, second = problem;
 *   first.key.data = past_keys; first.value.data = past_values;
 *   first.keys = past;
 *   second.key.data = new_keys; second.value.data = new_values;
 *   second.keys = past + added;
 *   second.origin = past;     // what its arrays begin with
 *   second.first_key = past;  // where the states stand
 *   attend_begin(&first);
 *   attend_run(&first, work, bytes);  // bytes: the larger attend_workspace_size of the two
 *   attend_run(&second, work, bytes);
 *   attend_finish(&second);
 *
 * With a batch or with heads before tokens, both set the strides of key and value, too.
 */

/* Bytes of the states of a problem: 64, and batch * queries * query_heads * (20 + 3 * value_dim) floats; 0 where one of these
 * extents is refused, or the size passes PTRDIFF_MAX. No alignment is needed but that of a float. States may be copied as
 * bytes, also to another machine of the same byte order. */
ATTEND_API size_t attend_state_size(const attend_problem* problem);

/* Makes the problem's states new ones that stand at first_key, a multiple of ATTEND_SEGMENT_KEYS, and have seen no key. */
ATTEND_API attend_status attend_begin(const attend_problem* problem);

/* Writes output and lse from the states, which have taken keys up to `keys`: otherwise it is refused (ATTEND_MISMATCH). After
 * attend_merge, `keys` is where the last of the later states stopped. The states stay as they are. */
ATTEND_API attend_status attend_finish(const attend_problem* problem);

/* Adds later states of the same extents to those of the problem: they began where those stand, at a multiple of
 * ATTEND_SEGMENT_KEYS, so that different threads or machines can take different keys. If the later states have been through at
 * most 512 keys (ATTEND_SEGMENT_KEYS), the bits are those of going on; with more, sums are added in another order, and the last
 * bits of the output may differ. */
ATTEND_API attend_status attend_merge(const attend_problem* problem, const void* later);

/* ---- A key/value cache ---- */

/* Tokens of one sequence, appended one by one or many at a time, kept in the order in which attention reads them fastest. It
 * lives in memory of the caller, holds no pointer and may be copied to another place as bytes. Keep writers and readers apart.
 */
typedef struct attend_cache_shape {
  size_t size; /* sizeof(attend_cache_shape), by attend_cache_shape_init */
  ptrdiff_t kv_heads;
  ptrdiff_t head_dim;
  ptrdiff_t value_dim;
  ptrdiff_t max_tokens; /* capacity */
  int key_format; /* attend_format that keys are kept in, rounded to the nearest; ATTEND_INT8: of each token and head, to whole
                     multiples of 1/127 of the largest. With int8, errors of an output were up to 1.5 % of its largest value
                     where the softmax is peaked, and up to 0.25 % on normally distributed data */
  int value_format;      /* likewise for values */
  ptrdiff_t window_keys; /* 0: every token is kept. Otherwise the cache is a ring that keeps the last window_keys tokens, and a
                            few more, whatever max_tokens is: as many as window_left + queries are enough */
  ptrdiff_t sink_tokens; /* of a ring: the first tokens, which it keeps too */
} attend_cache_shape;

/* Writes the size, and 0 to the rest. */
ATTEND_API attend_status attend_cache_shape_init(attend_cache_shape* shape, size_t size);

/* ATTEND_OK, or why attend_cache_size is 0. */
ATTEND_API attend_status attend_cache_check(const attend_cache_shape* shape);

/* Bytes of a cache; 0 if the shape is refused. */
ATTEND_API size_t attend_cache_size(const attend_cache_shape* shape);

/* Makes an empty cache of memory_size bytes at memory, aligned to ATTEND_ALIGNMENT, at least attend_cache_size(shape) of them.
 * On success the cache is at the same address, which *cache is set to; cache may be null. Only the head is written. */
ATTEND_API attend_status attend_cache_init(const attend_cache_shape* shape, void* memory, size_t memory_size,
                                           attend_cache** cache);

/* Adds tokens: floats key [tokens][kv_heads][head_dim] and value [tokens][kv_heads][value_dim], by token_stride and
 * head_stride, of which ATTEND_DENSE is that of a dense array and 0 is refused where there is more than one token or head. All
 * tokens or none of them. Without tokens key and value are not looked at and may be null. */
ATTEND_API attend_status attend_cache_append(attend_cache* cache, ptrdiff_t tokens, const attend_input* key,
                                             const attend_input* value);

/* Keeps the first tokens, at most those that are held; 0 empties the cache. What a ring has overwritten does not come back: for
 * another sequence, empty it and append again. */
ATTEND_API attend_status attend_cache_truncate(attend_cache* cache, ptrdiff_t tokens);

/* Tokens held, and room for tokens in all; -1 if cache is null or corrupt. */
ATTEND_API ptrdiff_t attend_cache_tokens(const attend_cache* cache);
ATTEND_API ptrdiff_t attend_cache_max_tokens(const attend_cache* cache);

/* ---- Which code computes: it matters for speed only ---- */

/* Backends compiled in, fastest first, and the name of one; null where index is not within 0 ... count - 1. */
ATTEND_API int attend_backend_count(void);
ATTEND_API const char* attend_backend_name(int index);

/* The one in use: the fastest that the processor can run, unless another was chosen. */
ATTEND_API const char* attend_backend_active(void);

/* Makes every later call, of the C++ surface too, use the backend of that name. */
ATTEND_API attend_status attend_backend_use(const char* name);

#ifdef __cplusplus
}
#endif

#endif
