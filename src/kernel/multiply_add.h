// The multiply-adds of a tile: where factors are repeated over a register, one load for each, and where an instruction takes
// its factor from a lane of a register, so that one load brings the factors of several steps.

// sum + a * b. Where an instruction set has loops of its own for whole chains, the compiler chooses the form of the
// multiply-adds that are left, and may take operands from memory, unless it copied sums.
template <class Isa, bool copies_sums = false>
ATTEND_ALWAYS_INLINE typename Isa::Vec add_product(typename Isa::Factor a, typename Isa::Vec b, typename Isa::Vec sum) {
  return Isa::ends_chains && !copies_sums ? Isa::fma(a, b, sum) : Isa::accumulate(a, b, sum);
}

// sums[r][v] += factor(r) * vector(v), for rows from `first` on.
//
// Registers hold the smaller group, factors or vectors, and the others come one by one. Numbers that are widened always come
// one by one: if all were widened before the first is used, GCC would spill sums.
template <class Isa, class Number, bool scores, int rows, int vecs, class Factor, class Vector>
ATTEND_ALWAYS_INLINE void multiply_by_factors(Factor factor, Vector vector, typename Isa::Vec (&sums)[rows][vecs],
                                              int first = 0) {
  constexpr bool copied = scores && (rows <= 3 || rows == Isa::chain_rows);  // by GCC
  // What is used once, by a single row or with a single vector, may be an operand in memory.
  const auto add = [&](typename Isa::Factor a, typename Isa::Vec b, typename Isa::Vec& sum) ATTEND_INLINE_LAMBDA {
    sum = rows == 1 || vecs == 1 ? Isa::fma(a, b, sum) : add_product<Isa, copied>(a, b, sum);
  };
  if constexpr (widens<Number> || rows < vecs) {
    typename Isa::Factor factors[rows];
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      if (r >= first) factors[r] = factor(r);
    }
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) {
      const typename Isa::Vec operand = vector(v);
      ATTEND_UNROLL
      for (int r = 0; r < rows; ++r) {
        if (r >= first) add(factors[r], operand, sums[r][v]);
      }
    }
  } else {
    typename Isa::Vec vectors[vecs];
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) vectors[v] = vector(v);
    ATTEND_UNROLL
    for (int r = 0; r < rows; ++r) {
      if (r < first) continue;
      const typename Isa::Factor operand = factor(r);
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) add(operand, vectors[v], sums[r][v]);
    }
  }
}

// The compiler moves no load over this. GCC would otherwise load all vectors of several steps first, and spill sums to the
// stack to make room for them.
ATTEND_ALWAYS_INLINE void keep_loads_in_order() { __asm__ volatile("" ::: "memory"); }

// Whether a tile goes on by four steps at once, by lane or by a loop of the instruction set's own.
template <class Isa>
constexpr bool takes_four_steps(int rows, int vecs) {
  return Isa::lane_factors == 4 || Isa::has_four_steps(rows, vecs);
}

// Whether a tile has a loop of the instruction set's own for whole chains of scores.
template <class Isa, class Number>
constexpr bool has_whole_chains(int rows, int vecs) {
  return !widens<Number> && rows == Isa::chain_rows && vecs == Isa::chain_vecs;
}

template <class Isa, int rows, int vecs>
ATTEND_ALWAYS_INLINE void set_to_zero(typename Isa::Vec (&sums)[rows][vecs]) {
  ATTEND_UNROLL
  for (int r = 0; r < rows; ++r) {
    ATTEND_UNROLL
    for (int v = 0; v < vecs; ++v) sums[r][v] = Isa::zero();
  }
}

// The factors of the next `steps` steps: the first lanes of a register.
template <class Isa, int steps>
ATTEND_ALWAYS_INLINE typename Isa::Vec lane_factors_of(const float* from) {
  if constexpr (steps == 1) {
    return Isa::broadcast(*from);
  } else {
    static_assert(steps == Isa::lane_factors);
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
  constexpr int group = at_most(vecs, few_rows ? 4 : 2), factor_count = apart ? vecs / group : rows;
  static_assert(!apart || rows == 1);
  static_assert(steps == 1 || steps == 4, "kernels go on by one step or by four");
  Vec factor[factor_count], next[group];
  ATTEND_UNROLL
  for (int i = 0; i < factor_count; ++i) factor[i] = lane_factors_of<Isa, steps>(factors(i));
  if constexpr (few_rows) load_vectors<Isa, apart>(vectors(0, 0), next);
  keep_loads_in_order();
  multiply_by_lanes_from<Isa, 0, steps, begins>(factor, next, vectors, sums);
}

// Whether chains of a tile begin with a product and end four vectors at a time. Where there are fewer vectors, or numbers are
// widened, that would be more code for what is seldom or bound by other instructions.
template <class Isa, class Number>
constexpr bool takes_fours(int vecs) {
  return Isa::lane_factors == 4 && sizeof(Number) == sizeof(float) && vecs % 4 == 0;
}

// Ends a row's chain: to[i] += sums[i], or = where it does not add. No zero is negative then.
template <class Isa, int vecs>
ATTEND_ALWAYS_INLINE void end_lane_chain(const typename Isa::Vec (&sums)[vecs], float* to, bool adds) {
  static_assert(vecs % 4 == 0);
  ATTEND_UNROLL
  for (int v = 0; v < vecs; v += 4) {
    if (adds) {
      Isa::add_four(sums + v, to + v * Isa::lanes);
    } else {
      Isa::store_four(sums + v, to + v * Isa::lanes);
    }
  }
}

// Ends a tile's chains: to[r][v] += sums[r][v], or = where they do not add; rows of `to` lie `stride` floats apart. No zero is
// negative then.
//
// Sums to add to are loaded four at a time, and each addition is stored before the next: stores side by side hold up the
// multiply-adds around them.
template <class Isa, bool adds, int rows, int vecs>
ATTEND_ALWAYS_INLINE void end_chain(const typename Isa::Vec (&sums)[rows][vecs], float* to, ptrdiff_t stride) {
  constexpr int group_rows = vecs >= 4 ? 1 : at_most(4 / vecs, rows);
  __asm__ volatile("" : "+r"(to));  // or compilers keep the address of each row on the stack
  ATTEND_UNROLL
  for (int first = 0; first < rows; first += group_rows) {
    typename Isa::Vec before[group_rows][vecs];
    float* row = to;
    ATTEND_UNROLL
    for (int r = 0; r < group_rows; ++r) {
      if (first + r == rows) break;
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) before[r][v] = adds ? Isa::load(row + v * Isa::lanes) : Isa::zero();
      row = opaque(row + stride);
    }
    keep_loads_in_order();
    ATTEND_UNROLL
    for (int r = 0; r < group_rows; ++r) {
      if (first + r == rows) break;
      ATTEND_UNROLL
      for (int v = 0; v < vecs; ++v) {
        Isa::store((r == 0 ? to : to + r * stride) + v * Isa::lanes, Isa::add(before[r][v], sums[first + r][v]));
        keep_loads_in_order();
      }
    }
    to = row;
  }
}
