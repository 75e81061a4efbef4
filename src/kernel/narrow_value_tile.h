// Weighted values of two rows and one vector of columns: the multiply-adds of one chain would wait for each other, so both
// chains of a tile go side by side, and their sums are added in the order of keys.

// Vectors of four lanes have no such tiles: values are seldom so narrow. With one row, processors run ahead into the next chain
// by themselves.
template <class Isa>
constexpr bool has_narrow_tiles = Isa::lanes > 4;
constexpr int narrow_rows = 2;

// A whole chain of keys and the next one, which may be shorter: `keys` of them, which both rows see.
//   weights  [2][score_keys]
//   sums     of no more columns than a vector has
template <class Isa>
ATTEND_NOINLINE void narrow_value_tile(const float* weights, const float* value, ptrdiff_t stride, int keys, Sums sums) {
  static_assert(!has_narrow_tiles<Isa> || config::score_keys == 2 * chain_keys,
                "a tile of several rows has two chains at most");
  typename Isa::Vec first[narrow_rows][1], second[narrow_rows][1];
  set_to_zero<Isa>(first);
  set_to_zero<Isa>(second);
  const int columns = sums.value_dim;
  const float* next = value + chain_keys * stride;
  int k = 0;
  for (; k < keys - chain_keys; ++k) {
    value_step<Isa, float, narrow_rows, 1>(weights + k, value, columns, 0, first);
    value_step<Isa, float, narrow_rows, 1>(weights + chain_keys + k, next, columns, 0, second);
    value += stride;
    next += stride;
  }
  for (; k < chain_keys; ++k) {
    value_step<Isa, float, narrow_rows, 1>(weights + k, value, columns, 0, first);
    value += stride;
  }
  add_chain<Isa>(first, sums, 0, columns);
  sums.begun = true;
  add_chain<Isa>(second, sums, 0, columns);
}
