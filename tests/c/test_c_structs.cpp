// What the C surface takes rather than refuses: structs of newer headers, and outputs in any order of axes.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <set>
#include <vector>

#include "../support/instance.h"
#include "refusals_random_world.h"

using namespace attend_test;

TEST_CASE("c surface: errors keep their numbers") {
  constexpr attend_error errors[] = {
      ATTEND_OK,       ATTEND_MISSING,  ATTEND_UNALIGNED, ATTEND_OUT_OF_RANGE,    ATTEND_UNKNOWN,   ATTEND_TOO_LARGE, ATTEND_TOO_SMALL,
      ATTEND_OVERLAP,  ATTEND_CONFLICT, ATTEND_MISMATCH,  ATTEND_SHARED_ELEMENTS, ATTEND_AMBIGUOUS, ATTEND_NO_EFFECT, ATTEND_CORRUPT,
      ATTEND_FULL,     ATTEND_LOST,     ATTEND_WRONG_SIZE, ATTEND_NEWER,          ATTEND_UNAVAILABLE, ATTEND_OTHER_BITS};
  int number = 0;
  for (const attend_error error : errors) CHECK(int(error) == number++);
}

TEST_CASE("c surface: a struct from a newer header is taken as long as its new fields are zero") {
  RandomWorld world;
  Random random(5);
  for (int more = 1; more <= 64; ++more) {
    world.good(random, false);
    world.p.size += std::size_t(more);
    CHECK(attend_check(world.passed) == ATTEND_OK);
    CHECK(attend_run(world.passed, world.work, world.work_size) == ATTEND_OK);
    static_cast<unsigned char*>(static_cast<void*>(world.passed))[world.p.size - 1] = 1;
    CHECK(attend_check(world.passed) == wrong(ATTEND_NEWER, ATTEND_ARG_SIZE));
  }
  struct {
    attend_problem known;
    std::ptrdiff_t more[4];
  } newer;
  std::memset(static_cast<void*>(&newer), 0xff, sizeof newer);
  CHECK(attend_problem_init(&newer.known, sizeof newer) == ATTEND_OK);
  for (const std::ptrdiff_t field : newer.more) CHECK(field == 0);
  CHECK(newer.known.size == sizeof newer);
}

TEST_CASE("c surface: output strides are taken exactly where elements visibly lie apart") {
  Random random(6);
  std::vector<float> memory(4096);
  int taken = 0, refused = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    attend_problem p;
    attend_problem_init(&p, sizeof p);
    p.batch = random.between(1, 3), p.kv_heads = 1, p.query_heads = random.between(1, 3), p.queries = random.between(1, 3);
    p.head_dim = 1, p.value_dim = random.between(1, 3), p.keys = 0;
    p.query.data = memory.data();
    p.output.data = memory.data() + 2048;
    const int most = random.between(1, 40);
    p.output.batch_stride = random.between(-most, most);
    p.output.token_stride = random.between(-most, most);
    p.output.head_stride = random.between(-most, most);
    std::set<std::ptrdiff_t> places;
    for (std::ptrdiff_t b = 0; b < p.batch; ++b)
      for (std::ptrdiff_t t = 0; t < p.queries; ++t)
        for (std::ptrdiff_t h = 0; h < p.query_heads; ++h)
          for (std::ptrdiff_t c = 0; c < p.value_dim; ++c)
            places.insert(b * p.output.batch_stride + t * p.output.token_stride + h * p.output.head_stride + c);
    const bool apart = std::ptrdiff_t(places.size()) == p.batch * p.queries * p.query_heads * p.value_dim;
    const attend_status status = attend_check(&p);
    REQUIRE((status == ATTEND_OK || status == wrong(ATTEND_SHARED_ELEMENTS, ATTEND_ARG_OUTPUT)));
    if (status == ATTEND_OK) REQUIRE(apart);
    status == ATTEND_OK ? ++taken : ++refused;
  }
  CHECK(taken > 2000);
  CHECK(refused > 2000);
}
