// Nothing outside of arrays is read or written: rows of digests.inc, random combinations of options and projections in
// integers, each of their arrays in its turn flush against memory that may not be touched, behind it and before it. That is
// closed by the memory protection unit of a Cortex-M or a RISC-V processor, and a touch is a fault, which ends the program.
// With the arguments `over` and `under` the library itself reads an array there, and then one float behind it or before it.
// Rows are those that take few bytes.
#include "attend/layers/core_layer.h"
#include "digest_test.h"
#include "option_test.h"

namespace {

constexpr size_t closed = 4096, room = 4 * closed;  // regions are as large as their alignment
alignas(closed) char memory[closed + room + closed];
char *const begin = memory + closed, *const end = begin + room;

#if defined(__riscv)
void close(const char* before, const char* behind) {
  constexpr uintptr_t all_of_it = closed / 8 - 1, locked_power_of_two = 0x98;
  __asm__ volatile(
      ".option push\n"
      ".option arch, +zicsr\n"
      "csrw pmpaddr1, %0\n"
      "csrw pmpaddr2, %1\n"
      "csrs pmpcfg0, %2\n"
      ".option pop\n"
      :
      : "r"(reinterpret_cast<uintptr_t>(before) >> 2 | all_of_it), "r"(reinterpret_cast<uintptr_t>(behind) >> 2 | all_of_it),
        "r"(locked_power_of_two << 8 | locked_power_of_two << 16));
}
#else
void close(const char* before, const char* behind) {
  // Its registers: type, control, number of a region, base, size or limit.
  volatile uint32_t* const unit = reinterpret_cast<volatile uint32_t*>(0xe000ed90);
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t base = uint32_t(reinterpret_cast<uintptr_t>(i < 2 ? before : behind));
    unit[2] = 1 + i;
    unit[3] = base;
#if __ARM_ARCH < 8
    unit[4] = 11 << 1 | 1;  // nobody may touch it
#else
    unit[4] = base + closed - 32 + 1;  // what lies in two regions faults
#endif
  }
  unit[1] = 4 | 1;
  __asm__ volatile("dsb\n\tisb" : : : "memory");
}
#endif

// compute() gives its expected value wherever one of the arrays lies.
template <class Compute>
void check(firmware::Counts& counts, const char* what, int number, Compute compute) {
  attend_test::Border at = {begin, end, false, 0, 0};
  for (int turn = 0; turn < 2; ++turn) {
    at.behind = turn == 0;
    for (at.array = 0; at.array == 0 || at.taken > at.array; ++at.array) {
      at.taken = 0;
      __builtin_memset(begin, 0xff, room);
      attend_test::border = &at;
      const bool right = compute() && at.taken > 0;
      attend_test::border = nullptr;
      counts.count(right);
      if (right) continue;
      firmware::print(what);
      firmware::print_number(uint64_t(number));
      firmware::print(at.behind ? ", behind array " : ", before array ");
      firmware::print_number(uint64_t(at.array));
      firmware::print("\n");
    }
  }
}

// What takes little memory, and so little time.
constexpr size_t most_bytes = ATTEND_SOFT_FLOAT ? 8000 : 16000;

template <class Case>
void check_rows(const firmware::Memory& free, firmware::Counts& counts) {
  bool any = false;
  for (const auto& digest : attend_test::digests<Case>) {
    const size_t bytes = attend_test::digest_bytes(digest.c);
    if (bytes > most_bytes || !attend_test::has_digest(digest.c)) continue;
    any = true;
    check(counts, "digests.inc:", digest.line, [&] {
      __builtin_memset(free.floats, 0xff, bytes);
      return attend_test::compute_digest(digest.c, free.floats) == digest.value;
    });
  }
  counts.count(any);
}

void test_borders(const firmware::Memory& free, firmware::Counts& counts) {
  using namespace attend_test;
  check_rows<PlainCase>(free, counts);
  check_rows<IntegerCase>(free, counts);
  check_rows<LinearAttentionCase>(free, counts);
  check_rows<LinearIntegerCase>(free, counts);
  check_rows<ConvolutionCase>(free, counts);
  check_rows<IntegerConvolutionCase>(free, counts);
  bool any = false;
  for (const auto& digest : digests<ProjectionCase>) {
    for (const LinearDigestWay& way : linear_digest_ways) {
      if (digest_bytes(digest.c) > most_bytes) continue;
      any = true;
      check(counts, "digests.inc:", digest.line, [&] { return compute_digest(digest.c, way, free.floats) == digest.value; });
    }
  }
  counts.count(any);
  const auto check_options = [&](const OptionCase& c, int number) {
    const uint64_t expected = compute_digest(c, free.floats);
    check(counts, "options, ", number, [&] { return compute_digest(c, free.floats) == expected; });
  };
  for (int number = 0; number < combination_count; ++number) {
    const OptionCase ways[] = {Combination(number).drawn(), Combination(number).other_way()};
    for (const OptionCase& c : ways) {
      if (digest_bytes(c) <= most_bytes) check_options(c, number);
    }
  }
  // What combinations have not.
  const OptionCase small = problem().tokens(3, 20, 17).dims(7, 5).rows(1);
  check_options(small.tokens(2, 9, 7).dims(32, 32).keys_in(int4, int4).cached(), 1001);
  check_options(small.both_ways().chunks(8), 1002);
  check_options(small.tokens(9, 9, 0).documents(4), 1003);
  for (const ProjectionShape& of : projection_shapes) {
    check(counts, "a projection in integers of inputs ", of.inputs, [&] {
      Random random(1);
      return is_projected(of, random, free.floats);
    });
  }
}

}  // namespace

int firmware::run() {
  close(memory, end);
  char argument[16];
  if (!read_arguments(argument, sizeof argument)) return 1;
  if (argument[0] != '\0') {
    const bool is_under = argument[0] == 'u';
    float* const at = reinterpret_cast<float*>(is_under ? begin : end - 16);
    float sums[4] = {};
    attend::core::add(at, 1.0f, 4, sums);
    firmware::print("within\n");
    attend::core::add(is_under ? at - 1 : at + 1, 1.0f, 4, sums);
  }
  return run_tests("borders", test_borders);
}
