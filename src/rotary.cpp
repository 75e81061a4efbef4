// Rotary positions: by how much pairs turn, and which backend turns them.
#include "layers.h"
#include "numerics/turns.h"

namespace attend {
namespace core {
namespace {

template <class Backend>
struct RotaryAngles {
  static constexpr auto function = &Layer<Backend>::rotary_angles;
};

template <class Backend>
struct Rotate {
  static constexpr auto function = &Layer<Backend>::rotate;
};

}  // namespace

void rotary_turns(float base, float scaling_factor, int pairs, uint64_t* turns) {
  const uint64_t ratio = fixed_exp2_of_minus(fixed_log2(base) / unsigned(pairs));
  uint64_t turn = first_turn(scaling_factor);
  for (int i = 0; i < pairs; ++i, turn = multiply_high(turn, ratio) << 1) turns[i] = turn;
}

void rotary_angles(const uint64_t* turns, int pairs, int position, float* cosines, float* sines) {
  ActiveBackend::call<RotaryAngles>(turns, pairs, position, cosines, sines);
}

void rotate(const Rotation& rotation) { ActiveBackend::call<Rotate>(rotation); }

void rotate_at(const Rotation& rotation, const uint64_t* turns, int position, int tokens, ptrdiff_t token_stride) {
  constexpr int pair_limit = 16;  // pairs whose angles are computed at a time
  float cosines[pair_limit], sines[pair_limit];
  for (int token = 0; token < tokens; ++token) {
    for (int pair = 0; pair < rotation.pairs; pair += pair_limit) {
      Rotation block = rotation;
      block.first += token * token_stride + pair * (rotation.partner == 1 ? 2 : 1);
      block.pairs = rotation.pairs - pair < pair_limit ? rotation.pairs - pair : pair_limit;
      block.cosines = cosines, block.sines = sines;
      rotary_angles(turns + pair, block.pairs, position + token, cosines, sines);
      rotate(block);
    }
  }
}

}  // namespace core
}  // namespace attend
