// The most instructions that attention in integers takes, as a constant: for a watchdog, a time slice, a schedule.
//
//   using Talk = attend::Integer<Wake>;
//   static_assert(attend::worst_instructions<Talk, 64>(attend::gcc_12_O2::cortex_m0_plus) < 150000, "a token takes too long");
//
// The number of instructions depends on the shape and on who sees how many keys, and on no number. So it is added up from
// loops, which were counted for a processor, a compiler and its flags; `make worst-cases` counts them for yours. Projections
// and append have bounds as well; the stack has constants: integer_stack_bytes. What instructions say of time:
// include/guide/time.md.
#pragma once

#include "detail/instruction_counts.h"
#include "integer.h"

namespace attend {
namespace detail {

struct CountedCall {
  int head_dim, value_dim, query_heads, kv_heads, queries, keys;
  bool causal;
};

// As attention/integer.h and the kernels in src/isa go over a call.
struct CountedLoops {
  const InstructionCounts& counts;
  const CountedCall& call;

  // Rows go two by two: those of a query, and its last one with the first of the query behind it, or alone.
  template <class BlockCount>
  constexpr int64_t instructions(BlockCount of_block) const {
    const int group = call.query_heads / call.kv_heads;
    int64_t sum = counts.kv_head;
    for (int query = 0; query < call.queries; ++query) {
      const int here = seen(query), rows = group - query * group % 2;
      if (rows > 1) sum += rows / 2 * of_block(1, here, here);
      if (rows % 2 == 1) sum += query + 1 < call.queries ? of_block(1, here, seen(query + 1)) : of_block(0, here, here);
    }
    return counts.call + call.kv_heads * sum;
  }

  // With what no loop tells, such as branches.
  static constexpr int64_t with_margin(int64_t sum) { return sum + sum / 96; }
  constexpr int64_t instructions() const {
    return instructions([this](int two, int first, int keys) { return block(two, first, keys); });
  }
  constexpr int64_t most() const { return with_margin(instructions()); }

  static constexpr int up(int number, int divisor) { return (number + divisor - 1) / divisor; }
  constexpr int seen(int query) const { return call.causal ? call.keys - call.queries + query + 1 : call.keys; }

  using Tile = InstructionCounts::Tile;
  static constexpr int64_t fours(const Tile& of, int n) { return of.always + (n >= 4 ? of.enter_fours + n / 4 * of.four : 0); }
  static constexpr int64_t rest(const Tile& of, int n) { return n % 4 > 0 ? of.enter_rest + n % 4 * of.one : 0; }
  static constexpr int64_t all(const Tile& of, int n) { return fours(of, n) + rest(of, n); }

  // One row, or two, of which the first sees as many keys as the second or one fewer.
  constexpr int64_t block(int two, int first, int keys) const {
    const int left = keys % integer_chunk, dims = call.head_dim, width = call.value_dim;
    const int64_t row = counts.row_column * width + counts.query_four * up(dims, 4) + counts.query_rest * (dims % 4) +
                        (left > 0 || first < keys ? counts.mask : 0) +
                        (keys - 1) / segment_keys * (counts.segment + counts.segment_column * width);
    return counts.rows[two].block + (two + 1) * row + keys / integer_chunk * chunk(two, integer_chunk) +
           (left > 0 ? chunk(two, left) : 0);
  }

  constexpr int64_t chunk(int two, int keys) const {
    const InstructionCounts::Rows& rows = counts.rows[two];
    const int dims = call.head_dim, steps = up(keys, counts.value_keys), score_tiles = up(keys, counts.score_keys[two]);
    const int left = call.value_dim % counts.columns, twos = left / 2 * counts.has_two;
    return rows.chunk + score_tiles * (fours(rows.scores, dims) + rows.sixteen * up(dims / 4, 4)) +
           (counts.value_keys > 1 ? keys : score_tiles) * rest(rows.scores, dims) +  // DSP kernels go key by key
           call.value_dim / counts.columns *
               (all(rows.values, steps) + (steps * counts.value_keys == integer_chunk ? counts.whole : 0)) +
           (left > 0 ? rows.left : 0) + twos * all(rows.two_columns, keys) + (left - 2 * twos) * all(rows.column, keys);
  }
};

// As layers/integer_linear.h goes over a projection, in sixteenths: 16 outputs after the other, with a zero point first a row
// of it beside a token, then tokens two by two. That row has steps of 64 inputs, with DSP kernels all have.
constexpr int64_t counted_projection(const InstructionCounts& counts, int outputs, int inputs, int tokens, bool has_zero) {
  const auto& [call, block, output, result, zero, zero_output, typed, typed_output] = counts.project;
  const bool dsp = counts.value_keys > 1;
  const auto step = [&](int two, int here, int dims) {
    const auto& [tile, always, each, pair, four, sixteen, rest, one, query_four, query_rest] = counts.projected[two];
    const int pairs = CountedLoops::up(here, counts.score_keys[two]), fours = dims / 4, left = dims % 4;
    return always + here * each + (dsp && fours == 0 ? 0 : pairs * (pair + fours * four)) +
           (left > 0 ? (dsp ? here : pairs) * (rest + left * one) : 0) +
           (dsp ? pairs * CountedLoops::up(fours, 4) * sixteen + fours * query_four + (left > 0) * query_rest : 0);
  };
  const auto steps = [&](int two, int here, int most) {
    return int64_t(inputs / most) * step(two, here, most) + (inputs % most > 0 ? step(two, here, inputs % most) : 0);
  };
  int64_t sum = call + typed + int64_t(outputs) * typed_output;
  for (int first = 0; first < outputs; first += 16) {
    const int here = smaller(outputs - first, 16), left = tokens - has_zero, most = dsp ? 64 : inputs;
    sum += block + here * (output + tokens * result) + (has_zero ? zero + here * zero_output + steps(1, here, 64) : 0) +
           left / 2 * (counts.projected[1][0] + steps(1, here, most)) +
           left % 2 * (counts.projected[0][0] + steps(0, here, most));
  }
  return sum;
}

// A token, whose arrays may lie anywhere, in sixteenths.
constexpr int64_t counted_append(const InstructionCounts& counts, int kv_heads, int head_dim, int value_dim) {
  const auto copy = [&](int n) {
    const auto& [call, always, four, one, of_long, long_64, long_four] = counts.append;
    return n > 64 ? of_long + (n - 3) / 64 * long_64 + (n - 3) % 64 / 4 * long_four : always + n / 4 * four + n % 4 * one;
  };
  return counts.append[0] + int64_t(kv_heads) * (copy(head_dim) + copy(value_dim));
}

}  // namespace detail

// The most instructions of decode, or of prefill of so many tokens, over arrays or a KvCache whose queries see at most so many
// keys: a plain call of the whole, without ScoreOptions and without a zero point of queries. Not causal: all see all keys.
template <class Shape, int keys, int queries = 1, bool causal = true>
constexpr int64_t worst_instructions(const InstructionCounts& counts) {
  using Dims = detail::Checked<Shape>;
  static_assert(detail::is_integer<Shape>, "attend: only calls in integers have a worst case: write attend::Integer<Shape>");
  constexpr int fewest = causal ? queries : 1;
  static_assert(queries >= 1 && keys >= fewest && keys <= integer_keys,
                "attend: a worst case has at least 1 query, its keys include those of causal queries, and are at most 65535");
  // A part of a chunk may take more than all of it: of so many keys at most, the number that takes longest counts. Blocks are
  // counted once for each number of keys: one row, two that see as many, two of which the second sees one more.
  constexpr int from = detail::larger(keys - integer_chunk + 1, fewest), fewest_seen = causal ? from - queries + 1 : from;
  constexpr int group = Dims::query_heads / Dims::kv_heads, different = keys - fewest_seen + 1;
  detail::CountedCall call = {Dims::head_dim, Dims::value_dim, Dims::query_heads, Dims::kv_heads, queries, keys, causal};
  const detail::CountedLoops loops = {counts, call};
  int64_t alone[size_t(different)] = {}, same[size_t(different)] = {}, more[size_t(different)] = {}, most = 0;
  for (int i = 0; i < different; ++i) {
    const int seen = fewest_seen + i;
    if (group % 2 == 1 && seen >= from) alone[i] = loops.block(0, seen, seen);
    if (group > 1 || !causal) same[i] = loops.block(1, seen, seen);
    if (group % 2 == 1 && causal) more[i] = loops.block(1, seen, seen + 1);
  }
  for (call.keys = from; call.keys <= keys; ++call.keys) {
    const int64_t here = loops.instructions([&](int two, int first, int last) {
      const int i = first - fewest_seen;
      return two == 0 ? alone[i] : first == last ? same[i] : more[i];
    });
    if (here > most) most = here;
  }
  return detail::CountedLoops::with_margin(most);
}

// The most instructions of project with Weights of attend::integer and outputs of 8 bits. has_zero: of the input a zero point.
template <int outputs, int inputs, int tokens = 1, bool has_zero = true>
constexpr int64_t worst_project_instructions(const InstructionCounts& counts) {
  static_assert(outputs >= 1 && inputs >= 4 && tokens >= 1, "attend: this bound is of 1 output, 4 inputs, 1 token, and more");
  return (detail::counted_projection(counts, outputs, inputs, tokens, has_zero) + 15) / 16;
}

// The most instructions of append of one token to a KvCache of an integer shape, with newlib's memcpy, not newlib-nano's.
// Coarse: compilers inline it.
template <class Shape>
constexpr int64_t worst_append_instructions(const InstructionCounts& counts) {
  using Dims = detail::Checked<Shape>;
  static_assert(detail::is_integer<Shape>, "attend: only calls in integers have a worst case: write attend::Integer<Shape>");
  return (detail::counted_append(counts, Dims::kv_heads, Dims::head_dim, Dims::value_dim) + 15) / 16;
}

// How far outputs of attention in integers can be from the exact ones of the same numbers of 8 bits, whatever these are, in
// steps of the output: src/guide/integers.md derives it. What is outside an output's range counts as its end.
//
//   constexpr attend::IntegerErrorBound of_talk = {64, 1.4427 * 0.177 * 0.031 * 0.027, 0.02 / 0.01};
//   static_assert(of_talk.rounded() < 1.5, "an output errs by too much");
struct IntegerErrorBound {
  int keys;                                               // what a query sees is among the first so many positions
  double score_step;                                      // log2(e) * scale * query scale * key scale
  double output_steps;                                    // value scale / output scale
  double value_zero = 0;                                  // zero point of the values
  double output = -1;                                     // the most of an output less its zero point; -1: as far as values go
  double values_apart = 255;                              // the largest value of a column less its smallest, times their scales
  double largest_value = 128;                             // the largest size of one, times its scale
  double largest_stored = 128;                            // and without
  bool has_key_scales = false, has_value_scales = false;  // of single keys, of single values

  constexpr double rounded() const { return 0.5 + unrounded(); }  // outputs of 8 and 16 bits; else of float32
  constexpr double unrounded() const {
    const int chunks = keys > segment_keys ? segment_keys / integer_chunk : (keys + integer_chunk - 1) / integer_chunk;
    int bits = 0, levels = 0;
    for (; (int64_t(1) << bits) < keys; ++bits) levels += (int64_t(segment_keys) << levels) < keys;
    const double few = keys < integer_chunk ? keys : integer_chunk, many = chunks > 1, apart = keys > 1 ? values_apart : 0;
    const double tilt = ((score_step < 0x1p-12) + 1 + many) * 3.3846e-4 + 2.2e-4, cut = (few - 1) * 0x1p-15;
    const double weights = cut < tilt ? (tilt + cut) * (tilt + cut) / (4 * tilt) : cut, sums = many * (0.5 * chunks + levels);
    const double of_sums = 256 * (sums + 0.5) + largest_value * sums + largest_stored * has_value_scales * few * 0.5;
    const double zero = value_zero < 0 ? -value_zero : value_zero;
    const double of_values = apart * (weights + 0.6932 * bits * 0x1p-16 + has_key_scales * score_step * 0.1733) +
                             of_sums * 0x1p-14 + (zero + 5) * 0x1p-21;
    return 1.01 * ((output < 0 ? output_steps * (largest_value + zero) : output) * 5.35e-5 + output_steps * of_values);
  }
};

}  // namespace attend
