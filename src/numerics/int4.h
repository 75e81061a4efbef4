// Numbers of 4 bits: groups of 32 that share a scale (core::Int4Group), one by one. kernel/widen.h widens vectors.

template <>
struct NumbersOf<core::Format::int4> {
  using Type = core::Int4Group;
};

// Numbers of a row, or inputs of 16 outputs that are packed, in an element of an array of weights.
template <class Number>
constexpr int group_inputs = 1;
template <>
constexpr int group_inputs<core::Int4Group> = core::int4_group;

template <class Number>
constexpr bool in_groups = group_inputs<Number> > 1;
static_assert(core::int4_group == 2 * chain_dims, "a byte has the weights of the same step of two chains");

// Where the numbers of a group of one output lie: a scale, and four bytes at a time.
struct Int4Numbers {
  uint32_t scale;  // float16
  const uint8_t* bytes;
  ptrdiff_t step;  // from four bytes to the next four
};

inline Int4Numbers numbers_of(const core::Int4Group& group) {
  return {uint32_t(group.scale[0]) | uint32_t(group.scale[1]) << 8, group.numbers, 4};
}
inline Int4Numbers numbers_of(const core::Int4Panel& panel, int output) {
  return {panel.scales[output], panel.numbers[0][output], 4 * panel_keys};
}

// The scale of a group; NaN in the place of an infinite one.
inline Half scale_of(const Int4Numbers& group) {
  const uint32_t nan = (group.scale & 0x7c00u) == 0x7c00u ? 0x7e00u : 0;
  return {uint16_t(group.scale | nan)};
}

// Products of numbers from -8 to 7 and a scale, which are exact: by its bits, which takes a processor without a floating-point
// unit few steps, and no stack for a multiplication.
class SoftScale {
 public:
  explicit SoftScale(float scale)
      : head_(bits_to<uint32_t>(scale) & ~(unit - 1)),
        digits_(magnitude(scale) == 0 ? 0 : unit | (bits_to<uint32_t>(scale) & (unit - 1))) {}

  ATTEND_ALWAYS_INLINE float times(int number) const {
    uint32_t digits = digits_ * uint32_t(number < 0 ? -number : number), head = head_ ^ (uint32_t(number) & 0x80000000u);
    if (is_nan(head)) return bits_to<float>(0x7fc00000u);
    if (digits == 0) return 0.0f;
    for (; digits >= 2 * unit; digits >>= 1) head += unit;
    return bits_to<float>(head + (digits - unit));
  }
  // What the 16 numbers of a group stand for. Powers of two take an addition, and half of the numbers a sign.
  ATTEND_ALWAYS_INLINE void fill(float* table) const {
    if (digits_ == 0 || is_nan(head_)) {
      for (int n = 0; n < 16; ++n) table[n] = times(0);
      return;
    }
    // In registers, or they are made anew for each number.
    const uint32_t twice = opaque(unit), minus = opaque(0x80000000u);
    const auto put = [=](int n, uint32_t bits) ATTEND_INLINE_LAMBDA {
      table[8 + n] = bits_to<float>(bits);
      table[8 - n] = bits_to<float>(bits + minus);
      return bits + twice;
    };
    table[8] = 0.0f;
    table[0] = bits_to<float>(put(4, put(2, put(1, head_ + (digits_ - unit)))) + minus);
    put(6, put(3, odd<3>()));
    put(5, odd<5>());
    put(7, odd<7>());
  }

 private:
  static bool is_nan(uint32_t head) { return (head & 0x7f800000u) == 0x7f800000u; }  // or infinite, which is as good as NaN

  // The bits of the product with 3, 5 or 7, which has one or two digits more, or two or three.
  template <int number>
  ATTEND_ALWAYS_INLINE uint32_t odd() const {
    constexpr int shift = number < 4 ? 1 : 2;
    const uint32_t digits = digits_ * number >> shift, more = digits >> 24;
    return head_ + ((shift + more) << 23) + ((digits >> more) - unit);
  }

  static constexpr uint32_t unit = 1u << 23;  // of the exponent
  uint32_t head_, digits_;                    // sign and exponent; the digits with the first one
};

struct FloatScale {
  ATTEND_ALWAYS_INLINE float times(int number) const { return FloatArithmetic::mul(widen(int8_t(number)), scale); }
  ATTEND_ALWAYS_INLINE void fill(float* table) const {  // sums of few digits, which are exact
    float weight = FloatArithmetic::mul(scale, -8.0f);
    for (int n = 0; n < 16; ++n, weight = FloatArithmetic::add(weight, scale)) table[n] = weight;
  }
  float scale;
};
#if ATTEND_SOFT_FLOAT
using Int4Scale = SoftScale;
#else
using Int4Scale = FloatScale;
#endif

ATTEND_ALWAYS_INLINE Int4Scale int4_scale_of(const Int4Numbers& group) {
#if ATTEND_SOFT_FLOAT
  return Int4Scale{widen(Half{uint16_t(group.scale)})};
#else
  return Int4Scale{widen(scale_of(group))};
#endif
}

// The number in the low or, of chain 1, in the high half of a byte.
ATTEND_ALWAYS_INLINE float widen_half_byte(uint8_t byte, int chain, const Int4Scale& scale) {
  return scale.times((byte >> 4 * chain & 15) - 8);
}

// One of the two chains of a group, its numbers `stride` floats apart.
inline void widen_chain(const Int4Numbers& from, int chain, float* to, ptrdiff_t stride) {
  const Int4Scale scale = int4_scale_of(from);
  const uint8_t* bytes = from.bytes;
  for (int i = 0; i < chain_dims; i += 4, bytes += from.step) {
    for (int byte = 0; byte < 4; ++byte, to += stride) *to = widen_half_byte(bytes[byte], chain, scale);
  }
}

// Some columns of a row of groups, from any on.
template <class Isa>
ATTEND_NOINLINE void widen_columns(const core::Int4Group* row, int column, int count, float* to) {
  for (const int end = column + count; column < end;) {
    const Int4Numbers group = numbers_of(row[column / core::int4_group]);
    const int chain = column / chain_dims & 1, first = column % chain_dims;
    const int width = end - column < chain_dims - first ? end - column : chain_dims - first;
    if (!ATTEND_SOFT_FLOAT && width == chain_dims) {  // in software, one by one takes less stack
      Isa::widen_chain(group, chain, to, 1);
    } else {
      const Int4Scale scale = int4_scale_of(group);
      for (int i = 0; i < width; ++i) to[i] = widen_half_byte(group.bytes[first + i], chain, scale);
    }
    to += width;
    column += width;
  }
}

// to[i][lane] = number i of the group of each lane of a panel.
template <class Isa>
ATTEND_NOINLINE void widen_by_lanes(const core::Int4Panel& panel, float* to) {
  for (int i = 0; i < 2 * panel_keys; ++i) {
    const int lane = i / 2, chain = i % 2;
    Isa::widen_chain(numbers_of(panel, lane), chain, to + chain * chain_dims * panel_keys + lane, panel_keys);
  }
}

template <>
constexpr uint32_t too_large<core::Int4Group> = too_large<Half> + (3u << 23);  // 8 steps: 524160

// A group of floats, rounded as linear.h says. False where some are too large: all are NaN then.
inline bool narrow_to_group(const float* from, core::Int4Group& to) {
  using F = FloatArithmetic;
  const float* const first = from;
  float max = 0.0f;
  for (int i = 0; i < core::int4_group; ++i) {
    if (magnitude(from[i]) > magnitude(max)) max = from[i];
  }
  const bool all_finite = is_finite(max);
  // Where the quotient is subnormal its reciprocal may be too large, and float16 has nothing but 0 for it.
  const bool is_zero = magnitude(max) < magnitude(9.403955e-38f) || !all_finite;  // 2^-123
  const float scale = is_zero ? -0.0f : F::mul(max, -0.125f), factor = is_zero ? 0.0f : F::reciprocal(scale);
  const uint32_t bits = all_finite ? to_half(scale).bits : 0x7e00u;
  to.scale[0] = uint8_t(bits & 0xff);
  to.scale[1] = uint8_t(bits >> 8);
  const auto number = [=](float x) {
    const int steps = is_zero ? 8 : F::whole(F::add(F::mul(x, factor), 8.5f));
    return uint32_t(steps > 15 ? 15 : steps);
  };
  // One by one: QEMU 7.2 stops at what Clang makes of this for the vectors of RISC-V.
  for (int i = 0; i < 16; ++i, from = opaque(from + 1)) to.numbers[i] = uint8_t(number(from[0]) | number(from[16]) << 4);
  constexpr uint32_t end = too_large<core::Int4Group>;
  return magnitude(max) < end || all_fit(first, core::int4_group, end);
}

// The same of a group that was too large, with its largest numbers limited.
ATTEND_NOINLINE inline void narrow_to_limited_group(const float* from, core::Int4Group& to) {
  constexpr uint32_t end = too_large<core::Int4Group>;
  float numbers[core::int4_group];
  for (int i = 0; i < core::int4_group; ++i) {
    const float limit = bits_to<float>((bits_to<uint32_t>(from[i]) & 0x80000000u) | (end - 1));
    numbers[i] = is_too_large(from[i], end) ? limit : from[i];
  }
  narrow_to_group(numbers, to);
}
