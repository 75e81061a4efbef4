// The typed surface's calls around attention touch nothing beside their arrays.
#include <doctest/doctest.h>

#include "attend/layers.h"
#include "typed_guard.h"

#if ATTEND_TEST_GUARDS

using namespace attend_test;
using attend::Status;

namespace {

template <int width, int... activation>
void call_activations(GuardedArrays& arrays, std::integer_sequence<int, activation...>) {
  using Array = attend::Vectors<tokens, width>;
  auto &x = arrays.float_object<Array>(), &up = arrays.float_object<Array>();
  (attend::activate<attend::Activation(activation)>(x, up, arrays.output_object<Array>()), ...);
  (attend::activate<attend::Activation(activation)>(x, arrays.output_object<Array>()), ...);
}

template <int width, int other>
void call_rows(GuardedArrays& arrays) {
  call_activations<width>(arrays, std::make_integer_sequence<int, int(attend::Activation::erf) + 1>());
  using Array = attend::Vectors<tokens, width>;
  auto& x = arrays.float_object<Array>();
  auto &weight = arrays.float_object<attend::Vectors<1, width>>(), &bias = arrays.float_object<attend::Vectors<1, width>>();
  auto& sum = arrays.output_object<Array>();
  CHECK(attend::layer_norm(x, weight[0], bias[0], sum) == Status::ok);
  attend::add(x, sum, 0.5f);

  using Turned = attend::Query<ShapeOf<width + 1, 1>, tokens>;
  constexpr int rotary_dim = (width + 1) / 2 * 2;
  const auto& query = arrays.float_object<Turned>();
  auto& rotary = arrays.object<attend::Rotary<rotary_dim>>();
  auto& table = arrays.object<attend::RotaryTable<rotary_dim, tokens + 2>>();
  CHECK(rotary.init(10000.0f, attend::RotaryScaling::yarn(4.0f, 100)) == Status::ok);
  CHECK(rotary.init() == Status::ok);
  CHECK(table.init() == Status::ok);
  auto& turned = arrays.output_object<Turned>();
  turned = query;
  CHECK(rotary.template rotate<attend::RotaryPairs::halves>(turned, 7) == Status::ok);
  CHECK(rotary.template rotate<attend::RotaryPairs::neighbours>(turned, 0) == Status::ok);
  CHECK(table.template rotate<attend::RotaryPairs::halves>(turned, 2) == Status::ok);
  CHECK(table.template rotate<attend::RotaryPairs::neighbours>(turned, 0) == Status::ok);

  constexpr int few_keys = 5;
  auto& few = arrays.float_object<attend::Vectors<few_keys, width>>();
  auto& values = arrays.float_object<attend::Vectors<few_keys, other>>();
  auto& work = arrays.object<attend::Workspace<attend::AdditiveShape<width, other>, tokens, few_keys>>();
  auto& context = arrays.output_object<attend::Vectors<tokens, other>>();
  CHECK(attend::additive_attention(x, few, weight[0], values, context, work) == Status::ok);
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
  cache.clear();
  auto& memory_work = arrays.object<attend::LayerWorkspace<Shape, keys / 2>>();
  for (int half = 0; half < 2; ++half) {  // all of the cache
    auto& memory = arrays.float_object<attend::Vectors<keys / 2, x_width>>();
    CHECK(attend::project_memory(memory, layer, cache, memory_work) == Status::ok);
  }
  CHECK(attend::cross_attention(from, layer, cache, arrays.output_object<attend::Vectors<tokens, x_width>>(), layer_work) ==
        Status::ok);
}

template <int width, int other>
constexpr void (*calls[])(GuardedArrays&) = {call_layers<width, other>, call_rows<width, other>};

}  // namespace

TEST_CASE("guards: the typed surface's projections, rows and layers") {
  for_widths(widths, [](auto width, auto other) {
    for (const auto call : calls<width, other>) check_guarded(width, call);
  });
}

#endif
