// The same layer twice: as the typed surface takes it and as the C surface does.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <vector>

#include "../support/random.h"
#include "attend/layers.h"
#include "attend/c/layers.h"
#include "attend/layers/multi_head.h"
#include "c_run.h"
#include "team.h"

namespace attend_test {

template <class Array>
bool same(const Array& a, const Array& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// Random numbers of any format: halves are made of exponents that are neither infinite nor NaN.
template <int outputs, int inputs, class Format>
void fill(attend::Weights<outputs, inputs, Format>& weights, Random& random) {
  for (auto& row : weights.data) {
    for (auto& number : row) {
      if constexpr (std::is_same<Format, float>::value) {
        number = random.uniform();
      } else if constexpr (std::is_same<Format, attend::int8>::value) {
        number = std::int8_t(random.between(-127, 127));
      } else if constexpr (std::is_same<Format, attend::int4>::value) {
        number.scale[0] = std::uint8_t(random.between(0, 255)), number.scale[1] = std::uint8_t(random.between(0x28, 0x2b));
        for (std::uint8_t& two : number.numbers) two = std::uint8_t(random.between(0, 255));
      } else {
        const bool half = std::is_same<Format, attend::float16>::value;
        number = std::uint16_t(random.between(0, 1) << 15 |
                               (half ? random.between(0x3000, 0x3bff) : random.between(0x3e00, 0x3f7f)));
      }
    }
  }
  if constexpr (std::is_same<Format, attend::int8>::value) random.fill(weights.scales, outputs);
}

template <class Format>
constexpr int format_of() {
  return int(attend::detail::FormatOf<Format>::format);
}

// What C sees of typed weights.
template <int outputs, int inputs, class Format>
attend_weights c_weights(const attend::Weights<outputs, inputs, Format>& weights, const float* bias = nullptr) {
  attend_weights seen = {weights.data, nullptr, bias, outputs, inputs, format_of<Format>(), ATTEND_ROWS};
  if constexpr (std::is_same<Format, attend::int8>::value) seen.scales = weights.scales;
  return seen;
}
template <int outputs, int inputs, class Format>
attend_weights c_weights(const attend::PackedWeights<outputs, inputs, Format>& weights, const float* bias = nullptr) {
  attend_weights seen = {weights.data, nullptr, bias, outputs, inputs, format_of<Format>(), ATTEND_PANELS};
  if constexpr (std::is_same<Format, attend::int8>::value) seen.scales = weights.scales;
  return seen;
}

// A layer of weights of four formats, with two biases, for tokens of `width` numbers; keys and values are made of `from` ones.
template <class Shape, int width, int out_width, int from = width>
struct TwoLayers {
  using Dims = attend::detail::Checked<Shape>;
  static constexpr int query_outputs = Dims::query_heads * Dims::head_dim, key_outputs = Dims::kv_heads * Dims::head_dim;
  static constexpr int value_outputs = Dims::kv_heads * Dims::value_dim, contexts = Dims::query_heads * Dims::value_dim;

  TwoLayers() {
    Random random(77);
    fill(wq, random), fill(wk, random), fill(wv, random), fill(wo, random);
    random.fill(bq, query_outputs), random.fill(bo, out_width);
    random.fill(query_norm, Dims::head_dim), random.fill(key_norm, Dims::head_dim);
    attend::pack(wv, packed);
    attend_layer_init(&layer, sizeof layer);
    layer.query = c_weights(wq, bq), layer.key = c_weights(wk), layer.value = c_weights(packed),
    layer.output = c_weights(wo, bo);
    attend_problem_init(&problem, sizeof problem);
    problem.query_heads = Dims::query_heads, problem.kv_heads = Dims::kv_heads;
    problem.head_dim = Dims::head_dim, problem.value_dim = Dims::value_dim;
  }

  template <class... Steps>
  auto typed(const Steps&... steps) const {
    return attend::multi_head<Shape>(attend::biased(wq, bq), wk, packed, attend::biased(wo, bo), steps...);
  }
  // Norms and rotary positions of the C layer.
  void add_steps(int rotary_dim, attend_rotary_pairs pairs, float epsilon) {
    turns.assign(std::size_t(rotary_dim / 2), 0);
    CHECK(attend_rotary_init(&c_rotary, turns.data(), rotary_dim, pairs, 500.0f, 2.0f) == ATTEND_OK);
    layer.rotary = &c_rotary, layer.query_norm = query_norm, layer.key_norm = key_norm, layer.epsilon = epsilon;
  }
  void new_cache(int max_tokens, int key_format, int value_format, int window = 0, int sinks = 0) {
    attend_cache_shape shape;
    attend_cache_shape_init(&shape, sizeof shape);
    shape.kv_heads = Dims::kv_heads, shape.head_dim = Dims::head_dim, shape.value_dim = Dims::value_dim;
    shape.max_tokens = max_tokens, shape.key_format = key_format, shape.value_format = value_format;
    shape.window_keys = window, shape.sink_tokens = sinks;
    const std::size_t bytes = attend_cache_size(&shape);
    memory = std::make_unique<Aligned>(bytes);
    REQUIRE(attend_cache_init(&shape, memory->data(), bytes, &layer.cache) == ATTEND_OK);
  }

  using Call = attend_status (*)(const attend_problem*, const attend_layer*, const float*, float*, void*, std::size_t);
  attend_status run(Call call, const float* x, int tokens, float* y) {
    problem.queries = tokens;
    Barrier none(1);
    const int team = next_team();
    const TeamLayer first(layer, 0, team, none);
    const std::size_t bytes = attend_layer_workspace_size(&problem, &first.layer);
    Aligned work(bytes);
    std::memset(work.data(), 0xff, bytes);
    const attend_status status = with_team(
        layer, team, [&](const attend_layer& of_thread) { return call(&problem, &of_thread, x, y, work.data(), bytes); });
    INFO(explain(status));
    CHECK(status == ATTEND_OK);
    return status;
  }
  attend_status project_memory(const float* x, int tokens) {
    Barrier none(1);
    const int team = next_team();
    const TeamLayer first(layer, 0, team, none);
    const std::size_t bytes = attend_memory_workspace_size(&first.layer, tokens);
    Aligned work(bytes);
    std::memset(work.data(), 0xff, bytes);
    return with_team(layer, team, [&](const attend_layer& of_thread) {
      return attend_project_memory(&of_thread, x, tokens, work.data(), bytes);
    });
  }

  attend::Weights<query_outputs, width, attend::int8> wq;
  attend::Weights<key_outputs, from, attend::float16> wk;
  attend::Weights<value_outputs, from> wv;
  attend::Weights<out_width, contexts, attend::bfloat16> wo;
  attend::PackedWeights<value_outputs, from> packed;
  float bq[query_outputs], bo[out_width], query_norm[Dims::head_dim], key_norm[Dims::head_dim];
  std::vector<std::uint64_t> turns;
  attend_rotary c_rotary;
  attend_layer layer;
  attend_problem problem;
  std::unique_ptr<Aligned> memory;

 private:
  // Calls are made by one thread, by two, by three, and so on.
  int next_team() { return calls_++ % 3 + 1; }
  int calls_ = 0;
};

}  // namespace attend_test
