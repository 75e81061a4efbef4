// Queries over keys with scales that are so large that their sums of products may leave the range of floats, although the scale
// of the key would take that back. Their scores are computed with a query that is 2^-32 times as large, and multiplied by 2^32
// after the scale: both are exact. Numbers of such a query below 2^-70 count as 0, so that nothing subnormal arises, which
// some vectors would flush.

constexpr float restoring = 4294967296.0f;  // 2^32

// to = query * scale * 2^-32, where the largest number of query * scale is 2^105 or more; returns whether it is. Below, sums
// of 65,536 products with -127 to 127 stay below 2^128. `to` may be the query.
template <class Isa>
ATTEND_NOINLINE bool shrink_query(const float* query, int count, float scale, float* to) {
  typename Isa::Vec vector = Isa::zero();
  for_each_vector<Isa>(count, [&](int d, int lanes) ATTEND_INLINE_LAMBDA {
    const typename Isa::Vec numbers = load_some<Isa>(query + d, lanes);
    vector = Isa::max(vector, Isa::max(numbers, Isa::sub(Isa::zero(), numbers)));
  });
  using F = FloatArithmetic;
  if (magnitude(F::mul(Isa::highest_lane(vector), scale)) < magnitude(4.0564819e+31f)) return false;
  for (int d = 0; d < count; ++d) {
    const float shrunk = F::mul(F::mul(query[d], scale), 2.3283064e-10f);
    to[d] = magnitude(shrunk) < magnitude(1.9721523e-31f) ? 0.0f : shrunk;  // 2^-102
  }
  return true;
}

template <class Isa>
ATTEND_NOINLINE void restore_scores(float* scores, int count) {
  multiply_row<Isa>(scores, count, Isa::broadcast(restoring), scores);
}

// Which rows of a block are shrunk; nothing, where keys have no scales.
template <bool scales, int rows>
class ShrunkRows {
 public:
  void clear() {
    if (!any_) return;
    any_ = false;
    for (uint32_t& word : words_) word = 0;
  }
  void add(int row) {
    any_ = true;
    words_[row / 32] |= 1u << row % 32;
  }
  bool any() const { return any_; }
  bool has(int row) const { return (words_[row / 32] >> row % 32 & 1) != 0; }

 private:
  bool any_ = false;
  uint32_t words_[(rows + 31) / 32] = {};
};
template <int rows>
class ShrunkRows<false, rows> {
 public:
  static void clear() {}
  static void add(int /*row*/) {}
  static constexpr bool any() { return false; }
  static constexpr bool has(int /*row*/) { return false; }
};
