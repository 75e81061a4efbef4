// The largest error of each activation over all 2^32 floats, with two threads: every_float [NAME…]. Some minutes each.
#include <cstdio>
#include <cstring>
#include <thread>

#include "../../../tests/conformance/activation_error.h"

using namespace attend_test;

namespace {

bool is_wanted(const char* name, int count, char** names) {
  for (int i = 0; i < count; ++i) {
    if (std::strcmp(name, names[i]) == 0) return true;
  }
  return count == 0;
}

WorstError worst_of_all(const ActivationCase& c) {
  WorstError halves[2];
  const auto positive = [&] { halves[0] = worst_error(c, 0, std::uint64_t(1) << 31, 1); };
  std::thread other(positive);
  halves[1] = worst_error(c, std::uint64_t(1) << 31, std::uint64_t(1) << 32, 1);
  other.join();
  return halves[halves[0].ulps < halves[1].ulps];
}

}  // namespace

int main(int argc, char** argv) {
  bool passed = true;
  for (const ActivationCase& c : activation_cases) {
    if (!is_wanted(c.name, argc - 1, argv + 1)) continue;
    const WorstError worst = worst_of_all(c);
    std::printf("%-10s %.3f ulp at %a, at most %.2f\n", c.name, worst.ulps, double(worst.at), c.ulps);
    std::fflush(stdout);
    passed = passed && worst.ulps <= c.ulps;
  }
  return passed ? 0 : 1;
}
