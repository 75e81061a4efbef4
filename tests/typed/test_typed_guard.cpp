// The typed surface's calls of attention touch nothing beside their arrays.
#include <doctest/doctest.h>

#include "attend/layers.h"
#include "typed_guard.h"

#if ATTEND_TEST_GUARDS

using namespace attend_test;
using attend::Status;

namespace {

struct Ring {
  static constexpr int window = 20, sink_tokens = 2, tokens_at_once = 3;
};

template <class Shape, class Cache>
void call_cache(GuardedArrays& arrays, Cache& cache) {
  auto& one_key = arrays.float_object<attend::Key<Shape>>();
  auto& one_value = arrays.float_object<attend::Value<Shape>>();
  auto& key = arrays.float_object<attend::Key<Shape, tokens>>();
  auto& value = arrays.float_object<attend::Value<Shape, tokens>>();
  for (int i = 0; i < 13; ++i) CHECK(cache.append(key, value) == Status::ok);
  CHECK(cache.append(one_key, one_value) == Status::ok);
  auto& work = arrays.object<attend::OptionWorkspace<Shape, tokens, attend::detail::CacheTraits<Cache>::keys>>();
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

// Pages for the tokens of call_cache, the last and the first of a pool among them.
template <class Pool, int page_tokens>
auto& new_pages(GuardedArrays& arrays) {
  constexpr int pages = Pool::max_tokens / page_tokens;
  auto& pool = arrays.object<Pool>();
  auto& cache = arrays.object<attend::PagedCache<Pool, page_tokens, pages>>();
  for (int i = 0; cache.room() < 40; ++i) CHECK(cache.add_page(pool, i == 0 ? pages - 1 : i - 1) == Status::ok);
  return cache;
}

template <int width, int other>
void call_pages(GuardedArrays& arrays) {
  using Shape = ShapeOf<width, other>;
  using Integers = attend::Integer<Shape>;
  auto& cache = new_pages<attend::KvCache<Shape>, 16>(arrays);
  call_cache<Shape>(arrays, cache);
  call_cache<Shape>(arrays, new_pages<attend::KvCache<Shape, attend::float16, attend::int8>, 16>(arrays));
  auto& one = arrays.float_object<attend::Query<Shape>>();
  auto& work = arrays.object<attend::OptionWorkspace<Shape>>();
  auto& state = arrays.object<attend::State<Shape>>();
  CHECK(attend::accumulate(one, cache, state, cache.length(), work) == Status::ok);
  CHECK(attend::finish(state, arrays.output_object<attend::Output<Shape>>()) == Status::ok);
  call_integer_cache<Integers>(arrays, new_pages<attend::KvCache<Integers>, 32>(arrays),
                               attend::Quantisation<Integers>(0.02, 0.02, 0.01, {0.01, -3}));
}

// Rows of a batch.
template <class Row>
struct Rows {
  Row rows[2];
};

template <int width, int other>
void call_batches(GuardedArrays& arrays) {
  using Shape = ShapeOf<width, other>;
  auto& query = arrays.float_object<Rows<attend::Query<Shape, tokens>>>();
  auto& key = arrays.float_object<Rows<attend::Key<Shape, keys>>>();
  auto& value = arrays.float_object<Rows<attend::Value<Shape, keys>>>();
  auto& work = arrays.object<attend::Workspace<Shape, tokens, keys>>();
  const auto output = [&]() -> auto& { return arrays.output_object<Rows<attend::Output<Shape, tokens>>>().rows; };
  CHECK(attend::attention(query.rows, key.rows, value.rows, output(), work) == Status::ok);
  auto& caches = arrays.object<Rows<attend::KvCache<Shape>>>();
  for (int row = 0; row < 2; ++row)
    CHECK(caches.rows[row].append(key.rows[row], value.rows[row], keys - 9 * row) == Status::ok);
  attend::Options options[2];
  options[0].query_length = 2;
  auto& parts = output();
  for (int part = 0; part < 3; ++part)
    CHECK(attend::prefill(query.rows, caches.rows, parts, work, options, attend::Part{part, 3}) == Status::ok);
  auto& one = arrays.float_object<Rows<attend::Query<Shape>>>();
  auto& one_output = arrays.output_object<Rows<attend::Output<Shape>>>();
  CHECK(attend::decode(one.rows, caches.rows, one_output.rows) == Status::ok);
}

// States of keys from 512 on, merged.
template <class Shape, class... Scales>
void call_merge(GuardedArrays& arrays, const attend::Query<Shape>& query, const attend::Key<Shape, 520>& key,
                const attend::Value<Shape, 520>& value, const Scales&... scales) {
  using Work =
      typename std::conditional<sizeof...(Scales) == 0, attend::OptionWorkspace<Shape>, attend::Workspace<Shape>>::type;
  auto& work = arrays.object<Work>();
  using State = attend::State<Shape, 1, attend::state_nodes(520)>;
  auto &state = arrays.object<State>(), &later = arrays.object<State>();
  CHECK(attend::accumulate(query, key, value, state, 512, work, scales...) == Status::ok);
  CHECK(later.begin(512) == Status::ok);
  CHECK(attend::accumulate(query, key, value, later, 520, work, scales...) == Status::ok);
  CHECK(attend::merge(state, later) == Status::ok);
  CHECK(attend::finish(state, arrays.output_object<attend::Output<Shape>>(), scales...) == Status::ok);
}

template <int width, int other>
void call_merges(GuardedArrays& arrays) {
  using Shape = ShapeOf<width, other>;
  call_merge<Shape>(arrays, arrays.float_object<attend::Query<Shape>>(), arrays.float_object<attend::Key<Shape, 520>>(),
                    arrays.float_object<attend::Value<Shape, 520>>());
  using Integers = attend::Integer<Shape>;
  call_merge<Integers>(arrays, arrays.byte_object<attend::Query<Integers>>(), arrays.byte_object<attend::Key<Integers, 520>>(),
                       arrays.byte_object<attend::Value<Integers, 520>>(),
                       attend::Quantisation<Integers>(0.02, 0.02, 0.01, {0.01, -3}));
}

template <int width, int other>
constexpr void (*calls[])(GuardedArrays&) = {call_floats<width, other>, call_integers<width, other>, call_pages<width, other>,
                                             call_batches<width, other>, call_merges<width, other>};

}  // namespace

TEST_CASE("guards: the typed surface's attention") {
  for_widths(widths, [](auto width, auto other) {
    for (const auto call : calls<width, other>) check_guarded(width, call);
  });
}

#endif
