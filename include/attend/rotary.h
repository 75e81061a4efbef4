// Rotary positions (RoPE), with the same bits on every target: queries and keys turn by their positions, in place, before they
// go into a cache or a call.
//
//   static attend::Rotary<Shape::head_dim> rotary;                    // 8 bytes for each pair of numbers
//   rotary.init(10000.0f);
//   rotary.rotate<attend::RotaryPairs::halves>(query, position);
//   rotary.rotate<attend::RotaryPairs::halves>(key, position);
//
// A RotaryTable holds cosines and sines of all positions, where computing them for each token takes too long.
#pragma once

#include "core/layer.h"
#include "detail/float_arrays.h"
#include "options.h"

namespace attend {

// The numbers of a head that form a pair: 2 i and 2 i + 1 (GPT-J, LLaMA as published), or i and i + rotary_dim / 2 (GPT-NeoX,
// LLaMA in Hugging Face's Transformers).
enum class RotaryPairs { neighbours, halves };

namespace detail {

// The tokens and heads of an array to turn.
template <class X, int rotary_dim>
struct RotatedArray {
  using Array = ArrayOf<X>;
  static constexpr int head_dim = int(Array::last);
  static constexpr int heads = int(Array::before_last);
  static constexpr int tokens = int(Array::count / (Array::last * Array::before_last));
  // Last, because Clang does not read on after one that fails.
  static_assert(Array::is_floats && Array::dimensions == 3,
                "attend: rotate takes an attend::Query, an attend::Key or a float[tokens][heads][head_dim]");
  static_assert(size_t(rotary_dim) <= Array::last, "attend: rotary_dim must not be more than head_dim");
};

template <RotaryPairs layout, int rotary_dim, class X>
core::Rotation rotation_of(X& x) {
  using Array = RotatedArray<X, rotary_dim>;
  return {first_of(x), Array::head_dim, Array::heads, rotary_dim / 2, layout == RotaryPairs::neighbours ? 1 : rotary_dim / 2,
          nullptr,     nullptr};
}

}  // namespace detail

// Rotary positions whose angles are computed for each call. The first rotary_dim numbers of a head turn.
template <int rotary_dim>
class Rotary {
  static_assert(rotary_dim >= 2 && rotary_dim % 2 == 0, "attend: rotary_dim must be even and at least 2");

 public:
  // Pair i turns by base^(-2 i / rotary_dim) / scaling_factor radians from one position to the next: `scaling_factor` is the
  // factor of linear position scaling. Requires a base of 2 to 1e12 and a scaling_factor of 1 to 65536; for others it returns
  // bad_rotary and changes nothing.
  Status init(float base = 10000.0f, float scaling_factor = 1.0f) {
    if (!core::is_rotary_base(base, scaling_factor)) return Status::bad_rotary;
    core::rotary_turns(base, scaling_factor, rotary_dim / 2, turns_);
    return Status::ok;
  }

  // Whether tokens from a position on can be turned: bad_rotary before init, bad_position where a position is negative or does
  // not fit an int, the one after the last token too.
  Status check(int position, int count) const {
    if (turns_[0] == 0) return Status::bad_rotary;
    return position < 0 || position > 0x7fffffff - count ? Status::bad_position : Status::ok;
  }

  // Turns the first `count` tokens, the first of which is at `position`. Returns the status of check, or bad_count where there
  // are fewer tokens, and changes nothing then.
  template <RotaryPairs layout, class X>
  Status rotate(X& x, int position, int count = detail::RotatedArray<X, rotary_dim>::tokens) const {
    using Array = detail::RotatedArray<X, rotary_dim>;
    if (count < 0 || count > Array::tokens) return Status::bad_count;
    if (const Status status = check(position, count); status != Status::ok) return status;
    core::rotate_at(detail::rotation_of<layout, rotary_dim>(x), turns_, position, count, Array::heads * Array::head_dim);
    return Status::ok;
  }

 private:
  uint64_t turns_[size_t(rotary_dim / 2)] = {};
};

// Rotary positions from a table of positions 0 … positions - 1: positions * rotary_dim floats. init takes 4 * rotary_dim bytes
// of stack.
template <int rotary_dim, int positions>
class RotaryTable {
  static_assert(rotary_dim >= 2 && rotary_dim % 2 == 0, "attend: rotary_dim must be even and at least 2");
  static_assert(positions >= 1, "attend: a rotary table needs at least 1 position");

 public:
  Status init(float base = 10000.0f, float scaling_factor = 1.0f) {
    if (!core::is_rotary_base(base, scaling_factor)) return Status::bad_rotary;
    uint64_t turns[size_t(rotary_dim / 2)];
    core::rotary_turns(base, scaling_factor, rotary_dim / 2, turns);
    for (int p = 0; p < positions; ++p) core::rotary_angles(turns, rotary_dim / 2, p, cosines_[p], sines_[p]);
    return Status::ok;
  }

  // Whether the table has the positions of these tokens: bad_rotary before init, bad_position where it lacks one.
  Status check(int position, int count) const {
    if (!core::is_within(cosines_[0][0], 1.0f, 1.0f)) return Status::bad_rotary;  // of position 0
    return position < 0 || position > positions - count ? Status::bad_position : Status::ok;
  }

  // Returns bad_position and changes nothing where a token lies outside of the table.
  template <RotaryPairs layout, class X>
  Status rotate(X& x, int position, int count = detail::RotatedArray<X, rotary_dim>::tokens) const {
    using Array = detail::RotatedArray<X, rotary_dim>;
    if (count < 0 || count > Array::tokens) return Status::bad_count;
    if (const Status status = check(position, count); status != Status::ok) return status;
    core::Rotation rotation = detail::rotation_of<layout, rotary_dim>(x);
    for (int token = 0; token < count; ++token, rotation.first += Array::heads * Array::head_dim) {
      rotation.cosines = cosines_[position + token], rotation.sines = sines_[position + token];
      core::rotate(rotation);
    }
    return Status::ok;
  }

 private:
  float cosines_[size_t(positions)][size_t(rotary_dim / 2)] = {};
  float sines_[size_t(positions)][size_t(rotary_dim / 2)] = {};
};

}  // namespace attend
