// Integer attention keeps to its error bound: 1.5 steps of the output, and 0.35 root mean square, of which the output's own
// rounding is 0.29; outputs of 16 bits, which show what attention itself errs by, to 0.1.
#include <doctest/doctest.h>

#include "../support/instance.h"
#include "integer_error.h"

using namespace attend_test;

TEST_CASE("integer attention keeps to its error bound, of normal and heavy-tailed numbers") {
  double worst = 0.0;
  for_each_integer_error_case([&](const IntegerErrorCase& c) {
    const IntegerErrorRun run(c);
    const IntegerError error = run.error(), wide = run.wide_error();
    CHECK_MESSAGE(error.worst <= 1.5, "heavy-tailed ", c.heavy_tailed, " keys ", c.keys, " head_dim ", c.head_dim);
    CHECK_MESSAGE(error.root_mean_square <= 0.35, "heavy-tailed ", c.heavy_tailed, " keys ", c.keys, " head_dim ", c.head_dim);
    CHECK_MESSAGE(wide.root_mean_square <= 0.1, "16-bit outputs, heavy-tailed ", c.heavy_tailed, " keys ", c.keys, " head_dim ",
                  c.head_dim);
    worst = std::max(worst, error.worst);
  });
  CHECK(worst > 0.4);  // or it was not measured: outputs are rounded
}
