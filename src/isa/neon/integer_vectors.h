// The common operations of integer attention on NEON: loads that end where rows do, and how sums are merged.

// Scores and weights share memory, so loads and stores have no types.
template <class Vector>
ATTEND_ALWAYS_INLINE Vector load(const void* from) {
  Vector vector;
  __builtin_memcpy(&vector, from, sizeof vector);
  return vector;
}
template <class Vector>
ATTEND_ALWAYS_INLINE void store(void* to, Vector vector) {
  __builtin_memcpy(to, &vector, sizeof vector);
}

// The first `count` bytes, and zeros; no byte after them is read.
ATTEND_ALWAYS_INLINE int8x16_t load_bytes(const int8_t* from, int count) {
  if (count >= 16) return load<int8x16_t>(from);
  int8_t bytes[16] = {};
  for (int i = 0; i < count; ++i) bytes[i] = from[i];
  return load<int8x16_t>(bytes);
}

// 16 dimensions of keys k … k + 3 from dimension d on: four[i] has dimensions d + 4 i … d + 4 i + 3 of the four. Keys from
// `count` on are zeros.
ATTEND_ALWAYS_INLINE void load_four_keys(const int8_t* keys, ptrdiff_t stride, int k, int count, int dimensions,
                                         int8x16_t (&four)[4]) {
  int32x4_t key[4];
  ATTEND_UNROLL
  for (int i = 0; i < 4; ++i) {
    key[i] = vreinterpretq_s32_s8(load_bytes(keys + (k + i) * stride, k + i < count ? dimensions : 0));
  }
  const int32x4x2_t even = vzipq_s32(key[0], key[2]), odd = vzipq_s32(key[1], key[3]);
  ATTEND_UNROLL
  for (int i = 0; i < 2; ++i) {
    const int32x4x2_t both = vzipq_s32(even.val[i], odd.val[i]);
    four[2 * i] = vreinterpretq_s8_s32(both.val[0]);
    four[2 * i + 1] = vreinterpretq_s8_s32(both.val[1]);
  }
}

template <int rows>
ATTEND_ALWAYS_INLINE void clear(int32x4_t (&sums)[rows][4]) {
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) {
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) sums[r][i] = vdupq_n_s32(0);
  }
}

// Lane i is the sum over the lanes of the i-th vector.
ATTEND_ALWAYS_INLINE int32x4_t sums_of_lanes(const int32x4_t (&a)[4]) {
#if defined(__aarch64__)
  return vpaddq_s32(vpaddq_s32(a[0], a[1]), vpaddq_s32(a[2], a[3]));
#else
  int32x2_t half[4];
  ATTEND_UNROLL
  for (int i = 0; i < 4; ++i) half[i] = vpadd_s32(vget_low_s32(a[i]), vget_high_s32(a[i]));
  return vcombine_s32(vpadd_s32(half[0], half[1]), vpadd_s32(half[2], half[3]));
#endif
}

// sum += a * b[lane], of the first or the last four lanes of a.
template <int lane>
ATTEND_ALWAYS_INLINE int32x4_t add_low(int32x4_t sum, int16x8_t a, int16x4_t b) {
  return vmlal_lane_s16(sum, vget_low_s16(a), b, lane);
}
template <int lane>
ATTEND_ALWAYS_INLINE int32x4_t add_high(int32x4_t sum, int16x8_t a, int16x4_t b) {
#if defined(__aarch64__)
  return vmlal_high_lane_s16(sum, a, b, lane);
#else
  return vmlal_lane_s16(sum, vget_high_s16(a), b, lane);
#endif
}

// 16 sums += 16 numbers of 8 bits * b[lane].
template <int lane>
ATTEND_ALWAYS_INLINE void add_products(int32x4_t (&sums)[4], int16x8_t low, int16x8_t high, int16x4_t b) {
  sums[0] = add_low<lane>(sums[0], low, b);
  sums[1] = add_high<lane>(sums[1], low, b);
  sums[2] = add_low<lane>(sums[2], high, b);
  sums[3] = add_high<lane>(sums[3], high, b);
}

// sums = (sums >> total) + ((added + half) >> chunk), of `count` columns of 16 at most.
ATTEND_ALWAYS_INLINE void merge_columns(const int32x4_t (&added)[4], const Merge& merge, int32_t* sums, int count) {
  const int32x4_t total = vdupq_n_s32(-merge.total), chunk = vdupq_n_s32(-merge.chunk), half = vdupq_n_s32(merge.half);
  int32x4_t shifted[4];
  ATTEND_UNROLL
  for (int i = 0; i < 4; ++i) shifted[i] = vshlq_s32(vaddq_s32(added[i], half), chunk);
  if (count >= 16) {
    ATTEND_UNROLL
    for (int i = 0; i < 4; ++i) store(sums + 4 * i, vaddq_s32(vshlq_s32(load<int32x4_t>(sums + 4 * i), total), shifted[i]));
    return;
  }
  int32_t columns[16];
  ATTEND_UNROLL
  for (int i = 0; i < 4; ++i) store(columns + 4 * i, shifted[i]);
  for (int c = 0; c < count; ++c) sums[c] = (sums[c] >> merge.total) + columns[c];
}
