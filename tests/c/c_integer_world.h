// Problems of integer attention from C, of all kinds, and what the core computes for them when it is called directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../support/random.h"
#include "attend/c/integer.h"
#include "attend/core/integer.h"
#include "c_run.h"

namespace attend_test {

inline attend_integer_scales integer_scales() {
  attend_integer_scales scales;
  attend_integer_scales_init(&scales, sizeof scales);
  scales.query_scale = 0.021, scales.key_scale = 0.033, scales.value_scale = 0.011, scales.output_scale = 0.007;
  return scales;
}
inline attend_integer_constants prepared(const attend_integer_scales& scales, int head_dim) {
  attend_integer_constants constants;
  if (attend_integer_prepare(&scales, head_dim, &constants) != ATTEND_OK) std::abort();
  return constants;
}

inline std::vector<std::int8_t> random_bytes(std::size_t count, Random& random) {
  std::vector<std::int8_t> bytes(count);
  for (std::int8_t& byte : bytes) byte = std::int8_t(random.between(-128, 127));
  return bytes;
}

inline attend_status run_integers(const attend_problem& problem, int part = 0, int parts = 1) {
  const std::size_t bytes = attend_workspace_size(&problem);
  Aligned workspace(bytes);
  std::memset(workspace.data(), 0xa5, bytes);
  return parts == 1 ? attend_run(&problem, workspace.data(), bytes)
                    : attend_run_part(&problem, part, parts, workspace.data(), bytes);
}

// A problem that may ask for anything, in memory that ends where it may.
class IntegerWorld {
 public:
  struct Steps {
    std::ptrdiff_t batch, token, head;
  };

  explicit IntegerWorld(Random& random) {
    attend_integer_problem_init(&p, sizeof p);
    p.batch = random.between(1, 3), p.kv_heads = random.between(1, 2), p.query_heads = p.kv_heads * random.between(1, 3);
    p.head_dim = random.between(1, 40), p.value_dim = random.between(1, 40);
    p.queries = random.between(1, 9), p.keys = random.between(0, 9) == 0 ? random.between(500, 1100) : random.between(0, 100);
    p.layout = random.between(0, 1);
    gap_ = random.between(0, 2) == 0 ? random.between(1, 5) : 0;
    const int formats[] = {ATTEND_DEFAULT_FORMAT, ATTEND_INT8, ATTEND_INT16, ATTEND_FLOAT32};
    p.output_format = formats[random.between(0, 3)];
    size = p.output_format == ATTEND_INT8 || p.output_format == ATTEND_DEFAULT_FORMAT ? 1
           : p.output_format == ATTEND_INT16                                          ? 2
                                                                                      : 4;
    place(random);
    choose_options(random);
    choose_constants(random);
  }

  // What the core writes, where the problem's output lies.
  std::vector<std::int8_t> expected() const {
    using namespace attend::core;
    std::vector<std::int8_t> result = output;
    std::vector<ScoreScale> scores;
    std::vector<OutputScale> outputs;
    for (const attend_integer_constants& of : constants) {
      scores.push_back({of.score_factor, of.score_right, of.score_left, of.score_end});
      outputs.push_back({of.output_factor, of.output_shift, of.value_zero_point, of.output_zero_point});
    }
    const int stride = p.head_constants != nullptr;
    std::vector<std::uint64_t> scratch(integer_scratch_bytes(1, 32, int(p.head_dim), int(p.value_dim), int(p.keys)) / 8 + 16);
    for (int row = 0; row < p.batch; ++row) {
      const int keys = int(lengths.empty() ? p.keys : lengths[std::size_t(row)]);
      const int offset = (p.options & ATTEND_QUERIES_LAST) != 0 ? keys - int(p.queries)
                         : p.offset == ATTEND_DEFAULT_OFFSET    ? 0
                                                                : int(p.offset);
      const Problem problem = {{query.data() + row * query_steps.batch, query_steps.token, query_steps.head},
                               {result.data() + row * output_steps.batch * size, output_steps.token, output_steps.head},
                               {key.data() + row * key_steps.batch, key_steps.token, key_steps.head},
                               {value.data() + row * value_steps.batch, value_steps.token, value_steps.head},
                               int(p.query_heads),
                               int(p.kv_heads),
                               int(p.head_dim),
                               int(p.value_dim),
                               int(p.queries),
                               keys,
                               offset,
                               0.0f,
                               (p.options & ATTEND_CAUSAL) != 0,
                               false,
                               1,
                               32,
                               aligned(scratch),
                               scores.data(),
                               outputs.data(),
                               stride};
      Integers::run(problem, core_options(row));
    }
    return result;
  }

  attend_problem p;
  std::vector<std::int8_t> query, key, value, output;  // output: of `size` bytes each
  std::vector<attend_integer_constants> constants;
  std::vector<std::ptrdiff_t> lengths;
  std::vector<std::uint8_t> mask;
  std::vector<std::uint16_t> key_scales, value_scales;
  Steps query_steps, key_steps, value_steps, output_steps;
  int size;

  // Whether no query sees a key of a row by position or by the row's length. (Those that masks leave out: see is_masked.)
  bool sees(int row, int token, int key_number) const {
    const std::ptrdiff_t keys = lengths.empty() ? p.keys : lengths[std::size_t(row)];
    const std::ptrdiff_t first = (p.options & ATTEND_QUERIES_LAST) != 0 ? keys - p.queries
                                 : p.offset == ATTEND_DEFAULT_OFFSET    ? 0
                                                                        : p.offset;
    const std::ptrdiff_t at = first + token, distance = key_number - at;
    if (key_number >= keys || ((p.options & ATTEND_CAUSAL) != 0 && distance > 0)) return false;
    if (p.window_right >= 0 && distance > p.window_right) return false;
    return p.window_left < 0 || distance >= -p.window_left || key_number < p.sink_tokens;
  }
  bool any_sees(int row, int key_number) const {
    for (int token = 0; token < p.queries; ++token) {
      if (!sees(row, token, key_number)) continue;
      for (int head = 0; head < p.query_heads; ++head) {
        if (mask.empty() || is_let_through(row, head, token, key_number)) return true;
      }
    }
    return false;
  }

 private:
  // An array of so many heads with rows of `width` numbers; returns its length.
  std::size_t dense(Steps& steps, std::ptrdiff_t tokens, std::ptrdiff_t heads, std::ptrdiff_t width) const {
    width += gap_;
    const bool tokens_first = p.layout == ATTEND_BATCH_TOKEN_HEAD_DIM;
    steps = {tokens * heads * width, tokens_first ? heads * width : width, tokens_first ? width : tokens * width};
    const std::ptrdiff_t all = p.batch * steps.batch;
    return std::size_t(all > gap_ ? all - gap_ : 0);
  }
  template <class Tensor, class Data>
  void describe(Tensor& tensor, Data& data, const Steps& steps) {
    tensor.data = data.data();
    if (gap_ == 0) return;
    p.layout = ATTEND_BATCH_TOKEN_HEAD_DIM;  // which strides have already
    tensor.batch_stride = steps.batch, tensor.token_stride = steps.token, tensor.head_stride = steps.head;
  }
  void place(Random& random) {
    query = random_bytes(dense(query_steps, p.queries, p.query_heads, p.head_dim), random);
    key = random_bytes(dense(key_steps, p.keys, p.kv_heads, p.head_dim), random);
    value = random_bytes(dense(value_steps, p.keys, p.kv_heads, p.value_dim), random);
    output = random_bytes(dense(output_steps, p.queries, p.query_heads, p.value_dim) * std::size_t(size), random);
    describe(p.query, query, query_steps), describe(p.key, key, key_steps), describe(p.value, value, value_steps);
    describe(p.output, output, output_steps);
  }

  void choose_options(Random& random) {
    if (random.between(0, 2) == 0) {
      for (int row = 0; row < p.batch; ++row) lengths.push_back(random.between(0, int(p.keys)));
      p.key_lengths = lengths.data();
    }
    if (random.between(0, 1) == 0) p.options |= ATTEND_CAUSAL;
    if (random.between(0, 2) == 0) p.window_left = random.between(0, 20), p.sink_tokens = random.between(0, 3);
    if (random.between(0, 3) == 0) p.window_right = random.between(0, 20);
    if (p.options != 0 || p.window_left >= 0 || p.window_right >= 0) {
      if (random.between(0, 2) == 0) {
        p.options |= ATTEND_QUERIES_LAST;
      } else {
        p.offset = random.between(-3, int(p.keys));
      }
    }
    if (random.between(0, 2) == 0) choose_mask(random);
    if (random.between(0, 3) == 0) key_scales = token_scales(p.key_scales, random);
    if (random.between(0, 3) == 0) value_scales = token_scales(p.value_scales, random);
  }
  void choose_mask(Random& random) {
    const std::size_t count = std::size_t(p.batch * p.query_heads * p.queries * p.keys);
    const bool bits = random.between(0, 1) == 0;
    mask.resize(bits ? (count + 7) / 8 : count);
    for (std::uint8_t& byte : mask) byte = bits ? std::uint8_t(random.between(0, 255)) : std::uint8_t(random.between(0, 2));
    mask.push_back(0);  // so that there is an address without keys
    p.mask.data = mask.data(), p.mask.kind = bits ? ATTEND_MASK_BITS : ATTEND_MASK_BYTES;
  }
  std::vector<std::uint16_t> token_scales(attend_scales& scales, Random& random) {
    std::vector<std::uint16_t> numbers(std::size_t(p.batch * p.kv_heads * p.keys) + 1);
    for (std::uint16_t& number : numbers) number = std::uint16_t(random.between(0, 32768));
    scales.data = numbers.data();
    return numbers;  // moved, so the address stays
  }
  void choose_constants(Random& random) {
    const bool of_heads = random.between(0, 2) == 0;
    attend_integer_scales scales = integer_scales();
    if (random.between(0, 3) == 0) scales.query_zero_point = random.between(-128, 127);
    for (int head = 0; head < (of_heads ? p.query_heads : 1); ++head) {
      scales.key_scale = 0.001 * random.between(1, 90), scales.value_scale = 0.001 * random.between(3, 20);
      if (value_scales.empty()) scales.value_zero_point = random.between(-128, 127);
      if (key_scales.empty()) scales.key_zero_point = random.between(-128, 127);
      if (p.output_format != ATTEND_FLOAT32) scales.output_zero_point = random.between(-9, 9);
      constants.push_back(prepared(scales, int(p.head_dim)));
    }
    (of_heads ? p.head_constants : p.constants) = constants.data();
  }

  std::ptrdiff_t mask_place(int row, int head, int token) const {
    return ((std::ptrdiff_t(row) * p.query_heads + head) * p.queries + token) * p.keys;
  }
  bool is_let_through(int row, int head, int token, int key_number) const {
    const std::size_t at = std::size_t(mask_place(row, head, token) + key_number);
    return p.mask.kind == ATTEND_MASK_BITS ? (mask[at / 8] >> at % 8 & 1) != 0 : mask[at] != 0;
  }
  attend::core::Options core_options(int row) const {
    attend::core::Options options;
    options.left = int(p.window_left), options.right = int(p.window_right), options.sink_tokens = int(p.sink_tokens);
    if (!mask.empty()) {
      options.mask = {mask.data(), mask_place(row, 0, 0), p.keys, p.queries * p.keys, int(p.keys)};
      options.mask_bits = p.mask.kind == ATTEND_MASK_BITS;
    }
    if (!key_scales.empty()) options.key_scales = key_scales.data() + row * p.kv_heads * p.keys;
    if (!value_scales.empty()) options.value_scales = value_scales.data() + row * p.kv_heads * p.keys;
    options.key_scale_stride = options.value_scale_stride = p.keys;
    options.query_zero = constants[0].query_zero_point;
    options.float_scale = constants[0].output_scale;
    options.output_format = size == 1   ? attend::core::Format::int8
                            : size == 2 ? attend::core::Format::int16
                                        : attend::core::Format::float32;
    return options;
  }
  static void* aligned(std::vector<std::uint64_t>& memory) {
    const std::uintptr_t at = reinterpret_cast<std::uintptr_t>(memory.data());
    return reinterpret_cast<void*>((at + 63) / 64 * 64);
  }

  std::ptrdiff_t gap_;
};

}  // namespace attend_test
