// Activation functions over rows of floats, and gated products.
//
//   to[i] = f(from[i])            or, with a second row,            to[i] = f(from[i]) * by[i]

// x * Phi(x), with the distribution function of the normal distribution: x * (1 - tail(x)) above 1, x * tail(-x) below -1, and
// between them by the polynomial of the middle.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec gelu(typename Isa::Vec x) {
  using Vec = typename Isa::Vec;
  const Vec size = Isa::min(size_of<Isa>(x), Isa::broadcast(16.0f)), one = Isa::broadcast(1.0f);
  const Power<Isa> power = bell<Isa>(size, 0.5f);
  const Power<Isa> tail = {Isa::mul(power.digits, tail_ratio<Isa>(size)), power.whole};
  const Vec positive = Isa::mul(x, Isa::sub(one, small_number<Isa>(tail)));
  const Vec negative = times_power<Isa>(Isa::mul(Isa::max(x, Isa::broadcast(-16.0f)), tail.digits), tail.whole);
  const Vec outside = where_at_least<Isa>(x, Isa::zero(), positive, negative);
  const Vec half = Isa::fma(x, polynomial<Isa>(middle_coefficients, Isa::mul(x, x)), Isa::broadcast(0.5f));
  return where_at_least<Isa>(size, one, outside, Isa::mul(x, half));
}

// x / 2 * (1 + tanh(z)) = x * sigmoid(2 z), z = sqrt(2 / pi) * (x + 0.044715 x^3), which loses nothing where tanh nears -1.
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec gelu_tanh(typename Isa::Vec x) {
  using Vec = typename Isa::Vec;
  // 2 * sqrt(2 / pi) * log2(e), and 0.044715 times that; and what the floats were rounded by.
  const Vec linear = Isa::broadcast(2.3022082f), linear_rest = Isa::broadcast(1.2948402e-08f);
  const Vec cubic = Isa::broadcast(0.10294324f), cubic_rest = Isa::broadcast(-2.0161985e-09f);
  const Vec size = Isa::min(size_of<Isa>(x), Isa::broadcast(11.0f)), minus_size = Isa::sub(Isa::zero(), size);
  const Vec square = Isa::mul(size, size), square_rest = Isa::fma(size, size, Isa::sub(Isa::zero(), square));
  // cubic * square + linear as two floats: the product with its rest, then Knuth's sum. The product is a multiply-add, so that
  // no compiler contracts it with the sum.
  const Vec product = Isa::fma(cubic, square, Isa::zero());
  const Vec product_rest = Isa::fma(cubic, square, Isa::sub(Isa::zero(), product));
  const Vec factor = Isa::add(product, linear), added = Isa::sub(factor, product);
  const Vec sum_rest = Isa::add(Isa::sub(product, Isa::sub(factor, added)), Isa::sub(linear, added));
  const Vec small = Isa::fma(cubic, square_rest, Isa::fma(cubic_rest, square, linear_rest));
  const Vec rest = Isa::add(sum_rest, Isa::add(product_rest, small));
  return times_sigmoid<Isa>(x, Isa::max(x, Isa::broadcast(-11.0f)), power_of_two<Isa>(minus_size, factor, rest));
}

template <class Isa, Activation activation>
ATTEND_ALWAYS_INLINE typename Isa::Vec activated(typename Isa::Vec x) {
  if constexpr (activation == Activation::relu) {
    return Isa::max(x, Isa::zero());
  } else if constexpr (activation == Activation::silu) {
    return silu<Isa>(x);
  } else if constexpr (activation == Activation::gelu) {
    return gelu<Isa>(x);
  } else if constexpr (activation == Activation::gelu_tanh) {
    return gelu_tanh<Isa>(x);
  } else if constexpr (activation == Activation::sigmoid) {
    return sigmoid<Isa>(x);
  } else if constexpr (activation == Activation::tanh) {
    return hyperbolic_tangent<Isa>(x);
  } else if constexpr (activation == Activation::exp) {
    return exponential<Isa>(x);
  } else {
    static_assert(activation == Activation::erf, "attend: every activation has its function here");
    return error_function<Isa>(x);
  }
}

template <class Isa, Activation activation>
ATTEND_ALWAYS_INLINE void activate_row(const float* from, const float* by, int count, float* to) {
  for_each_vector<Isa>(count, [&](int i, int lanes) ATTEND_INLINE_LAMBDA {
    typename Isa::Vec y = activated<Isa, activation>(load_some<Isa>(from + i, lanes));
    if (by != nullptr) y = Isa::mul(y, load_some<Isa>(by + i, lanes));
    store_some<Isa>(to + i, y, lanes);
  });
}
