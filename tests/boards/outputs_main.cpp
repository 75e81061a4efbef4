// Compares projections of one token by this processor's own loops with their definition, bit by bit: over a panel of floats
// where there is such a loop, and over groups of 4 bits, packed and in rows. Where floats are computed in software, also its
// multiply-add with that of doubles.
#include "../support/tested.h"

#include "../../bench/boards/platform.h"
#include "../support/operands.h"
#include "../support/random.h"
#include "own_isa.h"

namespace {

constexpr int width = 64;
float a[256], b[80 * 80], found[width], expected[width];

// A token's projection by whole chains. In some calls numbers are zeros, or of so few digits that products often lie halfway
// between two floats, where what a sum begins with decides.
float few_digits(attend_test::Random& random, int kind) {
  return kind == 0 ? random.uniform() : kind == 1 ? 0.0f : float(4096 + random.between(-1, 1)) / 4096.0f;
}

bool same_outputs(const char* name) {
  if (__builtin_memcmp(found, expected, sizeof found) == 0) return true;
  firmware::print(name);
  firmware::print(": outputs of one token have other bits than defined\n");
  return false;
}

void begin_outputs() {
  for (int i = 0; i < width; ++i) found[i] = expected[i] = 3.0f;  // stays behind the outputs
}

void add_chain(int output, float sum, bool first) { expected[output] = first ? sum : expected[output] + sum; }

#if ATTEND_VFP && !ATTEND_HELIUM
bool check_panel(attend_test::Random& random) {
  const int chains = random.between(1, 5), kind = random.between(0, 2);
  for (int i = 0; i < 16 * chains; ++i) a[i] = few_digits(random, kind);
  for (int i = 0; i < 16 * 16 * chains; ++i) b[i] = few_digits(random, kind);
  begin_outputs();
  for (int o = 0; o < 16; ++o) {
    for (int chain = 0; chain < chains; ++chain) {
      float sum = 0.0f;
      for (int i = 16 * chain; i < 16 * chain + 16; ++i) sum = attend::fused_multiply_add(a[i], b[16 * i + o], sum);
      add_chain(o, sum, chain == 0);
    }
  }
  Isa::panel_outputs({a, b, 0, chains, found});
  return same_outputs("a panel of floats");
}
#endif

// Scales are any float16: infinite ones and NaN, of whose bits only that they are NaN is defined, zeros and subnormal ones too.
bool check_groups(attend_test::Random& random) {
  using namespace attend;
  const int groups = random.between(1, 4), outputs = random.between(1, 16), kind = random.between(0, 3);
  const int stride = groups + random.between(0, 2);
  const bool panel = random.between(0, 1) != 0;
  // In some calls an input is infinite or NaN, which a weight of 0 makes NaN as well.
  for (int i = 0; i < 32 * groups; ++i) {
    const bool is_finite = kind != 3 || random.between(0, 63) != 0;
    a[i] = is_finite ? few_digits(random, kind % 3) : random.between(0, 3) != 0 ? -__builtin_inff() : __builtin_nanf("");
  }
  auto* const rows = reinterpret_cast<core::Int4Group*>(b) + random.between(0, 1);  // even addresses
  static core::Int4Panel packed[4];
  for (int o = 0; o < outputs; ++o) {
    for (int g = 0; g < groups; ++g) {
      core::Int4Group& group = rows[o * stride + g];
      const int scale = random.between(0, 9);
      const uint32_t bits = scale == 0   ? 0x7c00u
                            : scale == 1 ? 0x8000u
                            : scale == 2 ? 0x0013u
                                         : uint32_t(random.between(0, 0xffff));
      group.scale[0] = uint8_t(bits & 255), group.scale[1] = uint8_t(bits >> 8);
      for (uint8_t& byte : group.numbers) byte = uint8_t(random.between(0, 255));
      core::put_int4_group(group, o, packed[g]);
    }
  }
  begin_outputs();
  for (int o = 0; o < outputs; ++o) {
    for (int chain = 0; chain < 2 * groups; ++chain) {
      const core::Int4Group& group = rows[o * stride + chain / 2];
      const uint16_t half = uint16_t(group.scale[0] | group.scale[1] << 8);
      const float scale = (half & 0x7c00) == 0x7c00 ? __builtin_nanf("") : widen(Half{half});
      float sum = 0.0f;
      for (int i = 0; i < 16; ++i) {
        const int number = (group.numbers[i] >> 4 * (chain % 2) & 15) - 8;
        sum = fused_multiply_add(a[16 * chain + i], product(float(number), scale), sum);
      }
      add_chain(o, sum, chain == 0);
    }
  }
  Isa::outputs_of_groups({a, panel ? packed : nullptr, rows, stride, groups, outputs, found});
  for (int i = 0; i < width; ++i) {
    if (found[i] != found[i] && expected[i] != expected[i]) found[i] = expected[i];
  }
  return same_outputs(panel ? "a panel of groups of 4 bits" : "rows of groups of 4 bits");
}

#if ATTEND_SOFT_FLOAT
bool check_multiply_add(attend_test::Random& random) {
  for (int i = 0; i < 256; ++i) {
    const attend_test::Numbers n = attend_test::draw(random, i % 8);
    const float addends[] = {n.c, 0.0f};
    for (const float addend : addends) {
      const float sum = attend::soft_fma(n.a, n.b, addend), exact = attend::software_fma(n.a, n.b, addend);
      const uint32_t apart = attend_test::bits_of(sum) ^ attend_test::bits_of(exact);
      const bool are_zero = attend::magnitude(sum) == 0 && attend::magnitude(exact) == 0;
      if (apart == 0 || are_zero || (sum != sum && exact != exact)) continue;
      firmware::print("a multiply-add in software is not rounded as defined\n");
      return false;
    }
  }
  return true;
}
#endif

}  // namespace

int firmware::run() {
  attend_test::Random random(1);
  int passed = 0, failed = 0;
  for (int i = 0; i < 1000 && failed < 10; ++i) {
#if ATTEND_VFP && !ATTEND_HELIUM
    ++(check_panel(random) ? passed : failed);
#endif
    ++(check_groups(random) ? passed : failed);
#if ATTEND_SOFT_FLOAT
    ++(check_multiply_add(random) ? passed : failed);
#endif
  }
  print_number(uint64_t(passed));
  print(" cases passed, ");
  print_number(uint64_t(failed));
  print(" failed\n");
  return failed == 0 ? 0 : 1;
}
