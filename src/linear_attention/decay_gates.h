// Logarithms of gates from what a projection gives.

// ln(1 + e^x) = max(x, 0) + ln(1 + p) with p = e^-|x|, which is 0 below 2^-125: s times a polynomial of its square, for s = p /
// (2 + p) <= 1/3, because ln(1 + p) is 2 artanh(s). The polynomial with float coefficients of smallest relative error, 1.2e-10.
ATTEND_HOT_DATA constexpr float softplus_coefficients[] = {0.24246344f, 0.21443719f, 0.28615218f,
                                                           0.3999895f,  0.66666675f, 2.0f};
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec softplus(typename Isa::Vec x) {
  using Vec = typename Isa::Vec;
  const Vec p = small_number<Isa>(power_of_minus_size<Isa>(x));
  const Vec s = near_quotient<Isa>(p, Isa::add(p, Isa::broadcast(2.0f))), square = Isa::mul(s, s);
  Vec sum = Isa::broadcast(softplus_coefficients[0]);
  ATTEND_UNROLL
  for (int i = 1; i < 6; ++i) sum = Isa::fma(sum, square, Isa::broadcast(softplus_coefficients[i]));
  return Isa::fma(s, sum, Isa::max(x, Isa::zero()));
}

template <class Isa, bool bounded>
void make_log_decays(const core::GateInputs& g) {
  using Vec = typename Isa::Vec;
  const int span = g.width / g.rate_count, row = span == 1 ? g.width : span;  // numbers that have a rate together
  for (int at = 0, first = 0; at < g.tokens * g.width; at += row, first = first + row == g.width ? 0 : first + row) {
    map_row<Isa>(g.from + at, row, g.to + at, [&](Vec z, int i, int lanes) ATTEND_INLINE_LAMBDA {
      const Vec x = g.bias == nullptr ? z : Isa::add(z, load_some<Isa>(g.bias + first + i, lanes));
      const Vec rate = span == 1 ? load_some<Isa>(g.rates + i, lanes) : Isa::broadcast(g.rates[first / span]);
      if constexpr (bounded) return Isa::mul(Isa::broadcast(g.lower_bound), sigmoid<Isa>(Isa::mul(rate, x)));
      return Isa::mul(rate, softplus<Isa>(x));
    });
  }
}
