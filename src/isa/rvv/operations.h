// The vector extension of RISC-V (version 1.0), as Clang 19 or later compiles it: 4, 8 or 16 lanes, 32 registers; a factor
// stays in a floating-point register.
//
// Vectors have a fixed length: as many bits as -mrvv-vector-bits or the architecture (Zvl256b, Zvl512b) says that a register
// has, and 128, which every processor with the extension has, otherwise. They are generic vectors of the compiler, because such
// vectors can be members and elements of arrays at any setting of the compiler, and registers longer than they are do no harm:
// each instruction is told how many lanes count.

struct Rvv : BySteps {
#if defined(__riscv_v_fixed_vlen)
  static constexpr int register_bits = __riscv_v_fixed_vlen;
#else
  static constexpr int register_bits = __riscv_v_min_vlen;
#endif
  static constexpr int lanes = register_bits < 512 ? register_bits / 32 : 16;

  using Vec = float __attribute__((vector_size(lanes * 4)));
  using Factor = float;

  // Tiles: 6 x 4 sums and 4 vectors leave 4 of 32 registers.
  static constexpr int tile_rows = 6;
  ATTEND_ALWAYS_INLINE static constexpr int kernel_rows(int left) { return left >= 6 ? 6 : left == 5 ? 3 : left; }
  ATTEND_ALWAYS_INLINE static constexpr int tile_vecs(int rows) { return rows == 1 ? 8 : 4; }
  ATTEND_ALWAYS_INLINE static constexpr int widening_vecs(int rows) { return rows == 1 ? 8 : rows == 2 ? 4 : 2; }
  // whose weights are computed side by side
  ATTEND_ALWAYS_INLINE static constexpr int softmax_rows(int left) { return kernel_rows(left); }

  static Vec zero() { return Vec{}; }
  static Vec broadcast(float a) { return Vec(Repeated(a)); }
  static Factor factor(float a) { return a; }
  static Vec load(const float* from) { return *reinterpret_cast<const VecInMemory*>(from); }
  static void store(float* to, Vec a) { *reinterpret_cast<VecInMemory*>(to) = a; }
  static Vec load_first(const float* from, int count) {
    float all[lanes];
    __riscv_vse32_v_f32m1(all, __riscv_vle32_v_f32m1(from, size_t(count)), lanes);
    return load(all);
  }
  static void store_first(float* to, Vec a, int count) {
    float all[lanes];
    store(all, a);
    __riscv_vse32_v_f32m1(to, __riscv_vle32_v_f32m1(all, lanes), size_t(count));
  }

  static Vec load(const Half* from) {
#if defined(__riscv_zvfhmin)
    return __builtin_convertvector(*reinterpret_cast<const HalvesInMemory*>(from), Vec);
#else
    // Digits and exponent move to their places, and a product makes up for the exponent's other bias, for subnormal numbers
    // too: vectors flush none. Infinity and NaN have the largest exponent before and after.
    const Words wide = Words(__builtin_convertvector(*reinterpret_cast<const ShortsInMemory*>(from), Ints));
    const Words size_and_sign = (wide << 13) & 0x8fffe000u;
    const Words number = Words(Vec(size_and_sign) * broadcast(5.192297e+33f));  // 2^112
    return Vec((size_and_sign & 0x0f800000u) == 0x0f800000u ? number | 0x7f800000u : number);
#endif
  }
  static Vec load(const Bfloat* from) {
    return Vec(__builtin_convertvector(*reinterpret_cast<const ShortsInMemory*>(from), Ints) << 16);
  }
  static Vec load(const int8_t* from) { return __builtin_convertvector(*reinterpret_cast<const BytesInMemory*>(from), Vec); }

  static void load_words(const uint8_t* from, Vec* to) {
    for (int v = 0; v < 16 / lanes; ++v) {
      to[v] = Vec(__builtin_convertvector(*reinterpret_cast<const BytesInMemory*>(from + v * lanes), Ints) & 0xff);
    }
  }
  static Vec broadcast_half(Half number) { return broadcast(widen(number)); }
  static Vec low_half(Vec words) { return __builtin_convertvector(Ints(words) & 15, Vec); }
  static Vec high_half(Vec words) { return __builtin_convertvector(Ints(words) >> 4, Vec); }

  static constexpr float four_bits_above(float power) { return power; }
  template <int at>
  static Vec four_bits(Vec words) {
    constexpr int place = place_of_bits(at);
    const Words bits =
        place > at ? Words(words) << (place > at ? place - at : 0) : Words(words) >> (place < at ? at - place : 0);
    return Vec((bits & (15u << place)) | (uint32_t(150 - place) << 23));
  }

  static constexpr int transposed = lanes;
  static void transpose(const float* const* rows, int column, float* to) {
    ATTEND_UNROLL
    for (int j = 0; j < lanes; j += 4) store_columns(rows + j, column, 16, to + j);
  }

  static Vec add(Vec a, Vec b) { return a + b; }
  static Vec sub(Vec a, Vec b) { return a - b; }
  static Vec mul(Vec a, Vec b) { return a * b; }
  static Vec fma(Vec a, Vec b, Vec c) { return __builtin_elementwise_fma(a, b, c); }
  static Vec fma(Factor a, Vec b, Vec c) { return __builtin_elementwise_fma(broadcast(a), b, c); }
  static Vec accumulate(Factor a, Vec b, Vec sum) { return fma(a, b, sum); }
  static Vec max(Vec a, Vec b) { return b > a ? b : a; }  // a where one is NaN: vfmax would give the number
  static Vec min(Vec a, Vec b) { return b < a ? b : a; }  // a where one is NaN
  static Vec higher(Vec a, Vec b) { return max(a, b); }
  static float highest_lane(Vec a) { return __builtin_reduce_max(a); }
  static Vec first_of(Vec a, Vec b, int count) { return lane_numbers() < count ? a : b; }

  static bool any_above(Vec a, Vec b) { return __builtin_reduce_or(a > b) != 0; }
  static Vec minus_reciprocal_guess(Vec a) { return Vec(0xfef311c7u - Words(a)); }

  static Vec where_equal(Vec a, Vec b, Vec then, Vec otherwise) { return a == b ? then : otherwise; }

  static Vec where_bytes(const uint8_t* bytes, Vec a, Vec b) {
    const Ints wide = __builtin_convertvector(*reinterpret_cast<const BytesInMemory*>(bytes), Ints);
    return wide != 0 ? a : b;
  }
  static Vec where_bits(unsigned bits, Vec a, Vec b) { return (Ints(bits >> Words(lane_numbers())) & 1) != 0 ? a : b; }
  static Vec two_to(Vec n) { return Vec((Words(n) + 127u) << 23); }

  static Vec scale_by_power(Vec a, Vec n) {
    // Where n is outside of -2^22 to 2^22, the sum's low bits are not n, but such a lane is dropped, or a NaN.
    return scale_by_low_bits(a, n + 12582912.0f, Vec(Words{} + (127u << 23)), broadcast(12582912.0f - 125.0f));
  }

  static Vec scale_by_low_bits(Vec a, Vec n, Vec bias, Vec lowest) {
    return n < lowest ? zero() : a * Vec((Words(n) << 23) + Words(bias));  // false for NaN
  }

  static float sum_lanes(const float* sums) {
    const auto four = [sums](int i) { return *reinterpret_cast<const FourInMemory*>(sums + i); };
    const Four all = (four(0) + four(8)) + (four(4) + four(12));
    return (all[0] + all[2]) + (all[1] + all[3]);
  }

 private:
  using Ints = int32_t __attribute__((vector_size(lanes * 4)));
  using Words = uint32_t __attribute__((vector_size(lanes * 4)));
  using Repeated = float __attribute__((ext_vector_type(lanes)));  // a number becomes one by a cast
  using Four = float __attribute__((vector_size(16)));

  // In memory, vectors begin at any number.
  using VecInMemory = float __attribute__((vector_size(lanes * 4), aligned(4), may_alias));
  using FourInMemory = float __attribute__((vector_size(16), aligned(4), may_alias));
  using ShortsInMemory = int16_t __attribute__((vector_size(lanes * 2), aligned(2), may_alias));
  using BytesInMemory = int8_t __attribute__((vector_size(lanes), aligned(1), may_alias));
#if defined(__riscv_zvfhmin)
  using HalvesInMemory = _Float16 __attribute__((vector_size(lanes * 2), aligned(2), may_alias));
#endif

  static Ints lane_numbers() {
    Ints lane;
    ATTEND_UNROLL
    for (int i = 0; i < lanes; ++i) lane[i] = i;
    return lane;
  }

  // to[stride i + j] = rows[j][column + i] for four rows and as many columns as there are lanes, by a store of segments: it
  // takes one lane of each of four registers at a time.
  static void store_columns(const float* const* rows, int column, int stride, float* to) {
    const auto row = [=](int j) { return __riscv_vle32_v_f32m1(rows[j] + column, lanes); };
    __riscv_vssseg4e32_v_f32m1x4(to, stride * 4, __riscv_vcreate_v_f32m1x4(row(0), row(1), row(2), row(3)), lanes);
  }
};
