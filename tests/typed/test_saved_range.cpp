// Saved states whose scores, values or sinks lie far apart: their outputs are right, and those of the call that was not saved.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "../support/typed_objects.h"

using namespace attend_test;
using attend::Status;

namespace {

struct Far {
  static constexpr int query_heads = 1, kv_heads = 1, head_dim = 1, value_dim = 2, max_tokens = 1536;
};
using State = attend::State<Far>;

attend::KvCache<Far> cache;
attend::OptionWorkspace<Far, 1> work;
attend::Query<Far> query;

// Appends so many keys, which are their scores.
void append(int keys, float score, float value, float other_value) {
  attend::Key<Far> key;
  attend::Value<Far> values;
  key.data[0][0][0] = score;
  values.data[0][0][0] = value, values.data[0][0][1] = other_value;
  for (int k = 0; k < keys; ++k) REQUIRE(cache.append(key, values) == Status::ok);
}
void fill(int keys, float score, float value) {
  cache.clear();
  append(keys, score, value, -value);
}

// The output of a state that goes on as bytes after `stop` keys and at the end, which is that of the state that does not.
float finished(int stop, const attend::ScoreOptions<Far>& options) {
  static State state, other;
  static std::uint8_t bytes[State::most_saved_bytes];
  attend::Output<Far> expected, found, again;
  const auto take = [&](State& to, int end) {
    REQUIRE(attend::accumulate(query, cache, to, end, work, options) == Status::ok);
  };
  const auto pass_on = [&] {
    REQUIRE(attend::save(other, bytes) == Status::ok);
    std::memset(static_cast<void*>(&other), 0x55, sizeof other);
    REQUIRE(attend::load(other, bytes, sizeof bytes) == Status::ok);
  };
  REQUIRE(attend::decode(query, cache, expected, work, options) == Status::ok);
  REQUIRE(state.begin() == Status::ok);
  take(state, cache.length());
  CHECK(attend::finish(state, again, options) == Status::ok);
  CHECK(same_array(again, expected));
  REQUIRE(other.begin() == Status::ok);
  take(other, stop);
  pass_on();
  take(other, cache.length());
  pass_on();
  CHECK(attend::finish(other, found, options) == Status::ok);
  CHECK(same_array(found, expected));
  return found.data[0][0][0];
}

}  // namespace

TEST_CASE("saved states: scores, values and a sink that lie far apart") {
  query.data[0][0][0] = 1.0f;
  for_each_backend([&](const char* backend) {
    CAPTURE(std::string(backend));
    attend::ScoreOptions<Far> options;
    options.scale = 1.0f;
    // A late segment far below the first key: its denominator is down to 2^-123.
    for (const auto& [before, after, from, to] :
         {std::array<float, 4>{511, 0, -84.5f, -85.5f}, {1023, 511, -81.875f, -82.375f}}) {
      for (float score = from; score >= to; score -= 0.125f) {
        cache.clear();
        append(1, 0.0f, 1.0f, 2.0f);
        append(int(before), -300.0f, 1.0f, 2.0f);
        append(1, score, 1.0f, 2.0f);
        append(int(after), -300.0f, 1.0f, 2.0f);
        for (const int stop : {1, 512, cache.length()}) CHECK(finished(stop, options) == 1.0f);
      }
    }
    // Large values, of which a power of two more is infinite.
    for (const int keys : {2, 7}) {
      fill(keys, 0.0f, 1e37f);
      for (int stop = 1; stop <= keys; ++stop) CHECK(std::fabs(finished(stop, options) / 1e37f - 1.0f) < 3e-7f);
    }
    // Weights that are small beside a sink: those of 600 keys, and of two of them alone.
    const auto with_sink = [&](float sink, float right) {
      const float sinks[1] = {sink};
      options.sink_logits = sinks;
      for (const int stop : {1, 300, 512, 600}) CHECK(std::fabs(finished(stop, options) / right - 1.0f) < 1e-4f);
    };
    fill(600, 0.0f, 3.0f);
    with_sink(82.0f, 4.39668e-33f);
    fill(2, 0.0f, 3.0f);
    append(598, -300.0f, 1.0f, 2.0f);
    with_sink(82.0f, 1.46556e-35f);
    with_sink(85.0f, 7.29660e-37f);
  });
}

// A weight of 2^-122 of the largest is not lost, whatever a state has been through as bytes; those of 2^-129 are, in each way.
TEST_CASE("saved states: small weights of a column in which large ones are 0") {
  query.data[0][0][0] = 1.0f;
  const attend::ScoreOptions<Far> options = [] {
    attend::ScoreOptions<Far> made;
    made.scale = 1.0f;
    return made;
  }();
  std::vector<float> expected;
  for_each_backend([&](const char* backend) {
    CAPTURE(std::string(backend));
    std::size_t next = 0;
    const auto check = [&](int stop, bool is_lost) {
      const float found = finished(stop, options);
      CHECK((found == 0) == is_lost);
      if (next == expected.size()) expected.push_back(found);
      CHECK(found == expected[next++]);
    };
    for (const auto& [before, score, is_lost] : {std::tuple<int, float, bool>{512, -81.0f, false},
                                                 {512, -85.0f, false},
                                                 {300, -84.0f, false},
                                                 {1024, -79.0f, false},
                                                 {1, -85.0f, false},
                                                 {512, -90.0f, true},
                                                 {300, -90.0f, true}}) {
      for (const int many : {1, 400}) {  // before the others and behind them
        cache.clear();
        append(before, 0.0f, 0.0f, 3e34f);
        append(many, score, 3e34f, 0.0f);
        check(before, is_lost);
        cache.clear();
        append(many, score, 3e34f, 0.0f);
        append(512 - many, -300.0f, 0.0f, 0.0f);
        append(before, 0.0f, 0.0f, 3e34f);
        check(many, is_lost);
      }
    }
  });
}
