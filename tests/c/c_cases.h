// Problems for the C surface with what the core makes of them, and tensors in all layouts.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "../support/instance.h"
#include "attend/attend.h"
#include "attend/attend_c.h"
#include "c_run.h"

namespace attend_test {

inline constexpr std::uint32_t untouched_bits = 0x7fc0beefu;  // a NaN that no arithmetic makes

inline float untouched() {
  float value;
  std::memcpy(&value, &untouched_bits, sizeof value);
  return value;
}

inline bool is_untouched(float value) { return std::memcmp(&value, &untouched_bits, sizeof value) == 0; }

struct Dims {
  std::ptrdiff_t batch, tokens, heads, width;
  std::size_t count() const { return std::size_t(batch * tokens * heads * width); }
};

enum class Layout { token_head, head_token, gaps, backwards };
inline constexpr Layout layouts[] = {Layout::token_head, Layout::head_token, Layout::gaps, Layout::backwards};

// A tensor in memory of its own, in some layout. Between its elements and in `shift` floats before them lies `untouched`.
struct Placed {
  std::vector<float> memory;
  std::ptrdiff_t start = 0, batch_stride = 0, token_stride = 0, head_stride = 0;
  Dims dims{};

  Placed(const Dims& d, Layout layout, int shift) : dims(d) {
    switch (layout) {
      case Layout::token_head:
      case Layout::backwards:
        head_stride = d.width;
        token_stride = d.heads * head_stride;
        batch_stride = d.tokens * token_stride;
        break;
      case Layout::head_token:
        token_stride = d.width;
        head_stride = d.tokens * token_stride;
        batch_stride = d.heads * head_stride;
        break;
      case Layout::gaps:  // [head][token][batch], with something after each
        batch_stride = d.width + 3;
        token_stride = d.batch * batch_stride + 1;
        head_stride = d.tokens * token_stride + 5;
        break;
    }
    std::ptrdiff_t size = d.width + (d.batch - 1) * batch_stride + (d.tokens - 1) * token_stride + (d.heads - 1) * head_stride;
    start = shift;
    if (layout == Layout::backwards) {
      start += (d.tokens - 1) * token_stride;
      token_stride = -token_stride;
    }
    if (d.tokens == 0) size = start = 0;
    memory.assign(std::size_t(size + shift), untouched());
  }

  float* data() { return memory.data() + start; }
  float& at(std::ptrdiff_t b, std::ptrdiff_t t, std::ptrdiff_t h, std::ptrdiff_t c) {
    return memory[std::size_t(start + b * batch_stride + t * token_stride + h * head_stride + c)];
  }
  // Calls with each element and its place in a dense [batch][token][head][width] array.
  template <class Call>
  void each(Call call) {
    std::size_t i = 0;
    for (std::ptrdiff_t b = 0; b < dims.batch; ++b)
      for (std::ptrdiff_t t = 0; t < dims.tokens; ++t)
        for (std::ptrdiff_t h = 0; h < dims.heads; ++h)
          for (std::ptrdiff_t c = 0; c < dims.width; ++c) call(at(b, t, h, c), i++);
  }
  void put(const std::vector<float>& dense) {
    each([&](float& element, std::size_t i) { element = dense[i]; });
  }
  std::vector<float> get() {
    std::vector<float> dense(dims.count());
    each([&](float& element, std::size_t i) { dense[i] = element; });
    return dense;
  }
  // Floats of the memory that hold what was there before any element.
  std::size_t gaps() const {
    std::size_t count = 0;
    for (const float value : memory) count += is_untouched(value);
    return count;
  }
  template <class Tensor>
  void describe(Tensor& tensor) {
    tensor.data = data();
    tensor.batch_stride = batch_stride;
    tensor.token_stride = token_stride;
    tensor.head_stride = head_stride;
  }
};

// A problem with dense data, and its output as the core computes it, one batch row after another.
struct Case {
  Shape s;
  int batch;
  std::vector<std::ptrdiff_t> lengths;  // none: all keys exist
  std::vector<float> query, key, value, expected;

  Case(const Shape& shape, int rows, std::vector<std::ptrdiff_t> key_lengths, std::uint64_t seed)
      : s(shape), batch(rows), lengths(std::move(key_lengths)) {
    for (int b = 0; b < batch; ++b) {
      Shape row = s;
      row.keys = lengths.empty() ? s.keys : int(lengths[std::size_t(b)]);
      const Instance instance(row, seed + std::uint64_t(b), s.keys - row.keys);  // with NaN after the keys that exist
      query.insert(query.end(), instance.query.begin(), instance.query.end());
      key.insert(key.end(), instance.key.begin(), instance.key.end());
      value.insert(value.end(), instance.value.begin(), instance.value.end());
      const std::vector<float> output = instance.one_shot();
      expected.insert(expected.end(), output.begin(), output.end());
    }
  }

  attend_problem problem() const {
    attend_problem p;
    REQUIRE(attend_problem_init(&p, sizeof p) == ATTEND_OK);
    p.batch = batch;
    p.query_heads = s.query_heads, p.kv_heads = s.kv_heads, p.head_dim = s.head_dim, p.value_dim = s.value_dim;
    p.queries = s.queries, p.keys = s.keys;
    if (s.causal) p.options |= ATTEND_CAUSAL, p.offset = s.offset;
    if (s.scale != 0.0f) p.scale = s.scale;
    if (!lengths.empty()) p.key_lengths = lengths.data();
    return p;
  }

  std::string text() const { return Instance(s, 1).text() + " batch=" + std::to_string(batch); }
};

inline const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {{4, 2, 8, 5, 7, 19, false, 0, 0.0f, 1.0f}, 1, {}, 1},
      {{4, 2, 8, 5, 7, 19, true, 12, 0.3f, 1.0f}, 3, {}, 2},
      {{6, 3, 17, 33, 5, 70, true, -2, -0.25f, 2.0f}, 2, {70, 9}, 3},
      {{3, 1, 16, 16, 1, 40, false, 0, 0.0f, 1.0f}, 5, {0, 1, 16, 39, 40}, 4},
      {{2, 2, 12, 7, 3, 530, true, 527, 0.0f, 4.0f}, 2, {530, 513}, 5},
      {{1, 1, 1, 1, 1, 1, true, 0, 0.0f, 1.0f}, 1, {}, 6},
      {{2, 1, 4, 3, 30, 30, true, 0, 0.0f, 1.0f}, 4, {30, 3, 0, 17}, 7},
      {{8, 8, 64, 64, 20, 33, true, 13, 0.0f, 1.0f}, 2, {}, 8},
  };
  return all;
}

}  // namespace attend_test
