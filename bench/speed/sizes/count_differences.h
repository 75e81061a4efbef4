// Which calls in integers take another number of instructions for other numbers: none may. Each is made with zeros, with the
// largest and the least bytes, with both in turn and with random ones; the masks are the same in all.
#pragma once

#include "../../../tests/support/random.h"
#include "../../boards/instructions.h"
#include "../../boards/platform.h"
#include "attend/integer.h"
#include "attend/layers/integer_linear.h"
#include "attend/linear_attention.h"
#include "attend/merged_states.h"

namespace differences {

using namespace attend;

struct Talk {
  using arithmetic = integer;
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = 9, value_dim = 11, max_tokens = 544;
};
struct LastWords {
  static constexpr int window = 20, sink_tokens = 3, tokens_at_once = 37;
};
struct Gated {
  using arithmetic = integer;
  static constexpr LinearRule rule = LinearRule::gated;
  static constexpr int query_heads = 2, kv_heads = 1, value_heads = 1, head_dim = 12, value_dim = 9;
};
struct Delta : Gated {
  static constexpr LinearRule rule = LinearRule::gated_delta;
  static constexpr Decay decay = Decay::per_key;
};
constexpr int queries = 3, keys = 37, channels = 19, steps = core::linear_run + 2;

// What calls read, all of whose bytes are drawn.
template <class Shape>
struct LinearData {
  Query<Shape, steps> query;
  Key<Shape, steps> key;
  Value<Shape, steps> value;
  Gates<Shape, steps> gates;
};
struct Data {
  Query<Talk, queries> query;
  Key<Talk, keys> key;
  Value<Talk, keys> value;
  Key<Talk, Talk::max_tokens> long_key;
  Value<Talk, Talk::max_tokens> long_value;
  TokenScales<Talk, keys> of_keys, of_values;
  Weights<7, channels, integer> weights;
  Vectors<queries, channels, int8_t> x;
  int8_t filter[channels][4], other_filter[channels][3];
  int32_t bias[channels];
  LinearData<Gated> gated;
  LinearData<Delta> delta;
};
inline Data data;

inline KvCache<Talk> cache, pool, long_cache;
inline RingCache<Talk, LastWords> ring;
inline PagedCache<KvCache<Talk>, 32, 2> pages;
inline Workspace<Talk, queries> work;
inline Workspace<Talk, queries, over_ring<LastWords>> ring_work;
inline Output<Talk, queries> output;
inline Output<Talk, queries, int16_t> wide;
inline State<Talk, queries> state, later;
inline uint8_t bytes[State<Talk, queries>::most_saved_bytes];
inline Vectors<queries, 7, int8_t> y;
inline Vectors<queries, channels, int8_t> sum;
inline ConvState<channels, 4, integer> conv_state;
inline ConvState<channels, 3, integer> other_conv_state;

constexpr Quantisation<Talk> plain(0.03, 0.03, {0.02, 4}, {0.02, -3}), moved({0.03, 20}, 0.03, 0.02, 0.02);
constexpr ProjectionScales<> projection({0.03, 5}, 0.01, {0.02, 0});
constexpr SumScales sums({0.04, 10}, {0.02, -3}, {0.05, 4});
constexpr SumScales other_step({0.05, 4}, 0.1);
constexpr ConvQuantisation<1, ConvActivation::silu> with_silu(0.02, 0.005, 0.02, 0.03);
constexpr ConvQuantisation<> without(0.02, 0.005, 0.02);

constexpr bool all_ok() { return true; }
template <class... More>
constexpr bool all_ok(Status first, More... more) {
  return first == Status::ok && all_ok(more...);
}

inline bool append() {
  cache.clear(), ring.clear(), pages.clear();
  for (int page = 0; pages.room() < keys; ++page) (void)pages.add_page(pool, page);
  return all_ok(cache.append(data.key, data.value), ring.append(data.key, data.value), pages.append(data.key, data.value));
}

inline void draw(int kind) {
  attend_test::Random random{uint64_t(kind)};
  auto* const to = reinterpret_cast<uint8_t*>(&data);
  const uint8_t even[] = {0, 0x7f, 0x80, 0x7f}, odd[] = {0, 0x7f, 0x80, 0x80};
  for (size_t i = 0; i < sizeof data; ++i)
    to[i] = kind > 3 ? uint8_t(random.bits() >> 24) : i % 2 == 0 ? even[kind] : odd[kind];
  for (int i = 0; i < channels; ++i) data.bias[i] >>= 8, data.weights.bias[i % 7] >>= i < 7 ? 8 : 0;
  for (int key = 0; key < keys; ++key) data.of_keys[0][key] &= 0x7fff, data.of_values[0][key] &= 0x7fff;
  (void)append();
  long_cache.clear();
  (void)long_cache.append(data.long_key, data.long_value);
}

// In steps, of two segments that are merged, saved and loaded in between.
inline bool run_states() {
  return all_ok(state.begin(), accumulate(data.query, long_cache, state, 512, work, plain), later.begin(512),
                accumulate(data.query, long_cache, later, 544, work, plain)) &&
         all_ok(save(later, bytes), load(later, bytes, saved_bytes(later)), merge(state, later), finish(state, output, plain));
}
template <class Shape>
bool run_linear(const LinearData<Shape>& of) {
  static constexpr LinearQuantisation<Shape> scales(1.0 / 127, 1.0 / 127, 0.02, 0.03);
  static LinearState<Shape> to;
  static Output<Shape, steps> out;
  to.clear();
  return all_ok(prefill(of.query, of.key, of.value, of.gates, to, out, scales));
}
inline bool run_options() {
  static BitMask<1, 1, keys> mask;
  ScoreOptions<Talk> options;
  for (int key = 0; key < keys; ++key) mask.set(0, 0, key, key % 5 != 2);
  options.mask = mask, options.window_left = 25, options.sink_tokens = 2;
  options.key_scales = data.of_keys, options.value_scales = data.of_values;
  return all_ok(prefill(data.query, cache, output, work, Quantisation<Talk>(0.03, 0.03, 0.02, 0.02), options));
}

// A call is repeated so often that one instruction more is longer than the clock's steps, some 40 instructions.
template <class Call>
int differs(const char* name, Call call) {
  constexpr int times = 100;
  uint64_t first = 0;
  bool same = true;
  for (int kind = 0; kind < 12; ++kind) {
    draw(kind);
    const uint64_t count = firmware::count_instructions([&] {
      for (int i = 0; i < times; ++i) same = call() && same;
    });
    if (kind == 0) first = count;
    same = same && (count > first ? count - first : first - count) <= uint64_t(times) / 2;
  }
  if (same) return 0;
  firmware::print("differs ");
  firmware::print(name);
  firmware::print("\n");
  return 1;
}

inline void count() {
  const int different =
      differs("plain", [] { return all_ok(prefill(data.query, cache, output, work, plain)); }) +
      differs("zero_point", [] { return all_ok(prefill(data.query, cache, wide, work, moved)); }) +
      differs("options", run_options) +
      differs("ring", [] { return all_ok(prefill(data.query, ring, output, ring_work, plain)); }) +
      differs("pages", [] { return all_ok(prefill(data.query, pages, output, work, plain)); }) + differs("append", append) +
      differs("states", run_states) + differs("project", [] { return all_ok(project(data.x, data.weights, projection, y)); }) +
      differs("sums", [] { return all_ok(add(data.x, data.x, sums, sum), requantise(data.x, other_step, sum)); }) +
      differs("linear_gated", [] { return run_linear(data.gated); }) +
      differs("linear_delta", [] { return run_linear(data.delta); }) + differs("convolution", [] {
        return all_ok(causal_conv(data.x.data, data.filter, data.bias, conv_state, sum.data, with_silu),
                      causal_conv(data.x.data, data.other_filter, data.bias, other_conv_state, sum.data, without),
                      conv_state.append(data.x.data));
      });
  firmware::print("integer differences ");
  firmware::print_number(uint64_t(different));
  firmware::print("\n");
}

}  // namespace differences
