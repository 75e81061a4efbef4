// Rotary positions (RoPE), with the same bits on every target: queries and keys turn by their positions, in place, before they
// go into a cache or a call.
//
//   static attend::Rotary<Shape::head_dim> rotary;                    // 8 bytes for each pair of numbers
//   rotary.init(10000.0f);                                            // or, where a model scales its positions:
//   rotary.init(500000.0f, attend::RotaryScaling::llama3(8.0f, 8192));
//   rotary.rotate<attend::RotaryPairs::halves>(query, position);
//   rotary.rotate<attend::RotaryPairs::halves>(key, position);
//
// A RotaryTable holds cosines and sines of all positions, where computing them for each token takes too long.
#pragma once

#include "../options.h"
#include "core_layer.h"
#include "../detail/float_arrays.h"

namespace attend {

// The numbers of a head that form a pair: 2 i and 2 i + 1 (GPT-J, LLaMA as published), or i and i + rotary_dim / 2 (GPT-NeoX,
// LLaMA in Hugging Face's Transformers).
enum class RotaryPairs { neighbours, halves };

// How positions are scaled where there are more of them than the model was first trained on, by the names of published
// configurations ("rope_scaling"). A factor, slow or fast is within 1 and 65536, original_positions within 2 and 2^24; for
// others init returns bad_rotary. Angles of published configurations are within 1e-6 radians of exact ones up to position 2^20,
// with the same bits on every target.
struct RotaryScaling : core::RotaryScaling {
  // Every pair turns `factor` times more slowly.
  static constexpr RotaryScaling linear(float factor) {
    return {{core::RotaryKind::linear, factor, 0, 0, 0, false, nullptr, 0, 0}};
  }
  // Pairs that turn less than `slow` (low_freq_factor) times in the original positions turn `factor` times more slowly, pairs
  // that turn more than `fast` (high_freq_factor) times stay as they are; pairs in between are interpolated (Llama 3.1).
  static constexpr RotaryScaling llama3(float factor, int original_positions, float slow = 1.0f, float fast = 4.0f) {
    return {{core::RotaryKind::llama3, factor, original_positions, slow, fast, false, nullptr, 0, 0}};
  }
  // The same, interpolated by the number of the pair between pairs that turn `fast` (beta_fast) and `slow` (beta_slow) times
  // (Peng et al., YaRN, 2023); set with_fractions where the configuration says truncate: false. Queries and keys are multiplied
  // by the attention factor, 1 + ln(factor) / 10 unless with_attention_factor sets another.
  static constexpr RotaryScaling yarn(float factor, int original_positions, float fast = 32.0f, float slow = 1.0f) {
    return {{core::RotaryKind::yarn, factor, original_positions, slow, fast, false, nullptr, 0, 0}};
  }
  // Each pair turns factors[i] times more slowly, 2^-4 to 65536: the model's short or long list (Ding et al., LongRoPE, 2024),
  // which must outlive the call of init. The attention factor is sqrt(1 + ln(factor) / ln(original_positions)), for a factor of
  // positions / original_positions.
  template <size_t pairs>
  static constexpr RotaryScaling long_rope(const float (&factors)[pairs], float factor, int original_positions) {
    return {{core::RotaryKind::long_rope, factor, original_positions, 0, 0, false, factors, int(pairs), 0}};
  }
  // Only the first pairs turn, with the frequencies that they have among all (Gemma 4: a quarter of them).
  static constexpr RotaryScaling proportional(int turning_pairs) {
    return {{core::RotaryKind::proportional, 1.0f, 0, 0, 0, false, nullptr, turning_pairs, 0}};
  }

  // The same with another attention factor, 2^-16 to 65536.
  constexpr RotaryScaling with_attention_factor(float set) const {
    RotaryScaling changed = *this;
    changed.attention_factor = set;
    return changed;
  }
  // The same where pairs are not rounded to whole numbers: YaRN's truncate: false.
  constexpr RotaryScaling with_fractions() const {
    RotaryScaling changed = *this;
    changed.fractions = true;
    return changed;
  }
};

// How many pairs of a head turn by each axis of positions (M-RoPE); each token has a position on every axis. Pairs are given to
// one axis after the other (Qwen2-VL: {{16, 24, 24}, false}), or to axes in turns, from pair 0 on, as long as an axis has pairs
// left, and then to the first (Qwen3-VL: {{24, 20, 20}, true}).
template <int axes>
struct RotaryAxes {
  static_assert(axes >= 1 && axes <= 8, "attend: there are 1 to 8 axes of positions");
  int pairs[size_t(axes)];
  bool interleaved;  // whether axes take turns
};

namespace detail {

// The turns from which a Rotary or RotaryTable computes all angles.
template <int rotary_dim>
struct RotaryTurns {
  static constexpr int pairs = rotary_dim / 2;
  uint64_t turns[size_t(pairs)] = {};
  float factor = 1.0f;

  core::Turns core() const { return {turns, factor}; }
  Status init(float base, float scaling_factor) {
    if (!core::is_rotary_base(base, scaling_factor)) return Status::bad_rotary;
    core::rotary_turns(base, scaling_factor, pairs, turns);
    factor = 1.0f;
    return Status::ok;
  }
  Status init(float base, const RotaryScaling& scaling) {
    if (!core::is_rotary_base(base, 1.0f) || !core::is_rotary_scaling(scaling, pairs)) return Status::bad_rotary;
    core::rotary_turns(base, 1.0f, pairs, turns);
    factor = core::scale_turns(scaling, base, pairs, turns);
    return Status::ok;
  }
  Status init(const double* frequencies, float attention_factor) {
    if (!core::is_attention_factor(attention_factor)) return Status::bad_rotary;
    if (!core::turns_of_angles(frequencies, pairs, turns)) return Status::bad_rotary;
    factor = attention_factor;
    return Status::ok;
  }
};

// The tokens and heads of an array to turn.
template <class X, int rotary_dim, int first = 0>
struct RotatedArray {
  using Array = ArrayOf<X>;
  static constexpr int head_dim = int(Array::last);
  static constexpr int heads = int(Array::before_last);
  static constexpr int tokens = int(Array::count / (Array::last * Array::before_last));
  // Last, because Clang does not read on after one that fails.
  static_assert(Array::is_floats && Array::dimensions == 3,
                "attend: rotate takes an attend::Query, an attend::Key or a float[tokens][heads][head_dim]");
  static_assert(first >= 0 && size_t(first) + size_t(rotary_dim) <= Array::last,
                "attend: rotary_dim must not be more than head_dim, less what lies before the numbers that turn");
};

template <RotaryPairs layout, int rotary_dim, int first, class X>
core::Rotation rotation_of(X& x) {
  using Array = RotatedArray<X, rotary_dim, first>;
  constexpr int pairs = rotary_dim / 2, partner = layout == RotaryPairs::neighbours ? 1 : pairs;
  return {first_of(x) + first, Array::head_dim, Array::heads, pairs, partner, nullptr, nullptr};
}

}  // namespace detail

// Rotary positions whose angles are computed for each call. Of each head rotary_dim numbers turn: the first, or the numbers
// from `first` on, as in rotate<RotaryPairs::neighbours, 128>(key, position).
template <int rotary_dim>
class Rotary {
  static_assert(rotary_dim >= 2 && rotary_dim % 2 == 0, "attend: rotary_dim must be even and at least 2");

 public:
  // Pair i turns by base^(-2 i / rotary_dim) / scaling_factor radians from one position to the next: `scaling_factor` is the
  // factor of linear position scaling. Requires a base of 2 to 1e12 and a scaling_factor of 1 to 65536; for others it returns
  // bad_rotary and changes nothing.
  Status init(float base = 10000.0f, float scaling_factor = 1.0f) { return turns_.init(base, scaling_factor); }
  Status init(float base, const RotaryScaling& scaling) { return turns_.init(base, scaling); }
  // Pair i turns by frequencies[i] radians, 0 to below 4, the first at least 2^-61; queries and keys are multiplied by the
  // factor, 2^-16 to 65536.
  Status init(const double (&frequencies)[size_t(rotary_dim / 2)], float attention_factor = 1.0f) {
    return turns_.init(frequencies, attention_factor);
  }

  // Whether tokens from a position on can be turned: bad_rotary before init, bad_position where a position does not fit an int,
  // the one after the last token too.
  Status check(int position, int count) const {
    if (turns_.turns[0] == 0) return Status::bad_rotary;
    return position > 0x7fffffff - count ? Status::bad_position : Status::ok;
  }

  // Turns the first `count` tokens: token i by its position, position + i. A negative position turns back. Returns the status
  // of check, or bad_count where there are fewer tokens, and changes nothing then.
  template <RotaryPairs layout, int first = 0, class X>
  Status rotate(X& x, int position, int count = detail::RotatedArray<X, rotary_dim, first>::tokens) const {
    using Array = detail::RotatedArray<X, rotary_dim, first>;
    if (count < 0 || count > Array::tokens) return Status::bad_count;
    if (const Status status = check(position, count); status != Status::ok) return status;
    core::rotate_at(detail::rotation_of<layout, rotary_dim, first>(x), turns_.core(), position, count,
                    Array::heads * Array::head_dim);
    return Status::ok;
  }

  // The same where each token has a position of its own, or one on each axis. Any numbers are positions; -p turns back what p
  // has turned, but for an attention factor. bad_rotary where the axes do not have rotary_dim / 2 pairs in all.
  template <RotaryPairs layout, int first = 0, class X, size_t tokens>
  Status rotate(X& x, const int (&positions)[tokens], int count = detail::RotatedArray<X, rotary_dim, first>::tokens) const {
    static_assert(tokens == size_t(detail::RotatedArray<X, rotary_dim, first>::tokens),
                  "attend: rotate takes a position for each token of its array");
    const int pairs = rotary_dim / 2;
    return rotate_axes<layout, first>(x, {positions, &pairs, 1, false}, count);
  }
  template <RotaryPairs layout, int first = 0, class X, size_t tokens, int axes>
  Status rotate(X& x, const int (&positions)[tokens][size_t(axes)], const RotaryAxes<axes>& split,
                int count = detail::RotatedArray<X, rotary_dim, first>::tokens) const {
    static_assert(tokens == size_t(detail::RotatedArray<X, rotary_dim, first>::tokens),
                  "attend: rotate takes a position on each axis for each token of its array");
    return rotate_axes<layout, first>(x, {positions[0], split.pairs, axes, split.interleaved}, count);
  }

 private:
  template <RotaryPairs layout, int first, class X>
  Status rotate_axes(X& x, const core::AxisPositions& positions, int count) const {
    using Array = detail::RotatedArray<X, rotary_dim, first>;
    if (count < 0 || count > Array::tokens) return Status::bad_count;
    if (turns_.turns[0] == 0 || !core::is_axis_positions(positions, rotary_dim / 2)) return Status::bad_rotary;
    core::rotate_at(detail::rotation_of<layout, rotary_dim, first>(x), turns_.core(), positions, count,
                    Array::heads * Array::head_dim);
    return Status::ok;
  }

  detail::RotaryTurns<rotary_dim> turns_ = {};
};

// Rotary positions from a table of positions 0 … positions - 1: positions * rotary_dim floats. init takes 4 * rotary_dim bytes
// of stack.
template <int rotary_dim, int positions>
class RotaryTable {
  static_assert(rotary_dim >= 2 && rotary_dim % 2 == 0, "attend: rotary_dim must be even and at least 2");
  static_assert(positions >= 1, "attend: a rotary table needs at least 1 position");

 public:
  Status init(float base = 10000.0f, float scaling_factor = 1.0f) { return fill(base, scaling_factor); }
  Status init(float base, const RotaryScaling& scaling) { return fill(base, scaling); }
  Status init(const double (&frequencies)[size_t(rotary_dim / 2)], float attention_factor = 1.0f) {
    return fill(frequencies, attention_factor);
  }

  // Whether the table has the positions of these tokens: bad_rotary before init, bad_position where it lacks one.
  Status check(int position, int count) const {
    if (!core::is_attention_factor(cosines_[0][0])) return Status::bad_rotary;  // of position 0
    return position < 0 || position > positions - count ? Status::bad_position : Status::ok;
  }

  // Returns bad_position and changes nothing where a token lies outside of the table.
  template <RotaryPairs layout, int first = 0, class X>
  Status rotate(X& x, int position, int count = detail::RotatedArray<X, rotary_dim, first>::tokens) const {
    using Array = detail::RotatedArray<X, rotary_dim, first>;
    if (count < 0 || count > Array::tokens) return Status::bad_count;
    if (const Status status = check(position, count); status != Status::ok) return status;
    core::Rotation rotation = detail::rotation_of<layout, rotary_dim, first>(x);
    for (int token = 0; token < count; ++token, rotation.first += Array::heads * Array::head_dim) {
      rotation.cosines = cosines_[position + token], rotation.sines = sines_[position + token];
      core::rotate(rotation);
    }
    return Status::ok;
  }

 private:
  template <class First, class Second>
  Status fill(const First& first, const Second& second) {
    detail::RotaryTurns<rotary_dim> turns;
    if (const Status status = turns.init(first, second); status != Status::ok) return status;
    for (int p = 0; p < positions; ++p) core::rotary_angles(turns.core(), rotary_dim / 2, p, cosines_[p], sines_[p]);
    return Status::ok;
  }

  float cosines_[size_t(positions)][size_t(rotary_dim / 2)] = {};
  float sines_[size_t(positions)][size_t(rotary_dim / 2)] = {};
};

}  // namespace attend
