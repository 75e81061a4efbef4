// Vectors of 128 bits on processors that have floats and doubles, and no fused multiply-add: SSE2 and WebAssembly. What an
// instruction set adds is a struct of its own, `Target`; the rest is arithmetic of vectors as GCC and Clang know it.

template <class Target, class Tiles = BySteps>
struct Unfused : Target, Tiles {
  using typename Target::Doubles;
  using typename Target::Vec;
  using Words = uint32_t __attribute__((vector_size(16)));

  // A factor of four lanes, widened once for all vectors that it multiplies.
  struct Factor {
    Doubles wide;
  };

  static constexpr int lanes = 4;

  // Tiles: a multiply-add takes some 16 instructions, so four sums hide their latency, and what they need besides fits 16
  // registers: a vector as doubles is two, its products are two, a factor and two constants.
  static constexpr int tile_rows = 8;
  ATTEND_ALWAYS_INLINE static constexpr int kernel_rows(int left) { return left <= 2 ? left : 2; }
  ATTEND_ALWAYS_INLINE static constexpr int tile_vecs(int /*rows*/) { return 2; }
  ATTEND_ALWAYS_INLINE static constexpr int widening_vecs(int rows) { return tile_vecs(rows); }
  ATTEND_ALWAYS_INLINE static constexpr int softmax_rows(int /*left*/) { return 1; }
  static constexpr int transposed = 4;

  static Vec zero() { return Vec{}; }
  static Vec broadcast(float a) { return Vec{a, a, a, a}; }
  static Factor factor(float a) { return {Target::broadcast_double(double(a))}; }
  static Vec load(const float* from) {
    Vec a;
    __builtin_memcpy(&a, from, sizeof a);
    return a;
  }
  static void store(float* to, Vec a) { __builtin_memcpy(to, &a, sizeof a); }
  static Vec load_first(const float* from, int count) {
    if (count == lanes) return load(from);
    return Vec{from[0], from[count > 1 ? 1 : 0], from[count > 2 ? 2 : 0], 0.0f};
  }
  static void store_first(float* to, Vec a, int count) {
    for (int i = 0; i < count; ++i) to[i] = a[i];
  }

  // A half's exponent and digits, moved to a float's, are its magnitude times 2^-112, in subnormal halves too.
  static Vec load(const Half* from) {
    const Words half = Target::load_pairs(from), magnitude = (half & 0x7fffu) << 13;
    const Words scaled = Words(as_floats(magnitude) * broadcast(two_to_112));
    const Words finite = Words(magnitude < every(0x0f800000u));
    return as_floats((half & 0x8000u) << 16 | (finite & scaled) | (~finite & (magnitude | 0x7f800000u)));
  }
  static Vec load(const Bfloat* from) { return as_floats(Target::load_pairs(from) << 16); }
  static Vec load(const int8_t* from) {
    // With the sign's bit the other way round it is the number plus 128, in the digits of 2^23.
    return as_floats((Target::load_bytes(from) ^ 0x80u) | 0x4b000000u) - broadcast(8388608.0f + 128.0f);
  }
  static void load_words(const uint8_t* from, Vec* to) {
    for (int v = 0; v < 4; ++v) to[v] = as_floats(Target::load_bytes(from + 4 * v));
  }
  static Vec broadcast_half(Half number) {
    const Half four[4] = {number, number, number, number};
    return load(four);
  }
  static Vec low_half(Vec words) { return small_number(Words(words) & 15u); }
  static Vec high_half(Vec words) { return small_number(Words(words) >> 4); }

  static constexpr float four_bits_above(float power) { return power; }
  template <int at>
  static Vec four_bits(Vec words) {
    constexpr int place = place_of_bits(at);
    Words bits = Words(words);
    if (place > at) bits = bits << (place > at ? place - at : 0);
    if (place < at) bits = bits >> (place < at ? at - place : 0);
    return as_floats((bits & (15u << place)) | (uint32_t(150 - place) << 23));
  }

  static Vec add(Vec a, Vec b) { return a + b; }
  static Vec sub(Vec a, Vec b) { return a - b; }
  static Vec mul(Vec a, Vec b) { return a * b; }

  // The product of two floats is exact as a double. Its sum with a third, rounded to a double and then to a float, is rounded
  // twice, which is wrong only where the first rounding ended halfway between two floats, at low bits of 1 and then zeros: such
  // lanes are rare, and all four are computed once more, exactly. (Where the float is subnormal, it may be a step of 2^-149
  // away; others flush it to zero.)
  ATTEND_NOINLINE static Vec fma(Vec a, Vec b, Vec c) {
    return rounded(Target::low(a) * Target::low(b) + Target::low(c), Target::high(a) * Target::high(b) + Target::high(c), a, b,
                   c);
  }
  static Vec fma(Factor a, Vec b, Vec c) {
    return rounded(a.wide * Target::low(b) + Target::low(c), a.wide * Target::high(b) + Target::high(c), a, b, c);
  }
  static Vec accumulate(Factor a, Vec b, Vec sum) { return fma(a, b, sum); }

  static Vec max(Vec a, Vec b) { return Target::larger_or_first(a, b); }
  static Vec higher(Vec a, Vec b) { return max(a, b); }
  static Vec min(Vec a, Vec b) { return Target::smaller_or_first(a, b); }
  static float highest_lane(Vec a) {
    const float low = a[1] > a[0] ? a[1] : a[0], high = a[3] > a[2] ? a[3] : a[2];
    return high > low ? high : low;
  }

  static Vec first_of(Vec a, Vec b, int count) { return chosen(Words(Words{0, 1, 2, 3} < every(uint32_t(count))), a, b); }
  static bool any_above(Vec a, Vec b) { return Target::any(Words(a > b)); }
  static Vec where_equal(Vec a, Vec b, Vec then, Vec otherwise) { return chosen(Words(a == b), then, otherwise); }
  static Vec where_bytes(const uint8_t* bytes, Vec a, Vec b) {
    return chosen(Words(Target::load_bytes(bytes) == every(0)), b, a);
  }
  static Vec where_bits(unsigned bits, Vec a, Vec b) {
    return chosen(Words((every(bits) & Words{1, 2, 4, 8}) == every(0)), b, a);
  }

  static Vec minus_reciprocal_guess(Vec a) { return as_floats(every(0xfef311c7u) - Words(a)); }
  static Vec two_to(Vec n) { return as_floats((Words(n) + 127u) << 23); }
  static Vec scale_by_power(Vec a, Vec n) {
    const Vec power = as_floats((Target::whole(n) + 127u) << 23);
    return as_floats(Words(a * power) & ~Words(n < broadcast(-125.0f)));
  }
  static Vec scale_by_low_bits(Vec a, Vec n, Vec bias, Vec lowest) {
    const Vec power = as_floats((Words(n) << 23) + Words(bias));
    return as_floats(Words(a * power) & ~Words(n < lowest));
  }

  static void transpose(const float* const* rows, int column, float* to) {
    Vec columns[4];
    Target::columns_of(load(rows[0] + column), load(rows[1] + column), load(rows[2] + column), load(rows[3] + column), columns);
    for (int i = 0; i < 4; ++i) store(to + i * 16, columns[i]);
  }

  static float sum_lanes(const float* sums) {
    const Vec four = (load(sums) + load(sums + 8)) + (load(sums + 4) + load(sums + 12));
    return (four[0] + four[2]) + (four[1] + four[3]);
  }

 private:
  static constexpr float two_to_112 = 5192296858534827628530496329220096.0f;

  static Words every(uint32_t a) { return Words{a, a, a, a}; }
  static Vec as_floats(Words a) { return Vec(a); }
  static Vec chosen(Words mask, Vec a, Vec b) { return as_floats((mask & Words(a)) | (~mask & Words(b))); }
  static Vec small_number(Words a) { return as_floats(a | 0x4b000000u) - broadcast(8388608.0f); }

  static float lane(Vec a, int i) { return a[i]; }
  static float lane(Factor a, int /*i*/) { return float(a.wide[0]); }

  template <class A>
  ATTEND_ALWAYS_INLINE static Vec rounded(Doubles low, Doubles high, A a, Vec b, Vec c) {
    const Words halfway = Words((Target::low_words(low, high) & 0x1fffffffu) == every(0x10000000u));
    if (__builtin_expect(Target::any(halfway), 0)) return exact(a, b, c);
    return Target::narrowed(low, high);
  }

  template <class A>
  __attribute__((cold)) ATTEND_NOINLINE static Vec exact(A a, Vec b, Vec c) {
    for (int i = 0; i < 4; ++i) c[i] = fused_multiply_add(lane(a, i), b[i], c[i]);
    return c;
  }
};
