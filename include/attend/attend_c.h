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

/* Symbols of the shared library. In Windows, define ATTEND_DLL to use one, and ATTEND_BUILD_DLL to build it. */
#if defined(_WIN32) && defined(ATTEND_BUILD_DLL)
#define ATTEND_API __declspec(dllexport)
#elif defined(_WIN32) && defined(ATTEND_DLL)
#define ATTEND_API __declspec(dllimport)
#elif !defined(_WIN32) && (defined(__GNUC__) || defined(__clang__))
#define ATTEND_API __attribute__((visibility("default")))
#else
#define ATTEND_API
#endif

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

/* ---- What a call says ---- */

/* ATTEND_OK, or what is wrong (attend_error) and with which argument (attend_argument), in one number. When several things are
 * wrong it is any of them. */
typedef int attend_status;

enum attend_error {
  ATTEND_OK = 0,
  ATTEND_MISSING = 1,      /* null, where something is needed */
  ATTEND_UNALIGNED = 2,    /* an address that is no multiple of the size of a number, or of what the header asks for */
  ATTEND_OUT_OF_RANGE = 3, /* a number outside of its range; NaN and infinite scales too */
  ATTEND_UNKNOWN = 4,      /* a value, bit or name that this version does not know or the field does not take */
  ATTEND_TOO_LARGE = 5,    /* extents and strides beyond the address space, or more work than can be counted */
  ATTEND_TOO_SMALL = 6,    /* memory */
  ATTEND_OVERLAP = 7,      /* memory that is written overlaps other memory of the call, from first to last byte, with gaps */
  ATTEND_CONFLICT = 8,     /* set together with what excludes it */
  ATTEND_MISMATCH = 9,     /* does not fit another argument */
  ATTEND_SHARED_ELEMENTS = 10, /* strides let two elements of what is written be one */
  ATTEND_AMBIGUOUS = 11,       /* not said, and there is more than one thing that it could be */
  ATTEND_NO_EFFECT = 12,       /* set, while what it needs is not */
  ATTEND_CORRUPT = 13,         /* a cache or states that the library did not make, or that were overwritten */
  ATTEND_FULL = 14,            /* a cache has fewer free places than tokens */
  ATTEND_LOST = 15,            /* a ring no longer holds keys that a query sees, or whose score is shown */
  ATTEND_WRONG_SIZE = 16,      /* a struct that was not initialised, or is not of this version */
  ATTEND_NEWER = 17,           /* a struct sets fields that this version does not know */
  ATTEND_UNAVAILABLE = 18      /* a backend that this processor cannot run */
};

/* Fields of attend_problem and attend_cache_shape, and parameters of functions. */
enum attend_argument {
  ATTEND_ARG_NONE = 0,
  ATTEND_ARG_PROBLEM,
  ATTEND_ARG_SIZE,
  ATTEND_ARG_OPTIONS,
  ATTEND_ARG_LAYOUT,
  ATTEND_ARG_SCALE,
  ATTEND_ARG_BATCH,
  ATTEND_ARG_QUERY_HEADS,
  ATTEND_ARG_KV_HEADS,
  ATTEND_ARG_HEAD_DIM,
  ATTEND_ARG_VALUE_DIM,
  ATTEND_ARG_QUERIES,
  ATTEND_ARG_KEYS,
  ATTEND_ARG_OFFSET,
  ATTEND_ARG_KEY_LENGTHS,
  ATTEND_ARG_QUERY,
  ATTEND_ARG_KEY,
  ATTEND_ARG_VALUE,
  ATTEND_ARG_OUTPUT,
  ATTEND_ARG_CACHE,
  ATTEND_ARG_WINDOW_LEFT,
  ATTEND_ARG_WINDOW_RIGHT,
  ATTEND_ARG_SINK_TOKENS,
  ATTEND_ARG_MASK,
  ATTEND_ARG_MASK_KEYS,
  ATTEND_ARG_MASK_KIND,
  ATTEND_ARG_BIAS,
  ATTEND_ARG_BIAS_KEYS,
  ATTEND_ARG_ALIBI_SLOPES,
  ATTEND_ARG_RELATIVE_BIAS,
  ATTEND_ARG_RELATIVE_BIAS_LEFT,
  ATTEND_ARG_RELATIVE_BIAS_RIGHT,
  ATTEND_ARG_SINK_LOGITS,
  ATTEND_ARG_SOFT_CAP,
  ATTEND_ARG_QUERY_FORMAT,
  ATTEND_ARG_KEY_FORMAT,
  ATTEND_ARG_VALUE_FORMAT,
  ATTEND_ARG_OUTPUT_FORMAT,
  ATTEND_ARG_KEY_SCALES,
  ATTEND_ARG_VALUE_SCALES,
  ATTEND_ARG_LSE,
  ATTEND_ARG_SCORES,
  ATTEND_ARG_SCORES_KEYS,
  ATTEND_ARG_SCORES_STAGE,
  ATTEND_ARG_ORIGIN,
  ATTEND_ARG_PAGES,
  ATTEND_ARG_PAGES_PAGE_KEYS,
  ATTEND_ARG_PAGES_COUNT,
  ATTEND_ARG_STATES,
  ATTEND_ARG_FIRST_KEY,
  ATTEND_ARG_LATER,
  ATTEND_ARG_PART,
  ATTEND_ARG_PARTS,
  ATTEND_ARG_WORKSPACE,
  ATTEND_ARG_WORKSPACE_SIZE,
  ATTEND_ARG_SHAPE,
  ATTEND_ARG_MAX_TOKENS,
  ATTEND_ARG_WINDOW_KEYS,
  ATTEND_ARG_MEMORY,
  ATTEND_ARG_MEMORY_SIZE,
  ATTEND_ARG_TOKENS,
  ATTEND_ARG_NAME
};

/* The two halves of a status, an attend_error and an attend_argument; -1 of a number that is no status. */
ATTEND_API int attend_status_error(attend_status status);
ATTEND_API int attend_status_argument(attend_status status);

/* In words: an English sentence that says what to do, and the argument as it is written in a program, such as "query.data" or
 * "kv_heads". Neither is ever null, for any number. */
ATTEND_API const char* attend_error_text(attend_status status);
ATTEND_API const char* attend_argument_name(attend_status status);

/* ---- The problem ---- */

/* Tensors of floats, or of numbers of the format that the problem names: element (b, t, h, c) is
 *
 *   data[b * batch_stride + t * token_stride + h * head_stride + c]
 *
 * Strides count numbers, not bytes. A stride that is ATTEND_DENSE is that of a dense array of the problem's layout; any other
 * is taken as it is. It may be negative and, in inputs, 0: all read the same then. Where an extent is 1, its stride is not
 * looked at. A tensor without elements is not looked at: its data may be null. Addresses must be multiples of the size of a
 * number; no more alignment is needed. For queries in a fused [token][query, key, value][head][dim] array of as many heads of
 * each, data points to the first query, token_stride is 3 * heads * dim, and head_stride dim. */
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
  ATTEND_MASK_BYTES = 1, /* uint8_t, or C's bool: 0 hides the key */
  ATTEND_MASK_BITS = 2   /* from the lowest bit of each byte on: 0 hides the key */
};

/* [batch][query head][query][key], keys side by side: element b * batch_stride + h * head_stride + i * query_stride + j,
 * counted in elements, bits too. ATTEND_DENSE is the stride of a dense array of `keys` columns. A stride of 0 shares what lies
 * there: a mask [query][key] has batch_stride and head_stride 0, one [key] query_stride 0 too; a padding mask [batch][key] has
 * batch_stride = keys, head_stride and query_stride 0. Keys at or after `keys` are masked; columns beyond the problem's keys
 * are not looked at. Bits have no negative strides. */
typedef struct attend_mask {
  const void* data; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
  ptrdiff_t query_stride;
  ptrdiff_t keys; /* columns: ATTEND_ALL_KEYS, or 0 ... ATTEND_MAX_TOKENS */
  int kind;       /* attend_mask_kind */
} attend_mask;

/* The same as floats, which are added to the scores after the cap: -infinity hides the key. */
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
  ATTEND_SCORES_RAW = 1,    /* scale * dot(query, key), of hidden keys too */
  ATTEND_SCORES_CAPPED = 2, /* after the soft cap, likewise */
  ATTEND_SCORES_BIASED = 3, /* after the biases; -infinity where a key is hidden */
  ATTEND_SCORES_WEIGHTS = 4 /* after the softmax; 0 where a key is hidden */
};

/* [batch][query head][query][key], keys side by side; strides as of a mask, and apart as of an output. With states, a call
 * writes the columns of its own keys only: from first_key up to keys, or to its batch row's length. */
typedef struct attend_scores {
  float* data; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
  ptrdiff_t query_stride;
  ptrdiff_t keys; /* columns: ATTEND_ALL_KEYS, or at least the problem's keys; those after its keys are as of hidden keys */
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
  int query_format; /* attend_format; not ATTEND_INT8 */
  int key_format;   /* attend_format; a cache knows its own, and then this and the next stay as initialised */
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
                       keys - origin tokens then; masks, biases and scores have columns from position 0 on */
  attend_pages pages;
  void* states;        /* attend_state_size bytes: see "Keys in several calls"; null: none */
  ptrdiff_t first_key; /* of states: where they stand, which is where this call goes on */
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
 *   attend_finish                none                                       extents, states, output, lse, sink_logits, formats
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
 *
 * Past and new keys in two arrays, without copying either, are two runs. What is set per array is set before each: data, keys,
 * origin and, with a batch or with heads before tokens, batch_stride and head_stride of key and value.
 *
 *   problem.options = ATTEND_CAUSAL;
 *   problem.states = memory;  problem.offset = past;   // attend_state_size bytes; the queries are the new tokens
 *   problem.bias.data = bias; problem.bias.keys = past + new_tokens;    // columns count from the first past key, in both runs
 *   problem.origin = problem.first_key = 0;
 *   attend_begin(&problem);
 *   problem.key.data = past_keys; problem.value.data = past_values; problem.keys = past;
 *   attend_run(&problem, work, bytes);
 *   problem.key.data = new_keys; problem.value.data = new_values; problem.keys = past + new_tokens;
 *   problem.origin = problem.first_key = past;         // what the arrays begin with, and where the states stand
 *   attend_run(&problem, work, bytes);                 // bytes: the larger attend_workspace_size of the two
 *   attend_finish(&problem);
 */

/* Bytes of the states of a problem: 64, and batch * queries * query_heads * (20 + 3 * value_dim) floats; 0 where one of these
 * extents is refused, or the size passes PTRDIFF_MAX. No alignment is needed but that of a float. States may be copied as
 * bytes, also to another machine of the same byte order. */
ATTEND_API size_t attend_state_size(const attend_problem* problem);

/* Makes the problem's states new ones that stand at first_key, a multiple of ATTEND_SEGMENT_KEYS, and have seen no key. */
ATTEND_API attend_status attend_begin(const attend_problem* problem);

/* Writes output and lse from the states, from the keys that the states have taken so far. It cannot know whether more were to
 * come. The states stay as they are. */
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
