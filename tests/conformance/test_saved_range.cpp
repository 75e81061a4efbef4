// Saved states of scores, values and sinks that lie as far apart as floats allow: finish gives the bits that it gives without
// saving, and the bytes are the same on every target. ATTEND_SAVED_STATES= is how many random states are tried.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "../support/instance.h"
#include "../support/rounds.h"
#include "hash.h"
#include "saved_range.h"

using namespace attend_test;
using namespace attend_test::saved_range;

namespace {

int state_count() {
  const char* const asked = std::getenv("ATTEND_SAVED_STATES");
  return asked != nullptr ? std::atoi(asked) : rounds(600);
}

}  // namespace

TEST_CASE("saved states of any range: finish has the bits that it has without saving, on the way and at the end") {
  const int states = state_count();
  std::vector<Bytes> expected;
  for_each_backend([&](const char* backend) {
    int other = 0, again = 0, travelled = 0, call = 0, on_the_way = 0, merged = 0, other_bytes = 0;
    for (int number = 0; number < states; ++number) {
      RangeCase of{std::uint64_t(number)};
      const RangeCase::State state = of.through(0, of.keys, false);
      const Floats results = of.finish(state);
      const Bytes bytes = of.saved(state);
      const RangeCase::State loaded = of.loaded(bytes);
      other += !same_results(results, of.finish(loaded));
      again += of.saved(loaded) != bytes;
      if (int(expected.size()) == number) expected.push_back(bytes);
      if (of.is_clear()) other_bytes += bytes != expected[std::size_t(number)];
      RangeCase stays{std::uint64_t(number)}, travels{std::uint64_t(number)};  // the same calls
      const RangeCase::State stayed = stays.through(0, of.keys, false);
      travelled += !same_results(stays.finish(stayed), travels.finish(travels.through(0, of.keys, true)));
      if (!of.is_ordinary()) continue;
      call += !same_where_finite(results, of.one_call());
      on_the_way += !same_where_finite(results, of.finish(of.through(0, of.keys, true)));
      merged += !same_where_finite(results, of.finish(of.in_pieces()));
    }
    INFO(std::string(backend), ", ", states, " states");
    CHECK(other == 0);
    CHECK(again == 0);
    CHECK(travelled == 0);
    CHECK(call == 0);
    CHECK(on_the_way == 0);
    CHECK(merged == 0);
    CHECK(other_bytes == 0);
  });
}

TEST_CASE("saved states of any range: the bytes are the same on every target") {
  for_each_backend([&](const char* backend) {
    std::uint64_t hash = hash_begin;
    for (int number = 0; number < 60; ++number) {
      RangeCase of{std::uint64_t(number)};
      if (!of.is_clear()) continue;
      for (const std::uint8_t byte : of.saved(of.in_pieces())) hash = hash_number(hash, byte, 1);
    }
    CHECK_MESSAGE(hash == 0xb110622869d92a01u, std::string(backend));
  });
}
