// Numbers of other formats made floats in memory: rows, and panels of 16 keys or outputs. Hosts widen vectors of them.

// A vector of scales, and what is added to a product by one of them.
//
// (number - 8) * scale = (2^p + number) * scale - (2^p + 8) * scale, where all products are exact: 2^p + 8 has at most 13
// digits for p = 15, 11 and 7, and a scale has 11. So four bits become a float by the bits of 2^p around them, at any of three
// places of the mantissa, and one multiply-add: eight weights in 32 bits are moved twice.
template <class Isa>
struct Int4Scales {
  typename Isa::Vec scale, less_at_8, less_at_12, less_at_16;
};
template <class Isa>
ATTEND_ALWAYS_INLINE Int4Scales<Isa> int4_scales(typename Isa::Vec scale) {
  const auto less = [=](float power)
                        ATTEND_INLINE_LAMBDA { return Isa::mul(scale, Isa::broadcast(-8.0f - Isa::four_bits_above(power))); };
  return {scale, less(32768.0f), less(2048.0f), less(128.0f)};
}
template <class Isa>
ATTEND_ALWAYS_INLINE Int4Scales<Isa> int4_scales(const core::Int4Panel& panel, int output) {
  const void* const halves = panel.scales + output;
  return int4_scales<Isa>(Isa::load(static_cast<const Half*>(halves)));
}

// The words, of four bytes, of a vector of outputs.
ATTEND_ALWAYS_INLINE const float* int4_words(const core::Int4Panel& panel, int output) {
  const void* const words = panel.numbers[0][output];
  return static_cast<const float*>(words);
}

// Bit 0 of byte i of a word.
constexpr int bit_of_byte(int i) { return ATTEND_BIG_ENDIAN ? 24 - 8 * i : 8 * i; }

// The weight in four bits of each word from bit `at` on.
template <class Isa, int at>
ATTEND_ALWAYS_INLINE typename Isa::Vec int4_weight(typename Isa::Vec words, const Int4Scales<Isa>& by) {
  constexpr int place = place_of_bits(at);
  const typename Isa::Vec less = place == 8 ? by.less_at_8 : place == 12 ? by.less_at_12 : by.less_at_16;
  return Isa::fma(Isa::template four_bits<at>(words), by.scale, less);
}

// The eight weights of a word, bytes ascending: take(byte, chain, weights).
template <class Isa, int byte = 0, class Take>
ATTEND_ALWAYS_INLINE void widen_words(typename Isa::Vec words, const Int4Scales<Isa>& by, Take take) {
  take(byte, 0, int4_weight<Isa, bit_of_byte(byte)>(words, by));
  take(byte, 1, int4_weight<Isa, bit_of_byte(byte) + 4>(words, by));
  if constexpr (byte < 3) widen_words<Isa, byte + 1>(words, by, take);
}

// to[i][o] = the weight of input i and output o of a group.
template <class Isa>
ATTEND_NOINLINE void widen_group(const core::Int4Panel& from, float* to) {
  for (int o = 0; o < panel_keys; o += Isa::lanes) {
    const Int4Scales<Isa> by = int4_scales<Isa>(from, o);
    for (int w = 0; w < 4; ++w) {
      widen_words<Isa>(Isa::load(int4_words(from, o) + w * panel_keys), by,
                       [=](int byte, int chain, typename Isa::Vec weights) ATTEND_INLINE_LAMBDA {
                         Isa::store(to + (chain * chain_dims + 4 * w + byte) * panel_keys + o, weights);
                       });
    }
  }
}

// Whether an instruction set loads vectors of numbers of other formats.
template <class Isa>
constexpr auto loads_halves(int) -> decltype(Isa::load(static_cast<const Half*>(nullptr)), true) {
  return true;
}
template <class Isa>
constexpr bool loads_halves(...) {
  return false;
}

template <class Isa, class Number>
ATTEND_ALWAYS_INLINE void widen_numbers(const Number* from, int count, float* to) {
  if constexpr (loads_halves<Isa>(0)) {
    int i = 0;
    for (; count - i >= Isa::lanes; i += Isa::lanes) Isa::store(to + i, Isa::load(from + i));
    for (; i < count; ++i) to[i] = widen(from[i]);
  } else {
    Isa::widen(from, count, to);
  }
}

// Numbers of a group of a row, whose scale is in all lanes: (number - 8) * scale = number * scale - 8 * scale, both exact.
//   take(vector of the group, its numbers)
template <class Isa, class Take>
ATTEND_ALWAYS_INLINE void widen_row_group(const core::Int4Group& group, typename Isa::Vec scale, typename Isa::Vec less,
                                          Take take) {
  constexpr int half = chain_dims / Isa::lanes;  // vectors
  typename Isa::Vec words[half];
  Isa::load_words(group.numbers, words);
  ATTEND_UNROLL
  for (int v = 0; v < half; ++v) {
    take(v, Isa::fma(Isa::low_half(words[v]), scale, less));
    take(half + v, Isa::fma(Isa::high_half(words[v]), scale, less));
  }
}

// A row of int4 on a host, whole groups.
template <class Isa>
ATTEND_NOINLINE void widen_int4_row(const core::Int4Group* row, int count, float* to) {
  for (; count > 0; count -= core::int4_group, ++row, to += core::int4_group) {
    const typename Isa::Vec scale = Isa::broadcast_half({uint16_t(numbers_of(*row).scale)});
    widen_row_group<Isa>(*row, scale, Isa::mul(scale, Isa::broadcast(-8.0f)),
                         [=](int v, typename Isa::Vec numbers)
                             ATTEND_INLINE_LAMBDA { Isa::store(to + v * Isa::lanes, numbers); });
  }
}

// A row of numbers as floats; of int4 on hosts alone, because embedded processors widen some of its columns by widen_columns.
template <class Isa>
ATTEND_NOINLINE void widen_row(core::Format format, const void* from, int count, float* to) {
  switch (format) {
    case core::Format::float32:
      return widen_numbers<Isa>(static_cast<const float*>(from), count, to);
    case core::Format::float16:
      return widen_numbers<Isa>(static_cast<const Half*>(from), count, to);
    case core::Format::bfloat16:
      return widen_numbers<Isa>(static_cast<const Bfloat*>(from), count, to);
    case core::Format::int8:
      return widen_numbers<Isa>(static_cast<const int8_t*>(from), count, to);
    case core::Format::int16:  // only outputs of integers
      return;
    case core::Format::int4:
      if constexpr (loads_halves<Isa>(0)) widen_int4_row<Isa>(static_cast<const core::Int4Group*>(from), count, to);
      return;
  }
}

// A panel of 16 rows as floats: to[column][row].
template <class Isa>
ATTEND_NOINLINE void widen_panel(core::Format format, const void* from, int columns, float* to) {
  if (format != core::Format::int4) return widen_row<Isa>(format, from, panel_keys * columns, to);
  auto panel = static_cast<const core::Int4Panel*>(from);
  for (; columns > 0; columns -= core::int4_group, ++panel, to += panel_keys * core::int4_group) {
    if constexpr (loads_halves<Isa>(0)) {
      widen_group<Isa>(*panel, to);
    } else {
      widen_by_lanes<Isa>(*panel, to);
    }
  }
}
