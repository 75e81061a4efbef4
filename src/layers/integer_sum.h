// Residual addition in integers, and copies in other steps.

// Calls a macro with the types of a, b and the output of each sum that there is.
#define ATTEND_EACH_INTEGER_SUM(call)                                                                                     \
  call(int8_t, int8_t, int8_t) call(int8_t, int8_t, int16_t) call(int8_t, int16_t, int8_t) call(int8_t, int16_t, int16_t) \
      call(int16_t, int8_t, int8_t) call(int16_t, int8_t, int16_t) call(int16_t, int16_t, int8_t)                         \
          call(int16_t, int16_t, int16_t)

namespace attend::ATTEND_ISA {
namespace {

// Their number, as backends take it.
template <class A, class B, class Output>
constexpr int integer_sum_types() {
  return int(4 * (sizeof(A) - 1) + 2 * (sizeof(B) - 1) + sizeof(Output) - 1);
}

// A number of 16 bits is 256 times its upper byte, with the sign, plus its lower one: so no product leaves 32 bits. Upper bytes
// do not exist of 8 bits.
template <class Number>
ATTEND_ALWAYS_INLINE int32_t upper_product(Number a, int32_t factor) {
  return sizeof(Number) == 1 ? 0 : (int32_t(a) >> 8) * factor;
}
template <class Number>
ATTEND_ALWAYS_INLINE int32_t lower_product(Number a, int32_t factor) {
  return (sizeof(Number) == 1 ? int32_t(a) : int32_t(a) & 255) * factor;
}

template <class A, class B, class Output>
ATTEND_NOINLINE void add_integers(const core::IntegerSum& sum) {
  const A* a = static_cast<const A*>(sum.a);
  const B* b = static_cast<const B*>(sum.b);
  Output* to = static_cast<Output*>(sum.output);
  const int32_t by_a = sum.by.a, by_b = sum.by.b, zero = sum.zero, lowest = sum.lowest;
  const int32_t start = (1 << (sum.by.shift - 1)) - sum.a_zero * by_a - sum.b_zero * by_b;
  const int shift = sum.by.shift - 8;
  constexpr int32_t largest = (1 << (8 * sizeof(Output) - 1)) - 1;
  const auto output = [=](A x, B y) __attribute__((always_inline)) {
    const int32_t low = lower_product(x, by_a) + lower_product(y, by_b) + start;
    const int32_t number = ((upper_product(x, by_a) + upper_product(y, by_b) + (low >> 8)) >> shift) + zero;
    const int32_t above = number < lowest ? lowest : number;
    return above > largest ? largest : above;
  };
  int i = 0;
  if constexpr (!config::embedded) {
    // Loops of a known length, with results that lie elsewhere: compilers make them vectors.
    constexpr int columns = 16;
    for (; i + columns <= sum.count; i += columns) {
      Output outputs[columns];
      for (int c = 0; c < columns; ++c) outputs[c] = Output(output(a[i + c], b[i + c]));
      __builtin_memcpy(to + i, outputs, sizeof outputs);
    }
  }
  for (; i < sum.count; ++i) to[i] = Output(output(a[i], b[i]));
}

}  // namespace
}  // namespace attend::ATTEND_ISA
