// The kernels beside float64, their bits, and what they refuse. Prints a line for each check, and a digest of all outputs,
// which other processors must have too: kernels_test [COUNT of random problems].
#include "checks.h"

using namespace kernels;

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 300;
  check(stub::kernels().size() == 5, "five kernels are registered");
  random_problems(count);
  quantised_problems(count / 3);
  stub::threads = 1;
  bits();
  small_numbers();
  caches();
  refusals();
  stub::threads = 1;
  hostile(500 + 8 * count);
  little_memory();
  std::printf("digest %016llx\n", static_cast<unsigned long long>(digest));
  return 0;
}
