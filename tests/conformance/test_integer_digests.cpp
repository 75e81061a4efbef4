// The committed digests of integer attention, on every backend. What differs is printed as it would stand in
// integer_digests.inc.
#include <doctest/doctest.h>

#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "integer_digest.h"

using namespace attend_test;

TEST_CASE("committed digests of integer attention") {
  for_each_backend([](const char* backend) {
    for (const IntegerDigest& d : integer_digests) {
      std::vector<char> memory(integer_digest_bytes(d.c) + 64, char(0x5a));
      void* aligned = memory.data();
      std::size_t room = memory.size();
      const std::uint64_t digest = compute_integer_digest(d.c, std::align(64, room - 63, aligned, room));
      char line[400];
      std::snprintf(line, sizeof line, "INTEGER_DIGEST(%s, 0x%016" PRIx64 ")", d.text, digest);
      CHECK_MESSAGE(digest == d.digest, std::string(backend), " ", std::string(line));
    }
  });
}
