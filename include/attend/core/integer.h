// Attention in integers (core::Integers) under the typed surface (integer.h): 8-bit queries, keys, values and outputs, and not
// one float instruction. Zero points of keys change nothing and need not be known.
//
// The arithmetic is in src/guide/integers.md; the bits are the same on every target, with any blocks, parts and backends.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "attention.h"
#include "ranges.h"

namespace attend::core {

// The size of one step of an integer score, log2(e) * scale * query scale * key scale, as a fixed-point factor.
// A score that is d below the largest has the weight 2^-((d >> right) * factor / 2^27).
struct ScoreScale {
  uint32_t factor;  // of 16 significant bits, below 2^27; of fewer where a smaller step would need a larger `right`
  int32_t right;    // 0 … 13; 0 where the factor has more than 16 bits
  int32_t left;     // by how many bits it is longer, 0 … 11
  uint32_t end;  // weights are zero from d >> right = end on, where (end * factor) >> 16 reaches 15 * 2^11; at most 15 * 2^12
};

// The step of the values in steps of the output, value scale / output scale, and the two zero points.
struct OutputScale {
  int32_t factor;      // value scale / output scale * 2^shift: 2^14 … 2^15 - 1
  int32_t shift;       // -4 … 25
  int32_t value_zero;  // zero point of the values, -128 … 127
  int32_t zero;        // of the output
};

// a * b and a / b, rounded to the nearest whatever the caller's rounding is: where they are no constants, and the processor has
// doubles, by a function of the library.
double nearest_product(double a, double b);
double nearest_quotient(double a, double b);
constexpr double product(double a, double b) {
  return ATTEND_SOFT_DOUBLE || detail::is_constant() ? a * b : nearest_product(a, b);
}
constexpr double quotient(double a, double b) {
  return ATTEND_SOFT_DOUBLE || detail::is_constant() ? a / b : nearest_quotient(a, b);
}

namespace integer_detail {

struct Normalised {
  uint32_t mantissa;  // rounded, of exactly `bits` bits; 0 of a number that is not above 0
  int exponent;       // number = mantissa * 2^(exponent - bits)
};

ATTEND_CONSTEXPR_14 Normalised normalise(double number, int bits) {
  if (!(number > 0) || number > __DBL_MAX__) return {0, -1000};
  int exponent = 0;
  while (number >= 1) number *= 0.5, ++exponent;
  while (number < 0.5) number *= 2, --exponent;
  const int64_t digits = int64_t(number * 9007199254740992.0);  // all 53 of them: nothing is left to the rounding mode
  uint32_t mantissa = uint32_t((digits + (int64_t(1) << (52 - bits))) >> (53 - bits));
  if (mantissa >> bits) mantissa >>= 1, ++exponent;
  return {mantissa, exponent};
}

}  // namespace integer_detail

// Whether score_scale takes a number: 0 <= step < 1, so that one step of a score changes a weight by less than a factor of two.
constexpr bool is_score_step(double step) { return step >= 0 && step < 1; }

// step: scale * query scale * key scale * log2(e). One so small that no difference of scores changes a weight counts as zero.
// Meant for constants, and fit for any target: the result is the same everywhere.
ATTEND_CONSTEXPR_14 ScoreScale score_scale(double step) {
  constexpr int most_right = 13;  // a masked score is still too far below others to have a weight
  constexpr uint32_t last = 15u << 12;
  integer_detail::Normalised n = integer_detail::normalise(step * 2048, 16);
  if (n.exponent > 11) n = {0xffffu, 11};  // a step that rounds up to 1
  if (n.exponent < -most_right) n = {n.exponent < -40 ? 0 : n.mantissa >> (-n.exponent - most_right), -most_right};
  if (n.mantissa == 0) return {0, most_right, 0, last};
  const int left = n.exponent > 0 ? n.exponent : 0;
  const uint32_t factor = n.mantissa << left, reach = ((15u << 27) - 1) / factor + 1, end = reach < last ? reach : last;
  return {factor, left > 0 ? 0 : -n.exponent, left, end};
}

// Whether output_scale takes a number: 2^-10 … 2^18.
constexpr bool is_output_step(double steps) { return steps >= 1.0 / 1024 && steps <= 262144; }  // 2^-10 … 2^18

// steps: value scale / output scale.
ATTEND_CONSTEXPR_14 OutputScale output_scale(double steps, int value_zero = 0, int zero = 0) {
  const integer_detail::Normalised n = integer_detail::normalise(steps, 15);
  return {int32_t(n.mantissa), 15 - n.exponent, value_zero, zero};
}

// The rows of a block: where there is little memory, no more than a tile's.
[[gnu::always_inline]] constexpr int integer_rows(int row_block) {
  return config::embedded && row_block > config::integer_tile_rows ? config::integer_tile_rows : row_block;
}

// Bytes of a row's query where a backend keeps it in an order of its own.
[[gnu::always_inline]] constexpr int integer_query_bytes(int head_dim) {
  return 2 * ((head_dim + 15) & -16) + (config::embedded ? 0 : 64);
}

// Work memory of integer calls: what lies where, in bytes.
struct IntegerMemory {
  int rows;          // of a block
  ptrdiff_t keys;    // [key_block][head_dim rounded up to 4] packed; hosts only
  ptrdiff_t values;  // [key_block][value_dim rounded up to 16] of 16 bits
  ptrdiff_t scores;  // [rows of a tile][integer_chunk] of 32 bits: scores, then weights; hosts have two such tiles
  ptrdiff_t query;   // [rows][integer_query_bytes]
  ptrdiff_t states;  // [rows] exponents and denominators; hosts: eight more, which kernels read and write back
  ptrdiff_t chunk;   // [integer_chunk][head_dim], then [integer_chunk][value_dim]: rows of a chunk from quads; hosts only
  ptrdiff_t sums;    // [rows][value_dim] of 32 bits, of the current segment
  ptrdiff_t nodes;   // [levels][rows][value_dim + 2] sums of nodes of finished segments (segments.h), exponent and denominator

  [[gnu::always_inline]] constexpr IntegerMemory(int row_block, int key_block, int head_dim, int value_dim)
      : rows(integer_rows(row_block)),
        keys(0),
        values(keys + (config::embedded ? 0 : aligned(ptrdiff_t(key_block) * ((head_dim + 3) / 4 * 4)))),
        scores(values + (config::embedded ? 0 : aligned(ptrdiff_t(key_block) * ((value_dim + 15) / 16 * 32)))),
        query(scores + score_rows(rows) * integer_chunk * 4),
        states(query + ptrdiff_t(rows) * integer_query_bytes(head_dim)),
        chunk(states + (config::embedded ? 0 : aligned(ptrdiff_t(rows) * 8 + 64))),
        sums(chunk + (config::embedded ? 0 : aligned(ptrdiff_t(integer_chunk) * (head_dim + value_dim)))),
        nodes(sums + ptrdiff_t(rows) * value_dim * 4) {}

  [[gnu::always_inline]] constexpr ptrdiff_t end(int value_dim, int levels) const {
    return nodes + ptrdiff_t(levels) * rows * (ptrdiff_t(value_dim) + 2) * 4;
  }

 private:
  [[gnu::always_inline]] static constexpr ptrdiff_t aligned(ptrdiff_t bytes) { return (bytes + 63) / 64 * 64; }
  [[gnu::always_inline]] static constexpr ptrdiff_t score_rows(int rows) {
    return !config::embedded                  ? 2 * config::integer_tile_rows
           : rows < config::integer_tile_rows ? rows
                                              : config::integer_tile_rows;
  }
};

// levels: as option_scratch_floats takes them (core/options.h).
constexpr size_t integer_scratch_bytes(int row_block, int key_block, int head_dim, int value_dim, int levels = most_levels) {
  return size_t(IntegerMemory(row_block, key_block, head_dim, value_dim).end(value_dim, levels));
}

// The most keys that any query of a problem sees by position. Windows are below 0 where there is none.
inline int64_t most_seen(const Problem& problem, int64_t left, int64_t right, int64_t sink_tokens) {
  const auto smaller = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const int64_t keys = problem.keys, first = problem.offset;
  const bool has_right = problem.causal || right >= 0;
  if (problem.causal) right = 0;
  int64_t seen = has_right ? smaller(keys, first + problem.queries + right) : keys;
  if (left >= 0) {
    seen = smaller(seen, keys - first + left);
    if (has_right) seen = smaller(seen, left + 1 + right);
    seen = smaller(keys, (seen > 0 ? seen : 0) + sink_tokens);
  }
  return problem.queries > 0 ? seen : 0;
}

// As state_floats of core/options.h. A state: how many nodes it has, a number for the states' owner; [value_dim] sums of the
// open segment, its exponent and its denominator; then the nodes, each the same of finished segments, and its number.
[[gnu::always_inline]] constexpr size_t integer_state_numbers(int value_dim, int nodes) {
  return size_t(state_owner) + 1 + (size_t(value_dim) + 2) + size_t(nodes) * (size_t(value_dim) + 3);
}

// As segments_of of core/options.h.
inline SegmentSet segments_of(const int32_t* state, int value_dim) {
  return {state[0], state + integer_state_numbers(value_dim, 1) - 1, value_dim + 3};
}

// Caches of integer attention on hosts (embedded processors read rows only), in the order in which kernels that multiply quads
// of bytes read them. A chunk of 32 tokens of a head lies as
//
//   keys:   [quads of dimensions][32 tokens][4 dimensions]   head_dim is rounded up to a multiple of 4
//   values: [8 quads of tokens][value_dim][4 tokens]
//
// so that one row of queries needs neither sums over lanes nor bytes brought into another order.
// Memory of such a cache: [kv_heads][tokens] of keys and of values, in quads.
struct IntegerCache {
  int8_t* keys;    // kv_heads * tokens * whole_quads(head_dim) bytes
  int8_t* values;  // kv_heads * tokens * value_dim bytes
  int kv_heads;
  int head_dim;
  int value_dim;
  int tokens;  // room; a multiple of integer_chunk
};

[[gnu::always_inline]] constexpr int whole_quads(int head_dim) { return (head_dim + 3) & -4; }
constexpr int whole_chunks(int tokens) { return (tokens + integer_chunk - 1) / integer_chunk * integer_chunk; }

// What a problem reads of them, with Problem::key_panels.
constexpr Tensor<const int8_t> key_quads(const int8_t* keys, int head_dim, int tokens) {
  return {keys, whole_quads(head_dim), ptrdiff_t(tokens) * whole_quads(head_dim)};
}
constexpr Tensor<const int8_t> value_quads(const int8_t* values, int value_dim, int tokens) {
  return {values, value_dim, ptrdiff_t(tokens) * value_dim};
}

// Writes `count` tokens to places place … place + count - 1; key and value: [count][kv_heads][width].
void store(const IntegerCache& cache, int place, int count, const Tensor<const int8_t>& key, const Tensor<const int8_t>& value);

// Writes a token to a place of a cache of this target: in quads, or in rows of [kv_heads][tokens].
[[gnu::always_inline]] inline void store_token(const IntegerCache& cache, ptrdiff_t place, const Tensor<const int8_t>& key,
                                               const Tensor<const int8_t>& value) {
  if (config::integer_quads) return store(cache, int(place), 1, key, value);
  for (int head = 0; head < cache.kv_heads; ++head, place += cache.tokens) {
    ATTEND_MEMCPY(cache.keys + place * cache.head_dim, key.data + head * key.head_stride, size_t(cache.head_dim));
    ATTEND_MEMCPY(cache.values + place * cache.value_dim, value.data + head * value.head_stride, size_t(cache.value_dim));
  }
}

// A factor above 0 as an integer and a shift: factor / 2^shift. Multipliers of the C surface are read as such where they lie.
struct [[gnu::may_alias]] IntegerMultiplier {
  int32_t factor;  // 2^30 … 2^31 - 1, or 0
  int32_t shift;   // 1 … 62
};

}  // namespace attend::core
