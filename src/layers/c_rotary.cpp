// Rotary positions in the C surface: how angles are made, and the call that turns by them.
#include "layer_surface.h"

#include "portable_layers.h"

namespace attend::c_surface {
namespace {

void check_pairs(Check& check, ptrdiff_t rotary_dim, int pairs) {
  check.within(rotary_dim, 2, ATTEND_MAX_WIDTH, ATTEND_ARG_ROTARY_DIM);
  check.require(rotary_dim % 2 == 0, ATTEND_OUT_OF_RANGE, ATTEND_ARG_ROTARY_DIM);
  check.require(pairs == ATTEND_NEIGHBOURS || pairs == ATTEND_HALVES, ATTEND_UNKNOWN, ATTEND_ARG_PAIRS);
}

// Checks rotary_dim / 2 turns, which on some targets need less alignment than their size.
Range check_turns(Check& check, const uint64_t* turns, ptrdiff_t rotary_dim) {
  check.require(aligned(turns, alignof(uint64_t)), ATTEND_UNALIGNED, ATTEND_ARG_TURNS);
  return check.array(turns, rotary_dim, 4 * int(sizeof *turns), ATTEND_ARG_TURNS);
}

// Whether a field of a scaling is as its kind wants it: in range where the kind uses it, otherwise 0.
struct FieldCheck {
  Check& check;
  int kind;

  bool is_of(unsigned kinds) const { return (kinds >> kind & 1u) != 0; }
  void operator()(unsigned kinds, bool is_zero, bool in_range, attend_argument argument) const {
    if (is_of(kinds)) {
      check.require(in_range, ATTEND_OUT_OF_RANGE, argument);
    } else {
      check.require(is_zero, ATTEND_NO_EFFECT, argument);
    }
  }
};

// Checks what is to be turned in place.
Extent check_turned(Memory& check, const attend_output* x, const Extent::Counts& counts) {
  check.within(counts.tokens, 0, ATTEND_MAX_TOKENS, ATTEND_ARG_TOKENS);
  check.within(counts.heads, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_HEADS);
  check.within(counts.width, 1, ATTEND_MAX_WIDTH, ATTEND_ARG_HEAD_DIM);
  const Range range = check.structs(x, 1, ATTEND_ARG_X);
  if (check.failed()) return {counts, {0, 0, 0}, 0, true};
  check.require(x->batch_stride == 0 || x->batch_stride == ATTEND_DENSE, ATTEND_NO_EFFECT, ATTEND_ARG_X);
  const Extent extent = extent_of(counts, {0, x->token_stride, x->head_stride}, Axes::token_head);
  check.write(x->data, extent, float_bits, ATTEND_ARG_X);
  check.read_last(range);
  return extent;
}

// Checks a scaling and the arrays that it points to.
void check_scaling(Memory& check, const attend_rotary_scaling* scaling, ptrdiff_t pairs, float base) {
  check.read_last(check.structs(scaling, 1, ATTEND_ARG_SCALING));
  if (check.failed()) return;
  const attend_rotary_scaling& s = *scaling;
  check.require(s.kind >= ATTEND_ROTARY_LINEAR && s.kind <= ATTEND_ROTARY_FREQUENCIES, ATTEND_UNKNOWN, ATTEND_ARG_SCALING);
  if (check.failed()) return;
  constexpr unsigned linear = 1u << ATTEND_ROTARY_LINEAR, llama3 = 1u << ATTEND_ROTARY_LLAMA3, yarn = 1u << ATTEND_ROTARY_YARN,
                     long_rope = 1u << ATTEND_ROTARY_LONG, proportional = 1u << ATTEND_ROTARY_PROPORTIONAL;
  const FieldCheck field = {check, s.kind};
  const auto is_zero = [](float number) { return magnitude(number) == 0; };
  const bool has_base = s.kind != ATTEND_ROTARY_FREQUENCIES;
  check.require(has_base ? core::is_rotary_base(base, 1.0f) : is_zero(base), has_base ? ATTEND_OUT_OF_RANGE : ATTEND_NO_EFFECT,
                ATTEND_ARG_BASE);
  field(linear | llama3 | yarn | long_rope, is_zero(s.factor), core::is_rotary_factor(s.factor), ATTEND_ARG_SCALING_FACTOR);
  field(llama3 | yarn | long_rope, s.original_positions == 0, s.original_positions >= 2 && s.original_positions <= 1 << 24,
        ATTEND_ARG_SCALING_ORIGINAL_POSITIONS);
  field(llama3 | yarn, is_zero(s.slow), core::is_rotary_factor(s.slow), ATTEND_ARG_SCALING_SLOW);
  field(llama3 | yarn, is_zero(s.fast), core::is_rotary_factor(s.fast) && FloatArithmetic::less(s.slow, s.fast),
        ATTEND_ARG_SCALING_FAST);
  field(yarn, s.fractions == 0, s.fractions == 0 || s.fractions == 1, ATTEND_ARG_SCALING_FRACTIONS);
  field(proportional, s.turning == 0, s.turning >= 1 && s.turning <= pairs, ATTEND_ARG_SCALING_TURNING);
  check.require(field.is_of(long_rope) || s.factors == nullptr, ATTEND_NO_EFFECT, ATTEND_ARG_FACTORS);
  check.require(is_zero(s.attention_factor) || core::is_attention_factor(s.attention_factor), ATTEND_OUT_OF_RANGE,
                ATTEND_ARG_SCALING_ATTENTION_FACTOR);
  if (field.is_of(long_rope)) check.read_last(check.array(s.factors, pairs, float_bits, ATTEND_ARG_FACTORS));
  if (s.kind == ATTEND_ROTARY_FREQUENCIES) {
    check.require(aligned(s.frequencies, alignof(double)), ATTEND_UNALIGNED, ATTEND_ARG_SCALING_FREQUENCIES);
    check.read_last(check.array(s.frequencies, pairs, 8 * int(sizeof(double)), ATTEND_ARG_SCALING_FREQUENCIES));
  } else {
    check.require(s.frequencies == nullptr, ATTEND_NO_EFFECT, ATTEND_ARG_SCALING_FREQUENCIES);
  }
  for (ptrdiff_t i = 0; field.is_of(long_rope) && !check.failed() && i < pairs; ++i) {
    check.require(core::is_pair_factor(s.factors[i]), ATTEND_OUT_OF_RANGE, ATTEND_ARG_FACTORS);
  }
}

}  // namespace

void check_rotary(Memory& check, const attend_rotary* rotary, ptrdiff_t head_dim) {
  check.read_last(check.structs(rotary, 1, ATTEND_ARG_ROTARY));
  if (check.failed()) return;
  check_pairs(check, rotary->rotary_dim, rotary->pairs);
  check.require(rotary->rotary_dim <= head_dim, ATTEND_MISMATCH, ATTEND_ARG_ROTARY_DIM);
  check.read_last(check_turns(check, rotary->turns, rotary->rotary_dim));
  const bool is_made = check.failed() || (rotary->turns[0] != 0 && core::is_attention_factor(rotary->factor));
  check.require(is_made, ATTEND_CORRUPT, ATTEND_ARG_TURNS);
}

core::Rotation rotation_of(const attend_rotary& rotary, float* first, int heads, ptrdiff_t head_stride) {
  const int pairs = int(rotary.rotary_dim / 2);
  return {first, head_stride, heads, pairs, rotary.pairs == ATTEND_NEIGHBOURS ? 1 : pairs, nullptr, nullptr};
}

}  // namespace attend::c_surface

using namespace attend;
using namespace attend::c_surface;

extern "C" {

attend_status attend_rotary_init(attend_rotary* rotary, uint64_t* turns, ptrdiff_t rotary_dim, int pairs, float base,
                                 float scaling_factor) {
  Memory check;
  check_pairs(check, rotary_dim, pairs);
  check.require(core::is_rotary_base(base, 1.0f), ATTEND_OUT_OF_RANGE, ATTEND_ARG_BASE);
  check.require(core::is_rotary_factor(scaling_factor), ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALING_FACTOR);
  check.write(check.structs(rotary, 1, ATTEND_ARG_ROTARY), ATTEND_ARG_ROTARY);
  check.write(check_turns(check, turns, rotary_dim), ATTEND_ARG_TURNS);
  if (check.failed()) return check.status();
  core::rotary_turns(base, scaling_factor, int(rotary_dim / 2), turns);
  *rotary = {turns, rotary_dim, pairs, 1.0f};
  return ATTEND_OK;
}

attend_status attend_rotary_init_scaled(attend_rotary* rotary, uint64_t* turns, ptrdiff_t rotary_dim, int pairs, float base,
                                        const attend_rotary_scaling* scaling) {
  Memory check;
  check_pairs(check, rotary_dim, pairs);
  check.write(check.structs(rotary, 1, ATTEND_ARG_ROTARY), ATTEND_ARG_ROTARY);
  check.write(check_turns(check, turns, rotary_dim), ATTEND_ARG_TURNS);
  const int count = check.failed() ? 0 : int(rotary_dim / 2);
  check_scaling(check, scaling, count, base);
  if (check.failed()) return check.status();
  const attend_rotary_scaling& s = *scaling;
  if (s.kind == ATTEND_ROTARY_FREQUENCIES) {
    check.require(core::turns_of_angles(s.frequencies, count, turns), ATTEND_OUT_OF_RANGE, ATTEND_ARG_SCALING_FREQUENCIES);
    if (check.failed()) return check.status();
    *rotary = {turns, rotary_dim, pairs, magnitude(s.attention_factor) == 0 ? 1.0f : s.attention_factor};
    return ATTEND_OK;
  }
  core::rotary_turns(base, 1.0f, count, turns);
  const core::RotaryScaling scales = {
      core::RotaryKind(s.kind), s.factor,          int(s.original_positions), s.slow, s.fast, s.fractions != 0, s.factors,
      int(s.turning),           s.attention_factor};
  *rotary = {turns, rotary_dim, pairs, core::scale_turns(scales, base, count, turns)};
  return ATTEND_OK;
}

attend_status attend_rotate(const attend_rotary* rotary, const attend_output* x, ptrdiff_t tokens, ptrdiff_t heads,
                            ptrdiff_t head_dim, ptrdiff_t position) {
  Memory check;
  const Extent extent = check_turned(check, x, {1, tokens, heads, head_dim});
  check.within(position, INT32_MIN, INT32_MAX - tokens, ATTEND_ARG_POSITION);
  check_rotary(check, rotary, head_dim);
  if (check.failed()) return check.status();
  const core::Rotation rotation = rotation_of(*rotary, static_cast<float*>(x->data), int(heads), extent.strides.head);
  core::rotate_at(rotation, turns_of(*rotary), int(position), int(tokens), extent.strides.token);
  return ATTEND_OK;
}

attend_status attend_rotate_positions(const attend_rotary* rotary, const attend_output* x, ptrdiff_t tokens, ptrdiff_t heads,
                                      ptrdiff_t head_dim, const attend_positions* positions) {
  Memory check;
  const Extent extent = check_turned(check, x, {1, tokens, heads, head_dim});
  check_rotary(check, rotary, head_dim);
  check.read_last(check.structs(positions, 1, ATTEND_ARG_POSITIONS));
  if (check.failed()) return check.status();
  const core::AxisPositions at = {positions->data, positions->pairs, positions->axes, positions->interleaved == 1};
  check.within(at.axes, 1, 8, ATTEND_ARG_POSITIONS);
  check.within(positions->interleaved, 0, 1, ATTEND_ARG_POSITIONS);
  check.require(check.failed() || core::is_axis_positions(at, int(rotary->rotary_dim / 2)), ATTEND_MISMATCH, ATTEND_ARG_PAIRS);
  for (int axis = check.failed() ? 8 : at.axes; axis < 8; ++axis) {
    check.require(positions->pairs[axis] == 0, ATTEND_NO_EFFECT, ATTEND_ARG_PAIRS);
  }
  if (!check.failed()) check.read_last(check.array(at.data, tokens * at.axes, 8 * int(sizeof(int)), ATTEND_ARG_POSITIONS));
  if (check.failed()) return check.status();
  const core::Rotation rotation = rotation_of(*rotary, static_cast<float*>(x->data), int(heads), extent.strides.head);
  core::rotate_at(rotation, turns_of(*rotary), at, int(tokens), extent.strides.token);
  return ATTEND_OK;
}

}  // extern "C"
