// The committed digests, on every backend. What differs is printed as it would stand in digests.inc.
#include <doctest/doctest.h>

#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "../support/instance.h"
#include "../support/rounds.h"
#include "digest_text.h"
#include "option_combinations.h"

using namespace attend_test;

namespace {

template <class Case>
void check_digest(const char* backend, const Digest<Case>& d, const FloatEnvironment& environment) {
  std::vector<unsigned char> memory(digest_bytes(d.c) + 64, 0xff);
  void* aligned = memory.data();
  std::size_t room = memory.size();
  void* const begin = std::align(64, room - 63, aligned, room);
  std::uint64_t found = 0;
  const bool kept = in_environment(environment, [&] { found = compute_digest(d.c, begin); });
  char line[400];
  std::snprintf(line, sizeof line, "DIGEST(%s, 0x%016" PRIx64 ")", digest_text(d.line), found);
  CHECK_MESSAGE(found == d.value, std::string(backend), " ", std::string(environment.name), " ", std::string(line));
  CHECK_MESSAGE(kept, std::string(backend), " does not restore ", std::string(environment.name));
}

template <class Case>
void check_digests() {
  for_each_backend([&](const char* backend) {
    for (const Digest<Case>& d : digests<Case>) {
      if (has_digest(d.c)) check_digest(backend, d, float_environments[0]);
    }
  });
}

// Each digest in every other environment; of those, one of so many where rounds are few.
template <class Case>
void check_digests_elsewhere() {
  int pair = 0;
  for_each_backend([&](const char* backend) {
    for (const Digest<Case>& d : digests<Case>) {
      for (int i = 1; i < float_environment_count && has_digest(d.c); ++i) {
        if (pair++ % stride() == 0) check_digest(backend, d, float_environments[i]);
      }
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
TEST_CASE("committed digests of linear attention") { check_digests<LinearAttentionCase>(); }
TEST_CASE("committed digests of linear attention in integers") { check_digests<LinearIntegerCase>(); }
TEST_CASE("committed digests of causal convolutions") { check_digests<ConvolutionCase>(); }
TEST_CASE("committed digests of causal convolutions in integers") { check_digests<IntegerConvolutionCase>(); }

TEST_CASE("committed digests of subnormal numbers") { check_digests<SubnormalCase>(); }

TEST_CASE("digests whatever the caller's floating-point environment is") {
  check_digests_elsewhere<PlainCase>();
  check_digests_elsewhere<OptionCase>();
  check_digests_elsewhere<ProjectionCase>();
  check_digests_elsewhere<IntegerCase>();
  check_digests_elsewhere<SavedCase<OptionCase>>();
  check_digests_elsewhere<SavedCase<IntegerCase>>();
  check_digests_elsewhere<LayerCase>();
  check_digests_elsewhere<LinearAttentionCase>();
  check_digests_elsewhere<LinearIntegerCase>();
  check_digests_elsewhere<ConvolutionCase>();
  check_digests_elsewhere<IntegerConvolutionCase>();
  check_digests_elsewhere<SubnormalCase>();
}

TEST_CASE(
    "digests of options: 200 random combinations have the committed hashes, in two ways and with poison where none sees") {
  std::vector<float> memory(1 << 17);
  for_each_backend([&](const char* backend) {
    for (int size = 0; size < combination_sizes; ++size) {
      REQUIRE(combination_bytes(size) <= memory.size() * sizeof(float));
      int number = 0;
      const std::uint64_t hash = hash_combinations(size, memory.data(), number);
      char text[100];
      std::snprintf(text, sizeof text, "size %d: 0x%016" PRIx64 ", combination %d", size, hash, number);
      CHECK_MESSAGE(hash == combination_hashes[size], std::string(backend), " ", std::string(text));
    }
  });
}
