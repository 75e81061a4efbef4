// Normalisation, residual addition, activations and rotary positions: which backend computes them.
#include "portable.h"

namespace attend {
namespace core {
namespace {

template <class Backend>
struct RmsNorm {
  static constexpr auto function = &Backend::rms_norm;
};

template <class Backend>
struct LayerNorm {
  static constexpr auto function = &Backend::layer_norm;
};

template <class Backend>
struct Add {
  static constexpr auto function = &Backend::add;
};

}  // namespace

void rms_norm(const Normalisation& normalisation) { ActiveRowBackend::call<RmsNorm>(normalisation); }

void layer_norm(const Normalisation& normalisation) { ActiveRowBackend::call<LayerNorm>(normalisation); }

void add(const float* x, float factor, int count, float* y) { ActiveRowBackend::call<Add>(x, factor, count, y); }

namespace {

template <Activation activation>
struct Activate {
  template <class Backend>
  struct Operation {
    static constexpr auto function = activation == Activation::relu        ? &Backend::relu
                                     : activation == Activation::silu      ? &Backend::silu
                                     : activation == Activation::gelu      ? &Backend::gelu
                                     : activation == Activation::gelu_tanh ? &Backend::gelu_tanh
                                     : activation == Activation::sigmoid   ? &Backend::sigmoid
                                     : activation == Activation::tanh      ? &Backend::tanh
                                     : activation == Activation::exp       ? &Backend::exp
                                                                           : &Backend::erf;
  };
};

}  // namespace

template <Activation activation>
void activate(const float* from, const float* by, int count, float* to) {
  ActiveRowBackend::call<Activate<activation>::template Operation>(from, by, count, to);
}

template void activate<Activation::relu>(const float*, const float*, int, float*);
template void activate<Activation::silu>(const float*, const float*, int, float*);
template void activate<Activation::gelu>(const float*, const float*, int, float*);
template void activate<Activation::gelu_tanh>(const float*, const float*, int, float*);
template void activate<Activation::sigmoid>(const float*, const float*, int, float*);
template void activate<Activation::tanh>(const float*, const float*, int, float*);
template void activate<Activation::exp>(const float*, const float*, int, float*);
template void activate<Activation::erf>(const float*, const float*, int, float*);

namespace {

template <class Backend>
struct RotaryAngles {
  static constexpr auto function = &Backend::rotary_angles;
};

template <class Backend>
struct Rotate {
  static constexpr auto function = &Backend::rotate;
};

}  // namespace

void rotary_turns(float base, float scaling_factor, int pairs, uint64_t* turns) {
  const uint64_t ratio = fixed_exp2_of_minus(fixed_log2(base) / unsigned(pairs));
  uint64_t turn = first_turn(scaling_factor);
  for (int i = 0; i < pairs; ++i, turn = multiply_high(turn, ratio) << 1) turns[i] = turn;
}

void rotary_angles(const uint64_t* turns, int pairs, int position, float* cosines, float* sines) {
  ActiveRowBackend::call<RotaryAngles>(turns, pairs, position, cosines, sines);
}

void rotate(const Rotation& rotation) { ActiveRowBackend::call<Rotate>(rotation); }

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
