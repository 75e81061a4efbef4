// Compares the chains of this processor's instruction set, which are in assembly, with their definition in src/isa/chains.h:
// random shapes, bit by bit, over floats and over numbers of other formats; and the widening of a run of numbers with that of
// one. Whatever may not be read is NaN or lies beyond the end of memory, and whatever may not be written must stay.
#include "../support/tested.h"

#include "../support/random.h"
#include "own_isa.h"
#include "self_test.h"

namespace {

constexpr int most_columns = 20, most_steps = 64, most_gap = 40, width = 64, a_floats = 4 * 80;
constexpr int b_floats = most_steps * (most_columns + most_gap), widened_bytes = 1024;
float a[a_floats], found[4][width], expected[4][width], *to[4];
float* b;  // [b_floats], from where free memory begins
firmware::Memory memory;

void fill_b(float with) {
  for (int i = 0; i < b_floats; ++i) b[i] = with;
}

template <int count>
void print_numbers(const char* name, const int (&numbers)[count]) {
  firmware::print(name);
  for (const int number : numbers) {
    firmware::print(" ");
    firmware::print_number(uint64_t(number));
  }
}

bool same_bits() {
  uint32_t differ = 0;
  for (int r = 0; r < 4; ++r) {
    for (int i = 0; i < width; ++i)
      differ |= attend::bits_to<uint32_t>(found[r][i]) ^ attend::bits_to<uint32_t>(expected[r][i]);
  }
  return differ == 0;
}

template <class Number>
void define(const attend::ChainsOf<Number>& c) {
  for (int r = 0; r < c.rows; ++r) {
    for (int column = 0; column < c.columns; ++column) {
      float sum = 0.0f;
      for (int step = 0; step < c.steps; ++step) {
        const float factor = c.a[r * c.a_stride + step];
        sum = attend::fused_multiply_add(c.rows == 1 ? product(factor, c.a_scale) : factor,
                                         attend::widen(c.b[step * c.b_step + column * c.b_stride]), sum);
      }
      float& to = expected[r][c.column + column];
      to = c.adds ? to + sum : sum;
    }
  }
}

// Fills the first operand and what was there before, and runs the chains and their definition.
template <class Number>
void run(attend::ChainsOf<Number>& c, const Number* second, attend_test::Random& random) {
  for (float& x : a) x = __builtin_nanf("");
  for (int r = 0; r < c.rows; ++r) random.fill(a + r * c.a_stride, size_t(c.steps));
  for (int r = 0; r < 4; ++r) {
    to[r] = found[r];
    random.fill(found[r], width);
    __builtin_memcpy(expected[r], found[r], sizeof found[r]);
  }
  c.a = a;
  c.b = second;
  c.to = to;
  define(c);
  Isa::chains(c);
}

bool check(attend_test::Random& random) {
  enum Kind { panel, side_by_side, apart };
  const Kind kind = Kind(random.between(panel, apart));
  attend::Chains c;
  c.rows = random.between(0, 2) == 0 ? 1 : Isa::tile_rows;
  const int most = Isa::columns(c.rows, kind == apart);
  c.columns = kind == panel ? most : random.between(1, most);
  c.steps = random.between(1, kind == side_by_side ? most_steps : 16);
  c.a_stride = c.steps + random.between(0, 15);
  c.a_scale = c.rows == 1 && kind != apart && !ATTEND_SOFT_FLOAT && random.between(0, 1) != 0 ? 0.37f : 1.0f;
  c.b_step = kind == panel ? 16 : kind == side_by_side ? c.columns + random.between(0, most_gap) : 1;
  c.b_stride = kind == apart ? c.steps + random.between(1, most_gap) : 1;
  c.column = random.between(0, 20);
  c.adds = random.between(0, 1) != 0;

  fill_b(__builtin_nanf(""));
  float* const first = b + random.between(0, 3);
  for (int step = 0; step < c.steps; ++step) {
    for (int column = 0; column < c.columns; ++column) first[step * c.b_step + column * c.b_stride] = random.uniform();
  }
  run(c, first, random);
  if (same_bits()) return true;
  const char* const names[] = {"panel", "columns side by side", "steps side by side"};
  print_numbers(names[kind], {c.rows, c.columns, c.steps, int(c.b_step), int(c.b_stride), int(c.adds)});
  firmware::print(" (rows, columns, steps, b_step, b_stride, adds): other bits than chains.h defines\n");
  return false;
}

// A single column, with the next one so far away that there is no memory: reading it is a fault.
bool check_alone(int rows) {
  float* to[4] = {found[0], found[1], found[2], found[3]};
  for (float& x : a) x = 1.0f;
  fill_b(2.0f);
  attend::Chains c;
  c.rows = rows;
  c.columns = 1;
  c.steps = 16;
  c.a = a;
  c.a_stride = 16;
  c.a_scale = 1.0f;
  c.b = b;
  c.b_step = 1;
  c.b_stride = 0x8000000;
  c.column = 0;
  c.adds = false;
  c.to = to;
  Isa::chains(c);
  bool right = true;
  for (int r = 0; r < rows; ++r) right = right && found[r][0] == 32.0f;
  if (!right) firmware::print("a single column: wrong sums\n");
  return right;
}

// Emulated boards with an Armv6-M or Armv7-M core read zeros behind RAM, unless they may not. Where memory ends elsewhere than
// theirs, a region of this size would lie over it.
void guard_end_of_memory() {
#if defined(__ARM_ARCH) && __ARM_ARCH < 8
  if (reinterpret_cast<uintptr_t>(memory.floats + memory.count) % 0x400000 != 0) return;
  volatile uint32_t* const region = reinterpret_cast<volatile uint32_t*>(0xe000ed98);  // number, base, attributes and size
  constexpr uint32_t no_access = 1u << 28, size_4_megabytes = 21u << 1, on = 1;
  region[0] = 1;
  region[1] = uint32_t(reinterpret_cast<uintptr_t>(memory.floats + memory.count));
  region[2] = no_access | size_4_megabytes | on;
  __asm__ volatile("dsb\n\tisb" : : : "memory");
#endif
}

// The end of memory: reading past it is a fault.
template <class Number>
Number* end_of_memory() {
  return reinterpret_cast<Number*>(memory.floats + memory.count);
}

uint32_t random_number(attend_test::Random& random, const attend::Half*) { return random.bits() & 0xffffu; }
uint32_t random_number(attend_test::Random& random, const int8_t*) { return random.bits() & 0xffu; }
uint32_t random_number(attend_test::Random& random, const attend::Bfloat*) {
  const uint32_t bits = random.bits() & 0xffffu;
  // Sums and products of the largest and smallest are not for processors that flush subnormals.
  return (bits & 0x7f80u) == 0x7f80u ? bits : (bits & 0x80ffu) | 0x3f00u;
}

template <class Number>
void fill_numbers(attend_test::Random& random, Number* numbers, int count) {
  for (int i = 0; i < count; ++i) {
    const uint32_t any = random_number(random, numbers);
    __builtin_memcpy(static_cast<void*>(numbers + i), &any, sizeof(Number));
    const uint32_t size = attend::magnitude(attend::widen(numbers[i]));
    // A NaN or an infinity in a sum hides what else is wrong with it.
    if (size >= 0x7f800000u && random.between(0, 31) != 0) numbers[i] = Number{};
  }
}

// Apart from what a NaN carries.
bool same(const float* x, const float* y, int count) {
  for (int i = 0; i < count; ++i) {
    const bool both_nan = attend::magnitude(x[i]) > 0x7f800000u && attend::magnitude(y[i]) > 0x7f800000u;
    if (!both_nan && attend::bits_to<uint32_t>(x[i]) != attend::bits_to<uint32_t>(y[i])) return false;
  }
  return true;
}

template <class Number>
bool check_widened(attend_test::Random& random, const char* name) {
  attend::ChainsOf<Number> c;
  c.rows = random.between(0, 2) == 0 ? Isa::tile_rows : 1;
  const int most = Isa::widened_columns;
  c.columns = random.between(0, 1) == 0 ? most : random.between(1, most);
  c.steps = random.between(1, most_steps);
  c.a_stride = c.steps + random.between(0, 15);
  c.a_scale = c.rows == 1 && !ATTEND_SOFT_FLOAT && random.between(0, 1) != 0 ? 0.37f : 1.0f;
  c.b_step = random.between(0, 1) == 0 ? 16 : c.columns + random.between(0, most_gap);
  c.b_stride = 1;
  c.column = random.between(0, 20);
  c.adds = random.between(0, 1) != 0;

  // A step's columns end where memory does, or a few numbers before: their addresses are whole words, or not.
  Number* const first = end_of_memory<Number>() - random.between(0, 8) - c.columns - (c.steps - 1) * c.b_step;
  fill_numbers(random, first, int(end_of_memory<Number>() - first));
  run(c, first, random);
  if (same(found[0], expected[0], 4 * width)) return true;
  print_numbers(name, {c.rows, c.columns, c.steps, int(c.b_step), int(c.adds), int(reinterpret_cast<uintptr_t>(first) & 3)});
  firmware::print(" (rows, columns, steps, b_step, adds, b modulo 4): other bits than chains.h defines\n");
  return false;
}

template <class Number>
bool check_widen(attend_test::Random& random, const char* name) {
  const int count = random.between(0, 150);
  Number* const from = end_of_memory<Number>() - random.between(0, 8) - count;
  for (int i = 0; i < count; ++i) {
    const uint32_t any = random.bits();
    __builtin_memcpy(static_cast<void*>(from + i), &any, sizeof(Number));
  }
  float* const to = b + random.between(0, 3);
  fill_b(0.125f);
  Isa::widen(from, count, to);
  bool right = true;
  for (int i = -1; i <= count; ++i) {
    const float wide = i >= 0 && i < count ? attend::widen(from[i]) : 0.125f;
    if (to + i >= b) right = right && same(to + i, &wide, 1);
  }
  if (right) return true;
  print_numbers(name, {count, int(reinterpret_cast<uintptr_t>(from) & 3)});
  firmware::print(" (numbers, address modulo 4): widened to other floats\n");
  return false;
}

// What the bits of a number mean, by arithmetic.
float value_of(int bits, const int8_t*) { return float(bits < 128 ? bits : bits - 256); }
float value_of(int bits, const attend::Bfloat*) { return attend::bits_to<float>(uint32_t(bits) << 16); }
float value_of(int bits, const attend::Half*) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float value = float(exponent == 0 ? fraction : 1024 + fraction) * 0x1p-24f;
  if (exponent == 31) value = fraction == 0 ? __builtin_inff() : __builtin_nanf("");
  for (int i = 1; i < exponent && exponent != 31; ++i) value *= 2.0f;
  return bits < 0x8000 ? value : -value;
}

// Every number of the format, as many at a time as memory holds.
template <class Number>
bool check_all(const char* name) {
  constexpr int all = 1 << 8 * sizeof(Number);
  const int room = int(memory.count * sizeof(float) / (sizeof(float) + sizeof(Number))), most = room < all ? room : all;
  float* const to = memory.floats;
  Number* const from = reinterpret_cast<Number*>(to + most);
  for (int first = 0, count = most; first < all; first += count) {
    if (count > all - first) count = all - first;
    for (int i = 0, bits = first; i < count; ++i, ++bits) __builtin_memcpy(static_cast<void*>(from + i), &bits, sizeof(Number));
    Isa::widen(from, count, to);
    for (int i = 0; i < count; ++i) {
      const float wide = value_of(first + i, from);
      if (same(to + i, &wide, 1)) continue;
      print_numbers(name, {first + i});
      firmware::print(": widened to another float\n");
      return false;
    }
  }
  return true;
}

// A row whose chains go on from sums in memory, and rows multiplied number by number.
bool check_continued(attend_test::Random& random) {
  attend::Chains c;
  c.rows = 1;
  c.columns = random.between(1, Isa::columns(1, false));
  c.steps = random.between(1, most_steps);
  c.a = a;
  c.a_stride = 0;
  c.a_scale = 1.0f;
  c.b = b + random.between(0, 3);
  c.b_step = c.columns + random.between(0, most_gap);
  c.b_stride = 1;
  c.column = random.between(0, 20);
  c.adds = false;
  float* const to = found[0];
  c.to = &to;
  for (float& x : a) x = __builtin_nanf("");
  fill_b(__builtin_nanf(""));
  random.fill(a, size_t(c.steps));
  for (int step = 0; step < c.steps; ++step) random.fill(b + (c.b - b) + step * c.b_step, size_t(c.columns));
  random.fill(found[0], width);
  random.fill(found[1], width);
  __builtin_memcpy(expected, found, sizeof found);
  for (int column = 0; column < c.columns; ++column) {
    float& sum = expected[0][c.column + column];
    for (int step = 0; step < c.steps; ++step) sum = attend::fused_multiply_add(a[step], c.b[step * c.b_step + column], sum);
  }
  Isa::continue_chains(c);
  const int count = random.between(0, 40);
  for (int i = 0; i < count; ++i) expected[1][i] = attend::Scalar::mul(expected[1][i], expected[0][i]);
  Isa::multiply_rows(found[1], found[0], count);
  if (same_bits()) return true;
  firmware::print("chains that go on, or rows multiplied: other bits than defined\n");
  return false;
}

// What each loop runs, unless something is wrong.
constexpr int shapes = 9998, rounds = 3000, widths = 1000, all_shapes = 2 + shapes + 3 + 3 * rounds + rounds + 4 * widths;

void test_chains(const firmware::Memory& of, firmware::Counts& counts) {
  memory = of;
  if (!counts.has(memory, b_floats * sizeof(float) + widened_bytes)) return;
  b = memory.floats;
  guard_end_of_memory();
  attend_test::Random random(1);
  counts.count(check_alone(1));
  counts.count(check_alone(Isa::tile_rows));
  for (int i = 0; i < shapes && counts.failed < 10; ++i) counts.count(check(random));
  for (int i = 0; i < rounds && counts.failed < 10; ++i) counts.count(check_continued(random));
  counts.count(check_all<attend::Half>("float16"));
  counts.count(check_all<attend::Bfloat>("bfloat16"));
  counts.count(check_all<int8_t>("int8"));
  for (int i = 0; i < widths && counts.failed < 10; ++i) {
    counts.count(check_widen<float>(random, "float32"));
    counts.count(check_widen<attend::Half>(random, "float16"));
    counts.count(check_widen<attend::Bfloat>(random, "bfloat16"));
    counts.count(check_widen<int8_t>(random, "int8"));
  }
  for (int i = 0; i < rounds && counts.failed < 10; ++i) {
    counts.count(check_widened<attend::Half>(random, "float16"));
    counts.count(check_widened<attend::Bfloat>(random, "bfloat16"));
    counts.count(check_widened<int8_t>(random, "int8"));
  }
  if (counts.passed + counts.failed == all_shapes) return;
  firmware::print("not all shapes were run\n");
  ++counts.failed;
}

}  // namespace

int firmware::run() { return run_tests("chains", test_chains); }
