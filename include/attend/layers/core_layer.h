// The functions around attention in a transformer block, under the typed surface: normalisation, activations, rotary positions,
// residual addition; and additive attention. Plain structs of pointers, extents and strides; nothing here is checked. All
// extents and strides count floats. Every function gives the same bits on every target and backend.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "../core/attention.h"
#include "core_linear.h"

namespace attend {

// The function of an activation.
enum class Activation {
  relu,       // max(x, 0)
  silu,       // x / (1 + e^-x), also called swish
  gelu,       // x * Phi(x) with the distribution function of the normal distribution
  gelu_tanh,  // its approximation, x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
  sigmoid,    // 1 / (1 + e^-x)
  tanh,
  exp,
  erf,
};

namespace core {

// Whether a positive number lies within positive bounds. By its bits: without a floating-point unit, comparisons are calls.
inline bool is_within(float number, float smallest, float largest) {
  uint32_t bits, low, high;
  ATTEND_MEMCPY(&bits, &number, sizeof bits);
  ATTEND_MEMCPY(&low, &smallest, sizeof low);
  ATTEND_MEMCPY(&high, &largest, sizeof high);
  return bits >= low && bits <= high;
}

// The ranges of the epsilon of a normalisation, and of base and scaling_factor of rotary positions.
inline bool is_epsilon(float epsilon) { return is_within(epsilon, 1e-30f, 1e30f); }
inline bool is_rotary_base(float base, float scaling_factor) {
  return is_within(base, 2.0f, 1e12f) && is_within(scaling_factor, 1.0f, 65536.0f);
}

// Rows to normalise; `to` may be `from`, with the same stride.
struct Normalisation {
  const float* from;
  ptrdiff_t from_stride;  // from row to row
  float* to;
  ptrdiff_t to_stride;
  const float* weight;  // [width], or null for 1
  const float* bias;    // [width], or null for none; not read by rms_norm
  int rows;
  int width;      // at least 1
  float epsilon;  // at least 2^-126
};

// y = x / sqrt(mean(x^2) + epsilon) * weight (Zhang and Sennrich, 2019). Where the sum of squares overflows, y is 0.
void rms_norm(const Normalisation& normalisation);
// y = (x - mean(x)) / sqrt(variance(x) + epsilon) * weight + bias (Ba, Kiros and Hinton, 2016)
void layer_norm(const Normalisation& normalisation);

// to[i] = f(from[i]), and where `by` is not null, times by[i]. Each of `from` and `by` may be `to`.
template <Activation activation>
void activate(const float* from, const float* by, int count, float* to);

// Multiplies each row by the Hadamard matrix of the largest power of two n that divides the width, block by block, over the
// square root of n. Except for rounding, it keeps products of rows and is its own inverse, while sums of magnitudes of a block
// do not overflow. Sums and differences of numbers 1, 2, 4, … apart, in this order, then one multiplication (Walsh-Hadamard;
// for caches of few bits: Ashkboos et al., QuaRot, 2024). `to` may be `from`.
void hadamard(const float* from, int rows, int width, float* to);

// y[i] += x[i] * factor, rounded once.
void add(const float* x, float factor, int count, float* y);

// to[i] = x[i] * by[i / span], where count is a multiple of span. `to` may be x.
void multiply(const float* x, const float* by, int span, int count, float* to);

// numbers[i] *= factor
void scale(float factor, int count, float* numbers);

// Factors of queries by their positions: position p has number (p + shift) / period of a table, or the last number.
struct PositionFactors {
  const float* factors;  // [count]
  int count;             // at least 1
  int period;            // at least 1
  int shift;             // at least 0

  // position: at least 0
  float at(int position) const {
    const uint32_t index = (uint32_t(position) + uint32_t(shift)) / uint32_t(period);
    return factors[index < uint32_t(count) ? index : uint32_t(count - 1)];
  }
};
// factors[k] = 1 + beta * ln(1 + k), by which models scale queries far from the beginning.
void logarithmic_factors(float beta, int count, float* factors);

// The angle by which each pair turns from one position to the next, in units of 2^-64 of a turn: base^(-i / pairs) /
// scaling_factor radians. base is 2 to 1e12, scaling_factor 1 to 65536.
void rotary_turns(float base, float scaling_factor, int pairs, uint64_t* turns);

// How the turns of pairs change where there are more positions than a model was trained on, by its published parameters.
enum class RotaryKind {
  linear,     // every pair turns `factor` times more slowly
  llama3,     // pairs that turn less than `slow` times in the original positions do so, pairs that turn more than `fast` times
              // do not, and in between it is interpolated by how often they turn
  yarn,       // the same, interpolated by the number of the pair
  long_rope,  // each pair has a factor of its own
  proportional  // only the first pairs turn
};
struct RotaryScaling {
  RotaryKind kind;
  float factor;            // 1 to 65536; of long_rope, positions / original positions
  int original_positions;  // of llama3, yarn and long_rope: 2 to 2^24
  float slow, fast;        // of llama3 and yarn: 1 to 65536, slow < fast
  bool fractions;          // of yarn alone: the pairs between which it interpolates are no whole numbers
  const float* factors;    // of long_rope: [pairs], 2^-4 to 65536
  int turning;             // of proportional: so many pairs, at least 1; of long_rope: all of them
  float attention_factor;  // of cosines and sines, 2^-16 to 65536; or 0: the usual one
};
bool is_rotary_scaling(const RotaryScaling& scaling, int pairs);
inline bool is_rotary_factor(float factor) { return is_within(factor, 1.0f, 65536.0f); }
inline bool is_pair_factor(float factor) { return is_within(factor, 0.0625f, 65536.0f); }
inline bool is_attention_factor(float factor) { return is_within(factor, 1.0f / 65536, 65536.0f); }

// Scales the turns of rotary_turns(base, 1, pairs, turns). Returns what cosines and sines are to be multiplied by.
float scale_turns(const RotaryScaling& scaling, float base, int pairs, uint64_t* turns);

// Converts angles in radians to turns. Returns false and writes nothing unless all are in [0, 4) and the first is >= 2^-61.
bool turns_of_angles(const double* radians, int pairs, uint64_t* turns);

// The angles of all pairs: what they turn by from one position to the next, and what cosines and sines are multiplied by.
struct Turns {
  const uint64_t* turns;
  float factor;
};

// Cosines and sines of the angles of a position, [pairs] each, times the factor.
void rotary_angles(const Turns& turns, int pairs, int position, float* cosines, float* sines);

// Some pairs of all heads of a token, to be turned in place: pair i < pairs of head h is number first[h * head_stride + i] and
// the number `partner` behind it; or, where partner is 1, first[h * head_stride + 2 i] and the number behind it.
struct Rotation {
  float* first;
  ptrdiff_t head_stride;
  int heads;
  int pairs;
  int partner;
  const float* cosines;  // [pairs]
  const float* sines;    // [pairs]
};
void rotate(const Rotation& rotation);

// The same for tokens at positions position, position + 1, …, computing cosines and sines; the rotation's own are not read.
void rotate_at(const Rotation& rotation, const Turns& turns, int position, int tokens, ptrdiff_t token_stride);

// Positions of tokens on some axes (time, height and width: M-RoPE, Qwen2-VL), and which pairs turn by which of them.
struct AxisPositions {
  const int* data;   // [tokens][axes], any numbers
  const int* pairs;  // [axes] so many pairs turn by an axis
  int axes;          // 1 to 8
  bool interleaved;  // pair i turns by axis i % axes as long as that has pairs left, then by axis 0; or axes follow each other
};
bool is_axis_positions(const AxisPositions& positions, int pairs);
void rotate_at(const Rotation& rotation, const Turns& turns, const AxisPositions& positions, int tokens,
               ptrdiff_t token_stride);

// The scores of additive attention. Keys whose tanh is under way at a time.
inline constexpr int additive_keys = panel_keys;

// The vector that scores are products with, and work memory.
struct Additive {
  const float* v;  // [hidden]
  int hidden;
  float* sums;  // [additive_keys][hidden]
};

// Scores of some keys for one token.
inline void additive_scores(const Additive& additive, const float* query, const Tensor<const float>& keys, int key_count,
                            float* scores) {
  const int hidden = additive.hidden;
  float* const sums = additive.sums;
  for (int first = 0; first < key_count; first += additive_keys) {
    const int block = key_count - first < additive_keys ? key_count - first : additive_keys;
    for (int j = 0; j < block; ++j) {
      float* const sum = sums + ptrdiff_t(j) * hidden;
      ATTEND_MEMCPY(sum, keys.data + (first + j) * keys.token_stride, size_t(hidden) * sizeof(float));
      add(query, 1.0f, hidden, sum);
    }
    activate<Activation::tanh>(sums, nullptr, block * hidden, sums);
    run_known_linear<Format::float32, false, false>(
        {sums, scores + first, additive.v, nullptr, nullptr, hidden, 1, hidden, hidden, 1, block, false, nullptr});
  }
}

}  // namespace core
}  // namespace attend
