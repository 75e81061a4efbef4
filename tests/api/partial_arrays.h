// What the tests of Partials have in common: a shape, filled caches, and all that options can point to.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "../support/typed_objects.h"

namespace attend_test {

struct Long {
  static constexpr int query_heads = 4, kv_heads = 2, head_dim = 6, value_dim = 5, max_tokens = 1500;
};

// A cache that has been given `length` tokens, a few at a time.
template <class Cache, class Shape, int at_once>
Cache& filled(int length) {
  static Cache cache;
  static attend::Key<Shape, at_once> key;
  static attend::Value<Shape, at_once> value;
  cache.clear();
  for (int from = 0, count = 0; from < length; from += count) {
    count = (length - from - 1) % at_once + 1;  // the odd ones first: after the last append a whole array may be prefilled
    fill_array(key, std::uint64_t(from) + 8);
    fill_array(value, std::uint64_t(from) + 9);
    REQUIRE(cache.append(key, value, count) == attend::Status::ok);
  }
  return cache;
}

// Everything that ScoreOptions can point to for a shape.
template <class Shape, int tokens, int keys>
struct Arrays {
  using Options = attend::ScoreOptions<Shape>;
  static constexpr int heads = Shape::query_heads;
  attend::Mask<tokens, heads, keys> mask;
  attend::BitMask<1, 1, keys> bits;
  attend::Bias<tokens, 1, keys> bias;
  attend::RelativeBias<heads, 40, 3> relative;
  float alibi_slopes[heads], sink_logits[heads];

  Arrays() {
    Random random(7);
    for (auto& of_token : mask.data) {
      for (auto& of_head : of_token) {
        for (auto& visible : of_head) visible = std::uint8_t(random.between(0, 2));
      }
    }
    for (int key = 0; key < keys; ++key)
      bits.set(0, 0, key, random.between(0, 5) != 0 && key / 512 != 1);  // a segment is masked
    fill_array(bias, 3, 2.0f);
    bias[0][0][17] = -std::numeric_limits<float>::infinity();
    fill_array(relative, 4);
    for (int head = 0; head < heads; ++head) alibi_slopes[head] = 0.01f * float(head), sink_logits[head] = float(2 * head - 3);
  }

  // Some of the options. A ring has a window and sink tokens of its own, and may have fewer.
  std::vector<Options> all(int window, int sink_tokens) const {
    std::vector<Options> some(1);
    const auto add = [&](auto change) {
      some.emplace_back();
      change(some.back());
    };
    add([](Options& o) { o.causal = false, o.scale = -0.5f; });
    add([&](Options& o) { o.window_left = window - 1; });
    add([&](Options& o) { o.window_left = window / 2, o.sink_tokens = std::min(sink_tokens, 3), o.soft_cap = 4.0f; });
    add([&](Options& o) { o.causal = false, o.window_left = window / 3, o.window_right = 9; });
    add([&](Options& o) { o.sink_logits = sink_logits; });
    add([&](Options& o) { o.mask = mask, o.alibi_slopes = alibi_slopes; });
    add([&](Options& o) { o.mask = bits, o.sink_logits = sink_logits; });
    add([&](Options& o) { o.bias = bias, o.relative_bias = relative, o.window_left = std::max(window - 2, 0); });
    return some;
  }
};

}  // namespace attend_test
