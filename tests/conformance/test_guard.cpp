// The core's calls on floats touch nothing beside their arrays, whatever the widths are.
#include <doctest/doctest.h>

#include "../support/guarded.h"

#if ATTEND_TEST_GUARDS

#include "attend/core/options.h"
#include "attend/layers/core_layer.h"
#include "linear_case.h"

using namespace attend_test;
namespace core = attend::core;

namespace {

constexpr int query_heads = 2, kv_heads = 1;

// Few keys or many, one query or several.
struct Extents {
  int queries, keys;
};
constexpr Extents extents[] = {{1, 37}, {5, 21}, {1, 600}};

core::Problem problem_of(GuardedArrays& arrays, const Extents& of, int head_dim, int value_dim, const core::Options& o = {}) {
  core::Problem p{};
  p.query_heads = query_heads, p.kv_heads = kv_heads, p.head_dim = head_dim, p.value_dim = value_dim;
  p.queries = of.queries, p.keys = of.keys, p.offset = of.keys - of.queries, p.causal = true, p.scale = 0.1f;
  p.row_block = 96, p.key_block = 64;
  const auto count = [](int rows, int width) { return std::size_t(rows) * std::size_t(width); };
  p.query = {arrays.numbers(o.query_format, count(of.queries * query_heads, head_dim)), query_heads * head_dim, head_dim};
  p.key = {arrays.numbers(o.key_format, count(of.keys * kv_heads, head_dim)), kv_heads * head_dim, head_dim};
  p.value = {arrays.numbers(o.value_format, count(of.keys * kv_heads, value_dim)), kv_heads * value_dim, value_dim};
  const std::size_t outputs = count(of.queries * query_heads, value_dim);
  p.output = {o.output_format == Format::float32 ? arrays.output(outputs)
                                                 : reinterpret_cast<float*>(arrays.output<std::uint16_t>(outputs)),
              query_heads * value_dim, value_dim};
  return p;
}

void use_scratch(GuardedArrays& arrays, core::Problem& p) {
  p.scratch = arrays.work(core::scratch_floats(p.row_block, p.key_block, p.head_dim, p.value_dim, p.keys, p.key_panels));
}
void use_option_scratch(GuardedArrays& arrays, core::Problem& p) {
  p.scratch = arrays.work(core::option_scratch_floats(p.row_block, p.key_block, p.head_dim, p.value_dim));
}

// The keys and values of a problem over arrays, in a cache of as many tokens, and the problem over it.
core::Problem over_cache(GuardedArrays& arrays, core::Problem p) {
  const core::Cache cache{arrays.zeros(core::cache_key_floats(kv_heads, p.head_dim, p.keys)),
                          arrays.zeros(core::cache_value_floats(kv_heads, p.value_dim, p.keys)),
                          kv_heads,
                          p.head_dim,
                          p.value_dim,
                          p.keys};
  core::store(cache, 0, p.keys, numbers_of<float>(p.key), numbers_of<float>(p.value));
  p.key = {cache.keys, 0, 0}, p.value = {cache.values, p.value_dim, 0};
  p.key_panels = true;
  return p;
}

}  // namespace

TEST_CASE("guards: attention over arrays and caches of floats") {
  for_each_guarded_width([](GuardedArrays& arrays, int width, int other) {
    for (const Extents& of : extents) {
      core::Problem p = problem_of(arrays, of, width, other);
      use_scratch(arrays, p);
      core::Floats::run(p);
      core::Floats::run_part(p, 1, 2);
      p = over_cache(arrays, p);
      use_scratch(arrays, p);
      core::Floats::run(p);
    }
  });
}

TEST_CASE("guards: arrays and caches of every format, with masks, scores and states") {
  for_each_guarded_width([](GuardedArrays& arrays, int width, int other) {
    for (const Format format : {Format::float32, Format::float16, Format::bfloat16, Format::int8}) {
      for (const Extents& of : {Extents{1, 37}, Extents{5, 21}}) {
        core::Options o;
        o.key_format = o.value_format = format;
        if (format != Format::int8) o.query_format = o.output_format = format;
        core::Problem p = problem_of(arrays, of, width, other, o);
        if (format == Format::int8) {
          o.key_scales = arrays.floats(std::size_t(of.keys)), o.value_scales = arrays.floats(std::size_t(of.keys));
          o.key_scale_stride = o.value_scale_stride = of.keys;
        }
        o.mask = {arrays.integers<std::uint8_t>(std::size_t(of.queries * of.keys)), 0, of.keys, 0, of.keys};
        o.bias = {arrays.floats(std::size_t(of.queries * of.keys)), 0, of.keys, 0, of.keys};
        o.scores = {arrays.output(std::size_t(of.queries * query_heads * of.keys)), query_heads * of.keys, of.keys};
        o.score_keys = of.keys;
        o.score_stage = core::Scores::biased;
        o.alibi_slopes = arrays.floats(query_heads), o.sink_logits = arrays.floats(query_heads);
        o.lse = {arrays.output(std::size_t(of.queries * query_heads)), query_heads, 1};
        use_option_scratch(arrays, p);
        core::Floats::run(p, o);
        o.soft_cap = 2.0f, o.score_stage = core::Scores::weights;
        core::Floats::run(p, o);
        o.scores = {};
        const int nodes = std::max(1, core::state_nodes(of.keys));
        const auto state = std::ptrdiff_t(core::state_floats(other, nodes));
        o.states = {arrays.zeros(std::size_t(of.queries * query_heads * state)), query_heads * state, state};
        o.begins = true;
        core::Floats::run(p, o);
        core::Floats::finish(p, o);
        float* const others = arrays.zeros(std::size_t(of.queries * query_heads * state));
        for (int r = 0; r < of.queries * query_heads; ++r) {
          const std::int32_t kept = nodes - 1, added = 1, number = 101;  // a last node, for which there is room
          std::memcpy(static_cast<float*>(o.states.data) + r * state, &kept, sizeof kept);
          std::memcpy(others + r * state, &added, sizeof added);
          std::memcpy(others + r * state + core::state_floats(other, 1) - 1, &number, sizeof number);
        }
        core::Floats::merge(o.states.data, others, true, of.queries * query_heads, other, nodes);
      }
    }
  });
}

TEST_CASE("guards: caches of every format") {
  for_each_guarded_width([](GuardedArrays& arrays, int width, int other) {
    constexpr int capacity = 45, panels = core::panel_count(capacity);
    for (const Format format : {Format::float32, Format::float16, Format::bfloat16, Format::int8}) {
      for (const int queries : {1, 5}) {
        core::Problem p = problem_of(arrays, {queries, capacity}, width, other);
        core::FormatCache cache{};
        cache.keys = arrays.zeros<char>(core::format_cache_key_bytes(format, kv_heads, width, capacity));
        cache.values = arrays.zeros<char>(core::format_cache_value_bytes(format, kv_heads, other, capacity));
        cache.key_format = cache.value_format = format;
        cache.kv_heads = kv_heads, cache.head_dim = width, cache.value_dim = other, cache.capacity = capacity;
        core::Options o;
        o.key_format = o.value_format = format;
        o.left = 33;
        if (format == Format::int8) {
          o.key_scales = cache.key_scales = arrays.zeros(core::format_cache_rows(kv_heads, capacity));
          o.value_scales = cache.value_scales = arrays.zeros(core::format_cache_rows(kv_heads, capacity));
          o.key_scale_stride = o.value_scale_stride = panels * attend::panel_keys;
        }
        core::store(cache, 0, capacity, numbers_of<float>(p.key), numbers_of<float>(p.value));
        p.key = {static_cast<float*>(cache.keys), 0, 0}, p.value = {static_cast<float*>(cache.values), other, 0};
        p.key_panels = true;
        use_option_scratch(arrays, p);
        core::Floats::run(p, o);
      }
    }
  });
}

TEST_CASE("guards: projections of every format") {
  for_each_guarded_width([](GuardedArrays& arrays, int width, int outputs) {
    float* const work = arrays.work(core::linear_work_floats);
    for (const Format format : {Format::float32, Format::float16, Format::bfloat16, Format::int8, Format::int4}) {
      const int inputs = format == Format::int4 ? (width + 31) / 32 * 32 : width;
      for (const int tokens : {1, 5}) {
        core::Linear linear{};
        linear.inputs = inputs, linear.outputs = outputs, linear.tokens = tokens;
        linear.input_stride = linear.weight_stride = inputs, linear.output_stride = outputs;
        linear.input = arrays.floats(std::size_t(tokens * inputs));
        linear.output = arrays.output(std::size_t(tokens * outputs));
        linear.bias = arrays.floats(std::size_t(outputs));
        if (format == Format::int8) linear.scales = arrays.floats(std::size_t(outputs));
        const float* const rows = arrays.numbers(format, std::size_t(inputs * outputs));
        linear.weights = rows;
        run_linear_of(format, linear, 0, 1);
        linear.work = work;
        run_linear_of(format, linear, 0, 1);
        run_linear_of(format, linear, 1, 2);
        const std::size_t packed = core::packed_weight_numbers(outputs, inputs);
        char* const panels = arrays.output<char>(core::format_bytes(format, packed));
        switch (format) {
          case Format::int16:  // no weights
          case Format::float32:
            core::pack_weights<Format::float32>(rows, inputs, outputs, inputs, panels);
            break;
          case Format::float16:
            core::pack_weights<Format::float16>(rows, inputs, outputs, inputs, panels);
            break;
          case Format::bfloat16:
            core::pack_weights<Format::bfloat16>(rows, inputs, outputs, inputs, panels);
            break;
          case Format::int8:
            core::pack_weights<Format::int8>(rows, inputs, outputs, inputs, panels);
            break;
          case Format::int4:
            core::pack_weights<Format::int4>(rows, inputs, outputs, inputs, panels);
        }
        linear.weights = panels, linear.weight_stride = 0, linear.panels = true;
        run_linear_of(format, linear, 0, 1);
        linear.work = nullptr;
        run_linear_of(format, linear, 0, 1);
      }
    }
    const int inputs = width, whole = (width + 31) / 32 * 32;
    const float* const floats = arrays.floats(std::size_t(inputs * outputs));
    core::convert_weights<Format::float16>(floats, outputs, inputs, arrays.output<std::uint16_t>(std::size_t(inputs * outputs)),
                                           nullptr);
    core::convert_weights<Format::int8>(floats, outputs, inputs, arrays.output<std::int8_t>(std::size_t(inputs * outputs)),
                                        arrays.output(std::size_t(outputs)));
    core::convert_weights<Format::int4>(arrays.floats(std::size_t(whole * outputs)), outputs, whole,
                                        arrays.output<core::Int4Group>(std::size_t(whole / 32 * outputs)), nullptr);
  });
}

namespace {

template <attend::Activation... activation>
void activate_each(GuardedArrays& arrays, int width) {
  const float* const from = arrays.floats(std::size_t(width));
  const float* const by = arrays.floats(std::size_t(width));
  (core::activate<activation>(from, nullptr, width, arrays.output(std::size_t(width))), ...);
  (core::activate<activation>(from, by, width, arrays.output(std::size_t(width))), ...);
}

}  // namespace

TEST_CASE("guards: normalisation, activations, residual addition, rotary positions, additive scores") {
  for_each_guarded_width([](GuardedArrays& arrays, int width, int) {
    constexpr int rows = 3;
    const std::size_t one = std::size_t(width), all = rows * one;
    core::Normalisation n{};
    n.from = arrays.floats(all), n.to = arrays.output(all), n.weight = arrays.floats(one), n.bias = arrays.floats(one);
    n.from_stride = n.to_stride = n.width = width, n.rows = rows, n.epsilon = 1e-5f;
    core::rms_norm(n);
    n.to = arrays.output(all);
    core::layer_norm(n);
    using attend::Activation;
    activate_each<Activation::relu, Activation::silu, Activation::gelu, Activation::gelu_tanh, Activation::sigmoid,
                  Activation::tanh, Activation::exp, Activation::erf>(arrays, width);
    core::add(n.from, 0.7f, int(all), n.to);

    std::uint64_t* const turns = arrays.output<std::uint64_t>(one);
    float *const cosines = arrays.output(one), *const sines = arrays.output(one);
    core::rotary_turns(10000.0f, 1.0f, width, turns);
    core::rotary_angles({turns, 1.0f}, width, 77, cosines, sines);
    for (const int partner : {1, width}) {
      float* const heads = arrays.output(2 * all);
      std::memcpy(heads, n.from, all * sizeof(float)), std::memcpy(heads + all, n.from, all * sizeof(float));
      const core::Rotation rotation{heads, 2 * width, rows, width, partner, cosines, sines};
      core::rotate(rotation);
      core::rotate_at(rotation, {turns, 1.0f}, 5, 1, 2 * std::ptrdiff_t(all));
    }

    const core::Additive additive{n.weight, width, arrays.work(std::size_t(core::additive_keys) * one)};
    core::additive_scores(additive, n.bias, {n.from, width, width}, rows, arrays.output(rows));
  });
}

#endif
