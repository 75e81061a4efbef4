// What the known floating-point environment costs a call on this machine, beside a call that does nothing: in ticks of the
// processor's clock, where it has one that programs read, and in nanoseconds. In turns, the least of many.
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "../../src/backend/list.h"

namespace {

constexpr int calls = 2000, rounds = 2000;

#if ATTEND_X86
constexpr unsigned another_rounding = 0x6000;
#elif defined(__aarch64__) || defined(__arm__)
constexpr unsigned another_rounding = 0x00400000;
#else
constexpr unsigned another_rounding = 1;
#endif

__attribute__((noinline)) void nothing(const int& number) { __asm__ volatile("" : : "r"(&number) : "memory"); }
__attribute__((noinline)) void plain(const int& number) { nothing(number); }
__attribute__((noinline)) void guarded(const int& number) { attend::core::in_float_environment(nothing, number); }

double clock_now() {
#if ATTEND_X86
  return double(__builtin_ia32_rdtsc());
#else
  return 0;
#endif
}

struct Time {
  double ticks = 1e30, nanoseconds = 1e30;

  template <class Call>
  void take(const Call& call) {
    const auto begin = std::chrono::steady_clock::now();
    const double first = clock_now();
    for (int i = 0; i < calls; ++i) call(i);
    const double passed = (clock_now() - first) / calls;
    const double time = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / calls;
    if (passed < ticks) ticks = passed;
    if (time < nanoseconds) nanoseconds = time;
  }
};

void print(const char* what, const Time& with, const Time& without) {
  std::printf("| %-45s | %5.1f | %4.1f |\n", what, with.ticks - without.ticks, with.nanoseconds - without.nanoseconds);
}

}  // namespace

int main() {
  Time without, usual, other;
  for (int round = 0; round < rounds; ++round) {
    without.take(plain);
    usual.take(guarded);
#if ATTEND_FLOAT_CONTROL
    using Control = attend::core::FloatControl;
    const Control::Word before = Control::read();
    Control::write(before ^ another_rounding);
    other.take(guarded);
    Control::write(before);
#endif
  }
  std::printf("| caller's environment | ticks a call | ns |\n| --- | --- | --- |\n");
  print("the usual one, which is read", usual, without);
#if ATTEND_FLOAT_CONTROL
  print("another rounding mode, which is set and restored", other, without);
#endif
}
