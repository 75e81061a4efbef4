// The committed digests, on every backend. What differs is printed as it would stand in digests.inc.
#include <doctest/doctest.h>

#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "digest.h"

using namespace attend_test;

TEST_CASE("committed digests") {
  for_each_backend([](const char* backend) {
    for (const DigestCase& c : digest_cases) {
      std::vector<float> memory = poison(digest_floats(c));
      const std::uint64_t digest = compute_digest(c, memory.data());
      char line[200];
      std::snprintf(line, sizeof line, "{%d, %d, %3d, %3d, %4d, %4d, %d, %4d, %af, %af, %d, 0x%016" PRIx64 "},", c.query_heads,
                    c.kv_heads, c.head_dim, c.value_dim, c.queries, c.keys, int(c.causal), c.offset, double(c.scale),
                    double(c.spread), int(c.cache), digest);
      CHECK_MESSAGE(digest == c.digest, std::string(backend), " ", std::string(line));
    }
  });
}
