// States whose window leaves out segments after the sink tokens: the nodes that they keep lie apart, and finish adds them up as
// one call does, in floats and in integers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "../support/random.h"
#include "attend/merged_states.h"

namespace {

using attend::Status;

struct Floats {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 4, value_dim = 4;
};
using Integers = attend::Integer<Floats>;
constexpr int most_keys = 4700;  // ten segments: nodes of three sizes, with room for a hole between them

template <class Shape>
struct World {
  attend::Query<Shape, 1> query;
  attend::Key<Shape, most_keys> key;
  attend::Value<Shape, most_keys> value;
  attend::Output<Shape, 1> output, expected;
  attend::State<Shape, 1, 24> state;
};

void fill(attend_test::Random& random, float& number) { number = random.uniform(); }
void fill(attend_test::Random& random, std::int8_t& number) { number = std::int8_t(random.between(-128, 127)); }

// Each window, number of sink tokens and number of keys: a state and one call have the same bits.
template <class Shape, class Work, class... Quantisation>
void check_windows(World<Shape>& w, Work& work, const Quantisation&... quantisation) {
  attend_test::Random random(62);
  for (auto& number : w.query[0][0]) fill(random, number);
  for (int token = 0; token < most_keys; ++token) {
    for (auto& number : w.key[token][0]) fill(random, number);
    for (auto& number : w.value[token][0]) fill(random, number);
  }
  attend::ScoreOptions<Shape> options;
  options.causal = false;
  for (const int keys : {3000, 4608, 4609, most_keys}) {
    for (int left = 512; left < 4000; left += 256) {
      for (const int sinks : {1, 512, 1024}) {
        CAPTURE(keys);
        CAPTURE(left);
        CAPTURE(sinks);
        options.offset = keys - 1, options.window_left = left, options.sink_tokens = sinks, options.key_length = keys;
        REQUIRE(attend::attention(w.query, w.key, w.value, w.expected, work, quantisation..., options) == Status::ok);
        const auto take = [&](auto& state, int up_to) {
          while (state.next() < up_to) {
            const int end = std::min(state.next() + 512, up_to);
            REQUIRE(attend::accumulate(w.query, w.key, w.value, state, end, work, quantisation..., options) == Status::ok);
          }
        };
        REQUIRE(w.state.begin() == Status::ok);
        take(w.state, keys);
        REQUIRE(attend::finish(w.state, w.output, quantisation..., options) == Status::ok);
        CHECK(std::memcmp(&w.output, &w.expected, sizeof w.output) == 0);
      }
    }
  }
}

}  // namespace

TEST_CASE("states: a window leaves a hole after sink tokens, over which later segments are joined as in one call") {
  static World<Floats> floats;
  static attend::OptionWorkspace<Floats, 1, most_keys> work;
  check_windows(floats, work);
  static World<Integers> integers;
  static attend::Workspace<Integers, 1, most_keys> integer_work;
  check_windows(integers, integer_work, attend::Quantisation<Integers>(0.02, 0.03, 0.01, 0.004));
}
