// A stream on a board: attention over the last tokens in fixed memory and without floats, in time slices between which a
// watchdog is fed. Nothing is taken from a C library but printf, for what is shown.
#include <attend/integer.h>
#include <attend/states.h>

#include <stdint.h>
#include <stdio.h>

namespace {

using attend::Status;

struct Voice {
  using arithmetic = attend::integer;
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 16;
};
struct LastWords {  // what a query sees: the last 96 tokens and the first 4
  static constexpr int window = 96, sink_tokens = 4;
};

// [memory]
// One step of each tensor, as it was calibrated on a host (integer_calibration.cpp); made by the compiler.
constexpr attend::Quantisation<Voice> quantisation(0.031, 0.027, {0.02, 4}, {0.02, -3});
static_assert(quantisation.status() == Status::ok, "scales out of range");

// All the memory that the stream takes, however long it is. The work memory has 576 bytes on a Cortex-M4, and more on hosts.
attend::RingCache<Voice, LastWords> cache;
attend::State<Voice> state;
attend::Workspace<Voice, 1> work;
static_assert(sizeof cache + sizeof state <= 16 * 1024, "the stream must fit in fast memory");
// [/memory]

int fed = 0;
void feed_watchdog() { ++fed; }  // a register of the board

// [slices]
// Attention of the newest token, in slices of at most 32 keys, so that no call takes long.
Status attend_in_slices(const attend::Query<Voice>& query, attend::Output<Voice>& output) {
  constexpr int slice = 32;  // a state of integers stops at multiples of 32
  // The first call takes the sink tokens. Then state.next() is where the window begins.
  Status status = state.begin();
  while (status == Status::ok && state.next() < cache.length()) {
    status = attend::accumulate(query, cache, state, state.next() + slice, work, quantisation);
    feed_watchdog();
  }
  return status == Status::ok ? attend::finish(state, output, quantisation) : status;
}
// [/slices]

// What a microphone and the projections in front of attention would give.
struct Token {
  attend::Query<Voice> query;
  attend::Key<Voice> key;
  attend::Value<Voice> value;
};

void hear(Token& token) {
  static uint32_t seed = 1;
  const auto next = [] { return int8_t((seed = seed * 1664525u + 1013904223u) >> 24); };
  for (auto& head : token.query[0]) {
    for (int8_t& number : head) number = next();
  }
  for (auto& head : token.key[0]) {
    for (int8_t& number : head) number = next();
  }
  for (auto& head : token.value[0]) {
    for (int8_t& number : head) number = next();
  }
}

}  // namespace

int main() {
  static Token token;
  static attend::Output<Voice> output, expected;
  int most_slices = 0, differing = 0;
  // [loop]
  for (int i = 0; i < 1000; ++i) {
    hear(token);
    Status status = cache.append(token.key, token.value);  // overwrites the oldest token
    fed = 0;
    if (status == Status::ok) status = attend_in_slices(token.query, output);
    if (status != Status::ok) {
      printf("token %d: %s\n", i, attend::status_text(status));
      return 1;
    }
    // [/loop]
    if (fed > most_slices) most_slices = fed;
    // The same in one call, for comparison.
    if (attend::decode(token.query, cache, expected, work, quantisation) != Status::ok) return 1;
    for (int head = 0; head < Voice::query_heads; ++head) {
      for (int c = 0; c < Voice::head_dim; ++c) differing += output[0][head][c] != expected[0][head][c];
    }
  }
  printf("after %d tokens: %d %d %d\n", cache.length(), output[0][0][0], output[0][0][1], output[0][0][2]);
  printf("slices for a token: at most %d, numbers that differ from those of one call: %d\n", most_slices, differing);
  return differing == 0 ? 0 : 1;
}
