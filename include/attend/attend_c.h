/* Attend for C, and for shapes that are known at run time only: transformer attention over plain arrays or over a key/value
 * cache.
 *
 * Fill in an attend_problem, ask how much work memory it needs, run it:
 *
 *   attend_problem problem;
 *   attend_problem_init(&problem, sizeof problem);
 *   problem.query_heads = 8; problem.kv_heads = 2; problem.head_dim = 64; problem.value_dim = 64;
 *   problem.queries = 16; problem.keys = 100;
 *   problem.query.data = q; problem.key.data = k; problem.value.data = v; problem.output.data = out;
 *   attend_problem_set_layout(&problem, ATTEND_BATCH_TOKEN_HEAD_DIM);
 *   size_t bytes = attend_workspace_size(&problem);                     // 0: refused, and attend_check says why
 *   attend_status status = attend_run(&problem, memory, bytes);         // memory aligned to ATTEND_ALIGNMENT
 *
 * computes, for every batch row, query token i and query head h, with the key/value head h / (query_heads / kv_heads),
 *
 *   score_j = scale * dot(query_i, key_j),  weight = softmax(score over the visible keys),  output_i = sum weight_j * value_j
 *
 * Key j is visible when j < keys, j < key_lengths[row] (if given) and, with ATTEND_CAUSAL, j <= offset + i. Windows, masks and
 * all else that a problem can ask for is off while its fields are zero. A query that sees no key gets zeros. A key that is not
 * visible changes no bit of the output, whatever its bytes are. The bits are those of the C++ surface (attention.h), on every
 * target, with every backend, cut into however many calls or parts.
 *
 * Nothing here allocates, locks, keeps state beside the choice of a backend, or calls the C library. Every function may be
 * called from any number of threads at once, as long as none writes what another uses. Everything is checked before anything is
 * written: a call that returns another status than ATTEND_OK has changed nothing. What cannot be checked is left to the caller:
 * that memory exists where pointers, extents and strides say it does, and that floats are where they are said to be.
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
#define ATTEND_MAX_TOKENS 536870912 /* queries, keys, max_tokens, batch */
#define ATTEND_MAX_WIDTH 65536      /* head_dim, value_dim, query_heads, kv_heads */
#define ATTEND_MAX_ROWS 1073741824  /* queries * query_heads / kv_heads */
#define ATTEND_MAX_PARTS 65535

/* Alignment of work memory and of caches, in bytes. (Parts for which config.h says `small` are content with 8.) */
#define ATTEND_ALIGNMENT 64

/* The most stack that a call takes, in bytes, as GCC compiles the library with -Os or -O2 for a host; small parts take less.
   The second is for problems that ask for more than version 1 of attend_problem could, or whose cache does. */
#define ATTEND_STACK_BYTES 3072
#define ATTEND_OPTION_STACK_BYTES 6144

/* Values that attend_problem_init puts where a default depends on the rest of the problem. */
#define ATTEND_DEFAULT_SCALE (-3.402823466e+38f) /* 1 / sqrt(head_dim) */
#define ATTEND_DEFAULT_OFFSET PTRDIFF_MIN /* 0; with a cache: its tokens - queries, so that the queries are its last tokens */
#define ATTEND_ALL_KEYS (-1)              /* with a cache: its tokens */

/* Bits of attend_problem::options. Query i of a batch row stands at position p = offset + i among the keys. */
#define ATTEND_CAUSAL 1u        /* it sees keys 0 ... p */
#define ATTEND_WINDOW_LEFT 2u   /* it sees keys from p - window_left on, and those below pinned_keys */
#define ATTEND_WINDOW_RIGHT 4u  /* it sees keys up to p + window_right */
#define ATTEND_QUERIES_LAST 8u  /* offset is not looked at: the queries are the last of the keys that their batch row has */
#define ATTEND_STATE_BEGINS 16u /* the states are new: what they hold does not matter */

/* States can begin at multiples of so many keys. */
#define ATTEND_SEGMENT_KEYS 512

/* Formats of numbers. */
enum attend_format {
  ATTEND_FLOAT32 = 0,
  ATTEND_FLOAT16 = 1,  /* IEEE 754 binary16 */
  ATTEND_BFLOAT16 = 2, /* the upper half of a float */
  ATTEND_INT8 = 3      /* two's complement, of keys and values only, with a scale for each token and head */
};

/* What a call says. When several apply, it is the one with the lowest number. attend_status_text has them in words. */
typedef enum attend_status {
  ATTEND_NO_STATUS = -1, /* never an answer: it makes the type signed, as int is */
  ATTEND_OK = 0,

  /* attend_problem itself */
  ATTEND_NO_PROBLEM = 1,        /* null, or not aligned as the struct is */
  ATTEND_BAD_STRUCT_SIZE = 2,   /* size is not what attend_problem_init writes */
  ATTEND_NEWER_STRUCT = 3,      /* fields are set that this version of the library does not know */
  ATTEND_UNKNOWN_OPTION = 4,    /* a bit of options that this version does not know */
  ATTEND_BAD_LAYOUT = 5,        /* not an attend_layout */
  ATTEND_BAD_QUERY_FORMAT = 6,  /* not an attend_format, or ATTEND_INT8 */
  ATTEND_BAD_KEY_FORMAT = 7,    /* not an attend_format */
  ATTEND_BAD_VALUE_FORMAT = 8,  /* likewise */
  ATTEND_BAD_OUTPUT_FORMAT = 9, /* not an attend_format, or ATTEND_INT8 */

  /* extents and numbers */
  ATTEND_BAD_BATCH = 10,       /* 1 ... ATTEND_MAX_TOKENS */
  ATTEND_BAD_QUERY_HEADS = 11, /* 1 ... ATTEND_MAX_WIDTH */
  ATTEND_BAD_KV_HEADS = 12,    /* 1 ... ATTEND_MAX_WIDTH */
  ATTEND_UNEVEN_HEADS = 13,    /* kv_heads does not divide query_heads */
  ATTEND_BAD_HEAD_DIM = 14,    /* 1 ... ATTEND_MAX_WIDTH */
  ATTEND_BAD_VALUE_DIM = 15,   /* 1 ... ATTEND_MAX_WIDTH */
  ATTEND_BAD_QUERIES = 16,     /* 1 ... ATTEND_MAX_TOKENS */
  ATTEND_TOO_MANY_ROWS = 17,   /* queries * query_heads / kv_heads > ATTEND_MAX_ROWS */
  ATTEND_BAD_SCALE = 18,       /* NaN or infinite */
  ATTEND_BAD_SOFT_CAP = 19,    /* neither 0 nor within 1e-30 ... 1e30 */

  /* a cache, in a problem or by itself */
  ATTEND_NO_CACHE = 20,          /* null */
  ATTEND_CORRUPT_CACHE = 21,     /* not made by attend_cache_init, or overwritten, or not aligned */
  ATTEND_CACHE_AND_ARRAYS = 22,  /* a problem with a cache has key.data or value.data too */
  ATTEND_CACHE_AND_BATCH = 23,   /* a problem with a cache has batch > 1 */
  ATTEND_OTHER_CACHE_SHAPE = 24, /* kv_heads, head_dim or value_dim differ from the cache's */
  ATTEND_BAD_KEYS = 25,          /* 0 ... ATTEND_MAX_TOKENS; with a cache 0 ... its tokens, or ATTEND_ALL_KEYS */
  ATTEND_TOO_FEW_TOKENS = 26, /* causal with ATTEND_DEFAULT_OFFSET, and the cache holds fewer tokens than there are queries */
  ATTEND_BAD_TOKENS = 27,     /* append: not within 0 ... ATTEND_MAX_TOKENS; truncate: not within 0 ... tokens held */
  ATTEND_CACHE_FULL = 28,     /* append: fewer free places than tokens */
  ATTEND_BAD_ORIGIN = 29,     /* 0 ... keys; 0 with a cache or pages */

  /* tensors. UNALIGNED: an address that is no multiple of the size of its numbers. HUGE: extents and strides reach beyond the
     address space, or beyond PTRDIFF_MAX bytes. Keys and values are not looked at when keys is origin or there is a cache, nor
     is the output when there are states. */
  ATTEND_NO_QUERY = 30,
  ATTEND_UNALIGNED_QUERY = 31,
  ATTEND_HUGE_QUERY = 32,
  ATTEND_NO_KEY = 33,
  ATTEND_UNALIGNED_KEY = 34,
  ATTEND_HUGE_KEY = 35,
  ATTEND_NO_VALUE = 36,
  ATTEND_UNALIGNED_VALUE = 37,
  ATTEND_HUGE_VALUE = 38,
  ATTEND_NO_OUTPUT = 39,
  ATTEND_UNALIGNED_OUTPUT = 40,
  ATTEND_HUGE_OUTPUT = 41,
  ATTEND_BAD_OUTPUT_STRIDES = 42,    /* two elements of the output could be one: see attend_output */
  ATTEND_UNALIGNED_KEY_LENGTHS = 43, /* an address that is no multiple of sizeof(ptrdiff_t), or too near the end of memory */
  ATTEND_BAD_KEY_LENGTH = 44,        /* one is not within 0 ... keys */
  ATTEND_OUTPUT_OVERLAPS_QUERY = 45, /* from its first to its last byte, gaps included; for all that follow too */
  ATTEND_OUTPUT_OVERLAPS_KEY = 46,
  ATTEND_OUTPUT_OVERLAPS_VALUE = 47,
  ATTEND_OUTPUT_OVERLAPS_LENGTHS = 48,
  ATTEND_OUTPUT_OVERLAPS_CACHE = 49,
  ATTEND_OUTPUT_OVERLAPS_PROBLEM = 50, /* the struct */

  /* parts and work memory */
  ATTEND_BAD_PARTS = 60,  /* 1 ... ATTEND_MAX_PARTS */
  ATTEND_BAD_PART = 61,   /* 0 ... parts - 1 */
  ATTEND_UNCUTTABLE = 62, /* queries * (keys + 16) reaches 2^47: too much work to be weighed; one part is allowed */
  ATTEND_NO_WORKSPACE = 63,
  ATTEND_UNALIGNED_WORKSPACE = 64,
  ATTEND_SMALL_WORKSPACE = 65, /* less than attend_workspace_size */
  ATTEND_WORKSPACE_OVERLAPS_OUTPUT = 66,
  ATTEND_WORKSPACE_OVERLAPS_INPUT = 67, /* query, key, value, key lengths, cache or struct */

  ATTEND_BAD_RING = 69, /* of a cache's shape: window_keys or pinned_keys is not within 0 ... ATTEND_MAX_TOKENS, or pinned_keys
                           is not 0 and window_keys is */

  /* making and filling a cache; 7, 8, 20, 21, 27, 28 and those of key and value are for that too */
  ATTEND_NO_CACHE_SHAPE = 70,       /* null, or not aligned as the struct is */
  ATTEND_BAD_MAX_TOKENS = 71,       /* 1 ... ATTEND_MAX_TOKENS */
  ATTEND_HUGE_CACHE = 72,           /* its size passes PTRDIFF_MAX bytes */
  ATTEND_NO_MEMORY = 73,            /* null */
  ATTEND_UNALIGNED_MEMORY = 74,     /* not aligned to ATTEND_ALIGNMENT */
  ATTEND_SMALL_MEMORY = 75,         /* less than attend_cache_size */
  ATTEND_CACHE_OVERLAPS_INPUT = 76, /* append: key or value lie in the cache */

  /* backends */
  ATTEND_NO_BACKEND_NAME = 90,     /* null */
  ATTEND_UNKNOWN_BACKEND = 91,     /* none of that name is compiled in */
  ATTEND_UNAVAILABLE_BACKEND = 92, /* the processor cannot run it */

  /* who sees whom */
  ATTEND_BAD_WINDOW = 100,       /* window_left or window_right is negative, and its bit is set */
  ATTEND_BAD_PINNED_KEYS = 101,  /* 0 ... ATTEND_MAX_TOKENS */
  ATTEND_BAD_OFFSET = 102,       /* with windows, slopes or relative biases: -ATTEND_MAX_TOKENS ... ATTEND_MAX_TOKENS */
  ATTEND_BAD_MASK_KIND = 103,    /* not ATTEND_MASK_BYTES or ATTEND_MASK_BITS; ATTEND_MASK_NONE with data */
  ATTEND_NO_MASK = 104,          /* a kind without data */
  ATTEND_BAD_MASK_KEYS = 105,    /* 0 ... ATTEND_MAX_TOKENS */
  ATTEND_BAD_MASK_STRIDES = 106, /* of bits: one is negative */
  ATTEND_HUGE_MASK = 107,
  ATTEND_BAD_BIAS_KIND = 108, /* not ATTEND_MASK_FLOATS; ATTEND_MASK_NONE with data */
  ATTEND_NO_BIAS = 109,
  ATTEND_BAD_BIAS_KEYS = 110,
  ATTEND_UNALIGNED_BIAS = 111,
  ATTEND_HUGE_BIAS = 112,

  /* what else joins the scores. UNALIGNED of arrays without strides: or too near the end of memory */
  ATTEND_UNALIGNED_SLOPES = 113,
  ATTEND_BAD_RELATIVE = 114, /* left or right is not within 0 ... ATTEND_MAX_TOKENS */
  ATTEND_UNALIGNED_RELATIVE = 115,
  ATTEND_HUGE_RELATIVE = 116,
  ATTEND_UNALIGNED_SINKS = 117,

  /* scales and pages */
  ATTEND_PAGES_AND_CACHE = 120, /* a problem with a cache has pages too */
  ATTEND_BAD_PAGE_KEYS = 121,   /* a multiple of 16 within 16 ... ATTEND_MAX_TOKENS */
  ATTEND_BAD_PAGE_COUNT = 122,  /* at least 1, and count * page_keys at most ATTEND_MAX_TOKENS */
  ATTEND_UNALIGNED_PAGES = 123,
  ATTEND_HUGE_PAGES = 124,
  ATTEND_BAD_PAGE = 125,      /* an entry that a key needs is not within 0 ... count - 1 */
  ATTEND_NO_KEY_SCALES = 126, /* keys are ATTEND_INT8 */
  ATTEND_UNALIGNED_KEY_SCALES = 127,
  ATTEND_HUGE_KEY_SCALES = 128,
  ATTEND_NO_VALUE_SCALES = 129, /* values are */
  ATTEND_UNALIGNED_VALUE_SCALES = 130,
  ATTEND_HUGE_VALUE_SCALES = 131,
  ATTEND_KEYS_LOST = 132, /* the cache is a ring, and no longer holds keys that a query sees, or whose score is shown */

  /* more results. STRIDES: as of the output */
  ATTEND_UNALIGNED_LSE = 140,
  ATTEND_HUGE_LSE = 141,
  ATTEND_BAD_LSE_STRIDES = 142,
  ATTEND_BAD_SCORE_STAGE = 143, /* not an attend_score_stage */
  ATTEND_BAD_SCORE_KEYS = 144,  /* keys ... ATTEND_MAX_TOKENS */
  ATTEND_UNALIGNED_SCORES = 145,
  ATTEND_HUGE_SCORES = 146,
  ATTEND_BAD_SCORE_STRIDES = 147,

  /* states */
  ATTEND_NO_STATES = 150, /* ATTEND_STATE_BEGINS, attend_finish or attend_merge, and states is null */
  ATTEND_UNALIGNED_STATES = 151,
  ATTEND_HUGE_STATES = 152,
  ATTEND_BAD_FIRST_KEY = 153,     /* 0 ... keys; 0 without states; with ATTEND_STATE_BEGINS whole ATTEND_SEGMENT_KEYS */
  ATTEND_WEIGHTS_OF_STATES = 154, /* ATTEND_SCORES_WEIGHTS and states: what they are divided by is not known yet */
  ATTEND_LAST_OF_STATES = 155,    /* ATTEND_QUERIES_LAST and states: which key is the last is not known yet */
  ATTEND_NO_LATER_STATES = 156,   /* attend_merge: null */
  ATTEND_UNALIGNED_LATER_STATES = 157,
  ATTEND_HUGE_LATER_STATES = 158,

  /* overlaps, gaps included. INPUT: whatever is read, the struct too */
  ATTEND_OUTPUT_OVERLAPS_OPTION = 160, /* mask, bias, slopes, relative, sinks, pages or scales */
  ATTEND_LSE_OVERLAPS_OUTPUT = 161,
  ATTEND_LSE_OVERLAPS_INPUT = 162,
  ATTEND_SCORES_OVERLAP_OUTPUT = 163, /* output or lse */
  ATTEND_SCORES_OVERLAP_INPUT = 164,
  ATTEND_STATES_OVERLAP_OUTPUT = 165,    /* output, lse or scores */
  ATTEND_STATES_OVERLAP_INPUT = 166,     /* attend_merge: the later states too */
  ATTEND_WORKSPACE_OVERLAPS_OPTION = 167 /* those of 160, lse, scores or states */
} attend_status;

/* One English sentence that says what to do; never null, for any number. */
ATTEND_API const char* attend_status_text(int status);

/* ---- The problem ---- */

/* Tensors of floats, or of numbers of the format that the problem names: element (b, t, h, c) of [batch][token][head][width] is
 *
 *   data[b * batch_stride + t * token_stride + h * head_stride + c]
 *
 * Strides count numbers, not bytes, and may be negative or, for inputs, 0 (all read the same). Where an extent is 1 its stride
 * is not looked at. Addresses must be multiples of the size of a number; no more alignment is needed. */
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

/* How the elements of a mask lie. */
enum attend_mask_kind {
  ATTEND_MASK_NONE = 0,  /* there is no mask, and data is null */
  ATTEND_MASK_BYTES = 1, /* uint8_t, or C's bool: 0 hides the key */
  ATTEND_MASK_BITS = 2,  /* from the lowest bit of each byte on: 0 hides the key */
  ATTEND_MASK_FLOATS = 3 /* added to the score, after the cap: -infinity hides the key */
};

/* [batch][query head][query][key], keys side by side: element number b * batch_stride + h * head_stride + i * query_stride + j,
 * counted in elements, bits too. A stride of 0 shares what lies there: a mask [query][key] has batch_stride and head_stride 0,
 * one [key] has no strides at all. Keys at or after `keys` are hidden; more columns than there are keys are not looked at. Bits
 * have no negative strides. */
typedef struct attend_mask {
  const void* data;
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
  ptrdiff_t query_stride;
  ptrdiff_t keys; /* columns */
  int kind;       /* attend_mask_kind */
} attend_mask;

/* Biases by distance: number clamp(j - p, -left, right) + left of [query head][left + 1 + right] joins the score of key j. */
typedef struct attend_relative {
  const float* data;     /* null: none */
  ptrdiff_t head_stride; /* 0: all heads have the same */
  ptrdiff_t left;        /* 0 ... ATTEND_MAX_TOKENS */
  ptrdiff_t right;       /* likewise */
} attend_relative;

/* What scores show, in natural-log units. (qk_matmul_output_mode of ONNX's Attention is 0 and 3 for the first and the last;
 * which of 1 and 2 is which of the others has changed with its versions.) */
enum attend_score_stage {
  ATTEND_SCORES_RAW = 0,    /* scale * dot(query, key), of hidden keys too */
  ATTEND_SCORES_CAPPED = 1, /* after the soft cap, likewise */
  ATTEND_SCORES_BIASED = 2, /* after the biases; -infinity where a key is hidden */
  ATTEND_SCORES_WEIGHTS = 3 /* after the softmax; 0 where a key is hidden */
};

/* [batch][query head][query][key], keys side by side; strides as of an output. With states, a call writes the columns of its
 * own keys only: from first_key up to keys, or to its batch row's length. */
typedef struct attend_scores {
  float* data; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
  ptrdiff_t query_stride;
  ptrdiff_t keys; /* columns, at least as many as the problem has keys; those at or after its keys are as of hidden keys */
  int stage;      /* attend_score_stage */
} attend_scores;

/* What the int8 numbers of a token of a head are multiplied by: [batch][kv_head][key], keys side by side. */
typedef struct attend_scales {
  const float* data;
  ptrdiff_t batch_stride;
  ptrdiff_t head_stride;
} attend_scales;

/* Pages: keys and values lie in pools [page][page_keys][kv_heads][width], by token_stride and head_stride, which all batch rows
 * share (batch_stride is not looked at), as do scales: [kv_head][page][page_keys]. Key j of batch row b is token j % page_keys
 * of page table[b * batch_stride + j / page_keys]. Entries of keys before first_key, or of keys that all
 * queries' windows have left behind, are not looked at.
 */
typedef struct attend_pages {
  const int32_t* table; /* null: none */
  ptrdiff_t batch_stride;
  ptrdiff_t page_keys; /* a multiple of 16 */
  ptrdiff_t count;     /* pages in the pool; count * page_keys <= ATTEND_MAX_TOKENS */
} attend_pages;

/* One call. Later versions add fields at the end: they are off when zero. A program brings along the size of the struct that it
 * was compiled with, so it works with later libraries, and with earlier ones as long as it leaves alone what they do not know.
 */
typedef struct attend_problem {
  size_t size;      /* sizeof(attend_problem), by attend_problem_init */
  uint32_t options; /* ATTEND_CAUSAL and others, or 0 */
  float scale;      /* of the scores: any finite number, zero and negative too, or ATTEND_DEFAULT_SCALE */
  ptrdiff_t batch;  /* independent rows; 1 */
  ptrdiff_t query_heads;
  ptrdiff_t kv_heads;           /* divides query_heads: the same is plain multi-head attention, 1 is multi-query */
  ptrdiff_t head_dim;           /* width of a query and of a key */
  ptrdiff_t value_dim;          /* width of a value and of an output */
  ptrdiff_t queries;            /* query tokens of each batch row */
  ptrdiff_t keys;               /* key tokens of each batch row; may be 0, and with a cache ATTEND_ALL_KEYS */
  ptrdiff_t offset;             /* position of query 0 among the keys, where it matters: any number, negative too */
  const ptrdiff_t* key_lengths; /* [batch], 0 ... keys each: keys at or after it do not exist; null: all do */
  attend_input query;           /* [batch][queries][query_heads][head_dim] */
  attend_input key;             /* [batch][keys][kv_heads][head_dim] */
  attend_input value;           /* [batch][keys][kv_heads][value_dim] */
  attend_output output;         /* [batch][queries][query_heads][value_dim]; overlaps nothing else */
  const attend_cache* cache;    /* takes the place of key and value, whose data are null then; batch is 1 */

  /* Here ended the struct of version 1. Score j of a query at position p, all in natural-log units, becomes
       soft_cap * tanh(score / soft_cap) + bias[j] + relative[j - p] + slope * (j - p). */
  ptrdiff_t window_left;    /* with ATTEND_WINDOW_LEFT: 0 and more */
  ptrdiff_t window_right;   /* with ATTEND_WINDOW_RIGHT: 0 and more */
  ptrdiff_t pinned_keys;    /* the first keys, which the left end of a window does not hide */
  attend_mask mask;         /* of bytes or bits */
  attend_mask bias;         /* of floats */
  const float* slopes;      /* [query_heads] ALiBi; null: none */
  attend_relative relative; /* relative.data null: none */
  const float* sinks;       /* [query_heads] logits that join the denominator and have no value; null: none */
  float soft_cap;           /* 1e-30 ... 1e30; 0: none */

  int query_format;           /* attend_format; not ATTEND_INT8 */
  int key_format;             /* attend_format; with a cache this and the next are not looked at */
  int value_format;           /* attend_format */
  int output_format;          /* attend_format; not ATTEND_INT8 */
  attend_scales key_scales;   /* of ATTEND_INT8 keys */
  attend_scales value_scales; /* of ATTEND_INT8 values */

  attend_output lse; /* floats [batch][queries][query_heads]: ln of the sum of exp(score), sink included; -infinity: no key */
  attend_scores scores; /* scores.data null: none */

  ptrdiff_t origin;   /* arrays begin with the key of this position, and keys before it do not exist. key, value and scales
                         have keys - origin tokens then; masks and scores have columns from position 0 on */
  attend_pages pages; /* pages.table null: none */

  /* Attention key by key: attend_run and attend_run_part take keys first_key ... keys - 1 into the states and write neither
     output nor lse, and attend_finish writes these. Stopping after any key and going on changes no bit. */
  void* states;        /* attend_state_size bytes of floats, [batch][queries][query_heads]; null: none */
  ptrdiff_t first_key; /* as many keys as the states have been through; with ATTEND_STATE_BEGINS any multiple of
                          ATTEND_SEGMENT_KEYS */
} attend_problem;

/* Sizes of attend_problem in programs that were compiled with earlier headers: all fields after it are zero. */
#define ATTEND_PROBLEM_SIZE_1 offsetof(attend_problem, window_left)

/* Writes defaults to the struct: batch 1, scale, offset and keys as above, everything else 0. size: sizeof(attend_problem), as
 * the caller's header has it. */
ATTEND_API attend_status attend_problem_init(attend_problem* problem, size_t size);

enum attend_layout {
  ATTEND_BATCH_TOKEN_HEAD_DIM = 0, /* as a projection writes it */
  ATTEND_BATCH_HEAD_TOKEN_DIM = 1
};

/* Sets all strides for dense query, key, value, output and lse, from the extents, and for dense [batch][head][query][key]
 * scores, from scores.keys; pools of pages are [page][page_keys][kv_heads][width] or [kv_heads][page][page_keys][width]. Any
 * other layout is set stride by stride: for queries in a fused [token][query, key, value][head][dim] array of as many heads of
 * each, data points to the first query, token_stride is 3 * heads * dim. */
ATTEND_API attend_status attend_problem_set_layout(attend_problem* problem, int layout);

/* 1 / sqrt(head_dim) as the library computes it; 0 where head_dim is not within 1 ... ATTEND_MAX_WIDTH. */
ATTEND_API float attend_default_scale(ptrdiff_t head_dim);

/* ---- Running it ---- */

/* Everything but work memory and parts. Reads the struct, key lengths, page tables and the head of the
 * cache. */
ATTEND_API attend_status attend_check(const attend_problem* problem);

/* Bytes of work memory for the problem; 0 if attend_check refuses it. With a cache it depends on the cache's capacity, not on
 * the tokens held. Memory for more queries, or for more keys, serves fewer, if nothing else differs. */
ATTEND_API size_t attend_workspace_size(const attend_problem* problem);

/* Computes the output. workspace: workspace_size bytes, at least attend_workspace_size(problem), aligned to ATTEND_ALIGNMENT;
 * what it holds does not matter before or after. One for each call that is under way. */
ATTEND_API attend_status attend_run(const attend_problem* problem, void* workspace, size_t workspace_size);

/* A part of the same, 0 <= part < parts: each thread or core makes this call with its own part and its own workspace, and
 * together they write the output of attend_run, bit for bit, each another piece. Parts are of about equal work; some may be
 * empty. */
ATTEND_API attend_status attend_run_part(const attend_problem* problem, ptrdiff_t part, ptrdiff_t parts, void* workspace,
                                         size_t workspace_size);

/* ---- Keys in several calls ---- */

/* Bytes of the states of a problem: batch * queries * query_heads * (20 + 3 * value_dim) floats; 0 where one of these extents
 * is refused, or the size passes PTRDIFF_MAX. No alignment is needed but that of a float. */
ATTEND_API size_t attend_state_size(const attend_problem* problem);

/* Writes output and lse from the states, when attend_run has taken the last keys into them. Needs extents, output, lse, sinks
 * and states of the problem: keys, values and masks are not looked at. The states stay as they are. */
ATTEND_API attend_status attend_finish(const attend_problem* problem);

/* Adds later states of the same extents to those of the problem: these began (ATTEND_STATE_BEGINS) where those stopped, at a
 * multiple of ATTEND_SEGMENT_KEYS, so that different threads or machines can take different keys. Where the later states have
 * been through at most ATTEND_SEGMENT_KEYS keys, the bits are those of going on; else the sums are added in another order. */
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

  /* Here ended the struct of version 1. */
  int key_format; /* attend_format that keys are kept in, rounded to the nearest; ATTEND_INT8: of each token and head, to whole
                     multiples of 1/127 of the largest */
  int value_format;      /* likewise for values */
  ptrdiff_t window_keys; /* 0: every token is kept. Otherwise the cache is a ring that keeps the last window_keys tokens, and a
                            few more, whatever max_tokens is: as many as window_left + queries are enough */
  ptrdiff_t pinned_keys; /* of a ring: the first tokens, which it keeps too */
} attend_cache_shape;

#define ATTEND_CACHE_SHAPE_SIZE_1 offsetof(attend_cache_shape, key_format)

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

/* Adds tokens: floats key [tokens][kv_heads][head_dim], value [tokens][kv_heads][value_dim], by token_stride and head_stride.
 * All or none of them. With 0 tokens key and value are not looked at and may be null; a null struct counts as null data. */
ATTEND_API attend_status attend_cache_append(attend_cache* cache, ptrdiff_t tokens, const attend_input* key,
                                             const attend_input* value);

/* Keeps the first tokens, at most those that are held. What a ring has overwritten does not come back: for another
 * sequence, reset it and append again. */
ATTEND_API attend_status attend_cache_truncate(attend_cache* cache, ptrdiff_t tokens);

/* Keeps none. */
ATTEND_API attend_status attend_cache_reset(attend_cache* cache);

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
