// The stated errors of caches in other formats; accuracy.cpp prints them.
#include <doctest/doctest.h>

#include "format_error.h"

using attend::core::Format;

TEST_CASE("errors of caches in other formats stay within the stated bounds") {
  for (const int head_dim : {32, 64, 128}) {
    for (const int keys : {64, 256, 1024, 4096}) {
      const attend_test::FormatError error(head_dim, keys, 1);
      CAPTURE(head_dim);
      CAPTURE(keys);
      CHECK(error.largest(Format::int8, Format::int8) <= attend_test::int8_error_bound);
      CHECK(error.largest(Format::int8, Format::float16) <= attend_test::int8_error_bound);
      CHECK(error.largest(Format::bfloat16, Format::bfloat16) <= attend_test::bfloat16_error_bound);
      CHECK(error.largest(Format::float16, Format::float16) <= attend_test::float16_error_bound);
      CHECK(error.largest(Format::float32, Format::float32) == 0.0);
      CHECK(error.largest(Format::float32, Format::float32, true) < 1e-6);
      for (const bool rotated : {false, true}) {
        CHECK(error.largest(Format::int4, Format::int4, rotated) <= attend_test::int4_error_bound);
        CHECK(error.largest(Format::int4, Format::int8, rotated) <= attend_test::int4_error_bound);
      }
      const attend_test::FormatError outliers(head_dim, keys, 1, true);
      const auto plain = outliers.errors(Format::int4, Format::float32), spread = outliers.errors(Format::int4, Format::float32, true);
      CHECK(spread.largest <= attend_test::int4_error_bound);
      CHECK(spread.mean < 0.7 * plain.mean);
    }
  }
}
