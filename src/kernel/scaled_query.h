// Queries that vectors which flush must not multiply.
//
// Vectors of 32-bit NEON and of Helium take subnormal numbers for 0, whatever the processor is told. Each addition loses less
// than 2^-126 by that. But a subnormal factor may meet a key of 10^38, and a subnormal sum the scale of a key of int8. Single
// floats of the same processors do not flush: they compute the scores of such queries.

// What has_below takes, for numbers that are below 2^-102 or may be so times the scale: the power of two in it decides. What is
// not has digits of 2^-125 and more, and so have its sums of products with whole numbers. None of a scale of 0 is below, and of
// a subnormal one all but 0 are.
inline uint32_t limit_of_factors(float scale) {
  const uint32_t size = magnitude(scale), exponent = size >> 23;
  if (exponent == 0) return size == 0 ? 0 : 0xffffffffu;
  return ((exponent < 127 ? 152 - exponent : 25) << 24) - 1;
}

// Whether vectors lose a factor of a query.
template <class Isa>
ATTEND_ALWAYS_INLINE bool loses_factor([[maybe_unused]] const float* query, [[maybe_unused]] int count,
                                       [[maybe_unused]] float scale) {
  if constexpr (Isa::flushes) return Isa::has_below(query, count, limit_of_factors(scale));
  return false;
}

// to = query * scale, by embedded processors. Returns whether vectors would lose a factor.
template <class Isa>
ATTEND_ALWAYS_INLINE bool scale_query(const float* query, int count, float scale, float* to) {
  if constexpr (Isa::flushes) {
    const bool lost = Isa::scale_row(query, count, scale, limit_of_factors(scale), to);
    for (int d = 0; lost && d < count; ++d) to[d] = Scalar::mul(opaque(query[d]), scale);  // opaque: no vectors of it
    return lost;
  } else {
    multiply_row<Isa>(query, count, Isa::broadcast(scale), to);
    return false;
  }
}
