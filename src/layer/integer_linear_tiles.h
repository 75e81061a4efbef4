// Projections in integers of packed weights where an instruction set multiplies tiles: some tokens, 64 inputs of each, by 16
// outputs, as panels have them.
//
//   for each panel of 32 outputs, and each four tiles of tokens:
//     for each 512 inputs, whose weights stay in the first-level cache, and each two of these tiles:
//       sums, four tiles, += products;  between them outputs of the sums that were ready before
//
// The last inputs, fewer than 64, are multiplied with some of those before them, for which are zeros.
#ifndef ATTEND_LAYER_INTEGER_LINEAR_TILES_H
#define ATTEND_LAYER_INTEGER_LINEAR_TILES_H

#include "integer_linear.h"
#include "integer_outputs.h"

namespace attend::ATTEND_ISA {
namespace {

template <class Isa>
class TiledIntegerLinear {
  using Tiles = typename Isa::Tiles;
  static constexpr int most_rows = 16, depth = 64;  // of a tile: tokens, and inputs
  static constexpr int group = 4;                   // tiles of tokens that share weights in the first-level cache,
  static constexpr int group_steps = 512 / depth;   // of so many steps
  static constexpr int panel_row = 4 * integer_chunk;

 public:
  // Whether that is faster than other kernels.
  static bool gains(const core::IntegerLinear& linear) {
    const int64_t products = int64_t(linear.tokens) * linear.inputs * linear.outputs;
    return linear.tokens >= Isa::least_tokens && linear.inputs >= depth && products >= Isa::least_products;
  }

  // Tokens are shared evenly among the fewest tiles; the last tile ends with the last token.
  TiledIntegerLinear(const core::IntegerLinear& linear, int output_bytes)
      : linear_(linear),
        output_bytes_(output_bytes),
        steps_(linear.inputs / depth),
        tiles_((linear.tokens + most_rows - 1) / most_rows),
        rows_((linear.tokens + tiles_ - 1) / tiles_) {}

  void run() {
    with_tiles<Tiles>(shapes(), [this] { run_panels(); });
  }

 private:
  using Sums = int32_t (*)[integer_chunk];

  ATTEND_ALWAYS_INLINE void run_panels() {
    const int group_of_steps = tiles_ > 2 ? group_steps : steps_;
    for (int output = 0; output < linear_.outputs; output += integer_chunk) {
      const int8_t* const panel = weight_panel(linear_, output);
      ahead_ = panel + core::integer_panel_dim(linear_.inputs) * integer_chunk;
      for (int tile = 0; tile < tiles_; tile += group) {
        const int end = at_most(tile + group, tiles_);
        for (int step = 0; step < steps_; step += group_of_steps) {
          const int last = at_most(step + group_of_steps, steps_);
          for (int t = tile; t < end; t += 2) {
            const Part part = {
                panel, step, last, token_of(t), token_of(at_most(t + 1, tiles_ - 1)), sums_ + (t - tile) * most_rows};
            t + 1 < end ? multiply_tiles<2>(part) : multiply_tiles<1>(part);
            if (last == steps_) end_outputs({output, part.first, part.second + rows_ - part.first}, part.sums);
          }
        }
      }
    }
    while (waiting_ > 0) write_some();
  }

  // Some steps of the products of a panel with one tile of tokens or two, of which these are the first tokens.
  struct Part {
    const int8_t* panel;
    int step, end;
    int first, second;
    Sums sums;
  };

  // Sums of tile t of tokens and of 16 outputs, then those of the other ones; tokens; weights.
  template <int t, int half>
  static constexpr int sums() {
    return 2 * t + half;
  }
  static constexpr int tokens_tile = 4, weights_tile = 6;

  TileShapes shapes() const {
    TileShapes shapes;
    for (int tile = 0; tile < weights_tile; ++tile) shapes.set(tile, rows_, 64);
    for (int tile = weights_tile; tile < weights_tile + 2; ++tile) shapes.set(tile, depth / 4, 64);
    return shapes;
  }

  int token_of(int tile) const { return at_most(tile * rows_, linear_.tokens - rows_); }

  // Adds the products of some steps to sums, which begin with the first step.
  template <int count>
  ATTEND_NOINLINE void multiply_tiles(const Part& of) {
    const ptrdiff_t stride = linear_.input_stride;
    const int8_t *const first = linear_.input + of.first * stride, *const second = linear_.input + of.second * stride;
    const int rest = of.end == steps_ ? linear_.inputs % depth : 0;
    const int from = core::integer_panel_dim(linear_.inputs) - depth;
    of.step == 0 ? clear<count>() : load_sums<count>(of.sums, of.second - of.first);
    const int8_t* const weights = of.panel + of.step * depth * integer_chunk;
    add_steps<count>(first + of.step * depth, second + of.step * depth, weights, of.end - of.step);
    while (waiting_ > 0) write_some();
    if (rest > 0) {
      load_rest<tokens_tile>(first + from, rest);
      if constexpr (count > 1) load_rest<tokens_tile + 1>(second + from, rest);
      add_products<count>(of.panel + from * integer_chunk);
    }
    store_sums<count>(of.sums, of.second - of.first);
  }

  template <int count>
  static ATTEND_ALWAYS_INLINE void clear() {
    Tiles::template clear<sums<0, 0>()>(), Tiles::template clear<sums<0, 1>()>();
    if constexpr (count > 1) Tiles::template clear<sums<1, 0>()>(), Tiles::template clear<sums<1, 1>()>();
  }
  template <int count>
  static ATTEND_ALWAYS_INLINE void load_sums(Sums from, int second) {
    constexpr int half = integer_chunk / 2;
    Tiles::template load<sums<0, 0>()>(from[0], sizeof *from), Tiles::template load<sums<0, 1>()>(from[0] + half, sizeof *from);
    if constexpr (count > 1) {
      from += second;
      Tiles::template load<sums<1, 0>()>(from[0], sizeof *from),
          Tiles::template load<sums<1, 1>()>(from[0] + half, sizeof *from);
    }
  }
  template <int count>
  static ATTEND_ALWAYS_INLINE void store_sums(Sums to, int second) {
    constexpr int half = integer_chunk / 2;
    Tiles::template store<sums<0, 0>()>(to[0], sizeof *to), Tiles::template store<sums<0, 1>()>(to[0] + half, sizeof *to);
    if constexpr (count > 1) {
      to += second;
      Tiles::template store<sums<1, 0>()>(to[0], sizeof *to), Tiles::template store<sums<1, 1>()>(to[0] + half, sizeof *to);
    }
  }

  template <int count>
  ATTEND_ALWAYS_INLINE void add_steps(const int8_t* a, const int8_t* b, const int8_t* weights, int steps) {
    const ptrdiff_t stride = linear_.input_stride;
    const int8_t* ahead = ahead_;
    const auto next = [&]() __attribute__((always_inline)) {
      // The next panel comes to the second-level cache a part at a time, while several tiles are multiplied by this one.
      constexpr int prefetched = 8;
      ATTEND_UNROLL
      for (int line = 0; line < prefetched; ++line) __builtin_prefetch(ahead + 64 * line, 0, 2);
      a += depth, b += depth, weights += depth * integer_chunk, ahead += 64 * prefetched;
      --steps;
    };
    // Outputs are rounded by vectors while tiles are multiplied.
    while (steps > 0 && waiting_ > 0) {
      add<count>(a, b, stride, weights);
      next();
      write_some();
    }
    while (steps > 0) {
      add<count>(a, b, stride, weights);
      next();
    }
    ahead_ = ahead;
  }

  // Adds the products of 64 inputs.
  template <int count>
  static ATTEND_ALWAYS_INLINE void add(const int8_t* a, const int8_t* b, ptrdiff_t stride, const int8_t* weights) {
    Tiles::template load<tokens_tile>(a, stride);
    if constexpr (count > 1) Tiles::template load<tokens_tile + 1>(b, stride);
    add_products<count>(weights);
  }
  template <int count>
  static ATTEND_ALWAYS_INLINE void add_products(const int8_t* weights) {
    Tiles::template load<weights_tile>(weights, panel_row);
    Tiles::template add_signed<sums<0, 0>(), tokens_tile, weights_tile>();
    Tiles::template load<weights_tile + 1>(weights + panel_row / 2, panel_row);
    Tiles::template add_signed<sums<0, 1>(), tokens_tile, weights_tile + 1>();
    if constexpr (count > 1) {
      Tiles::template add_signed<sums<1, 0>(), tokens_tile + 1, weights_tile>();
      Tiles::template add_signed<sums<1, 1>(), tokens_tile + 1, weights_tile + 1>();
    }
  }

  // The last `count` inputs of a tile's tokens, from 64 before the end of a panel's on: zeros are before and behind them.
  template <int tile>
  ATTEND_ALWAYS_INLINE void load_rest(const int8_t* from, int count) {
    const int zeros = depth - core::integer_panel_dim(count);
    for (int r = 0; r < rows_; ++r) Isa::copy_part(from + r * linear_.input_stride, zeros, count, rest_[r]);
    Tiles::template load<tile>(rest_, depth);
  }

  // Sums are complete: their outputs wait, or are written where there are not 32 or where they are sums.
  void end_outputs(const OutputBlock& block, Sums sums) {
    const void* const weight_sums = weight_panel(linear_, block.first) - panel_row;
    if (block.first + integer_chunk > linear_.outputs || output_bytes_ == sizeof(int32_t)) {
      return write_outputs<Isa>(linear_, output_bytes_, block, sums, weight_sums);
    }
    end_ = projection_end(linear_, block, sums, weight_sums);
    output_ = static_cast<char*>(linear_.output) + (block.token * linear_.output_stride + block.first) * output_bytes_;
    waiting_ = block.tokens, column_ = 0;
  }

  // Writes 16 outputs of some tokens.
  ATTEND_NOINLINE void write_some() {
    ProjectionEnd some = end_;
    some.tokens = at_most(waiting_, 8);
    if (output_bytes_ == 1) {
      Isa::sixteen_outputs(some, column_, reinterpret_cast<int8_t*>(output_) + column_, linear_.output_stride);
    } else {
      Isa::sixteen_outputs(some, column_, reinterpret_cast<int16_t*>(output_) + column_, linear_.output_stride);
    }
    column_ += 16;
    if (column_ < integer_chunk) return;
    column_ = 0, waiting_ -= some.tokens;
    end_.sums += some.tokens;
    output_ += some.tokens * linear_.output_stride * output_bytes_;
  }

  const core::IntegerLinear& linear_;
  const int output_bytes_, steps_, tiles_, rows_;
  ProjectionEnd end_;  // of tokens whose outputs wait, and where these go, column_ of them written
  char* output_ = nullptr;
  int waiting_ = 0, column_ = 0;
  const int8_t* ahead_ = nullptr;
  alignas(64) int32_t sums_[group * most_rows][integer_chunk];
  alignas(64) int8_t rest_[most_rows][depth];
};

}  // namespace
}  // namespace attend::ATTEND_ISA

#endif
