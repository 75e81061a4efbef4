// WebAssembly's vectors of 128 bits: 4 lanes.

struct Simd128Target {
  using Vec = float __attribute__((vector_size(16)));
  using Doubles = double __attribute__((vector_size(16)));
  using Words = uint32_t __attribute__((vector_size(16)));

  static Doubles broadcast_double(double a) { return Doubles{a, a}; }
  static Doubles low(Vec a) { return Doubles(wasm_f64x2_promote_low_f32x4(v128_t(a))); }
  static Doubles high(Vec a) {
    return Doubles(wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(v128_t(a), v128_t(a), 2, 3, 2, 3)));
  }
  static Vec narrowed(Doubles low, Doubles high) {
    const v128_t first = wasm_f32x4_demote_f64x2_zero(v128_t(low)), second = wasm_f32x4_demote_f64x2_zero(v128_t(high));
    return Vec(wasm_i32x4_shuffle(first, second, 0, 1, 4, 5));
  }
  static Words low_words(Doubles low, Doubles high) { return Words(wasm_i32x4_shuffle(v128_t(low), v128_t(high), 0, 2, 4, 6)); }
  static bool any(Words mask) { return wasm_v128_any_true(v128_t(mask)); }

  static Vec larger_or_first(Vec a, Vec b) { return Vec(wasm_f32x4_pmax(v128_t(a), v128_t(b))); }  // a where one is NaN
  static Vec smaller_or_first(Vec a, Vec b) { return Vec(wasm_f32x4_pmin(v128_t(a), v128_t(b))); }
  static Words whole(Vec a) { return Words(wasm_i32x4_trunc_sat_f32x4(v128_t(a))); }

  // Four numbers of two bytes, or of one, as words.
  static Words load_pairs(const void* from) { return Words(wasm_u32x4_load16x4(from)); }
  static Words load_bytes(const void* from) {
    return Words(wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(from))));
  }

  // Of four rows of four floats: to[i] has column i.
  static void columns_of(Vec r0, Vec r1, Vec r2, Vec r3, Vec (&to)[4]) {
    const v128_t low01 = wasm_i32x4_shuffle(v128_t(r0), v128_t(r1), 0, 4, 1, 5);
    const v128_t high01 = wasm_i32x4_shuffle(v128_t(r0), v128_t(r1), 2, 6, 3, 7);
    const v128_t low23 = wasm_i32x4_shuffle(v128_t(r2), v128_t(r3), 0, 4, 1, 5);
    const v128_t high23 = wasm_i32x4_shuffle(v128_t(r2), v128_t(r3), 2, 6, 3, 7);
    to[0] = Vec(wasm_i64x2_shuffle(low01, low23, 0, 2));
    to[1] = Vec(wasm_i64x2_shuffle(low01, low23, 1, 3));
    to[2] = Vec(wasm_i64x2_shuffle(high01, high23, 0, 2));
    to[3] = Vec(wasm_i64x2_shuffle(high01, high23, 1, 3));
  }
};

using Simd128 = Unfused<Simd128Target>;
