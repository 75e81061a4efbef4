// Rotary positions: turns of published configurations, and which backend turns tokens at which positions.
#include "portable_layers.h"

namespace attend::core {
namespace {

ATTEND_ENTRY_POINT(RotaryAngles, rotary_angles)
ATTEND_ENTRY_POINT(Rotate, rotate)

// Turns tokens. Angles are computed for pairs up to angles.end(pair, most) at a time, at position angles.position(token, pair).
template <class Angles>
ATTEND_ALWAYS_INLINE void rotate_tokens(const Rotation& rotation, const Turns& turns, int tokens, ptrdiff_t token_stride,
                                        const Angles& angles) {
  constexpr int pair_limit = 16;
  float cosines[pair_limit], sines[pair_limit];
  for (int token = 0; token < tokens; ++token) {
    Rotation block = rotation;
    block.cosines = cosines, block.sines = sines;
    for (int pair = 0; pair < rotation.pairs; pair += block.pairs) {
      block.first = rotation.first + token * token_stride + pair * (rotation.partner == 1 ? 2 : 1);
      block.pairs = angles.end(pair, pair + detail::smaller(rotation.pairs - pair, pair_limit)) - pair;
      rotary_angles({turns.turns + pair, turns.factor}, block.pairs, angles.position(token, pair), cosines, sines);
      rotate(block);
    }
  }
}

struct OneAxis {
  int first;
  int position(int token, int /*pair*/) const { return first + token; }
  int end(int /*pair*/, int most) const { return most; }
};

struct SomeAxes {
  const AxisPositions& at;
  int axis_of(int pair) const {
    if (at.interleaved) return pair / at.axes < at.pairs[pair % at.axes] ? pair % at.axes : 0;
    int axis = 0;
    for (; pair >= at.pairs[axis]; ++axis) pair -= at.pairs[axis];
    return axis;
  }
  int position(int token, int pair) const { return at.data[ptrdiff_t(token) * at.axes + axis_of(pair)]; }
  int end(int pair, int most) const {
    const int axis = axis_of(pair);
    for (++pair; pair < most && axis_of(pair) == axis; ++pair) {
    }
    return pair;
  }
};

}  // namespace

void rotary_turns(float base, float scaling_factor, int pairs, uint64_t* turns) {
  const uint64_t ratio = fixed_exp2_of_minus(fixed_log2(base) / unsigned(pairs));
  uint64_t turn = turn_over(radian, scaling_factor);
  for (int i = 0; i < pairs; ++i, turn = multiply_high(turn, ratio) << 1) turns[i] = turn;
}

bool is_rotary_scaling(const RotaryScaling& scaling, int pairs) {
  const bool has_factor = is_rotary_factor(scaling.factor);
  const bool has_positions = scaling.original_positions >= 2 && scaling.original_positions <= 1 << 24;
  const bool has_ramp =
      is_rotary_factor(scaling.slow) && is_rotary_factor(scaling.fast) && FloatArithmetic::less(scaling.slow, scaling.fast);
  if (magnitude(scaling.attention_factor) != 0 && !is_attention_factor(scaling.attention_factor)) return false;
  if (scaling.fractions && scaling.kind != RotaryKind::yarn) return false;
  switch (scaling.kind) {
    case RotaryKind::linear:
      return has_factor;
    case RotaryKind::llama3:
    case RotaryKind::yarn:
      return has_factor && has_positions && has_ramp;
    case RotaryKind::long_rope:
      if (scaling.turning != pairs) return false;
      for (int i = 0; i < pairs; ++i) {
        if (!is_pair_factor(scaling.factors[i])) return false;
      }
      return has_factor && has_positions;
    case RotaryKind::proportional:
      return scaling.turning >= 1 && scaling.turning <= pairs;
  }
  return false;
}

float scale_turns(const RotaryScaling& scaling, float base, int pairs, uint64_t* turns) {
  switch (scaling.kind) {
    case RotaryKind::linear:
      for (int i = 0; i < pairs; ++i) turns[i] = turn_over(turns[i], scaling.factor);
      break;
    case RotaryKind::llama3:
      scale_as_llama3(scaling, pairs, turns);
      break;
    case RotaryKind::yarn:
      scale_as_yarn(scaling, base, pairs, turns);
      break;
    case RotaryKind::long_rope:
      for (int i = 0; i < pairs; ++i) turns[i] = turn_over(turns[i], scaling.factors[i]);
      break;
    case RotaryKind::proportional:
      for (int i = scaling.turning; i < pairs; ++i) turns[i] = 0;
      break;
  }
  float factor = scaling.attention_factor;
  if (magnitude(factor) == 0) in_float_environment([&]() ATTEND_NOINLINE { factor = usual_attention_factor(scaling); });
  return factor;
}

bool turns_of_angles(const double* radians, int pairs, uint64_t* turns) {
  if (turn_of(radians[0]) == 0) return false;
  for (int i = 0; i < pairs; ++i) {
    if (bits_to<uint64_t>(radians[i]) >= bits_to<uint64_t>(4.0)) return false;  // negative numbers and NaN too
  }
  for (int i = 0; i < pairs; ++i) turns[i] = turn_of(radians[i]);
  return true;
}

void rotary_angles(const Turns& turns, int pairs, int position, float* cosines, float* sines) {
  ActiveLayers::call<RotaryAngles>(turns.turns, pairs, position, cosines, sines);
  if (bits_to<uint32_t>(turns.factor) == bits_to<uint32_t>(1.0f)) return;
  scale(turns.factor, pairs, cosines);
  scale(turns.factor, pairs, sines);
}

void rotate(const Rotation& rotation) { ActiveLayers::call<Rotate>(rotation); }

void rotate_at(const Rotation& rotation, const Turns& turns, int position, int tokens, ptrdiff_t token_stride) {
  rotate_tokens(rotation, turns, tokens, token_stride, OneAxis{position});
}

bool is_axis_positions(const AxisPositions& positions, int pairs) {
  if (positions.axes < 1 || positions.axes > 8) return false;
  int left = pairs;
  for (int axis = 0; axis < positions.axes; ++axis) {
    const int axis_pairs = positions.pairs[axis];
    if (axis_pairs < 0 || axis_pairs > left) return false;
    // Where axes take turns, the last pair of an axis must exist. The first axis has the pairs that are left.
    if (positions.interleaved && axis > 0 && axis_pairs > 0 && (axis_pairs - 1) * positions.axes + axis >= pairs) return false;
    left -= axis_pairs;
  }
  return left == 0;
}

void rotate_at(const Rotation& rotation, const Turns& turns, const AxisPositions& positions, int tokens,
               ptrdiff_t token_stride) {
  rotate_tokens(rotation, turns, tokens, token_stride, SomeAxes{positions});
}

}  // namespace attend::core
