// Computes the committed digests, those of attention as far as memory holds them, with one backend, and projections and sums in
// integers beside their definition.
#include "../conformance/integer_projection.h"
#include "../conformance/integer_sum.h"
#include "digest_checks.h"

int firmware::run() {
  const Memory memory = free_memory();
  Counts counts;
  counts.check<attend_test::ProjectionCase>(memory);
  counts.check<attend_test::LayerCase>(memory);
  counts.check<attend_test::SavedCase<attend_test::OptionCase>>(memory);
  counts.check<attend_test::SavedCase<attend_test::IntegerCase>>(memory);
  counts.check<attend_test::SubnormalCase>(memory);
  counts.failed += counts.left_out, counts.left_out = 0;  // there must be memory for these
  counts.check<attend_test::PlainCase>(memory);
  counts.check<attend_test::IntegerCase>(memory);
  attend_test::Random random(1);
  for (const attend_test::ProjectionShape& of : attend_test::projection_shapes) {
    const bool right = projection_bytes(of) <= memory.count * sizeof(float) && is_projected(of, random, memory.floats);
    counts.count(right);
    if (right) continue;
    print("a projection in integers of ");
    print_number(uint64_t(of.inputs));
    print(" inputs is wrong\n");
  }
  const bool sums_right = attend_test::are_added(random);
  counts.count(sums_right);
  if (!sums_right) print("a sum in integers is wrong\n");
  counts.print_all("");
  print("\n");
  return counts.failed == 0 && counts.passed > 0 ? 0 : 1;
}
