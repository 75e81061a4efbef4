// The run-time core under the typed surface: plain structs of pointers, extents and strides, and functions that take them.
//
// Nothing here is checked. The typed surface (attention.h, kv_cache.h) makes wrong shapes impossible; callers of the core
// answer for the ranges stated here. All extents and strides count numbers.
#pragma once

#include <stddef.h>

#include "config.h"
#include "work_memory.h"

namespace attend::core {

// A tensor [token][head][width]: element (t, h, c) is data[t * token_stride + h * head_stride + c]. Strides count numbers, also
// where the type of the numbers is `void` because several formats are possible.
template <class Number>
struct Tensor {
  Number* data;
  ptrdiff_t token_stride;
  ptrdiff_t head_stride;

  template <class Any>
  constexpr operator Tensor<Any>() const {  // to numbers of any format, or to constant ones
    return {data, token_stride, head_stride};
  }
};

struct ScoreScale;  // integer.h
struct OutputScale;
struct Options;        // options.h
struct RangedOptions;  // ranges.h
struct SeenKeys;       // segments.h

// The memory of a key/value cache. No alignment is needed; config::alignment is fastest. Places without a token are read with
// their panel, but their contents never matter: they need not be initialised.
//   keys   [kv_heads][panels][head_dim][panel_keys], panels = ceil(capacity / panel_keys): lanes run across keys
//   values [kv_heads][capacity][value_dim]
struct Cache {
  float* keys;
  float* values;
  int kv_heads;
  int head_dim;
  int value_dim;
  int capacity;  // tokens
};

[[gnu::always_inline]] constexpr int panel_count(int tokens) { return (tokens + panel_keys - 1) / panel_keys; }

// The smallest key_block of a Problem that takes so many keys at once.
constexpr int whole_chains(int tokens) { return (tokens + chain_keys - 1) / chain_keys * chain_keys; }

constexpr size_t cache_key_floats(int kv_heads, int head_dim, int capacity) {
  return size_t(kv_heads) * size_t(panel_count(capacity)) * panel_keys * size_t(head_dim);
}

constexpr size_t cache_value_floats(int kv_heads, int value_dim, int capacity) {
  return size_t(kv_heads) * size_t(capacity) * size_t(value_dim);
}

// Writes count tokens at position, position + 1, … of the cache. Requires 0 <= position and position + count <= capacity.
void store(const Cache& cache, int position, int count, Tensor<const float> key, Tensor<const float> value);

// 1 / sqrt(head_dim), as default_scale of shape.h has it, which is meant for constants; head_dim <= 2^24.
float usual_scale(int head_dim);

// One attention call: for every query head h and query token i, with the key/value head h / (query_heads / kv_heads),
//
//   score_j = scale * dot(query[i][h], key_j)
//   weight = softmax(score over the visible keys)
//   output[i][h] = sum over j of weight_j * value_j
//
// where key j is visible when j < keys and, if causal, j <= offset + i. A query that sees no key gets zeros.
// The output must not overlap anything else. Method: blockwise softmax with a running maximum (Milakov and Gimelshein, 2018;
// Dao et al., FlashAttention, 2022), in the fixed order of operations that src/guide/arithmetic.md gives. How a problem is cut
// into calls and blocks changes no bit while keys * max|value| stays below 8e37, but for keys whose weight is below 2^-124
// of the largest, which may be left out. Where one decides a tie, the last bit of a sum differs, which can be two units in the
// last place of the output; ties are more frequent among values of few digits (halves and bytes). Floating-point exceptions are
// raised without meaning, and do not trap, whatever the caller's floating-point environment is.
//
// Calls in integers (Integers, integer.h) take the same problem: their tensors are of int8_t, and what differs is said beside a
// field. Their scores are dot(query, key), of integers.
inline namespace ATTEND_FORM {
struct Problem {
  // Floats, or the formats of Options.
  Tensor<const void> query;  // [queries][query_heads][head_dim]
  Tensor<void> output;       // [queries][query_heads][value_dim]
  Tensor<const void> key;    // [keys][kv_heads][head_dim]; with key_panels the panels of a Cache (token_stride is not used)
  Tensor<const void> value;  // [keys][kv_heads][value_dim]
  int query_heads;           // >= 1
  int kv_heads;              // >= 1, divides query_heads
  int head_dim;              // >= 1; integers: at most 4096
  int value_dim;             // >= 1
  int queries;               // >= 0
  int keys;                  // >= 0; integers: at most integer_keys, unless a window keeps what a query sees below that
  int offset;   // absolute position of query 0, any value; used only when causal; with options (core/options.h) windows and
                // biases by position use it too
  float scale;  // any value; integers have score_scales
  bool causal;
  bool key_panels;  // integers: keys and values lie in quads (IntegerCache); hosts only
  int row_block;    // >= 1: query rows, tokens * query heads per key/value head, that one pass over the keys serves; integers
                    // on embedded processors: at most config::integer_tile_rows are used
  int key_block;    // a multiple of chain_keys, >= 1 of them; at most config::score_keys is used, except with row_block = 1;
                    // integers: a multiple of integer_chunk
  void* scratch;    // scratch_floats(…) floats, integer_scratch_bytes(…) bytes, aligned to config::alignment; unspecified
                    // before and after

  // Integers: of query head h, score_scales[h * scale_stride] and output_scales[h * scale_stride]. scale_stride is 0 or 1.
  const ScoreScale* score_scales;
  const OutputScale* output_scales;
  int scale_stride;
};
}  // namespace ATTEND_FORM

// The offset of the queries after the first `tokens` ones. One beyond an int lies behind all keys.
constexpr int offset_after(int offset, int tokens) { return offset > 0x7fffffff - tokens ? 0x7fffffff : offset + tokens; }

// Query rows that share one key/value head.
constexpr int rows_per_kv_head(int query_heads, int kv_heads, int queries) { return query_heads / kv_heads * queries; }

// Floats of scratch for Problem::row_block = row_block. On embedded processors nothing is copied, and sums outside the output
// exist only where keys can pass one segment.
constexpr size_t scratch_floats(int row_block, int key_block, int head_dim, int value_dim, int keys, bool key_panels) {
  return size_t(
      config::embedded
          ? EmbeddedMemory{detail::smaller(row_block, config::tile_rows), scaled_in_advance(row_block, key_panels)}.end(
                head_dim, value_dim, segment_levels(keys))
          : HostWorkMemory({row_block, key_block, head_dim, value_dim, !key_panels}, false)
                .end({row_block, key_block, head_dim, value_dim, !key_panels}, segment_levels(keys)));
}

// What is computed in floats. Each function is linked by programs that call it only.
struct Floats {
  // Computes the whole problem with the active backend. Calls without options hold no code of them.
  static void run(const Problem& problem);
  static void run(const Problem& problem, const Options& options);
  static void run(const Problem& problem, const RangedOptions& options);

  // Computes a part of a problem, 0 <= part < parts <= 65535: some heads, or some tokens of some heads, of about the same work
  // as the other parts. All parts together are the whole, bit for bit; they write to different outputs and share nothing but
  // what they read, so that threads or cores can compute them at the same time, each with a scratch of its own. A part may be
  // empty. Requires queries * (keys + 16) * parts < 2^63.
  static void run_part(const Problem& problem, int part, int parts);
  static void run_part(const Problem& problem, const Options& options, int part, int parts);
  static void run_part(const Problem& problem, const RangedOptions& options, int part, int parts);

  // Makes the states new ones, of no key.
  static void begin(const Problem& problem, const Options& options);

  // The keys that any query of the problem sees by position; with scores all, because each key has one. Of the options,
  // windows, sink tokens and scores count.
  static SeenKeys seen_keys(const Problem& problem, const Options& options);

  // Ends the open chain and the open segment of states that stopped at key `from` and go on at `to`, where they do.
  static void leave(const Problem& problem, const Options& options, int from, int to);

  // The output and lse of the problem's queries from their states, which are not changed. Reads neither queries, keys nor
  // values; of problem.keys where an open segment is, the last one before it. Integers: output_scales and the output's format
  // count, and scratch is for value_dim numbers of 32 bits.
  static void finish(const Problem& problem, const Options& options);

  // Adds other states, of other segments, to states: [rows] of state_floats(value_dim, nodes) each, which have room for both
  // together. The order does not matter: it has the bits of states that went through all keys. takes_open: the states get the
  // open segment of the others.
  static void merge(void* states, const void* others, bool takes_open, int rows, int value_dim, int nodes);
};

// The same in integers, with the kernels of the active backend.
struct Integers {
  static void run(const Problem& problem);
  static void run(const Problem& problem, const Options& options);
  static void run(const Problem& problem, const RangedOptions& options);
  static void run_part(const Problem& problem, int part, int parts);
  static void run_part(const Problem& problem, const Options& options, int part, int parts);
  static void run_part(const Problem& problem, const RangedOptions& options, int part, int parts);
  static void begin(const Problem& problem, const Options& options);
  static SeenKeys seen_keys(const Problem& problem, const Options& options);
  static void leave(const Problem& problem, const Options& options, int from, int to);
  static void finish(const Problem& problem, const Options& options);
  static void merge(void* states, const void* others, bool takes_open, int rows, int value_dim, int nodes);
};

}  // namespace attend::core
