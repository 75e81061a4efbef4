// The committed digests, on every backend. What differs is printed as it would stand in digests.inc.
#include <doctest/doctest.h>

#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "digest.h"
#include "linear_digest.h"
#include "option_combinations.h"

using namespace attend_test;

TEST_CASE("committed digests") {
  for_each_backend([](const char* backend) {
    for (const DigestCase& c : digest_cases) {
      std::vector<float> memory = poison(digest_floats(c));
      const std::uint64_t digest = compute_digest(c, memory.data());
      char line[200];
      std::snprintf(line, sizeof line, "DIGEST(%d, %d, %3d, %3d, %4d, %4d, %d, %4d, %af, %af, %d, 0x%016" PRIx64 ")",
                    c.query_heads, c.kv_heads, c.head_dim, c.value_dim, c.queries, c.keys, int(c.causal), c.offset,
                    double(c.scale), double(c.spread), int(c.cache), digest);
      CHECK_MESSAGE(digest == c.digest, std::string(backend), " ", std::string(line));
    }
  });
}

TEST_CASE("committed digests of projections") {
  const char* const names[] = {"float32", "float16", "bfloat16", "int8"};
  for_each_backend([&](const char* backend) {
    for (const LinearDigest& c : linear_digests) {
      for (const LinearDigestWay& way : linear_digest_ways) {
        std::vector<float> memory = poison(linear_digest_floats(c));
        const std::uint64_t digest = compute_linear_digest(c, way, memory.data());
        char line[200];
        std::snprintf(line, sizeof line, "{%d, %3d, %2d, attend::core::Format::%s, %s, 0x%016" PRIx64 "},", c.tokens, c.inputs,
                      c.outputs, names[int(c.format)], c.bias ? "true" : "false", digest);
        CHECK_MESSAGE(digest == c.digest, std::string(backend), " ", std::string(line));
      }
    }
  });
}

TEST_CASE("committed digests of options") {
  for_each_backend([](const char* backend) {
    for (const OptionDigest& d : option_digests) {
      std::vector<float> memory = poison(option_digest_floats(d.c));
      const std::uint64_t digest = compute_option_digest(d.c, memory.data());
      char line[300];
      std::snprintf(line, sizeof line, "OPTION_DIGEST(%s, 0x%016" PRIx64 ")", d.text, digest);
      CHECK_MESSAGE(digest == d.digest, std::string(backend), " ", std::string(line));
    }
  });
}

TEST_CASE("digests of options: 200 random combinations have the committed hash, in two ways and with poison where none sees") {
  std::vector<float> memory(1 << 17);
  for_each_backend([&](const char* backend) {
    int number = 0;
    const std::uint64_t hash = hash_combinations(memory.data(), memory.size(), number);
    char text[100];
    std::snprintf(text, sizeof text, "0x%016" PRIx64 ", combination %d", hash, number);
    CHECK_MESSAGE(hash == combinations_hash, std::string(backend), " ", std::string(text));
  });
}
