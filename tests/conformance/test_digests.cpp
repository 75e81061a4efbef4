// The committed digests, on every backend. What differs is printed as it would stand in digests.inc.
#include <doctest/doctest.h>

#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "digest.h"
#include "option_combinations.h"

using namespace attend_test;

namespace {

template <class Case>
void check_digests() {
  for_each_backend([](const char* backend) {
    for (const Digest<Case>& d : digests<Case>) {
      std::vector<unsigned char> memory(digest_bytes(d.c) + 64, 0xff);
      void* aligned = memory.data();
      std::size_t room = memory.size();
      const std::uint64_t found = compute_digest(d.c, std::align(64, room - 63, aligned, room));
      char line[400];
      std::snprintf(line, sizeof line, "DIGEST(%s, 0x%016" PRIx64 ")", digest_text(d.line), found);
      CHECK_MESSAGE(found == d.value, std::string(backend), " ", std::string(line));
    }
  });
}

}  // namespace

TEST_CASE("committed digests") { check_digests<PlainCase>(); }
TEST_CASE("committed digests of options") { check_digests<OptionCase>(); }
TEST_CASE("committed digests of projections") { check_digests<ProjectionCase>(); }
TEST_CASE("committed digests of integer attention") { check_digests<IntegerCase>(); }
TEST_CASE("committed digests of saved states") {
  check_digests<SavedCase<OptionCase>>();
  check_digests<SavedCase<IntegerCase>>();
}
TEST_CASE("committed digests of normalisation, activations and rotary positions") { check_digests<LayerCase>(); }

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
