// Multi-head layers on threads: the bits of one thread for every kind of call, and what a team is refused for.
#include <doctest/doctest.h>

#include <cstring>
#include <initializer_list>
#include <memory>

#include "attend/hosted/threads.h"
#include "../support/typed_objects.h"
#include "attend/layers.h"
#include "attend/layers/multi_head.h"

using attend::Status;
using attend::Team;
using attend::TeamPart;
using attend::Vectors;
using attend_test::random_floats;
using attend_test::same_array;

namespace {

// More tokens than a layer has under way at a time on any target, and a last block that no number of threads divides.
constexpr int tokens = 211, width = 19, most_threads = 7;

struct Shape {
  static constexpr int query_heads = 6, kv_heads = 2, head_dim = 8, value_dim = 5, max_tokens = 2 * tokens + 8;
};
struct Recent {
  static constexpr int window = 40, tokens_at_once = tokens, sink_tokens = 3;
};

// A layer of several formats, with a bias and both kinds of steps; and arrays for its calls.
struct World {
  World() {
    attend::pack(*random_floats<attend::Weights<10, width>>(2), wv);
    (void)attend::convert(*random_floats<attend::Weights<48, width>>(3), wq);
    REQUIRE(rotary.init() == Status::ok);
  }
  auto layer() const {
    return attend::multi_head<Shape>(attend::biased(wq, bias), *wk, wv, *wo, attend::head_norm(gain, gain),
                                     attend::rotated<attend::RotaryPairs::halves>(rotary));
  }

  std::unique_ptr<attend::Weights<16, width>> wk = random_floats<attend::Weights<16, width>>(1);
  std::unique_ptr<attend::Weights<width, 30>> wo = random_floats<attend::Weights<width, 30>>(4);
  attend::Weights<48, width, attend::int8> wq{};
  attend::PackedWeights<10, width> wv{};
  float bias[48] = {0.5f, -0.25f, 1.0f}, gain[8] = {1, 2, 0.5f, 1, -1, 3, 1, 1};
  attend::Rotary<8> rotary{};
  std::unique_ptr<Vectors<tokens, width>> x = random_floats<Vectors<tokens, width>>(5);
  std::unique_ptr<Vectors<tokens, width>> y = std::make_unique<Vectors<tokens, width>>(),
                                          expected = random_floats<Vectors<tokens, width>>(6);
  std::unique_ptr<attend::LayerWorkspace<Shape, tokens, tokens, attend::with_options, most_threads>> work =
      std::make_unique<attend::LayerWorkspace<Shape, tokens, tokens, attend::with_options, most_threads>>();
};

// A barrier that no refused call comes to.
void fail_to_meet(void* times) { ++*static_cast<int*>(times); }

}  // namespace

TEST_CASE_TEMPLATE("layers on threads have the bits of one: prefill and decode over a cache", Cache, attend::KvCache<Shape>,
                   attend::KvCache<Shape, attend::float16, attend::int8>, attend::RingCache<Shape, Recent>) {
  World world;
  const auto layer = world.layer();
  // A prompt, another one after it that has fewer tokens, and four single tokens.
  const auto sequence = [&](Cache& cache, Vectors<tokens, width>(&y)[2], Vectors<1, width>(&last)[4], const auto& call) {
    REQUIRE(call(*world.x, cache, y[0], attend::Options{}) == Status::ok);
    attend::Options few;
    few.query_length = 100;
    REQUIRE(call(*world.x, cache, y[1], few) == Status::ok);
    for (int t = 0; t < 4; ++t) {
      Vectors<1, width> x;
      std::memcpy(&x, (*world.x)[t], sizeof x);
      REQUIRE(call(x, cache, last[t], attend::Options{}) == Status::ok);
    }
  };
  using Results = Vectors<tokens, width>[2];
  auto y = std::make_unique<Vectors<tokens, width>[]>(4);
  auto& expected = *reinterpret_cast<Results*>(&y[0]);
  auto& found = *reinterpret_cast<Results*>(&y[2]);
  Vectors<1, width> last[4], expected_last[4];
  auto alone = std::make_unique<Cache>();
  sequence(*alone, expected, expected_last, [&](const auto& x, Cache& cache, auto& to, const attend::Options& options) {
    return attend::self_attention(x, layer, cache, to, *world.work, options);
  });
  for (const int threads : {1, 2, 3, 7}) {
    CAPTURE(threads);
    Team team(threads);
    auto cache = std::make_unique<Cache>();
    std::memset(static_cast<void*>(&found), 0, sizeof found);
    sequence(*cache, found, last, [&](const auto& x, Cache& of_call, auto& to, const attend::Options& options) {
      return team.run([&](TeamPart part) { return attend::self_attention(x, layer, of_call, to, *world.work, options, part); });
    });
    CHECK(same_array(found, expected));
    CHECK(same_array(last, expected_last));
    CHECK(cache->length() == alone->length());
    CHECK(same_array(*cache, *alone));
  }
}

TEST_CASE("layers on threads have the bits of one: over arrays, with options and their results, and y in the place of x") {
  World world;
  const auto layer = world.layer();
  auto lse = std::make_unique<attend::Lse<Shape, tokens>>(), expected_lse = std::make_unique<attend::Lse<Shape, tokens>>();
  attend::ScoreOptions<Shape> options;
  options.window_left = 60;
  options.window_right = 3;
  options.soft_cap = 3.0f;
  options.lse = *expected_lse;
  REQUIRE(attend::self_attention(*world.x, layer, *world.expected, *world.work, options) == Status::ok);
  auto expected_plain = std::make_unique<Vectors<tokens, width>>();
  REQUIRE(attend::self_attention(*world.x, layer, *expected_plain, *world.work) == Status::ok);
  options.lse = *lse;
  for (const int threads : {1, 2, 3, 7}) {
    CAPTURE(threads);
    Team team(threads);
    std::memset(static_cast<void*>(lse.get()), 0, sizeof *lse);
    CHECK(team.run([&](TeamPart part) {
      return attend::self_attention(*world.x, layer, *world.y, *world.work, options, part);
    }) == Status::ok);
    CHECK(same_array(*world.y, *world.expected));
    CHECK(same_array(*lse, *expected_lse));
    *world.y = *world.x;
    CHECK(team.run([&](TeamPart part) { return attend::self_attention(*world.y, layer, *world.y, *world.work, part); }) ==
          Status::ok);
    CHECK(same_array(*world.y, *expected_plain));
  }
}

TEST_CASE("layers on threads have the bits of one: cross-attention and its memory") {
  World world;
  const auto layer = world.layer();
  const auto memory = random_floats<Vectors<tokens, width>>(9);
  using Cache = attend::KvCache<Shape, attend::float16, attend::float16>;
  const auto alone = std::make_unique<Cache>();
  REQUIRE(attend::project_memory(*memory, layer, *alone, *world.work, tokens - 5) == Status::ok);
  REQUIRE(attend::cross_attention(*world.x, layer, *alone, *world.expected, *world.work) == Status::ok);
  for (const int threads : {1, 2, 3, 7}) {
    CAPTURE(threads);
    Team team(threads);
    const auto cache = std::make_unique<Cache>();
    CHECK(team.run([&](TeamPart part) {
      const Status status = attend::project_memory(*memory, layer, *cache, *world.work, tokens - 5, part);
      return status == Status::ok ? attend::cross_attention(*world.x, layer, *cache, *world.y, *world.work, part) : status;
    }) == Status::ok);
    CHECK(same_array(*world.y, *world.expected));
    CHECK(same_array(*cache, *alone));
  }
}

TEST_CASE("layers on threads refuse wrong parts, several threads without a barrier or without work memory, and touch nothing") {
  World world;
  const auto layer = world.layer();
  auto cache = std::make_unique<attend::KvCache<Shape>>();
  REQUIRE(attend::project_memory(*world.x, layer, *cache, *world.work, 10) == Status::ok);
  const auto cache_before = std::make_unique<attend::KvCache<Shape>>(*cache);
  const auto y_before = std::make_unique<Vectors<tokens, width>>(*world.y);
  int times = 0;
  const auto refuses = [&](TeamPart part, auto& of_cache, auto& of_arrays) {
    const auto work_before = std::make_unique<typename attend::detail::Bare<decltype(of_cache)>::Name>(of_cache);
    CHECK(attend::self_attention(*world.x, layer, *cache, *world.y, of_cache, part) == Status::bad_part);
    CHECK(attend::self_attention(*world.x, layer, *world.y, of_arrays, part) == Status::bad_part);
    CHECK(attend::project_memory(*world.x, layer, *cache, of_cache, tokens, part) == Status::bad_part);
    CHECK(attend::cross_attention(*world.x, layer, *cache, *world.y, of_cache, part) == Status::bad_part);
    CHECK(times == 0);
    CHECK(same_array(*cache, *cache_before));
    CHECK(same_array(*world.y, *y_before));
    CHECK(same_array(of_cache, *work_before));
  };
  for (const attend::Part part : {attend::Part{2, 2}, {-1, 2}, {0, 0}, {0, -1}, {1, 1}, {0, 65536}}) {
    CAPTURE(part.index);
    CAPTURE(part.count);
    refuses(TeamPart{part, fail_to_meet, &times}, *world.work, *world.work);
  }
  refuses(TeamPart{{0, 2}}, *world.work, *world.work);
  auto of_two = std::make_unique<attend::LayerWorkspace<Shape, tokens, attend::over_cache, false, 2>>();
  auto arrays_of_two = std::make_unique<attend::LayerWorkspace<Shape, tokens, tokens, false, 2>>();
  refuses(TeamPart{{0, 3}, fail_to_meet, &times}, *of_two, *arrays_of_two);
  // What is refused above is taken with a team of two; and one thread needs no barrier.
  Team team(2);
  CHECK(attend::self_attention(*world.x, layer, *world.expected, *arrays_of_two, TeamPart{}) == Status::ok);
  CHECK(team.run([&](TeamPart part) { return attend::self_attention(*world.x, layer, *world.y, *arrays_of_two, part); }) ==
        Status::ok);
  CHECK(same_array(*world.y, *world.expected));
  CHECK(team.run([&](TeamPart part) { return attend::cross_attention(*world.x, layer, *cache, *world.y, *of_two, part); }) ==
        Status::ok);
}
