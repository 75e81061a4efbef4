// The typed surface's calls touch nothing beside their arrays. Widths are compiled in: around those of vectors.
#include <doctest/doctest.h>

#include "../support/guarded.h"

#if ATTEND_TEST_GUARDS

#include <type_traits>
#include <utility>

#include "attend/attend.h"

using namespace attend_test;
using attend::Status;

namespace {

template <int width, int other>
struct ShapeOf {
  static constexpr int query_heads = 2, kv_heads = 1, head_dim = width, value_dim = other, max_tokens = 64;
};
struct Ring {
  static constexpr int window = 20, sink_tokens = 2, tokens_at_once = 3;
};

constexpr int tokens = 3, keys = 64;

template <class Shape, class Cache>
void call_cache(GuardedArrays& arrays, Cache& cache) {
  auto& one_key = arrays.float_object<attend::Key<Shape>>();
  auto& one_value = arrays.float_object<attend::Value<Shape>>();
  auto& key = arrays.float_object<attend::Key<Shape, tokens>>();
  auto& value = arrays.float_object<attend::Value<Shape, tokens>>();
  for (int i = 0; i < 13; ++i) CHECK(cache.append(key, value) == Status::ok);
  CHECK(cache.append(one_key, one_value) == Status::ok);
  auto& work = arrays.object<attend::OptionWorkspace<Shape, tokens>>();
  auto& query = arrays.float_object<attend::Query<Shape, tokens>>();
  CHECK(attend::prefill(query, cache, arrays.output_object<attend::Output<Shape, tokens>>(), work) == Status::ok);
  auto& one = arrays.float_object<attend::Query<Shape>>();
  CHECK(attend::decode(one, cache, arrays.output_object<attend::Output<Shape>>(), work) == Status::ok);
}

template <int width, int other>
void call_floats(GuardedArrays& arrays) {
  using Shape = ShapeOf<width, other>;
  auto& query = arrays.float_object<attend::Query<Shape, tokens>>();
  auto& key = arrays.float_object<attend::Key<Shape, keys>>();
  auto& value = arrays.float_object<attend::Value<Shape, keys>>();
  auto& work = arrays.object<attend::Workspace<Shape, tokens, keys>>();
  CHECK(attend::attention(query, key, value, arrays.output_object<attend::Output<Shape, tokens>>(), work) == Status::ok);
  CHECK(attend::attention(query, key, value, arrays.output_object<attend::Output<Shape, tokens>>(), work, attend::Part{0, 2}) ==
        Status::ok);

  auto& cache = arrays.object<attend::KvCache<Shape>>();
  call_cache<Shape>(arrays, cache);
  auto& one = arrays.float_object<attend::Query<Shape>>();
  CHECK(attend::decode(one, cache, arrays.output_object<attend::Output<Shape>>()) == Status::ok);
  call_cache<Shape>(arrays, arrays.object<attend::KvCache<Shape, attend::float16>>());
  call_cache<Shape>(arrays, arrays.object<attend::RingCache<Shape, Ring, attend::int8>>());

  auto& option_work = arrays.object<attend::OptionWorkspace<Shape, 1>>();
  auto& state = arrays.object<attend::State<Shape>>();
  CHECK(attend::accumulate(one, cache, state, 7, option_work) == Status::ok);
  CHECK(attend::accumulate(one, cache, state, cache.length(), option_work) == Status::ok);
  CHECK(attend::finish(state, arrays.output_object<attend::Output<Shape>>()) == Status::ok);
  auto& partials = arrays.object<attend::Partials<Shape>>();
  CHECK(attend::accumulate(one, cache, partials) == Status::ok);
  CHECK(attend::finish(cache, partials, arrays.output_object<attend::Output<Shape>>()) == Status::ok);
}

template <class Shape, class Cache, class Scales>
void call_integer_cache(GuardedArrays& arrays, Cache& cache, const Scales& scales) {
  auto& key = arrays.byte_object<attend::Key<Shape, tokens>>();
  auto& value = arrays.byte_object<attend::Value<Shape, tokens>>();
  for (int i = 0; i < 13; ++i) CHECK(cache.append(key, value) == Status::ok);
  auto& work = arrays.object<attend::Workspace<Shape, tokens>>();
  auto& query = arrays.byte_object<attend::Query<Shape, tokens>>();
  auto& output = arrays.output_object<attend::Output<Shape, tokens>>();
  CHECK(attend::prefill(query, cache, output, work, scales) == Status::ok);
  auto& one = arrays.byte_object<attend::Query<Shape>>();
  CHECK(attend::decode(one, cache, arrays.output_object<attend::Output<Shape>>(), work, scales) == Status::ok);
}

template <int width, int other>
void call_integers(GuardedArrays& arrays) {
  using Shape = attend::Integer<ShapeOf<width, other>>;
  const attend::Quantisation<Shape> scales(0.02, 0.02, 0.01, {0.01, -3});
  auto& query = arrays.byte_object<attend::Query<Shape, tokens>>();
  auto& key = arrays.byte_object<attend::Key<Shape, keys>>();
  auto& value = arrays.byte_object<attend::Value<Shape, keys>>();
  auto& work = arrays.object<attend::Workspace<Shape, tokens, keys>>();
  auto& output = arrays.output_object<attend::Output<Shape, tokens>>();
  CHECK(attend::attention(query, key, value, output, work, scales) == Status::ok);
  auto& cache = arrays.object<attend::KvCache<Shape>>();
  call_integer_cache<Shape>(arrays, cache, scales);
  call_integer_cache<Shape>(arrays, arrays.object<attend::RingCache<Shape, Ring>>(), scales);

  auto& one = arrays.byte_object<attend::Query<Shape>>();
  auto& cache_work = arrays.object<attend::Workspace<Shape, 1>>();
  auto& state = arrays.object<attend::State<Shape>>();
  CHECK(attend::accumulate(one, cache, state, 32, cache_work, scales) == Status::ok);
  CHECK(attend::accumulate(one, cache, state, cache.length(), cache_work, scales) == Status::ok);
  CHECK(attend::finish(state, arrays.output_object<attend::Output<Shape>>(), scales) == Status::ok);

  auto& x = arrays.byte_object<attend::Vectors<tokens, width, int8_t>>();
  auto& weights = arrays.object<attend::Weights<other, width, attend::integer>>();
  std::memset(weights.data, 3, sizeof weights.data);
  const attend::ProjectionScales<> of({0.02, -3}, 0.005, {0.04, 10});
  auto& y = arrays.output_object<attend::Vectors<tokens, other, int8_t>>();
  CHECK(attend::project(x, weights, of, y) == Status::ok);
  auto& sum = arrays.output_object<attend::Vectors<tokens, other, std::int16_t>>();
  CHECK(attend::add(y, y, attend::SumScales(0.5, {0.25, 3}, 0.25), sum) == Status::ok);
  CHECK(attend::requantise(sum, attend::SumScales(0.25, 0.5), y) == Status::ok);
}

template <int width, int other>
void call_layers(GuardedArrays& arrays) {
  auto& x = arrays.float_object<attend::Vectors<tokens, width>>();
  auto& weights = arrays.float_object<attend::Weights<other, width>>();
  auto& packed = arrays.object<attend::PackedWeights<other, width>>();
  attend::pack(weights, packed);
  CHECK(attend::project(x, weights, arrays.output_object<attend::Vectors<tokens, other>>()) == Status::ok);
  auto& work = arrays.object<attend::Workspace<attend::Projections>>();
  CHECK(attend::project(x, packed, arrays.output_object<attend::Vectors<tokens, other>>(), work) == Status::ok);
  CHECK(attend::rms_norm(x, attend::none, arrays.output_object<attend::Vectors<tokens, width>>()) == Status::ok);

  using Shape = ShapeOf<width, other>;
  constexpr int x_width = 5;
  auto& wq = arrays.float_object<attend::Weights<2 * width, x_width>>();
  auto& wk = arrays.float_object<attend::Weights<width, x_width>>();
  auto& wv = arrays.float_object<attend::Weights<other, x_width>>();
  auto& wo = arrays.float_object<attend::Weights<x_width, 2 * other>>();
  const auto layer = attend::multi_head<Shape>(wq, wk, wv, wo);
  auto& from = arrays.float_object<attend::Vectors<tokens, x_width>>();
  auto& cache = arrays.object<attend::KvCache<Shape>>();
  auto& layer_work = arrays.object<attend::LayerWorkspace<Shape, tokens>>();
  CHECK(attend::self_attention(from, layer, cache, arrays.output_object<attend::Vectors<tokens, x_width>>(), layer_work) ==
        Status::ok);
  CHECK(attend::cross_attention(from, layer, cache, arrays.output_object<attend::Vectors<tokens, x_width>>(), layer_work) ==
        Status::ok);
}

template <int... width, class Check>
void for_widths(std::integer_sequence<int, width...>, Check check) {
  (check(std::integral_constant<int, width>(), std::integral_constant<int, width * 37 % 131 % 130 + 1>()), ...);
}
// All of them take a minute to compile: tests/checks/rest.sh does that.
#ifdef ATTEND_TEST_FIRST_WIDTH
template <int... width>
constexpr std::integer_sequence<int, ATTEND_TEST_FIRST_WIDTH + width...> from_first(std::integer_sequence<int, width...>) {
  return {};
}
constexpr auto widths = from_first(std::make_integer_sequence<int, 26>());
#else
constexpr std::integer_sequence<int, 1, 7, 16, 33, 64, 65, 127, 130> widths;
#endif

}  // namespace

TEST_CASE("guards: the typed surface's calls on floats") {
  for_widths(widths, [](auto width, auto other) { check_guarded(width, call_floats<width, other>); });
}

TEST_CASE("guards: the typed surface's calls on integers") {
  for_widths(widths, [](auto width, auto other) { check_guarded(width, call_integers<width, other>); });
}

TEST_CASE("guards: the typed surface's projections and layers") {
  for_widths(widths, [](auto width, auto other) { check_guarded(width, call_layers<width, other>); });
}

#endif
