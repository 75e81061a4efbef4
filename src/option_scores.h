// What options make of a row of scores, in the order of the header: scale of the key, cap, biases, masks.
//
// Each option that is on goes over the row once, while it is in the first-level cache; a row has 128 scores at most.
#pragma once

#include "../include/attend/core_options.h"
#include "exp2.h"
#include "sight.h"
#include "softmax.h"

namespace attend {
namespace {

constexpr float log2_e = 0x1.715476p+0f, ln_2 = 0x1.62e430p-1f;
ATTEND_TABLE constexpr float lane_numbers[panel_keys] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// A whole number as a float, rounded to the nearest once. Some targets have no instruction for it.
inline float whole_to_float(int64_t a) {
  const auto small = [](int n) { return Scalar::sub(bits_to<float>(0x4b400000u + uint32_t(n)), whole_shift); };
  return Scalar::fma(small(int(a >> 16)), 65536.0f, small(int(a & 0xffff)));
}

// What is the same for all rows of a call.
struct ScoreFactors {
  float query;  // of queries: scores come out in base 2, or with a cap in what tanh_half takes
  float raw;    // from there to natural units
  float cap;    // of the capped score, in base 2

  explicit ScoreFactors(const core::Problem& problem, const core::Options& options)
      : query(base2_scale(problem.scale)), raw(ln_2), cap(0.0f) {
    if (magnitude(options.soft_cap) == 0) return;
    query = Scalar::mul(query, Scalar::mul(2.0f, Scalar::reciprocal(options.soft_cap)));
    raw = Scalar::mul(Scalar::mul(options.soft_cap, 0.5f), ln_2);
    cap = base2_scale(options.soft_cap);
  }
};

// tanh(y * ln(2) / 2) = (2^y - 1) / (2^y + 1), with 2^y - 1 = 2^n * (2^f - 1) + (2^n - 1), so that small y lose nothing.
template <class Isa>
ATTEND_INSIDE typename Isa::Vec tanh_half(typename Isa::Vec y) {
  using Vec = typename Isa::Vec;
  const Vec one = Isa::broadcast(1.0f), shift = Isa::broadcast(whole_shift), limit = Isa::broadcast(-32.0f);
  y = Isa::max(y, limit);
  y = Isa::sub(Isa::zero(), Isa::max(Isa::sub(Isa::zero(), y), limit));
  const Vec shifted = Isa::add(y, shift), f = Isa::sub(y, Isa::sub(shifted, shift));
  Vec g = Isa::broadcast(exp2_coefficients[0]);
  ATTEND_UNROLL
  for (int i = 1; i < 6; ++i) g = Isa::fma(g, f, Isa::broadcast(exp2_coefficients[i]));
  const Vec power = Isa::two_to(shifted);
  const Vec less_one = Isa::fma(power, Isa::mul(g, f), Isa::sub(power, one));
  return Isa::mul(less_one, Isa::reciprocal(Isa::add(less_one, Isa::broadcast(2.0f))));
}

// Calls with each vector of `count` floats: its first lane, and how many of its lanes count.
template <class Isa, class Call>
ATTEND_INSIDE void for_each_vector(int count, Call call) {
  int k = 0;
  for (; count - k >= Isa::lanes; k += Isa::lanes) call(k, Isa::lanes);
  if (k < count) call(k, count - k);
}
template <class Isa>
ATTEND_INSIDE typename Isa::Vec load_some(const float* from, int count) {
  return count == Isa::lanes ? Isa::load(from) : Isa::load_first(from, count);
}
template <class Isa>
ATTEND_INSIDE void store_some(float* to, typename Isa::Vec a, int count) {
  if (count == Isa::lanes) {
    Isa::store(to, a);
  } else {
    Isa::store_first(to, a, count);
  }
}

// scores += bias, in natural units, and -inf where the bias is: whatever the score was.
template <class Isa>
void add_biases(float* scores, const float* bias, int count) {
  const typename Isa::Vec unit = Isa::broadcast(log2_e), lowest = Isa::broadcast(-__builtin_inff());
  for_each_vector<Isa>(count, [&](int k, int some) {
    const typename Isa::Vec b = load_some<Isa>(bias + k, some);
    const typename Isa::Vec sum = Isa::fma(b, unit, load_some<Isa>(scores + k, some));
    store_some<Isa>(scores + k, Isa::where_equal(b, lowest, lowest, sum), some);
  });
}

template <class Isa>
void add_same_bias(float* scores, float bias, int count) {
  if (bits_to<uint32_t>(bias) == minus_infinity) return fill_row<Isa>(bias, count, scores);
  const typename Isa::Vec unit = Isa::broadcast(log2_e), b = Isa::broadcast(bias);
  for_each_vector<Isa>(
      count, [&](int k, int some) { store_some<Isa>(scores + k, Isa::fma(b, unit, load_some<Isa>(scores + k, some)), some); });
}

// scores[k] += slope * (distance + k)
template <class Isa>
void add_slope(float* scores, float slope, int64_t distance, int count) {
  const float factor = base2_scale(slope);
  if (distance >= -(1 << 22) && distance < (1 << 22)) {  // sums are exact
    const typename Isa::Vec by = Isa::broadcast(factor), first = Isa::load(lane_numbers);
    for_each_vector<Isa>(count, [&](int k, int some) {
      const typename Isa::Vec far = Isa::add(Isa::broadcast(whole_to_float(distance + k)), first);
      store_some<Isa>(scores + k, Isa::fma(by, far, load_some<Isa>(scores + k, some)), some);
    });
  } else {
    for (int k = 0; k < count; ++k) scores[k] = Scalar::fma(factor, whole_to_float(distance + k), scores[k]);
  }
}

// The table of relative positions, for keys from `distance` after the query's position on.
template <class Isa>
void add_relative(float* scores, const float* table, int left, int right, int64_t distance, int count) {
  const auto keys_before = [&](int64_t position) {
    return position <= distance ? 0 : position - distance < count ? int(position - distance) : count;
  };
  const int begin = keys_before(-int64_t(left)), end = keys_before(int64_t(right) + 1);
  add_same_bias<Isa>(scores, table[0], begin);
  if (begin < end) add_biases<Isa>(scores + begin, table + (distance + begin + left), end - begin);
  add_same_bias<Isa>(scores + end, table[left + right], count - end);
}

// Hides the keys whose byte is 0.
template <class Isa>
void hide_by_bytes(float* scores, const uint8_t* visible, int count) {
  int k = 0;
  if constexpr (Isa::lanes > 1) {
    const typename Isa::Vec lowest = Isa::broadcast(-__builtin_inff());
    const int8_t* const bytes = static_cast<const int8_t*>(static_cast<const void*>(visible));
    for (; count - k >= Isa::lanes; k += Isa::lanes) {
      Isa::store(scores + k, Isa::where_equal(Isa::load(bytes + k), Isa::zero(), lowest, Isa::load(scores + k)));
    }
  }
  for (; k < count; ++k) {
    if (visible[k] == 0) scores[k] = -__builtin_inff();
  }
}
template <class Isa>
void hide_by_bits(float* scores, const uint8_t* visible, ptrdiff_t first, int count) {
  uint8_t bytes[panel_keys];
  for (int k = 0; k < count; k += panel_keys) {
    const int some = at_most(count - k, panel_keys);
    for (int i = 0; i < some; ++i) bytes[i] = bit_of(visible, first + k + i);
    hide_by_bytes<Isa>(scores + k, bytes, some);
  }
}

// Some keys of a row: from position `key` on, those from `from` on, a whole number of panels, up to `to`.
struct KeySpan {
  int key;
  int from;
  int to;
};

// The row of one token and query head.
template <class Isa>
class ScoreRow {
 public:
  ScoreRow(const core::Problem& problem, const core::Options& options, const ScoreFactors& factors, int token, int head)
      : problem_(problem), options_(options), factors_(factors), token_(token), head_(head) {}

  // Takes scores of the keys to what is weighed; keys that the token does not see get -inf, but for those from `end` of what it
  // sees by position on. Returns whether others than those may be hidden.
  //   scores      [0] is the key at span.key; whole vectors are read and written
  //   key_scales  likewise, or null
  bool apply(float* scores, const KeySpan& span, const Sight& sight, const float* key_scales) const {
    const int count = span.to - span.from, key = span.key + span.from;
    float* const row = scores + span.from;
    if (key_scales != nullptr) {
      for_each_panel(count,
                     [&](int k) { Isa::store(row + k, Isa::mul(Isa::load(row + k), Isa::load(key_scales + span.from + k))); });
    }
    if (options_.score_stage == core::Scores::raw) show(row, sight, key, count, factors_.raw);
    if (magnitude(factors_.cap) != 0) {
      const typename Isa::Vec cap = Isa::broadcast(factors_.cap);
      for_each_panel(count, [&](int k) { Isa::store(row + k, Isa::mul(cap, tanh_half<Isa>(Isa::load(row + k)))); });
    }
    if (options_.score_stage == core::Scores::capped) show(row, sight, key, count, ln_2);
    add(row, key, count);
    bool gaps = hide(row, key, count);
    // By position: what lies before the call's first key, and between the pinned keys and the window.
    gaps |= hide_between(row, 0, at_most(sight.begin - key, count));
    gaps |= hide_between(row, at_least(sight.pinned - key, 0), at_most(sight.first - key, count));
    const int seen = at_most(sight.end - key, count);
    if (options_.score_stage == core::Scores::biased) show(row, sight, key, seen, ln_2);
    if (options_.score_stage == core::Scores::weights) show(row, sight, key, seen, 1.0f);  // finish_weights goes on from there
    return gaps;
  }

  // Before its first keys: all hidden.
  void begin() const {
    if (options_.scores.data == nullptr) return;
    const int first = has_states(options_) ? options_.first_key : 0, end = options_.score_keys;
    fill_row<Isa>(-__builtin_inff(), at_least(end - first, 0), shown() + first);
  }

  // Where the caller wants to see the scores.
  float* shown() const {
    return options_.scores.data + token_ * options_.scores.token_stride + head_ * options_.scores.head_stride;
  }

 private:
  template <class Call>
  static void for_each_panel(int count, Call call) {
    for (int k = 0; k < count; k += Isa::lanes) call(k);
  }

  static bool hide_between(float* row, int from, int to) {
    if (from < to) fill_row<Isa>(-__builtin_inff(), to - from, row + from);
    return from < to;
  }

  // Copies to the scores that the caller wants to see, of keys that this call goes over.
  void show(const float* row, const Sight& sight, int key, int count, float factor) const {
    if (options_.scores.data == nullptr) return;
    const int skipped = at_least(sight.begin - key, 0);
    if (skipped < count) multiply_row<Isa>(row + skipped, count - skipped, Isa::broadcast(factor), shown() + key + skipped);
  }

  void add(float* row, int key, int count) const {
    const int64_t distance = int64_t(key) - problem_.offset - token_;
    if (options_.bias.data != nullptr) {
      const float* bias = static_cast<const float*>(options_.bias.data) + mask_row(options_.bias, token_, head_) + key;
      const int there = at_least(at_most(count, options_.bias.keys - key), 0);
      add_biases<Isa>(row, bias, there);
      fill_row<Isa>(-__builtin_inff(), count - there, row + there);
    }
    if (options_.relative != nullptr) {
      add_relative<Isa>(row, options_.relative + head_ * options_.relative_head_stride, options_.relative_left,
                        options_.relative_right, distance, count);
    }
    if (options_.slopes != nullptr) add_slope<Isa>(row, options_.slopes[head_], distance, count);
  }

  // Whether any of the keys may be hidden by a mask: by their scores, so that those of minus infinity count too.
  bool hide(float* row, int key, int count) const {
    if (options_.visible.data != nullptr) {
      const ptrdiff_t first = mask_row(options_.visible, token_, head_) + key;
      const uint8_t* visible = static_cast<const uint8_t*>(options_.visible.data);
      const int there = at_least(at_most(count, options_.visible.keys - key), 0);
      if (options_.visible_bits) {
        hide_by_bits<Isa>(row, visible, first, there);
      } else {
        hide_by_bytes<Isa>(row, visible + first, there);
      }
      fill_row<Isa>(-__builtin_inff(), count - there, row + there);
    } else if (options_.bias.data == nullptr && options_.relative == nullptr) {
      return false;
    }
    typename Isa::Vec deepest = Isa::zero();
    for_each_vector<Isa>(count, [&](int k, int some) {
      const typename Isa::Vec score = some == Isa::lanes ? Isa::load(row + k) : Isa::broadcast(-__builtin_inff());
      deepest = Isa::max(deepest, Isa::sub(Isa::zero(), score));
    });
    return Scalar::less(0x1.fffffep127f, Isa::highest_lane(deepest));
  }

  const core::Problem& problem_;
  const core::Options& options_;
  const ScoreFactors& factors_;
  const int token_;
  const int head_;
};

}  // namespace
}  // namespace attend
