// A team computes the parts of a call on threads: the bits of one thread, the first refusal, and barriers.
#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "attend/hosted/threads.h"
#include "../support/random.h"
#include "../support/rounds.h"
#include "attend/attend.h"

using attend::Part;
using attend::Status;
using attend::Team;

namespace {

struct Shape {
  static constexpr int query_heads = 6, kv_heads = 2, head_dim = 24;
};
constexpr int tokens = 90;

}  // namespace

TEST_CASE("threads: a team's parts have the bits of one thread, run after run") {
  attend_test::Random random(1);
  auto query = std::make_unique<attend::Query<Shape, tokens>>();
  auto key = std::make_unique<attend::Key<Shape, tokens>>();
  auto value = std::make_unique<attend::Value<Shape, tokens>>();
  random.fill(query->data[0][0], sizeof *query / sizeof(float));
  random.fill(key->data[0][0], sizeof *key / sizeof(float));
  random.fill(value->data[0][0], sizeof *value / sizeof(float));
  auto expected = std::make_unique<attend::Output<Shape, tokens>>(), output = std::make_unique<attend::Output<Shape, tokens>>();
  std::vector<attend::Workspace<Shape, tokens, tokens>> work(5);
  REQUIRE(attend::attention(*query, *key, *value, *expected, work[0], attend::causal()) == Status::ok);
  for (const int threads : {1, 2, 5}) {
    Team team(threads);
    CHECK(team.count() == threads);
    for (int run = 0; run < attend_test::rounds(50); ++run) {
      std::memset(static_cast<void*>(output.get()), 0xff, sizeof *output);
      const Status status = team.run([&](Part part) {
        return attend::attention(*query, *key, *value, *output, work[std::size_t(part.index)], attend::causal(), part);
      });
      CHECK(status == Status::ok);
      CHECK(std::memcmp(output.get(), expected.get(), sizeof *output) == 0);
    }
  }
}

TEST_CASE("threads: the refusal of one part is the answer, and no thread passes a barrier before all have come") {
  Team team(4);
  CHECK(team.run([](Part part) { return part.index == 2 ? Status::bad_part : Status::ok; }) == Status::bad_part);
  CHECK(team.run([](Part) { return Status::ok; }) == Status::ok);
  std::atomic<int> came{0};
  std::atomic<bool> early{false};
  CHECK(team.run([&](Part part) {
    for (int round = 1; round <= 200; ++round) {
      ++came;
      team.meet();
      if (came < 4 * round) early = true;
      team.meet();
    }
    return part.count == 4 ? Status::ok : Status::bad_part;
  }) == Status::ok);
  CHECK(came == 800);
  CHECK_FALSE(early);
  CHECK(Team(0).count() == 1);
}
