// States over what a window leaves of long sequences: rings at any position, in slices of any size, with room for the nodes of
// the window alone.
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <utility>

#include "../support/instance.h"
#include "../support/random.h"
#include "../support/typed_objects.h"

using namespace attend_test;
using attend::Status;

namespace {

struct Floats {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 12, value_dim = 7;
};
struct Integers {
  using arithmetic = attend::integer;
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 16, value_dim = 16;
};

// A ring whose next token has the position that a test needs, without all tokens before it.
template <class Shape, class Sizes>
struct FarRing : attend::RingCache<Shape, Sizes> {
  void go_to(int position) { this->length_ = this->queries_without_length_ = position; }
};

template <class Shape, class Sizes>
struct WorkOf {
  using Type = attend::OptionWorkspace<Shape, Sizes::tokens_at_once, attend::over_ring<Sizes>>;
};
template <class Sizes>
struct WorkOf<Integers, Sizes> {
  using Type = attend::Workspace<Integers, Sizes::tokens_at_once>;
};

template <class Shape, class Sizes, class... Rest>
void stream(Random& random, const Rest&... rest) {
  constexpr int tokens = Sizes::tokens_at_once, most_tokens = 0x7fffffff / 512 * 512;
  constexpr int window_segments = (Sizes::window + tokens - 2 + 511) / 512 + 1;
  constexpr int nodes =
      attend::state_nodes(512 * window_segments) + attend::state_nodes((Sizes::sink_tokens + 511) / 512 * 512);
  static FarRing<Shape, Sizes> ring;
  static attend::State<Shape, tokens, nodes> state;
  static typename WorkOf<Shape, Sizes>::Type work;
  attend::Output<Shape, tokens> output, expected;

  const auto append = [&] {
    const auto key = filled<attend::Key<Shape, tokens>>(random.bits());
    const auto value = filled<attend::Value<Shape, tokens>>(random.bits());
    CHECK(ring.append(key, value) == Status::ok);
  };
  ring.clear();
  while (ring.length() < Sizes::sink_tokens + tokens) append();
  constexpr int positions[] = {0, 512, 65'000, 1'000'000, 2'000'000'000, most_tokens};
  const int far = positions[random.between(0, 5)], held = Sizes::window + 2 * tokens;
  const int last = far + attend::detail::smaller(random.between(0, 1100) + held, most_tokens - far);
  ring.go_to(attend::detail::larger(ring.length(), last - held / tokens * tokens));
  while (ring.room() >= tokens && ring.length() < last) append();

  const auto query = filled<attend::Query<Shape, tokens>>(random.bits());
  attend::ScoreOptions<Shape> options = attend::causal();
  if (random.between(0, 1) == 0) options.window_left = random.between(0, Sizes::window - 1);
  if (random.between(0, 1) == 0) options.sink_tokens = random.between(0, Sizes::sink_tokens);
  INFO("tokens ", ring.length(), ", window_left ", options.window_left.or_else(-1), ", sinks ",
       options.sink_tokens.or_else(-1));
  REQUIRE(attend::prefill(query, ring, expected, work, rest..., options) == Status::ok);
  REQUIRE(state.begin() == Status::ok);
  const int slice = 32 * random.between(1, 9);
  int slices = 0;
  for (; state.next() < ring.length(); ++slices) {
    REQUIRE(attend::accumulate(query, ring, state, state.next() + slice, work, rest..., options) == Status::ok);
  }
  CHECK(state.next() == ring.length());
  CHECK(slices <= (Sizes::window + tokens + 63) / slice + (Sizes::sink_tokens + 63) / slice + 2);
  REQUIRE(attend::finish(state, output, rest..., options) == Status::ok);
  CHECK(same_array(output, expected));

  // All of it at once, after calls that stop where no query sees a key.
  REQUIRE(state.begin() == Status::ok);
  for (const int up_to : {32, 64, ring.length()}) {
    if (up_to > ring.length() || (state.next() == ring.length() && up_to > state.next())) continue;
    REQUIRE(attend::accumulate(query, ring, state, up_to, work, rest..., options) == Status::ok);
  }
  REQUIRE(attend::finish(state, output, rest..., options) == Status::ok);
  CHECK(same_array(output, expected));
}

template <class Sizes>
void streams(int rounds) {
  static constexpr attend::Quantisation<Integers> quantisation(0.031, 0.027, {0.02, 4}, {0.02, -3});
  for_each_backend([&](const char* backend) {
    INFO(std::string(backend));
    Random random(Sizes::window);
    for (int round = 0; round < rounds; ++round) {
      stream<Floats, Sizes>(random);
      stream<Integers, Sizes>(random, quantisation);
    }
  });
}

}  // namespace

// Groups of 16 tokens, of integer shapes of 32: one more than the window and what is appended at once can touch.
static_assert(attend::RingCache<Floats, RingOf<100, 0, 1>>::places == 128 &&
              attend::RingCache<Floats, RingOf<97, 0, 1>>::places == 112);
static_assert(attend::RingCache<Integers, RingOf<100, 0, 1>>::places == 160 &&
              attend::RingCache<Integers, RingOf<97, 0, 1>>::places == 128);

TEST_CASE("streams: rings at any position, in slices of any size, with room for the nodes of their window alone") {
  streams<RingOf<1, 0, 1>>(20);
  streams<RingOf<96, 4, 1>>(30);
  streams<RingOf<96, 0, 3>>(30);
  streams<RingOf<700, 70, 5>>(30);
  streams<RingOf<1500, 600, 2>>(20);
}
