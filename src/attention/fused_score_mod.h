// Options that are soon done are done in the pass that looks for the highest scores (online_softmax.h), instead of one of their
// own.
#pragma once

#include "../kernel/online_softmax.h"
#include "score_mod.h"

namespace attend {
namespace {

// Changes whole panels of a row's scores, a panel at a time, by call(score, key), and returns the highest.
template <class Isa, class Call>
ATTEND_ALWAYS_INLINE typename Isa::Vec highest_changed(float* scores, int count, typename Isa::Vec highest, Call call) {
  for (int k = 0; k < count; k += panel_keys) {
    const auto change = call(k);
    ATTEND_UNROLL
    for (int i = 0; i < panel_keys; i += Isa::lanes) {
      const typename Isa::Vec changed = change(Isa::load(scores + k + i), i);
      Isa::store(scores + k + i, changed);
      highest = Isa::max(highest, changed);
    }
  }
  return highest;
}

template <class Isa>
struct AddBias {
  static constexpr bool is_any = true;
  const QueryRow* rows;
  const float* bias;  // of a row that begins at 0, and the first key
  typename Isa::Vec highest(int r, float* scores, int count, typename Isa::Vec so_far) const {
    const float* const of_row = bias + rows[r].bias;
    return highest_changed<Isa>(scores, count, so_far, [&](int k) {
      return [=](typename Isa::Vec score, int i) { return biased<Isa>(score, Isa::load(of_row + k + i)); };
    });
  }
};

template <class Isa>
struct HideByBytes {
  static constexpr bool is_any = true;
  const QueryRow* rows;
  const uint8_t* visible;  // likewise
  typename Isa::Vec highest(int r, float* scores, int count, typename Isa::Vec so_far) const {
    const uint8_t* const of_row = visible + rows[r].visible;
    const typename Isa::Vec lowest = Isa::broadcast(-__builtin_inff());
    return highest_changed<Isa>(scores, count, so_far, [&](int k) {
      return [=](typename Isa::Vec score, int i) { return Isa::where_bytes(of_row + k + i, score, lowest); };
    });
  }
};

template <class Isa>
struct HideByBits {
  static constexpr bool is_any = true;
  const QueryRow* rows;
  const uint8_t* visible;
  int first;  // the first key's bit, of a row that begins at 0
  typename Isa::Vec highest(int r, float* scores, int count, typename Isa::Vec so_far) const {
    const ptrdiff_t of_row = first + rows[r].visible;
    const typename Isa::Vec lowest = Isa::broadcast(-__builtin_inff());
    return highest_changed<Isa>(scores, count, so_far, [&](int k) {
      const unsigned bits = bits_of_panel(visible, of_row + k);
      return [=](typename Isa::Vec score, int i) { return Isa::where_bits(bits >> i, score, lowest); };
    });
  }
};

template <class Isa>
struct CapScores {
  static constexpr bool is_any = true;
  float cap;
  typename Isa::Vec highest(int /*r*/, float* scores, int count, typename Isa::Vec so_far) const {
    return cap_scores<Isa>(scores, count, cap, so_far);
  }
};

// Calls with a change of the scores of rows, for keys from `key` on.
template <class Isa, class Call>
ATTEND_ALWAYS_INLINE void with_score_mod(OnlyScoreMod change, const core::Options& options, const QueryRow* rows, int key,
                                         float cap, Call call) {
  const uint8_t* visible = static_cast<const uint8_t*>(options.visible.data);
  switch (change) {
    case OnlyScoreMod::none:
      return call(NoScoreMod());
    case OnlyScoreMod::bias:
      return call(AddBias<Isa>{rows, static_cast<const float*>(options.bias.data) + key});
    case OnlyScoreMod::bytes:
      return call(HideByBytes<Isa>{rows, visible + key});
    case OnlyScoreMod::bits:
      return call(HideByBits<Isa>{rows, visible, key});
    case OnlyScoreMod::cap:
      return call(CapScores<Isa>{cap});
  }
}

}  // namespace
}  // namespace attend
