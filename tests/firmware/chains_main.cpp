// Compares the chains of this processor's instruction set, which are in assembly, with their definition in src/chains.h: random
// shapes, bit by bit. Whatever may not be read is NaN, and whatever may not be written must stay.
#include <initializer_list>

#include "../../src/backends.h"
#include "../../src/numerics/fma.h"
#include "../support/random.h"
#include "platform.h"

#if ATTEND_HELIUM
#include "../../src/simd/helium.h"
using Isa = attend::Helium;
#elif defined(__thumb2__) && defined(__ARM_FEATURE_FMA)
#include "../../src/simd/vfp.h"
using Isa = attend::Vfp;
#else
#include "../../src/simd/scalar.h"
using Isa = attend::Scalar;
#endif

namespace {

constexpr int most_columns = 20, most_steps = 64, width = 64, a_floats = 4 * 80, b_floats = 80 * 80;
float a[a_floats], b[b_floats], found[4][width], expected[4][width];

// a * b as it is rounded there, even where the compiler may fuse it with what follows.
float product(float x, float y) {
  volatile float rounded = x * y;
  return rounded;
}

void define(const attend::Chains& c, int columns) {
  for (int r = 0; r < c.rows; ++r) {
    for (int column = 0; column < columns; ++column) {
      float sum = 0.0f;
      for (int step = 0; step < c.steps; ++step) {
        const float factor = c.a[r * c.a_stride + step];
        sum = attend::fused_multiply_add(c.rows == 1 ? product(factor, c.a_scale) : factor,
                                         c.b[step * c.b_step + column * c.b_stride], sum);
      }
      float& to = expected[r][c.column + column];
      to = c.adds ? to + sum : sum;
    }
  }
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
  c.b_step = kind == panel ? 16 : kind == side_by_side ? c.columns + random.between(0, 40) : 1;
  c.b_stride = kind == apart ? c.steps + random.between(1, 40) : 1;
  c.column = random.between(0, 20);
  c.adds = random.between(0, 1) != 0;
  const int columns = c.columns;

  for (float& x : a) x = __builtin_nanf("");
  for (float& x : b) x = __builtin_nanf("");
  for (int r = 0; r < c.rows; ++r) random.fill(a + r * c.a_stride, size_t(c.steps));
  float* const first = b + random.between(0, 3);
  for (int step = 0; step < c.steps; ++step) {
    for (int column = 0; column < columns; ++column) first[step * c.b_step + column * c.b_stride] = random.uniform();
  }
  float* to[4];
  for (int r = 0; r < 4; ++r) {
    to[r] = found[r];
    random.fill(found[r], width);
    __builtin_memcpy(expected[r], found[r], sizeof found[r]);
  }
  c.a = a;
  c.b = first;
  c.to = to;
  define(c, columns);
  Isa::chains(c);
  if (__builtin_memcmp(found, expected, sizeof found) == 0) return true;
  const char* const names[] = {"panel", "columns side by side", "steps side by side"};
  firmware::print(names[kind]);
  for (const int number : {c.rows, c.columns, c.steps, int(c.b_step), int(c.b_stride), int(c.adds)}) {
    firmware::print(" ");
    firmware::print_number(uint64_t(number));
  }
  firmware::print(" (rows, columns, steps, b_step, b_stride, adds): other bits than chains.h defines\n");
  return false;
}

// A single column, with the next one so far away that there is no memory: reading it is a fault.
bool check_alone(int rows) {
  float* to[4] = {found[0], found[1], found[2], found[3]};
  for (float& x : a) x = 1.0f;
  for (float& x : b) x = 2.0f;
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

}  // namespace

int firmware::run() {
  attend_test::Random random(1);
  int passed = 0, failed = 0;
  for (const int rows : {1, Isa::tile_rows}) ++(check_alone(rows) ? passed : failed);
  while (passed + failed < 10000 && failed < 10) ++(check(random) ? passed : failed);
  print_number(uint64_t(passed));
  print(" shapes passed, ");
  print_number(uint64_t(failed));
  print(" failed\n");
  return failed == 0 ? 0 : 1;
}
