// The steps of a tile on AArch64: instructions take a factor from a lane of a register, so that one load brings several.

// The factors of the next `steps` steps: the first lanes of a register.
template <class Isa, int steps>
ATTEND_ALWAYS_INLINE typename Isa::Vec lane_factors_of(const float* from) {
  if constexpr (steps == 1) {
    return Isa::broadcast(*from);
  } else {
    static_assert(steps == Isa::lanes);
    return Isa::load(from);
  }
}

// Vectors that lie side by side.
template <class Isa, bool each = false, class Number, int count>
ATTEND_ALWAYS_INLINE void load_vectors(const Number* from, typename Isa::Vec (&to)[count]) {
  if constexpr (each && count == 4 && sizeof(Number) == sizeof(float)) {
    Isa::load_each_of_four(from, to);
  } else if constexpr (count == 4) {
    Isa::load_four(from, to);
  } else {
    ATTEND_UNROLL
    for (int v = 0; v < count; ++v) to[v] = Isa::load(from + v * Isa::lanes);
  }
}

// Rows below which a group of vectors is loaded before the one before it is used.
constexpr int few_lane_rows = 4;

// The steps of multiply_by_lanes from `step` on, whose first group of vectors is in `next` where there are few rows.
template <class Isa, int step, int steps, bool begins, int factor_count, int group, int rows, int vecs, class Vectors>
ATTEND_ALWAYS_INLINE void multiply_by_lanes_from(const typename Isa::Vec (&factor)[factor_count],
                                                 typename Isa::Vec (&next)[group], Vectors vectors,
                                                 typename Isa::Vec (&sums)[rows][vecs]) {
  using Vec = typename Isa::Vec;
  constexpr bool few_rows = rows <= few_lane_rows, apart = factor_count != rows;
  constexpr int groups = vecs / group;
  ATTEND_UNROLL
  for (int g = 0; g < groups; ++g) {
    Vec current[group];
    if constexpr (!few_rows) {
      load_vectors<Isa>(vectors(step, g * group), next);
      keep_loads_in_order();
    }
    ATTEND_UNROLL
    for (int v = 0; v < group; ++v) current[v] = next[v];
    if (few_rows && (step < steps - 1 || g < groups - 1)) {
      load_vectors<Isa, apart>(vectors(step + (g + 1) / groups, (g + 1) % groups * group), next);
    }
    ATTEND_UNROLL
    for (int v = 0; v < group; ++v) {
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        Vec& sum = sums[r][g * group + v];
        const Vec factors_of_row = factor[apart ? g : r];
        if constexpr (begins && step == 0) {
          sum = Isa::template mul_lane<step>(factors_of_row, current[v]);
        } else {
          sum = Isa::template fma_lane<step>(factors_of_row, current[v], sum);
        }
      }
    }
    if constexpr (rows == 1 && sizeof(*vectors(0, 0)) == sizeof(float)) {
      ATTEND_UNROLL
      for (int v = 0; v < group; ++v) Isa::compute_before_loads(sums[0][g * group + v]);
    } else {
      keep_loads_in_order();
    }
  }
  if constexpr (step < steps - 1) multiply_by_lanes_from<Isa, step + 1, steps, begins>(factor, next, vectors, sums);
}

// sums[r][v] += sum over i < steps of factors(r)[i] * vectors(i, v), i ascending, for all rows and vectors.
//
// A group of vectors is used for all rows at once. Beside 24 sums and the factors of 6 rows there is room for a group of two
// in the 32 registers of AArch64. Fewer rows take four, and the next group is loaded before one is used, for processors that
// start instructions in their order.
//   factors(r)     a pointer to the factors of row r; with `apart`, for a single row, to the factors of group r
//   vectors(i, v)  a pointer to vector v of step i, behind which the others of its group lie
//   begins         whether sums hold nothing yet, and the first step is a product; its zeros may be negative
template <class Isa, int steps, bool apart = false, bool begins = false, int rows, int vecs, class Factors, class Vectors>
ATTEND_ALWAYS_INLINE void multiply_by_lanes(Factors factors, Vectors vectors, typename Isa::Vec (&sums)[rows][vecs]) {
  using Vec = typename Isa::Vec;
  constexpr bool few_rows = rows <= few_lane_rows;
  constexpr int most = few_rows ? 4 : 2, group = vecs < most ? vecs : most, factor_count = apart ? vecs / group : rows;
  static_assert(!apart || rows == 1);
  static_assert(steps == 1 || steps == 4, "kernels go on by one step or by four");
  Vec factor[factor_count], next[group];
  ATTEND_UNROLL
  for (int i = 0; i < factor_count; ++i) factor[i] = lane_factors_of<Isa, steps>(factors(i));
  if constexpr (few_rows) load_vectors<Isa, apart>(vectors(0, 0), next);
  keep_loads_in_order();
  multiply_by_lanes_from<Isa, 0, steps, begins>(factor, next, vectors, sums);
}
