// One attention problem with its data, run in all the ways that must give the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "../conformance/definition.h"
#include "attend/attend.h"
#include "core_numbers.h"
#include "random.h"

namespace attend_test {

struct Shape {
  int query_heads, kv_heads, head_dim, value_dim;
  int queries;
  int keys;  // that exist; more lie in memory, poisoned
  bool causal;
  int offset;
  float scale;   // 0 stands for 1 / sqrt(head_dim)
  float spread;  // queries lie within -spread … spread, keys and values within -1 … 1
};

// Internal block sizes. Whatever they are, the bits must not change.
struct Blocks {
  int rows = 96;
  int keys = 64;
};

inline std::vector<float> poison(std::size_t count) {
  return std::vector<float>(count, std::numeric_limits<float>::quiet_NaN());
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

class Instance {
 public:
  // keys_beyond: how many keys and values lie in memory after the last that exists.
  Instance(const Shape& shape, std::uint64_t seed, int beyond = 19) : s(shape), keys_beyond(beyond) {
    if (s.scale == 0.0f) s.scale = attend::default_scale(s.head_dim);
    Random random(seed);
    query.resize(std::size_t(s.queries * s.query_heads * s.head_dim));
    random.fill(query.data(), query.size(), s.spread);
    key = poison(std::size_t((s.keys + keys_beyond) * s.kv_heads * s.head_dim));
    value = poison(std::size_t((s.keys + keys_beyond) * s.kv_heads * s.value_dim));
    random.fill(key.data(), std::size_t(s.keys * s.kv_heads * s.head_dim));
    random.fill(value.data(), std::size_t(s.keys * s.kv_heads * s.value_dim));
  }

  int visible(int token) const { return s.causal ? std::clamp(s.offset + token + 1, 0, s.keys) : s.keys; }

  std::vector<float> defined() const {
    std::vector<float> output, none;
    for (int i = 0; i < s.queries; ++i) {
      for (int h = 0; h < s.query_heads; ++h) {
        const std::vector<float> row = defined_row(plain_row(arrays(none), i, h)).output;
        output.insert(output.end(), row.begin(), row.end());
      }
    }
    return output;
  }

  // The problem of one call over the arrays, without blocks and scratch.
  attend::core::Problem arrays(std::vector<float>& output) const {
    return problem_over(s, query.data(), key.data(), value.data(), output.data());
  }

  // One call over the arrays.
  std::vector<float> one_shot(Blocks blocks = {}) const {
    std::vector<float> output = new_output();
    run(arrays(output), blocks);
    return without_tail(output);
  }

  // The same over keys that lie as [head][token], with other numbers between them. They would be seen, where NaN may only make
  // a call take its slow way.
  std::vector<float> heads_apart(Blocks blocks = {}) const {
    std::vector<float> output = new_output();
    attend::core::Problem p = arrays(output);
    p.key.token_stride = s.head_dim + 3;
    p.key.head_stride = (s.keys + 2) * p.key.token_stride;
    std::vector<float> keys(std::size_t(s.kv_heads * p.key.head_stride), 1.5f);
    for (int h = 0; h < s.kv_heads; ++h) {
      for (int k = 0; k < s.keys; ++k) {
        const auto from = key.begin() + std::ptrdiff_t(k * s.kv_heads + h) * s.head_dim;
        std::copy_n(from, s.head_dim, keys.begin() + h * p.key.head_stride + k * p.key.token_stride);
      }
    }
    p.key.data = keys.data();
    run(p, blocks);
    return without_tail(output);
  }

  // One part after another, each with scratch of its own.
  std::vector<float> parts(int count, Blocks blocks = {}) const {
    std::vector<float> output = new_output();
    for (int part = 0; part < count; ++part) run(arrays(output), blocks, part, count);
    return without_tail(output);
  }

  // A call for each query head, as if it were alone.
  std::vector<float> heads_alone(Blocks blocks = {}) const {
    std::vector<float> output = new_output();
    for (int h = 0; h < s.query_heads; ++h) {
      attend::core::Problem p = arrays(output);
      move_by<float>(p.query, h * p.query.head_stride);
      move_by<float>(p.output, h * p.output.head_stride);
      move_by<float>(p.key, h / (s.query_heads / s.kv_heads) * p.key.head_stride);
      move_by<float>(p.value, h / (s.query_heads / s.kv_heads) * p.value.head_stride);
      p.query_heads = p.kv_heads = 1;
      run(p, blocks);
    }
    return without_tail(output);
  }

  // Over a cache, the queries in chunks. With `growing` (self-attention with offset 0) the cache holds only what came before
  // and the chunk itself; otherwise all keys from the start.
  std::vector<float> chunks(int chunk, bool growing, Blocks blocks = {}) const {
    const int capacity = s.keys + keys_beyond;
    std::vector<float> output = new_output();
    std::vector<float> keys = poison(attend::core::cache_key_floats(s.kv_heads, s.head_dim, capacity));
    std::vector<float> values = poison(attend::core::cache_value_floats(s.kv_heads, s.value_dim, capacity));
    const attend::core::Cache cache{keys.data(), values.data(), s.kv_heads, s.head_dim, s.value_dim, capacity};
    int held = 0;
    const auto append = [&](int count) {
      attend::core::Problem p = arrays(output);
      move_by<float>(p.key, held * p.key.token_stride);
      move_by<float>(p.value, held * p.value.token_stride);
      attend::core::store(cache, held, count, numbers_of<float>(p.key), numbers_of<float>(p.value));
      held += count;
    };
    if (!growing) append(s.keys);
    for (int first = 0; first < s.queries; first += chunk) {
      const int count = std::min(chunk, s.queries - first);
      if (growing) append(count);
      attend::core::Problem p = arrays(output);
      move_by<float>(p.query, first * p.query.token_stride);
      move_by<float>(p.output, first * p.output.token_stride);
      p.key = {keys.data(), 0, std::ptrdiff_t(keys.size()) / s.kv_heads};
      p.value = {values.data(), s.value_dim, std::ptrdiff_t(values.size()) / s.kv_heads};
      p.key_panels = true;
      p.queries = count;
      p.keys = held;
      p.offset = s.offset + first;
      run(p, blocks);
    }
    return without_tail(output);
  }

  std::string text() const {
    const auto number = [](const char* name, double n) { return std::string(" ") + name + "=" + std::to_string(n); };
    return number("query_heads", s.query_heads) + number("kv_heads", s.kv_heads) + number("head_dim", s.head_dim) +
           number("value_dim", s.value_dim) + number("queries", s.queries) + number("keys", s.keys) +
           number("causal", s.causal) + number("offset", s.offset) + number("scale", double(s.scale)) +
           number("spread", double(s.spread));
  }

  Shape s;
  int keys_beyond;
  std::vector<float> query, key, value;

 private:
  static constexpr std::size_t tail = 1024;  // floats behind an output, which nobody may write

  std::vector<float> new_output() const { return poison(std::size_t(s.queries * s.query_heads * s.value_dim) + tail); }

  // Empty where something was written behind the output, so that it has no bits that anybody expects.
  static std::vector<float> without_tail(std::vector<float> output) {
    const auto end = output.end() - std::ptrdiff_t(tail);
    const bool intact = std::all_of(end, output.end(), [](float x) { return std::isnan(x); });
    output.resize(intact ? output.size() - tail : 0);
    return output;
  }

  // With scratch of exactly the promised size, poisoned, so that an address sanitizer sees every step beyond it.
  static void run(attend::core::Problem p, Blocks blocks, int part = 0, int parts = 1) {
    p.row_block = blocks.rows;
    p.key_block = blocks.keys;
    std::vector<float> scratch =
        poison(attend::core::scratch_floats(blocks.rows, blocks.keys, p.head_dim, p.value_dim, p.keys, p.key_panels));
    p.scratch = scratch.data();
    if (parts == 1) {
      attend::core::Floats::run(p);
    } else {
      attend::core::Floats::run_part(p, part, parts);
    }
  }
};

// Runs a test on every backend that this processor has, and goes back to the one that was active.
template <class Test>
void for_each_backend(Test test) {
  const std::string before = attend::active_backend();
  for (int i = 0; i < attend::backend_count(); ++i) {
    if (!attend::use_backend(attend::backend_name(i))) continue;
    test(attend::backend_name(i));
  }
  attend::use_backend(before.c_str());
}

}  // namespace attend_test
