// The committed digests of what stands around attention, on every backend. What differs is printed with its name, for
// layer_digests.inc.
#include <doctest/doctest.h>

#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "layer_digest.h"

using namespace attend_test;

TEST_CASE("committed digests of normalisation, activations and rotary positions") {
  for_each_backend([](const char* backend) {
    for (const LayerDigest& d : layer_digests) {
      std::vector<float> memory = poison(layer_digest_floats);
      char found[40];
      const std::uint64_t digest = d.compute(memory.data());
      std::snprintf(found, sizeof found, "0x%016" PRIx64, digest);
      CHECK_MESSAGE(digest == d.digest, std::string(backend), " ", std::string(d.name), " ", std::string(found));
    }
  });
}
