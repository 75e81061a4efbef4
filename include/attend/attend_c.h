/* Attend for C, and for shapes that are known at run time only: transformer attention over plain arrays or over a key/value
 * cache, for batches of sequences. (In the C++ surface, attend.h, a batch is C arrays of the arrays and caches of a call.)
 *
 * Fill in an attend_problem, ask how much work memory it needs, and run it:
 *
 *   attend_problem problem;
 *   attend_problem_init(&problem, sizeof problem);
 *   problem.query_heads = 8; problem.kv_heads = 2; problem.head_dim = 64; problem.value_dim = 64;
 *   problem.queries = 16; problem.keys = 100;
 *   problem.query.data = q; problem.key.data = k; problem.value.data = v; problem.output.data = out;
 *   size_t bytes = attend_workspace_size(&problem);              // 0: refused, and attend_check returns why
 *   attend_status status = attend_run(&problem, memory, bytes);  // memory is aligned to ATTEND_ALIGNMENT
 *   if (status != ATTEND_OK) printf("%s: %s\n", attend_argument_name(status), attend_error_text(status));
 *
 * For every batch row, query token i and query head h, with the key/value head h / (query_heads / kv_heads), this computes
 *
 *   score_j = scale * dot(query_i, key_j),  weight = softmax(score over the visible keys),  output_i = sum weight_j * value_j
 *
 * Key j is visible when j < keys, j < key_lengths[row] (if given) and, with ATTEND_CAUSAL, j <= offset + i. Windows, masks and
 * all other options are off in a problem that was initialised. A query that sees no key gets zeros. A key that
 * is not visible changes no bit of the output, whatever its bytes are. The C++ surface has the same bits, on every target,
 * with every backend, cut into however many calls or parts, while keys * max|value| stays below 8e37. Keys whose
 * weight is below 2^-124 of a query's largest may be left out by one way of cutting and not by another: where one decides a
 * tie, which is more frequent among values of few digits (halves and bytes), an output can differ by two units in the last
 * place.
 *
 * Order of axes: tensors (query, key, value, output, lse) are [batch][token][head][dim], or as `layout` says. Masks, biases and
 * scores are [batch][query head][query][key], whatever the layout is. The last axis is always contiguous.
 *
 * Nothing that is set is ignored: a field is either used, or the call is refused. The library does not allocate, does not lock,
 * keeps no state but the choice of a backend, and calls memcpy, memset and memmove alone of the C library. Every function may
 * be called from any number of threads at once, as long as none writes what another uses. Everything is checked before anything
 * is written: a call that returns another status than ATTEND_OK has changed nothing. The caller answers for what cannot be
 * checked: that memory exists wherever pointers, extents and strides lead, and holds the numbers.
 *
 * c/layers.h has the rest of a transformer block: projections, normalisation, rotary positions, whole layers.
 * c/integer.h makes a problem one in integers of 8 bits, which the functions below compute without floats.
 *
 * Lengths are ptrdiff_t. On a target of 32 bits, a caller whose own lengths have 64 bits must check that they fit before it
 * narrows them: the library sees only what is left.
 */
#ifndef ATTEND_C_H
#define ATTEND_C_H

#include "c/problem.h" /* attend_problem, and with it c/status.h */
#include "core/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Alignment of work memory and of caches, in bytes. (Where config::embedded is true in config.h, 8 is enough.) */
#define ATTEND_ALIGNMENT 64

/* The most stack that a call takes, in bytes, as GCC compiles the library with -Os or -O2 for a host. The second is for
   problems that set a format, ATTEND_QUERIES_LAST or any field from `pages` on but offset and scale, or whose cache is a ring
   or not of floats. */
#define ATTEND_STACK_BYTES 3200
#define ATTEND_OPTION_STACK_BYTES 6144

/* The same on boards, Cortex-M and RISC-V of 32 bits. Then for calls of c/integer.h and of c/layers.h. */
#define ATTEND_BOARD_STACK_BYTES 1664
#define ATTEND_BOARD_OPTION_STACK_BYTES 3200
#define ATTEND_BOARD_INTEGER_STACK_BYTES 3200
#define ATTEND_BOARD_LAYER_STACK_BYTES 4608

/* States can begin at multiples of so many keys. */
#define ATTEND_SEGMENT_KEYS 512

/* ATTEND_INT4, of caches and of weights: 32 neighbours share a scale, and have 18 bytes, at any address: the scale, a float16
 * with its low byte first, and 16 bytes; byte i has number i in its low half and number i + 16 in its high half. A number
 * stands for (number - 8) * scale, or for NaN where the scale is not finite. GGUF files have such weights as Q4_0. */
#define ATTEND_INT4_INPUTS 32
#define ATTEND_INT4_BYTES 18

/* ---- Running it ----
 *
 * The work memory of each call, and the fields of the problem that it reads:
 *
 *   attend_run, attend_run_part  attend_workspace_size bytes for each call  everything; with states neither output nor lse
 *   attend_begin                 none                                       extents, states, first_key
 *   attend_finish                none                                       extents, states, keys, cache and its origin,
 *                                                                           output, lse, lse_base, sink_logits, formats,
 *                                                                           constants; options, offset, windows and
 *                                                                           sink_tokens
 *   attend_merge                 none                                       extents, states
 *   attend_save, attend_load     none                                       extents, states
 *   attend_cache_...             none                                       no problem: keys and values go into the cache
 *   attend_check, ..._size       none                                       as the calls that they are for
 *
 * Extents are batch, queries, query_heads and value_dim. States have one more, state_nodes. */

/* Checks everything but parts, work memory and the next key of states. Reads the struct, key lengths, page tables and the head
 * of the cache. */
ATTEND_API attend_status attend_check(const attend_problem* problem);

/* Bytes of work memory for the problem; 0 if attend_check refuses it. With a cache it depends on the cache's capacity and
 * the origin, not on the tokens held. Memory that is enough for a problem is enough for the same with fewer queries or keys. */
ATTEND_API size_t attend_workspace_size(const attend_problem* problem);

/* Computes the output. workspace: workspace_size bytes, at least attend_workspace_size(problem), aligned to ATTEND_ALIGNMENT;
 * its contents do not matter before or after. Each concurrent call needs its own. */
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
 * States hold what queries have seen so far. attend_begin makes new ones; then each attend_run takes keys first_key ...
 * keys - 1 into them and writes neither output nor lse; attend_finish writes these. Stopping after any key and going on has the
 * bits of one call. With states, `keys` is where a call stops, not how many keys there are: strides that would depend on it,
 * and columns of masks, biases and scores, must be set (ATTEND_AMBIGUOUS), and ATTEND_QUERIES_LAST and ATTEND_SCORES_WEIGHTS
 * are refused. States do not hold the options of earlier runs: what attend_problem says of who sees whom and of scores must be
 * the same in each run. Where positions matter, set offset: its default over a cache is another one for each cache and each
 * length. sink_logits take effect in attend_finish alone. Causal queries see the keys at their own positions: attend_finish
 * refuses states without these, unless key_lengths is set, which says where keys end.
 *
 * Past and new keys in two arrays, without copying either, are two runs, each with a problem of its own: a copy of what both
 * have in common. So no field of one array remains set for the other, and a forgotten one is refused.
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
 *   second.first_key = past;  // the states' next key
 *   attend_begin(&first);
 *   attend_run(&first, work, bytes);  // bytes: the larger attend_workspace_size of the two
 *   attend_run(&second, work, bytes);
 *   attend_finish(&second);
 *
 * With a batch or with heads before tokens, both set the strides of key and value, too. Of [batch][head][token][dim]:
 *
 *   first.key.batch_stride = heads * past * dim;    first.key.head_stride = past * dim;     // and of value
 *   second.key.batch_stride = heads * added * dim;  second.key.head_stride = added * dim;   // and of value
 */

/* Bytes of the states of a problem: 64, and so many floats, or in integers numbers of 32 bits, of 4 bytes each:
 *
 *   floats    batch * queries * query_heads * (19 + 2 * value_dim + state_nodes * (value_dim + 3))
 *   integers  batch * queries * query_heads * (4 + value_dim + state_nodes * (value_dim + 3)) + value_dim
 *
 * 0 where one of these extents is refused, the problem is plain, or the size passes PTRDIFF_MAX. They are aligned as a float
 * is. States may be copied as bytes, also to another machine of the same byte order. A run that needs more than state_nodes is
 * refused (ATTEND_TOO_SMALL). */
ATTEND_API size_t attend_state_size(const attend_problem* problem);

/* Makes the problem's states new: they have seen no key, and their next key is first_key, a multiple of ATTEND_SEGMENT_KEYS. */
ATTEND_API attend_status attend_begin(const attend_problem* problem);

/* Writes output and lse from the states, which have taken keys up to `keys` and, before it, all that queries see by position:
 * otherwise it is refused (ATTEND_MISMATCH). After merges `keys` is where the states stopped that have the last keys. Keys that
 * ATTEND_CAUSAL and windows show to no query may be missing. The states stay as they are. */
ATTEND_API attend_status attend_finish(const attend_problem* problem);

/* Adds other states of the same extents to the problem's states, so that different threads or machines can take different
 * keys: in any order, `later` may be of earlier keys too, or of none, and one call has the same bits. Each segment of
 * ATTEND_SEGMENT_KEYS keys is taken by one of them. At most one of the two may have an open segment, with keys still to come,
 * and none of either may lie behind it: the next key is where it stopped; without one, the key after the last segment. Others
 * are refused (ATTEND_MISMATCH), and so are states that need more nodes together than state_nodes (ATTEND_TOO_SMALL). */
ATTEND_API attend_status attend_merge(const attend_problem* problem, const void* later);

/* The most bytes that attend_save writes of states of the problem's extents, full of nodes and with a segment open; 0 where
 * attend_state_size is, or for 2^34 bytes or more. */
ATTEND_API size_t attend_saved_size(const attend_problem* problem);

/* Writes the problem's states as bytes for other programs and machines, with a check sum and ATTEND_BITS_VERSION. They depend
 * on the keys that the states have taken alone, as far as bits are promised: not on backend, byte order, state_nodes or the
 * way in which they were taken and merged. Bytes need no alignment. size: how many there is room for;
 * attend_saved_size is always enough. result: set to how many were written; may be null. What
 * runs must have in common, such as scale and masks, is not in states, nor saved. */
ATTEND_API attend_status attend_save(const attend_problem* problem, void* bytes, size_t size, size_t* result);

/* Makes the problem's states, memory of attend_state_size bytes, what was saved: size bytes, or the first ones of them.
 * Refused are bytes that are not saved states, damaged or cut short (ATTEND_CORRUPT), of another ATTEND_BITS_VERSION
 * (ATTEND_OTHER_BITS), of other batch, queries, query_heads or value_dim or the other arithmetic (ATTEND_MISMATCH), or with
 * more nodes than state_nodes (ATTEND_TOO_SMALL). The check sum is one against accidents: bytes that somebody made up can be
 * sums of anything, but lead nowhere else. */
ATTEND_API attend_status attend_load(const attend_problem* problem, const void* bytes, size_t size);

/* ---- A key/value cache ---- */

/* Tokens of one sequence, appended one by one or many at a time, kept in the order in which attention reads them fastest. It
 * lives in memory of the caller, holds no pointer and may be copied to another place as bytes. Keep writers and readers apart.
 */
typedef struct attend_cache_shape {
  size_t size;          /* sizeof(attend_cache_shape), by attend_cache_shape_init */
  ptrdiff_t kv_heads;   /* 1 ... ATTEND_MAX_WIDTH, as in the problems that read it */
  ptrdiff_t head_dim;   /* of ATTEND_INT4 keys a multiple of 32 */
  ptrdiff_t value_dim;  /* of ATTEND_INT4 values a multiple of 32 */
  ptrdiff_t max_tokens; /* capacity. Of a ring 0: positions go on to ATTEND_MAX_TOKENS */
  int key_format; /* attend_format that keys are kept in, rounded to the nearest; ATTEND_INT8: of each token and head, to whole
                     multiples of 1/127 of the largest. With int8, errors of an output were up to 1.5 % of its largest value
                     where the softmax is peaked, and up to 0.25 % on normally distributed data. ATTEND_INT4: as
                     attend_convert_weights rounds, 18 bytes for 32 neighbours; attend_hadamard (c/layers.h, as it) spreads what
                     is larger than the rest before it is rounded. ATTEND_FLOAT16 | ATTEND_SATURATED, or of ATTEND_INT4: finite
                     numbers that are too large for the format become its largest, where attend_cache_append refuses them
                     otherwise */
  int value_format;      /* the same for values. ATTEND_IN_KEYS: the first value_dim numbers of a key, at most head_dim, are its
                            value and in memory once, as in the latents of DeepSeek's attention; keys are of any format but
                            ATTEND_INT4. Not of rings, nor in layers, which make values of their own */
  ptrdiff_t window_keys; /* 0: every token is kept. Otherwise the cache is a ring that keeps the last window_keys tokens, and a
                            few more, whatever max_tokens is: as many as window_left + queries are enough */
  ptrdiff_t sink_tokens; /* of a ring: the first tokens, which it keeps too. Which tokens queries see, an attend_problem sets:
                            by window_left, and by its own sink_tokens, without which the first ones are not seen */
  int integers; /* 1: keys and values are int8_t numbers of integer attention, which attend_integer_cache_append adds and
                   which are kept as they are; both formats stay as initialised */
} attend_cache_shape;

/* Writes the size, and 0 to the rest. */
ATTEND_API attend_status attend_cache_shape_init(attend_cache_shape* shape, size_t size);

/* Bytes of a cache; 0 if the shape is refused, and attend_cache_init returns why, whatever its memory is. */
ATTEND_API size_t attend_cache_size(const attend_cache_shape* shape);

/* Makes an empty cache of memory_size bytes at memory, aligned to ATTEND_ALIGNMENT, at least attend_cache_size(shape) of them.
 * On success the cache is at the same address, which *cache is set to; cache may be null. Only the head is written. */
ATTEND_API attend_status attend_cache_init(const attend_cache_shape* shape, void* memory, size_t memory_size,
                                           attend_cache** cache);

/* Adds tokens: floats key [tokens][kv_heads][head_dim] and value [tokens][kv_heads][value_dim], by token_stride and
 * head_stride. ATTEND_DENSE is the stride of a dense array; 0 is refused where there is more than one token or head. A
 * cache is of one sequence: batch_stride is 0 or ATTEND_DENSE. All tokens or none of them: ATTEND_OUT_OF_RANGE of the cache is
 * a finite number that is too large for its format, from 65520 on in ATTEND_FLOAT16, from 524160 on in ATTEND_INT4; infinity
 * and NaN are taken. Without tokens key and value are not read and may be null; with ATTEND_IN_KEYS value is null. */
ATTEND_API attend_status attend_cache_append(attend_cache* cache, ptrdiff_t tokens, const attend_input* key,
                                             const attend_input* value);

/* The same for a cache of float32 that is no ring, as problems of attend_plain_problem_init take: others are refused
 * (ATTEND_UNAVAILABLE; of integers ATTEND_MISMATCH). Programs that append by it alone hold no code of other formats. */
ATTEND_API attend_status attend_plain_cache_append(attend_cache* cache, ptrdiff_t tokens, const attend_input* key,
                                                   const attend_input* value);

/* Keeps the first tokens, at most those that are held; 0 empties the cache. Tokens that a ring has overwritten are lost: for
 * another sequence, empty it and append again. */
ATTEND_API attend_status attend_cache_truncate(attend_cache* cache, ptrdiff_t tokens);

/* The tokens held; -1 if cache is null or corrupt. max_tokens: set to the capacity in tokens; may be null. */
ATTEND_API ptrdiff_t attend_cache_tokens(const attend_cache* cache, ptrdiff_t* max_tokens);

/* ---- Versions ---- */

/* ATTEND_VERSION and ATTEND_BITS_VERSION of the library that was linked or loaded; its headers' are the macros. */
ATTEND_API int attend_version(void);
ATTEND_API int attend_bits_version(void);

/* ---- The choice of a backend: it matters for speed only ---- */

/* The name of a backend. From index 0 on, the fastest first, these are the backends compiled in; null ends the list. The
 * backend at ATTEND_BACKEND_IN_USE is the fastest that the processor can run, unless another was chosen. */
#define ATTEND_BACKEND_IN_USE (-1)
ATTEND_API const char* attend_backend_name(int index);

/* Makes every later call, of the C++ surface too, use the backend of that name. */
ATTEND_API attend_status attend_backend_use(const char* name);

#ifdef __cplusplus
}
#endif

#endif
