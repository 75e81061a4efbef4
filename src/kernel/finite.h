// Whether all numbers of rows are finite.

// Numbers `first` to `end` - 1.
inline bool numbers_are_finite(const float* numbers, int first, int end) {
  for (int i = first; i < end; ++i) {
    if (!is_finite(numbers[i])) return false;
  }
  return true;
}

// The first `dims` numbers of rows `first` to `end` - 1, which lie `stride` floats apart: their products with zero, added up,
// are no number where one is not finite.
template <class Isa>
bool rows_are_finite(const float* rows, ptrdiff_t stride, int first, int end, int dims) {
  constexpr int side_by_side = 4;  // sums, or each multiply-add would wait for the one before
  typename Isa::Vec zeros[side_by_side];
  ATTEND_UNROLL
  for (int i = 0; i < side_by_side; ++i) zeros[i] = Isa::zero();
  for (int r = first; r < end; ++r) {
    const float* const row = rows + r * stride;
    int c = 0;
    for (; dims - c >= side_by_side * Isa::lanes; c += side_by_side * Isa::lanes) {
      ATTEND_UNROLL
      for (int i = 0; i < side_by_side; ++i) {
        zeros[i] = Isa::fma(Isa::load(row + c + i * Isa::lanes), Isa::zero(), zeros[i]);
      }
    }
    for (; dims - c >= Isa::lanes; c += Isa::lanes) zeros[0] = Isa::fma(Isa::load(row + c), Isa::zero(), zeros[0]);
    if (!numbers_are_finite(row, c, dims)) return false;
  }
  ATTEND_UNROLL
  for (int i = 1; i < side_by_side; ++i) zeros[0] = Isa::add(zeros[0], zeros[i]);
  float lanes[Isa::lanes];
  Isa::store(lanes, zeros[0]);
  for (const float lane : lanes) {
    if (magnitude(lane) != 0) return false;
  }
  return true;
}
