// The committed digests, those of options apart, as far as memory holds them, with one backend, and projections and sums in
// integers beside their definition.
#pragma once

#include "../conformance/integer_projection.h"
#include "../conformance/integer_sum.h"
#include "digest_checks.h"

namespace firmware {

inline void test_digests(const Memory& memory, Counts& counts) {
  check_digests<attend_test::ProjectionCase>(memory, counts);
  check_digests<attend_test::LayerCase>(memory, counts);
  check_digests<attend_test::LinearAttentionCase>(memory, counts);
  check_digests<attend_test::LinearIntegerCase>(memory, counts);
  check_digests<attend_test::ConvolutionCase>(memory, counts);
  check_digests<attend_test::IntegerConvolutionCase>(memory, counts);
  check_digests<attend_test::SavedCase<attend_test::OptionCase>>(memory, counts);
  check_digests<attend_test::SavedCase<attend_test::IntegerCase>>(memory, counts);
  check_digests<attend_test::SubnormalCase>(memory, counts);
  check_digests<attend_test::PlainCase>(memory, counts);
  check_digests<attend_test::IntegerCase>(memory, counts);
  attend_test::Random random(1);
  for (const attend_test::ProjectionShape& of : attend_test::projection_shapes) {
    if (!counts.has(memory, projection_bytes(of))) continue;
    const bool right = is_projected(of, random, memory.floats);
    counts.count(right);
    if (right) continue;
    print("a projection in integers of ");
    print_number(uint64_t(of.inputs));
    print(" inputs is wrong\n");
  }
  const bool sums_right = attend_test::are_added(random);
  counts.count(sums_right);
  if (!sums_right) print("a sum in integers is wrong\n");
}

}  // namespace firmware
