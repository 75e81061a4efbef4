// Rows of floats of any length, vector by vector: the last one may be shorter.

// Calls with each vector of `count` floats: its first lane, and how many of its lanes count.
template <class Isa, class Call>
ATTEND_ALWAYS_INLINE void for_each_vector(int count, Call call) {
  int k = 0;
  for (; count - k >= Isa::lanes; k += Isa::lanes) call(k, Isa::lanes);
  if (Isa::lanes > 1 && k < count) call(k, count - k);
}
template <class Isa>
ATTEND_ALWAYS_INLINE typename Isa::Vec load_some(const float* from, int count) {
  return count == Isa::lanes ? Isa::load(from) : Isa::load_first(from, count);
}
template <class Isa>
ATTEND_ALWAYS_INLINE void store_some(float* to, typename Isa::Vec a, int count) {
  if (count == Isa::lanes) {
    Isa::store(to, a);
  } else {
    Isa::store_first(to, a, count);
  }
}

// to = call(from, its first lane, how many of its lanes count), for each vector; the two may be the same row.
template <class Isa, class Call>
ATTEND_ALWAYS_INLINE void map_row(const float* from, int count, float* to, Call call) {
  for_each_vector<Isa>(count, [&](int k, int lanes) ATTEND_INLINE_LAMBDA {
    store_some<Isa>(to + k, call(load_some<Isa>(from + k, lanes), k, lanes), lanes);
  });
}

template <class Isa>
ATTEND_NOINLINE void fill_row(float value, int count, float* to) {
  const typename Isa::Vec filled = Isa::broadcast(value);
  for_each_vector<Isa>(count, [&](int k, int lanes) ATTEND_INLINE_LAMBDA { store_some<Isa>(to + k, filled, lanes); });
}

template <class Isa>
ATTEND_NOINLINE void copy_row(const float* from, int count, float* to) {
  for_each_vector<Isa>(
      count, [&](int k, int lanes) ATTEND_INLINE_LAMBDA { store_some<Isa>(to + k, load_some<Isa>(from + k, lanes), lanes); });
}

// to = from * factor; the two may be the same row. scale_row is inlined for hot callers; multiply_row is the shared function.
template <class Isa>
ATTEND_ALWAYS_INLINE void scale_row(const float* from, int count, typename Isa::Vec factor, float* to) {
  if constexpr (!config::embedded) {  // hosts do it for each query and output: four vectors at a time
    constexpr int four = 4 * Isa::lanes;
    for (; count >= four; count -= four, from += four, to += four) {
      ATTEND_UNROLL
      for (int i = 0; i < four; i += Isa::lanes) Isa::store(to + i, Isa::mul(Isa::load(from + i), factor));
    }
  }
  map_row<Isa>(from, count, to, [&](typename Isa::Vec a, int, int) ATTEND_INLINE_LAMBDA { return Isa::mul(a, factor); });
}
template <class Isa>
ATTEND_NOINLINE void multiply_row(const float* from, int count, typename Isa::Vec factor, float* to) {
  scale_row<Isa>(from, count, factor, to);
}

// to = a * factor + b; it may be one of them.
template <class Isa>
ATTEND_NOINLINE void multiply_add_row(const float* a, int count, typename Isa::Vec factor, const float* b, float* to) {
  map_row<Isa>(a, count, to, [&](typename Isa::Vec x, int k, int lanes) ATTEND_INLINE_LAMBDA {
    return Isa::fma(x, factor, load_some<Isa>(b + k, lanes));
  });
}

// The end of a projection: a token's outputs times the scales of int8 weights, plus their biases, rounded once.
//   scales, bias  of these outputs, or null
template <class Isa>
ATTEND_NOINLINE void end_outputs(float* outputs, int count, const float* scales, const float* bias) {
  if (scales == nullptr && bias == nullptr) return;
  map_row<Isa>(outputs, count, outputs, [&](typename Isa::Vec sum, int o, int lanes) ATTEND_INLINE_LAMBDA {
    if (bias == nullptr) return Isa::mul(sum, load_some<Isa>(scales + o, lanes));
    const typename Isa::Vec added = load_some<Isa>(bias + o, lanes);
    return scales == nullptr ? Isa::add(sum, added) : Isa::fma(sum, load_some<Isa>(scales + o, lanes), added);
  });
}
