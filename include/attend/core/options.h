// The options of a call of the core beyond core::Problem: windows, masks, biases, a soft cap, sinks; more results;
// number formats; rings and pages; states that stop after some keys and go on later. All of it is off in Options{}.
//
// Calls without options hold none of its code. Nothing is checked here either.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "attention.h"
#include "formats.h"

namespace attend::core {

// One element for each query token, query head and key, keys side by side: element (t, h, j) is number
// first + t * token_stride + h * head_stride + j of data. A stride of 0 shares it. Keys at or after `keys` are masked.
struct Mask {
  const void* data;  // null: there is no mask
  ptrdiff_t first;   // so that masks of bits can begin anywhere
  ptrdiff_t token_stride;
  ptrdiff_t head_stride;
  int keys;
};

// What the scores output shows; in natural-log units, before the softmax.
enum class Scores : uint8_t {
  raw,     // scale * dot(query, key) of all keys that exist, masked or not
  capped,  // after the soft cap, of all keys too
  biased,  // after biases; -inf where a key is masked
  weights  // after the softmax; 0 where a key is masked, and for weights of at most 2^-123. Not with states
};

// Keys lie in panels of 16, which begin at positions that are multiples of 16; keys of integer calls lie in chunks of 32, which
// are called panels here. Panel g of a sequence lies where panel `slot` of one long array or cache would: slot = g, or what a
// table of pages or a ring makes of it.
struct Paging {
  // A table of pages of page_panels panels each: slot = pages[g / page_panels] * page_panels + g % page_panels. Null: none.
  const int32_t* pages = nullptr;
  int page_panels = 0;

  // A ring: the last ring_panels panels of the keys that exist have slot = sink_panels + g % ring_panels. Panels before them
  // have slot = g, and are read only where g < sink_panels. 0: none.
  int ring_panels = 0;
  int sink_panels = 0;
  int ring_tokens = 0;  // tokens that a ring has taken, where the problem's keys are fewer; 0: as many. Not for store
};

// The first panel that is still in a ring that has taken the first `keys` keys of a sequence; may be negative. Panels have
// `group` keys.
// (Inlined always: a copy with the instructions of one backend must not be what the linker keeps for others.)
[[gnu::always_inline]] constexpr int first_ring_panel(const Paging& paging, int keys, int group = panel_keys) {
  return (keys - 1) / group - paging.ring_panels + 1;
}

struct Options {
  // Which keys are seen. A window: a query at position p = problem.offset + token, which must not overflow, sees key j only
  // where j >= p - left or j < sink_tokens, and where j <= p + right. Negative: no limit. problem.causal counts besides.
  int left = -1;
  int right = -1;
  int sink_tokens = 0;

  // A mask of uint8_t: 0 masks a key. With mask_bits, bit n % 8, from the lowest, of byte n / 8 is element n, and strides
  // count bits.
  Mask mask = {};
  bool mask_bits = false;

  // Where keys and values lie. int8: the factor of key j, [kv_heads][slot * 16 + j % 16 - origin], which multiplies its score;
  // and the factor of value j, which multiplies its weight. Floats; of integers uint16_t, in 2^-15 of the scale of their head,
  // at most 2^15, where keys and values have zero point 0.
  const void* key_scales = nullptr;
  const void* value_scales = nullptr;
  ptrdiff_t key_scale_stride = 0;  // from head to head
  ptrdiff_t value_scale_stride = 0;

  Paging paging = {};

  // Position of the key that data points to; keys before it do not exist. Caches: a multiple of 16. Slots: 0. Integers: a
  // multiple of integer_chunk, and without states of segment_keys; new states begin at origin, others require
  // origin <= first_key.
  int origin = 0;

  // With states, the call takes keys first_key ... problem.keys - 1 into them and writes no output and no lse.
  // [queries][query_heads] [state_floats(value_dim, nodes)] floats, by the strides of a tensor. Integers:
  // integer_state_numbers(value_dim, nodes) of int32_t, and first_key is a multiple of integer_chunk.
  Tensor<void> states = {};
  int first_key = 0;    // as many as the states have been through; 0 without states
  bool begins = false;  // the states are new: what they hold does not matter. first_key may be any multiple of segment_keys

  // Integers only: the zero point of the queries, -128 … 127; and what outputs of floats are multiplied by. These are rounded
  // to 24 bits toward zero where others are rounded to a whole number, and the output scales' own zero is not added.
  int query_zero = 0;
  float float_scale = 1.0f;

  // Formats of the problem's tensors, whose pointers then point to numbers of that format. Caches have panels of theirs.
  Format query_format = Format::float32;  // no int8, no int4
  Format key_format = Format::float32;
  Format value_format = Format::float32;
  Format output_format = Format::float32;  // no int8, no int4. Integers: int8, int16 or float32, and it must be set

  // The rest is of floats only. Biases: floats that are added to scores in natural-log units. -inf masks the key; after the
  // cap, from -2.36e38 down its weight is 0, and from 2.36e38 up the output is NaN (option_arrays.h).
  Mask bias = {};

  const float* alibi_slopes = nullptr;  // [query_heads] ALiBi: slope * (j - p) is added

  // [query_heads][relative_left + 1 + relative_right]: number clamp(j - p, -relative_left, relative_right) + relative_left of a
  // head's row is added.
  const float* relative = nullptr;
  ptrdiff_t relative_head_stride = 0;
  int relative_left = 0;
  int relative_right = 0;

  float soft_cap = 0.0f;               // cap * tanh(score / cap) in place of the score; 1e-30 ... 1e30, or 0: none
  bool bias_before_cap = false;        // `bias` is added before the cap; only -inf masks a key then. Not without both
  const float* sink_logits = nullptr;  // [query_heads] a logit that joins the denominator and has no value; -inf: none

  Tensor<float> lse = {};  // [queries][query_heads] log-sum-exp; strides of token and head. null: none
  bool lse_base2 = false;  // log2 of the sum of 2^(score in base 2) in its place: the natural one divided by ln 2

  // [queries][query_heads][score_keys]; null: none. With states, columns first_key ... problem.keys - 1 are written,
  // otherwise all. Keys at or after problem.keys count as masked.
  Tensor<float> scores = {};
  int score_keys = 0;  // >= problem.keys, where there are scores
  Scores score_stage = Scores::raw;
};

// Code that goes through all options says for how many it was written: where one is added, it does not compile until somebody
// has decided what it does there.
constexpr int option_count = 34;
inline void count_options(Options& options) {
  [[maybe_unused]] auto& [o1, o2, o3, o4, o5, o6, o7, o8, o9, o10, o11, o12, o13, o14, o15, o16, o17, o18, o19, o20, o21, o22,
                          o23, o24, o25, o26, o27, o28, o29, o30, o31, o32, o33, o34] = options;
}

// Moves an address by so many bytes; one that is null stays.
template <class Data>
[[gnu::always_inline]] inline void move_bytes(Data*& data, ptrdiff_t bytes) {
  if (data != nullptr) data = reinterpret_cast<Data*>(reinterpret_cast<uintptr_t>(data) + uintptr_t(bytes));
}

// How far another token and head are.
template <class Strides>
[[gnu::always_inline]] constexpr ptrdiff_t distance(const Strides& strides, int tokens, int heads) {
  return tokens * strides.token_stride + heads * strides.head_stride;
}

// Moves what options have for each query to another first token and query head.
inline void move_queries(Options& options, int tokens, int heads) {
  static_assert(option_count == 34, "attend: what does the new option have for each query token or head?");
  constexpr ptrdiff_t size = sizeof(float);  // of all numbers but those of masks
  options.mask.first += distance(options.mask, tokens, heads);
  options.bias.first += distance(options.bias, tokens, heads);
  move_bytes(options.lse.data, distance(options.lse, tokens, heads) * size);
  move_bytes(options.scores.data, distance(options.scores, tokens, heads) * size);
  move_bytes(options.states.data, distance(options.states, tokens, heads) * size);
  move_bytes(options.alibi_slopes, heads * size);
  move_bytes(options.sink_logits, heads * size);
  move_bytes(options.relative, heads * options.relative_head_stride * size);
}

// Moves what they have for each key to another first key/value head and key, whose scales have so many bytes.
inline void move_keys(Options& options, int kv_heads, int keys, ptrdiff_t scale_bytes) {
  static_assert(option_count == 34, "attend: what does the new option have for each key?");
  const auto skip_columns = [=](Mask& mask) {
    mask.first += keys;
    mask.keys = mask.keys > keys ? mask.keys - keys : 0;
  };
  skip_columns(options.mask);
  skip_columns(options.bias);
  move_bytes(options.scores.data, keys * ptrdiff_t(sizeof(float)));
  options.score_keys -= keys;
  move_bytes(options.key_scales, (kv_heads * options.key_scale_stride + keys) * scale_bytes);
  move_bytes(options.value_scales, (kv_heads * options.value_scale_stride + keys) * scale_bytes);
}

// A state: how many nodes of finished segments it has (segments.h), a number for the states' owner, the
// running maximum and the denominator of 16 lanes; then [value_dim] each, the chain of keys and the segment that are open; then
// the nodes, each [value_dim] sums, their denominator, the maximum that both are relative to, and its number. What counts is an
// integer, as its bits. There is room for `nodes` of them, which the caller sees to: all rows of states have the same ones.
[[gnu::always_inline]] constexpr size_t state_floats(int value_dim, int nodes) {
  return size_t(state_head) + size_t(panel_keys) + 2 * size_t(value_dim) + size_t(nodes) * (size_t(value_dim) + 3);
}

// Floats of scratch for Problem::row_block = row_block and Problem::key_block = key_block, whatever the options: room for the
// embedded form, which hosts run too (their scalar backend; 32-bit NEON where its vectors would flush), and for the host's.
// levels: segment_levels or window_levels (segments.h) of a call's keys, 0 for calls into states; left out, enough for any.
constexpr size_t option_scratch_floats(int row_block, int key_block, int head_dim, int value_dim, int levels = most_levels) {
  return larger_of(size_t(EmbeddedOptionMemory(row_block, head_dim, value_dim).end(row_block, value_dim, levels)),
                   config::embedded ? 0
                                    : size_t(HostWorkMemory({row_block, key_block, head_dim, value_dim, true}, true)
                                                 .end({row_block, key_block, head_dim, value_dim, true}, levels)));
}

// As Floats::run, for calls over a cache of one format that ask for a window at most: of Options, only left, right,
// sink_tokens, paging, the formats and the scales may be set. Programs that make no other calls with options hold the code of
// these only. With one_row the query rows of a problem go one by one, whatever its row_block, which is less code.
#if ATTEND_EMBEDDED
template <Format format, bool one_row>
void run_cache(const Problem& problem, const Options& options);
#else
template <Format format, bool one_row>
inline void run_cache(const Problem& problem, const Options& options) {
  Floats::run(problem, options);
}
#endif

// Whether there are the keys at the positions of causal queries, which these see.
inline bool has_own_keys(const Problem& problem) {
  return !problem.causal || problem.queries == 0 || problem.offset <= problem.keys - problem.queries;
}

// The segments whose sums are in the nodes of a state.
inline SegmentSet segments_of(const float* state, int value_dim) {
  int32_t count;
  ATTEND_MEMCPY(&count, state, sizeof count);
  return {count, state + state_floats(value_dim, 1) - 1, value_dim + 3};
}

// The memory of a key/value cache in other formats, or with slots: as Cache, in panels of 16 tokens, aligned as its numbers.
//   keys    [kv_heads][panels][head_dim][16] numbers of key_format, panels = panel_count(capacity)
//   values  [kv_heads][panels * 16][value_dim] numbers of value_format
//   key_scales, value_scales  [kv_heads][panels * 16] floats, where the format is int8
// With int4, head_dim or value_dim is a multiple of 32:
//   keys    Int4Panel[kv_heads][panels][head_dim / 32], 4-byte aligned
//   values  Int4Group[kv_heads][panels * 16][value_dim / 32]
struct FormatCache {
  void* keys;
  void* values;
  float* key_scales;
  float* value_scales;
  Format key_format;
  Format value_format;
  int kv_heads;
  int head_dim;
  int value_dim;
  int capacity;  // tokens that there is room for. With slots: of all that they may name
  Paging paging;
  bool saturates_keys = false, saturates_values = false;  // numbers too large for the format become the largest there is
};

// Sizes of its memory for all heads.
constexpr size_t format_cache_rows(int kv_heads, int capacity) {
  return size_t(kv_heads) * size_t(panel_count(capacity)) * panel_keys;
}

constexpr size_t format_cache_key_bytes(Format format, int kv_heads, int head_dim, int capacity) {
  return format_bytes(format, format_cache_rows(kv_heads, capacity) * size_t(head_dim));
}

constexpr size_t format_cache_value_bytes(Format format, int kv_heads, int value_dim, int capacity) {
  return format_bytes(format, format_cache_rows(kv_heads, capacity) * size_t(value_dim));
}

// Writes count tokens at position, position + 1, … of the sequence, rounded to the nearest numbers of the cache's formats. A
// ring overwrites tokens that are no longer in its panels, and keeps the panels of sink tokens. Returns false where a finite
// number is too large for its format, which would make it infinite (float16: from 65520 on; int4: from 524160 on), and the
// cache does not saturate. What tokens before position can be seen is as it was then. Infinity and NaN are taken.
//
// bfloat16: the nearest finite number.
//
// int8: each key and value, a token's row of one head, has a scale of its own, max|x| * (1/127), and whole numbers from -127 to
// 127: x * (127 / max|x|), rounded to nearest, ties to even. A row of zeros has scale 0, a row that holds infinity or NaN has
// NaN. int4: each 32 neighbours of a key or value have a scale, and are rounded as convert_weights rounds (linear.h). Scores
// and outputs are the same as with floats that hold (number - 8) * scale.
bool store(const FormatCache& cache, int position, int count, Tensor<const float> key, Tensor<const float> value);

// The same where keys and values have this format, without the code of others. With a head_dim of 0 it stores values alone;
// key_scales may be value_scales then.
template <Format format>
bool store_cache(const FormatCache& cache, int position, int count, Tensor<const float> key, Tensor<const float> value);

// The slopes of ALiBi: slopes[heads], heads within 1 ... 65536, by the published rule (Press, Smith and Lewis, 2022): powers of
// 2^(-8 / n), n being the largest power of two up to `heads`; heads beyond n take the odd powers of its square root. Each is
// rounded to the nearest float once, the same bits on every target.
void alibi_slopes(int heads, float* slopes);

}  // namespace attend::core
